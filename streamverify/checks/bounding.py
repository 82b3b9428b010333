"""Dates that bound another one: "founded before 2000" is no date of its own.

Before: `signals.py` meets a date that no source holds. After: it is accused unless a date of the sources lies
on the side that the claim says.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from streamverify.checks.date import Date, DateKind

_BOUND = re.compile(
    r"\b(?:(?P<earlier>before|prior to|earlier than)|(?P<later>after|later than))\s+(?:the\s+)?"
    r"(?:(?:end|start|beginning|middle)\s+of\s+)?$",
    re.IGNORECASE,
)
"""Not "by", "since", "until" or "from": they tell the very date."""
_OTHER_BOUND = re.compile(
    r"\b(?:before|prior to|than|after|by|since|until|till|from)\s+(?:the\s+)?(?:\w+\s+of\s+)?$", re.IGNORECASE
)
_REACH = 40
_DATED = frozenset({DateKind.DAY, DateKind.MONTH, DateKind.YEAR})


def bounding(text: str, date: Date, others: Iterable[tuple[str, Date]]) -> bool:
    """Whether the claim's date only says before or after when, and the sources' dates lie there.

    Args:
        text: the claim's.
        date: of the claim, which no source holds.
        others: dates of the sources with the texts they stand in. One that bounds another itself tells
            nothing; of the rest all must lie on that side, or it is not known which is meant.
    """
    found = _BOUND.search(text, max(date.start - _REACH, 0), date.start)
    if found is None or date.kind not in _DATED or date.year is None:
        return False
    low, high = _span(date)
    spans = [
        _span(other)
        for source, other in others
        if other.kind in _DATED
        and other.year is not None
        and not _OTHER_BOUND.search(source, max(other.start - _REACH, 0), other.start)
    ]
    if found["earlier"]:
        return bool(spans) and all(last < low for _, last in spans)
    return bool(spans) and all(first > high for first, _ in spans)


def _span(date: Date) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    """The first and the last day that a date may mean, as year, month and day."""
    year = date.year or 0
    return (year, date.month or 1, date.day or 1), (year, date.month or 12, date.day or 31)
