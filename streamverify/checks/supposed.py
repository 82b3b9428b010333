"""Values that a claim does not state but supposes: an example, a condition, a case of a rule.

"For a hedge of ten metres …" applies a rule to a hedge that no passage knows: that ten stands in none says
nothing. Before: `signals.py` found a value in no source. After: it accuses what is left.
"""

from __future__ import annotations

import re

_EXAMPLE = re.compile(
    r"(?:\be\.\s?g\.|\bsuch as|\bfor (?:example|instance)|\bsay),?\s+(?:[\w.]+[=\s])?$", re.IGNORECASE
)
"""What stands before a value that the answer makes up as an illustration."""

_CONDITION = re.compile(r"\b(?:if|when|suppose|supposing|assuming|had|were|should)\b[^,;.]*$", re.IGNORECASE)
"""What stands before a value that the claim supposes and does not state."""

_VERBS = (
    "is|are|was|were|be|been|has|have|had|can|may|must|will|would|could|should|shall|does|did|do|gets?|got|pays?"
    "|paid|costs?|comes?|came|takes?|took|lasts?|rose|fell|grew|needs?|makes?|made|gives?|gave|holds?|held|counts?"
    "|weighs?|runs?|ran|brings?|brought|receives?|earns?|keeps?|kept|allows?|requires?|not|says?|states?|shows?"
)
"""Behind one of these the value is stated of what stands before it."""

_CASE = re.compile(
    r"(?:^|[,;:(]\s+|\b(?:if|when|where|that|and|but|so|while|whereas|because|since|as)\s+)"
    r"(?:(?:for|on|at|with|in|of|to|from|by|after|over|under|per|assuming|given|say)\s+)?"
    r"(?:an?|any|another|someone|anyone|somebody|anybody|whoever|two|three|four|five|six|several)\b"
    rf"(?:\s+(?!(?:{_VERBS})\b)[\w'’.-]{{1,40}}){{0,6}}\s*[$€£¥₹]?$",
    re.IGNORECASE,
)
"""Some thing, not a known one, that a clause begins with, as far as the value: "for a pike of", "a car"."""

_FAR = 120
"""Characters before a value within which a case of a rule is looked for."""


def exemplary(text: str, start: int) -> bool:
    """Whether the value that starts here is offered as an example ("e.g. 25")."""
    return _EXAMPLE.search(text, max(start - 40, 0), start) is not None


def conditional(text: str, start: int) -> bool:
    """Whether the value that starts here stands in a condition ("if 25 came …")."""
    return _CONDITION.search(text, 0, start) is not None


def of_some_case(text: str, start: int) -> bool:
    """Whether the value that starts here says which thing of its kind is meant ("a ewe of 70 kg needs …").

    Of values that no source holds, as the development answers have them, three of four were such cases.
    """
    first = max(start - _FAR, 0)
    return _CASE.search(text[first:start]) is not None
