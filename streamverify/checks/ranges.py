"""Dates and times within a range that a source names: "in January" where it says from November to March.

Before: `signals.py` meets a date that no source holds. After: it is accused unless it lies within such a
range: a rule for all of it holds for a part, and whether the claim tells it rightly is no question of dates.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from streamverify.checks.date import Date

_BETWEEN = re.compile(
    r"\s?(?:to|until|till|through|[-–—])\s?(?:(?:and|the end of|late|mid|early) ){0,2}|(?P<and> and )",
    re.IGNORECASE,
)
_LED_BY_BETWEEN = re.compile(r"\bbetween (?:the )?$", re.IGNORECASE)
_LONGEST = 30
"""Characters between the two dates of a range."""
_DAY = 1440
"""Minutes."""


def within_range(date: Date, texts: Iterable[tuple[str, Sequence[Date]]]) -> bool:
    """Whether a date of a month or finer lies within a range that some text names.

    Args:
        date: of a claim.
        texts: texts of the sources with their dates, in text order.
    """
    return any(
        _lies_within(date, first, last) for text, dates in texts for first, last in _ranges(text, dates)
    )


def _ranges(text: str, dates: Sequence[Date]) -> Iterator[tuple[Date, Date]]:
    for first, last in pairwise(dates):
        if not 0 < last.start - first.end <= _LONGEST:
            continue
        gap = _BETWEEN.fullmatch(text, first.end, last.start)
        if gap is None:
            continue
        if gap["and"] and not _LED_BY_BETWEEN.search(text, max(first.start - 14, 0), first.start):
            continue
        yield first, last


def _lies_within(date: Date, first: Date, last: Date) -> bool:
    if date.minute is not None:
        if first.minute is None or last.minute is None:
            return False
        minutes = [date.minute, (date.minute + _DAY // 2) % _DAY] if date.half_day else [date.minute]
        return any(_within(minute, minute, first.minute, last.minute) for minute in minutes)
    if date.month is None or first.month is None or last.month is None:
        return False
    begins, ends = _place(first, 1), _place(last, 31)
    own = _place(date, 1), _place(date, 31)
    years = [year for year in (first.year, last.year) if year is not None]
    if date.year is None or not years:
        return _within(*own, begins, ends)
    since, until = (years[0], begins), (years[-1], ends)
    if since > until:  # of one year, told behind the second: "from November to March 2026"
        since = (years[0] - 1, begins)
    return since <= (date.year, own[0]) and (date.year, own[1]) <= until


def _place(date: Date, day: int) -> int:
    """A day's place in the year; of a month the day told."""
    return (date.month or 0) * 32 + (date.day or day)


def _within(low: int, high: int, begins: int, ends: int) -> bool:
    """Whether a stretch lies within another one, which may run over the end of the day or the year."""
    if begins <= ends:
        return begins <= low and high <= ends
    return low >= begins or high <= ends
