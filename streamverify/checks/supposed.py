"""Values that a claim does not state but supposes: an example, a condition, a case of a rule.

"For a hedge of ten metres you need …" applies a rule to a hedge that no passage knows: that its ten stands in
none says nothing. Before: `signals.py` found a value in no source. After: it accuses what is left.
"""

from __future__ import annotations

import re

_EXAMPLE = re.compile(
    r"(?:\be\.\s?g\.|\bsuch as|\bfor (?:example|instance)|\bsay),?\s+(?:[\w.]+[=\s])?$", re.IGNORECASE
)
"""What stands before a value that the answer makes up as an illustration."""

_CONDITION = re.compile(r"\b(?:if|when|suppose|supposing|assuming|had|were|should)\b", re.IGNORECASE)
"""What a value that the claim supposes stands behind, with no stop between."""

_SUPPOSED = re.compile(r"\b(?:if|suppose|supposing|assuming|imagine)\b", re.IGNORECASE)
"""Likewise, without words that mostly tell of the past or of duties: "had", "were", "should", "when"."""

_STATED = (
    "total|average|mean|median|record|height|length|depth|width|weight|size|speed|distance|area|population|fine|fee|"
    "charge|number|maximum|minimum|limit|rate|share|discount|price|cost|sum|bonus|deposit|surcharge|increase|decrease|"
    "rise|fall|drop|profit|loss|turnover|budget|majority|margin|score|study|survey|trial|sample|capacity|range"
)
"""Things whose value is a statement about them: "a fine of 500 euros", "at a height of 450 metres"."""

_CASE = re.compile(
    r"(?:^|[,;:(]\s+|\b(?:that|and|but|so|while|whereas|because|since|as)\s+)"
    r"(?:(?:for|on|at|with|in|of|to|from|by|under|given|assuming|say)\s+)?"
    r"(?:an?|any|another|someone|anyone|somebody|anybody)\s+"
    rf"(?:(?:(?!(?:{_STATED})\b)[\w'’-]{{1,40}}\s+){{0,3}}"
    r"(?:of|at|with|for|worth|weighing|costing|aged|earning|measuring|needing)\s+(?:about\s+|over\s+|under\s+)?)?"
    r"[$€£¥₹]?$"
    r"|(?:^|[,;:(]\s+|\b(?:that|and|but|so|while|whereas|because|since|as)\s+)(?:(?:for|on|at|with|from)\s+)?"
    r"(?:incomes?|orders?|purchases?|amounts?|payments?|earnings|salar(?:y|ies)|savings|parcels?|packages?|bookings?)"
    r"\s+(?:of|worth)\s+(?:about\s+|over\s+|under\s+)?[$€£¥₹]?$"
    r"|(?:^|[,;:(]\s+)(?!during|including|according)[a-z]{2,11}ing\s+(?:about\s+|over\s+|for\s+)?[$€£¥₹]?$",
    re.IGNORECASE,
)
"""Some thing, not a known one, or something done, that a clause begins with, as far as its value: "for a pike
of", "a", "driving"."""

_RULE = re.compile(
    r"\b(?:needs?|must|may|can|cannot|would|will|should|has to|have to|gets?|pays?|counts?|costs?|comes? to"
    r"|takes?|receives?|requires?|earns?|owes?|ships?|qualif(?:y|ies)|falls?|applies|apply|attracts?|carr(?:y|ies)"
    r"|has|have|is|are|does|do)\b",
    re.IGNORECASE,
)
"""What is said of such a thing, in general."""

_BOUND = re.compile(r"\s*(?:\+|or (?:more|less|over|under|above|below|fewer)\b|and (?:over|above|up|more)\b)")
"""What makes a value the bound of a rule, which is stated: "orders of $75 or more"."""

_KIND = re.compile(
    r"(?:^|[,;:(]\s+|\b(?:that|and|but|so|while|whereas|because|since|as)\s+)"
    r"(?:(?:for|on|at|with|in|of|to|from|by|under|given|after|like)\s+)?"
    r"(?:an?|any|another|someone|anyone|somebody|anybody|whoever|those|people)\s+"
    r"(?:(?!(?:was|were|is|are|has|had|have|will|did|does)\b)[^\s,;.]+\s+"
    r"|(?:(?<=who )|(?<=that )|(?<=which ))(?:was|were|is|are|has|had|have)\s+){0,14}$",
    re.IGNORECASE,
)
"""Some thing, not a known one, that a clause begins with, up to a value before the clause's own verb: "a
label that was issued in", "someone who joined in"."""

_VERB = re.compile(
    r"(?<!\bwho )(?<!\bthat )(?<!\bwhich )"
    r"\b(?:must|may|might|can|cannot|could|would|will|should|shall|needs?|has|have"
    r"|had|gets?|pays?|counts?|costs?|comes?|takes?|receives?|requires?|earns?|owes?|appl(?:ies|y)|is|are|was|were|does|do"
    r"|did|matches|match|carr(?:ies|y)|runs?|lasts?|keeps?|holds?|offers?|contains?|includes?|gives?)\b",
    re.IGNORECASE,
)
"""The verb of a clause, behind which a value is stated; not that of "someone who has"."""
_STATES = re.compile(
    rf"\b(?:(?:{_STATED})\s+of\s+(?:about\s+|over\s+|under\s+)?"
    r"|(?:below|under|over|above|within|beyond|than|to|least|most)\s+)[$€£¥₹]?$",
    re.IGNORECASE,
)
"""Before a value that is stated, whatever it is said of: "a deposit of 50 pounds", "a child under two"."""

_LONGEST_CLAUSE = 300
"""Characters of a clause before a value that are looked at."""
_FAR = 120
"""Characters before a value within which a case of a rule is looked for."""


def exemplary(text: str, start: int) -> bool:
    """Whether the value that starts here is offered as an example ("e.g. 25")."""
    return _EXAMPLE.search(text, max(start - 40, 0), start) is not None


def conditional(text: str, start: int) -> bool:
    """Whether the value that starts here stands in a condition ("if 25 came …")."""
    return _CONDITION.search(text, _clause(text, start), start) is not None


def supposed(text: str, start: int) -> bool:
    """Whether the value that starts here stands behind "if" in its clause ("if you drive 100 miles")."""
    return _SUPPOSED.search(text, _clause(text, start), start) is not None


def of_some_case(text: str, start: int, end: int) -> bool:
    """Whether this value says which thing of its kind is meant ("a ewe of 70 kg needs …")."""
    return (
        (_CASE.search(text, max(start - _FAR, 0), start) is not None or _tells_kind(text, start))
        and _BOUND.match(text, end) is None
        and _RULE.search(text, end, end + _FAR) is not None
    )


def _tells_kind(text: str, start: int) -> bool:
    """Whether the value stands before the verb of a clause about some thing: "a claim filed 9 days after"."""
    kind = _KIND.search(text, max(start - _FAR, 0), start)
    return (
        kind is not None
        and _VERB.search(text, kind.start(), start) is None
        and _STATES.search(text, kind.start(), start) is None
    )


def of_some_kind(text: str, start: int) -> bool:
    """Whether the value that starts here says what kind of thing is meant ("a voucher bought in 2024 …")."""
    return _KIND.search(text, max(start - _FAR, 0), start) is not None


def _clause(text: str, start: int) -> int:
    """Where the clause that goes on at `start` begins, or is looked at from."""
    begin = max(start - _LONGEST_CLAUSE, 0)
    return max(begin, 1 + max(text.rfind(stop, begin, start) for stop in ",;."))
