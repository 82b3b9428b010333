"""Dates, years, quarters, decades, weekdays and clock times: read out of a text and compared.

A date is the set of fields it names. A source backs a date when it names the same fields with the
same values, in one place or, for the year, in another: "14 March" in a text about 2019.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from streamverify.types import Span


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
    swapped: bool = False
    """Whether day and month may be the other way round (02/01/2020)."""


_MONTHS = (
    ("january", "jan"), ("february", "feb"), ("march", "mar"), ("april", "apr"), ("may", "may"), ("june", "jun"),
    ("july", "jul"), ("august", "aug"), ("september", "sept", "sep"), ("october", "oct"), ("november", "nov"),
    ("december", "dec"),
)  # fmt: skip
_MONTH_OF = {name: number for number, names in enumerate(_MONTHS, start=1) for name in names}
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DAY_OF = {name: number for number, name in enumerate(_DAYS)}
_ORDINAL_DAYS = {
    word: number
    for number, word in enumerate(
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth".split(),
        start=1,
    )
}
_HOURS = {
    word: number
    for number, word in enumerate(
        "one two three four five six seven eight nine ten eleven twelve".split(), start=1
    )
}

_MONTH = r"(?P<month>Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\b\.?"
_YEAR = r"(?P<year>1[0-9]\d\d|20\d\d)(?![\d,]\d|\d)"
_NAMED = re.compile(
    r"(?:\b(?P<day1>\d{1,2})(?:st|nd|rd|th)?(?:\s+day)?(?:\s+of)?[\s\u00a0-]+)?(?:\b(?:early|mid|late)[\s-]+)?\b"
    + _MONTH
    + r"(?:[\s\u00a0]+(?:the\s+)?(?P<day2>\d{1,2})(?:st|nd|rd|th)?(?![\d:.]\d|\d|\s?(?:a\.?m|p\.?m|%))\b)?"
    r"(?:,?(?:\s+of)?[\s\u00a0-]+" + _YEAR + r")?"
)
_ISO = re.compile(
    r"(?<![\d-])(?P<year>[12]\d{3})-(?P<month>0[1-9]|1[0-2])(?:-(?P<day>0[1-9]|[12]\d|3[01]))?(?![\d-]\d|\d)"
)
_SLASHED = re.compile(
    r"(?<![\d/.])(?P<a>\d{1,2})(?P<sep>[/.])(?P<b>\d{1,2})(?P=sep)(?P<year>\d{4}|\d\d)(?![\d/])"
)
_QUARTER = re.compile(
    r"\b(?:Q(?P<n>[1-4])|(?P<word>first|second|third|fourth|1st|2nd|3rd|4th)[ -]quarter)"
    r"(?:(?:\s+(?:of\s+)?(?:fiscal\s+)?|[-/ ])" + _YEAR + r")?"
)
_YEAR_ONLY = re.compile(
    r"(?<![\w.,/$€£¥₹#:-])(?P<year>1[0-9]\d\d|20\d\d)(?P<decade>['’]?s\b)?(?![\w%/]|[.,:]\d|-\d{3,})"
)
_YEAR_RANGE = re.compile(
    r"(?<![\w.,/$€£¥])(?P<from>1[0-9]\d\d|20\d\d)\s?[-–—/]\s?(?P<to>1[0-9]\d\d|20\d\d|\d\d)(?![\w%]|[.,]\d)"
)
_CENTURY = re.compile(r"\b(?P<n>\d{1,2})(?:st|nd|rd|th)[ -]century\b", re.IGNORECASE)
_WEEKDAY = re.compile(r"\b(?P<day>Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?\b")
_CLOCK = re.compile(
    r"(?<![\d:.,])(?P<h>[01]?\d|2[0-4])(?:(?P<sep>[:.h])(?P<m>[0-5]\d))?\s?(?P<half>[ap])\.?\s?m\b\.?"
    r"|(?<![\d:.,])(?P<h24>[01]?\d|2[0-4]):(?P<m24>[0-5]\d)(?::[0-5]\d)?(?!\d|:)"
    r"|\b(?P<past>half past|quarter past|quarter to) (?P<hour>" + "|".join(_HOURS) + r"|\d{1,2})\b"
    r"|\b(?P<hour2>" + "|".join(_HOURS) + r"|\d{1,2}) o['’]clock\b|\b(?P<word>noon|midday|midnight)\b",
    re.IGNORECASE,
)
_COUNTED = re.compile(
    r"\s(?!(?:season|series|census|elections?|games|olympics|is|was|has|years)\b)[a-z]{3,}s\b"
)
_YEAR_LEAD = re.compile(
    r"(?:\b(?:in|since|by|of|from|until|till|to|during|before|after|around|circa|c\.|between|and|for|"
    r"year|years|early|mid|late|through|fiscal|calendar|FY|the)[\s-]|[(\[–—,;-]\s?)$",
    re.IGNORECASE,
)


def dates(text: str) -> tuple[Date, ...]:
    """Every date and time of a text in order, without overlap; the cost is linear in its length."""
    found = [
        *_named(text), *_iso(text), *_slashed(text), *_quarters(text), *_clock(text), *_centuries(text), *_ranges(text),
        *_years(text), *_weekdays(text),
    ]  # fmt: skip
    found.sort(key=lambda date: (date.start, -date.end))
    kept: list[Date] = []
    end = 0
    for date in found:
        if date.start >= end:
            kept.append(date)
            end = date.end
    return tuple(kept)


def _named(text: str) -> Iterable[Date]:
    for match in _NAMED.finditer(text):
        month = _MONTH_OF[match["month"].lower()]
        day = int(match["day1"] or match["day2"] or 0)
        year = int(match["year"]) if match["year"] else None
        if day > 31:
            continue
        if not day and not year and len(match["month"]) <= 3 and not _surely_month(text, match):
            continue
        end = match.end()
        # A closing dot belongs to the abbreviation only when something of the date follows it.
        if text[end - 1] == "." and len(match["month"]) > 4:
            end -= 1
        start = match.start()
        kind = DateKind.DAY if day else DateKind.MONTH
        yield Date(start, end, text[start:end], kind, year, month, day or None)


def _surely_month(text: str, match: re.Match[str]) -> bool:
    """Whether a lone "May" or "Mar" is a month rather than a verb or a name."""
    lead = text[max(match.start() - 12, 0) : match.start("month")].split()
    return bool(lead) and lead[-1].lower() in {
        "in", "since", "until", "till", "by", "from", "to", "of", "early", "mid", "late", "during", "and", "or",
        "before", "after", "every", "each", "last", "next", "this", "through", "mid-", "between",
    }  # fmt: skip


def _iso(text: str) -> Iterable[Date]:
    for match in _ISO.finditer(text):
        day = int(match["day"]) if match["day"] else None
        kind = DateKind.DAY if day else DateKind.MONTH
        yield Date(match.start(), match.end(), match[0], kind, int(match["year"]), int(match["month"]), day)


def _slashed(text: str) -> Iterable[Date]:
    for match in _SLASHED.finditer(text):
        first, second, year = int(match["a"]), int(match["b"]), int(match["year"])
        if len(match["year"]) == 2:
            year += 2000 if year < 70 else 1900
        day, month = (first, second) if second <= 12 else (second, first)
        if not 1 <= month <= 12 or not 1 <= day <= 31:
            continue
        either = first <= 12 and second <= 12 and match["sep"] == "/"
        yield Date(match.start(), match.end(), match[0], DateKind.DAY, year, month, day, swapped=either)


def _quarters(text: str) -> Iterable[Date]:
    names = {"first": 1, "second": 2, "third": 3, "fourth": 4, "1st": 1, "2nd": 2, "3rd": 3, "4th": 4}
    for match in _QUARTER.finditer(text):
        number = int(match["n"]) if match["n"] else names[match["word"].lower()]
        year = int(match["year"]) if match["year"] else None
        yield Date(match.start(), match.end(), match[0], DateKind.QUARTER, year, quarter=number)


def _centuries(text: str) -> Iterable[Date]:
    for match in _CENTURY.finditer(text):
        yield Date(match.start(), match.end(), match[0], DateKind.DECADE, int(match["n"]) * 100 - 100)


def _ranges(text: str) -> Iterable[Date]:
    for match in _YEAR_RANGE.finditer(text):
        first = int(match["from"])
        last = int(match["to"]) if len(match["to"]) == 4 else first - first % 100 + int(match["to"])
        if last > first:
            yield Date(match.start("from"), match.end("from"), match["from"], DateKind.YEAR, first)
            yield Date(match.start("to"), match.end("to"), match["to"], DateKind.YEAR, last)


def _years(text: str) -> Iterable[Date]:
    for match in _YEAR_ONLY.finditer(text):
        year = int(match["year"])
        if match["decade"] and year % 10 == 0:
            yield Date(match.start(), match.end(), match[0], DateKind.DECADE, year)
        elif not match["decade"] and (
            _YEAR_LEAD.search(text, max(match.start() - 12, 0), match.start())
            or not (year < 1500 or _COUNTED.match(text, match.end()))
        ):
            yield Date(match.start(), match.end(), match[0], DateKind.YEAR, year)


def _weekdays(text: str) -> Iterable[Date]:
    for match in _WEEKDAY.finditer(text):
        weekday = _DAY_OF[match["day"].lower() + "day"]
        yield Date(match.start(), match.end(), match[0], DateKind.WEEKDAY, weekday=weekday)


def _clock(text: str) -> Iterable[Date]:
    for match in _CLOCK.finditer(text):
        half_day = False
        if match["word"]:
            minute = 0 if match["word"].lower() == "midnight" else 720
        elif match["h24"]:
            minute = int(match["h24"]) % 24 * 60 + int(match["m24"])
            half_day = minute < 13 * 60 and not match["h24"].startswith("0")
        elif match["half"]:
            hour = int(match["h"])
            if not 1 <= hour <= 12:
                continue
            minute = hour % 12 * 60 + int(match["m"] or 0) + (720 if match["half"] in "pP" else 0)
        else:
            name = (match["hour"] or match["hour2"]).lower()
            hour = _HOURS.get(name) or int(name)
            offset = {"half past": 30, "quarter past": 15, "quarter to": -15}.get(
                (match["past"] or "").lower(), 0
            )
            minute, half_day = (hour * 60 + offset) % 1440, True
        yield Date(match.start(), match.end(), match[0], DateKind.TIME, minute=minute, half_day=half_day)


def spans(found: Sequence[Date]) -> list[Span]:
    """Where the dates stand, for `quantities(skip=…)`."""
    return [Span(date.start, date.end) for date in found]


def same(claim: Date, source: Date) -> bool:
    """Whether the source names everything the claim names, with the same values.

    A source may be finer (14 March 2019 for March 2019), never coarser.
    """
    if claim.kind is DateKind.TIME:
        return source.minute is not None and claim.minute is not None and _same_time(claim, source)
    if claim.kind is DateKind.WEEKDAY:
        return claim.weekday == source.weekday
    if claim.kind is DateKind.DECADE:
        width = 100 if "century" in claim.text.lower() else 10
        return source.year is not None and claim.year is not None and 0 <= source.year - claim.year < width
    if claim.year is not None and claim.year != source.year:
        return False
    if claim.quarter is not None:
        return claim.quarter == source.quarter or (
            source.month is not None and (source.month + 2) // 3 == claim.quarter
        )
    if source.kind is DateKind.DECADE or source.minute is not None:
        return False
    return _same_day(claim, source)


def _same_day(claim: Date, source: Date) -> bool:
    if claim.month is None:
        return True
    orders = [(source.day, source.month)]
    if source.swapped or claim.swapped:
        orders.append((source.month, source.day))
    return any(claim.month == month and (claim.day is None or claim.day == day) for day, month in orders)


def _same_time(claim: Date, source: Date) -> bool:
    assert claim.minute is not None and source.minute is not None
    difference = abs(claim.minute - source.minute)
    return difference == 0 or (difference == 720 and (claim.half_day or source.half_day))


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
