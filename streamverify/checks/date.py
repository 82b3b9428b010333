"""What a date is, and whether one says the same as another.

Before: `dates.py` reads them out of a text. A date is the set of fields it names. A source backs a date when
it names the same fields with the same values, in one place or, for the year, in another: "14 March" in a text
about 2019.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from streamverify.checks.zones import apart
from streamverify.types import Span

_DAY = 1440
"""Minutes."""


class DateKind(StrEnum):
    """What a date names, by its finest field."""

    DAY = "day"
    MONTH = "month"
    QUARTER = "quarter"
    YEAR = "year"
    DECADE = "decade"
    WEEKDAY = "weekday"
    TIME = "time"


@dataclass(frozen=True, slots=True)
class Date:
    """A date or a time of day in a text; `start` and `end` are its offsets."""

    start: int
    end: int
    text: str
    kind: DateKind
    year: int | None = None
    """For a decade its first year; for a century (19th century) the first year of it."""
    month: int | None = None
    day: int | None = None
    quarter: int | None = None
    weekday: int | None = None
    """Monday is 0."""
    minute: int | None = None
    """Minutes after midnight."""
    half_day: bool = False
    """Whether `minute` may also be 12 hours later: a clock time without a.m. or p.m."""
    zone: str = ""
    """The time zone that stands behind `minute`, if one does."""
    open_century: bool = False
    """Whether the decade may be any century's ('20s)."""
    swapped: bool = False
    """Whether day and month may be the other way round (02/01/2020)."""


def spans(found: Sequence[Date]) -> list[Span]:
    """Where the dates stand, for `quantities(skip=…)`."""
    return [Span(date.start, date.end) for date in found]


def same(claim: Date, source: Date) -> bool:
    """Whether the source names everything the claim names, with the same values.

    A source may be finer (14 March 2019 for March 2019), never coarser.
    """
    if claim.minute is not None or source.minute is not None:
        return _same_time(claim, source)
    if claim.weekday is not None:
        return claim.weekday == source.weekday
    if claim.kind is DateKind.DECADE:
        return _within_decade(claim, source)
    if claim.year is not None and (claim.year != source.year or source.kind is DateKind.DECADE):
        return False
    if claim.quarter is not None:
        in_quarter = source.month is not None and (source.month + 2) // 3 == claim.quarter
        return in_quarter or claim.quarter == source.quarter
    return _same_day(claim, source)


def _within_decade(claim: Date, source: Date) -> bool:
    if source.year is None or claim.year is None:
        return False
    width = 100 if "century" in claim.text.lower() else 10
    later = source.year - claim.year
    return 0 <= (later % 100 if claim.open_century or source.open_century else later) < width


def _same_day(claim: Date, source: Date) -> bool:
    if claim.month is None:
        return True
    orders = [(source.day, source.month)]
    if source.swapped or claim.swapped:
        orders.append((source.month, source.day))
    return any(claim.month == month and claim.day in {None, day} for day, month in orders)


def _same_time(claim: Date, source: Date) -> bool:
    if claim.minute is None or source.minute is None:
        return False
    shifts = apart(claim.zone, source.zone)
    if shifts is None:
        return True  # their clocks cannot be compared
    found = {(claim.minute - source.minute - shift) % _DAY for shift in shifts}
    return 0 in found or (_DAY // 2 in found and (claim.half_day or source.half_day))


class DatePool:
    """The dates of some source texts, ready to be asked for one."""

    def __init__(self, found: Iterable[Date]) -> None:
        self.dates = tuple(found)
        self._years = {date.year for date in self.dates if date.year is not None}
        self._by_field: dict[tuple[str, int], list[Date]] = {}
        for date in self.dates:
            for field in _fields(date):
                self._by_field.setdefault(field, []).append(date)

    def holds(self, claim: Date) -> bool:
        """Whether the sources name this date, in one place or with the year in another."""
        if any(same(claim, source) for source in self._candidates(claim)):
            return True
        if claim.year is None or claim.year not in self._years or claim.kind is DateKind.YEAR:
            return False
        partial = replace(claim, year=None)
        return any(source.year is None and same(partial, source) for source in self._candidates(partial))

    def _candidates(self, claim: Date) -> Iterable[Date]:
        """The dates that share the claim's rarest field."""
        if claim.kind is DateKind.DECADE or claim.swapped or claim.half_day or claim.quarter is not None:
            return self.dates
        found = [self._by_field.get(field, []) for field in _fields(claim)]
        if claim.minute is not None:
            return self.dates
        return min(found, key=len, default=[])


def _fields(date: Date) -> list[tuple[str, int]]:
    named = [("year", date.year), ("month", date.month), ("day", date.day), ("weekday", date.weekday)]
    if date.swapped:
        named += [("month", date.day), ("day", date.month)]
    return [(name, value) for name, value in named if value is not None]
