"""Dates that bound another one: "founded before 2000" is no date of its own.

Before: `signals.py` meets a date that no source holds. After: it is accused unless a date of the sources lies
on the side that the claim says.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from streamverify.checks.date import Date, DateKind

_BOUND = re.compile(
    r"\b(?:(?P<earlier>before|prior to|earlier than|ahead of)|(?P<until>by|until|till|not? later than)"
    r"|(?P<later>after|later than|since|from|following))\s+(?:the\s+)?"
    r"(?:(?:end|start|beginning|middle)\s+of\s+)?$",
    re.IGNORECASE,
)
_REACH = 40
_DATED = frozenset({DateKind.DAY, DateKind.MONTH, DateKind.YEAR})


def bounding(text: str, date: Date, others: Iterable[Date]) -> bool:
    """Whether the claim's date only says before, by or after when, and a date of the sources lies there."""
    found = _BOUND.search(text, max(date.start - _REACH, 0), date.start)
    if found is None or date.kind not in _DATED or date.year is None:
        return False
    low, high = _span(date)
    for other in others:
        if other.kind not in _DATED or other.year is None:
            continue
        first, last = _span(other)
        if (found["earlier"] and last < low) or (found["until"] and last <= high):
            return True
        if found["later"] and first >= low:
            return True
    return False


def _span(date: Date) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    """The first and the last day that a date may mean, as year, month and day."""
    year = date.year or 0
    return (year, date.month or 1, date.day or 1), (year, date.month or 12, date.day or 31)
