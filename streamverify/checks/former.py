"""Values that a passage tells of the past alone: "used to cost 12 euros", "was 30 days until March 2024".

Before: `signals.py` has a value of the claim that the sources hold, and others of its kind. After: those that
held only formerly accuse no claim that speaks of now.
"""

from __future__ import annotations

import re

_FORMERLY = r"\b(?:used to|previously|formerly|originally|initially|in the past|back then|no longer)\b"
_BEHIND = re.compile(rf"{_FORMERLY}[^.;:!?]{{0,80}}$", re.IGNORECASE)
"""What stands before a value that was another one."""
_UNTIL = r"\b(?:until|till|before|up to)\s(?:[\w’'-]{1,15}\s){0,3}(?:1[89]|20)\d\d\b"
_ENDED = re.compile(_UNTIL, re.IGNORECASE)
_PAST = re.compile(r"\b(?:was|were|had|stood|cost|paid|got|did)\b", re.IGNORECASE)
_CLAUSE = re.compile(r"[.;!?](?=\s)|\b(?:but|now|today|currently|since|while|whereas|and)\b", re.IGNORECASE)
"""Where what is said of the past ends."""
_SPEAKS_OF_THEN = re.compile(
    rf"{_FORMERLY}|\b(?:was|were|had|until|till|before|once|then|rose|fell|grew|increased|decreased|raised|from)\b",
    re.IGNORECASE,
)
_FAR = 120
"""Characters on either side of a value that are looked at."""


def of_then(text: str) -> bool:
    """Whether a claim may speak of the past itself."""
    return _SPEAKS_OF_THEN.search(text) is not None


def former(text: str, start: int, end: int) -> bool:
    """Whether the value between these offsets is told of the past alone."""
    before, after = text[max(start - _FAR, 0) : start], text[end : end + _FAR]
    before = before[max((stop.end() for stop in _CLAUSE.finditer(before)), default=0) :]
    following = _CLAUSE.search(after)
    clause = f"{before} {after[: following.start()] if following else after}"
    if _BEHIND.search(before):
        return True
    return _PAST.search(clause) is not None and _ENDED.search(clause) is not None
