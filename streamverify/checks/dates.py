"""Dates, years, quarters, decades, weekdays and clock times: read out of a text and compared.

A date is the set of fields it names. A source backs a date when it names the same fields with the
same values, in one place or, for the year, in another: "14 March" in a text about 2019.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from streamverify.text.words import listed
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
    ("january", "jan"), ("february", "feb"), ("march", "mar"), ("april", "apr"), ("may", "may"), (
        "june", "jun"),
    ("july", "jul"), ("august", "aug"), ("september", "sept", "sep"), ("october", "oct"), ("november", "nov"),
    ("december", "dec"),
)  # fmt: skip
_MONTH_OF = {name: number for number, names in enumerate(_MONTHS, start=1) for name in names}
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NOONS = {"noon": 720, "midday": 720, "midnight": 0}
_QUARTERS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "1st": 1, "2nd": 2, "3rd": 3, "4th": 4}
_HOURS = {
    word: number
    for number, word in enumerate(
        listed("one two three four five six seven eight nine ten eleven twelve"), start=1
    )
}

# The next two begin with letters, not with a border of words: the search skips to one of those letters, and
# whether a word begins there is looked up (`_whole`). No match holds a second place where one could begin.
_MONTH = re.compile(
    r"(?P<month>Jan(?:uary)?|Feb(?:ruary)?|Ma(?:r(?:ch)?|y)|A(?:pr(?:il)?|ug(?:ust)?)|Ju(?:ne?|ly?)"
    r"|Sept?(?:ember)?"
    r"|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\b\.?"
    r"(?:[\s\u00a0]+(?:the\s+)?(?P<day>\d{1,2})(?:st|nd|rd|th)?(?![\d:.]\d|\d|\s?(?:a\.?m|p\.?m|%))\b)?"
    r"(?:,?(?:\s+of)?[\s\u00a0-]+(?P<year>1[0-9]\d\d|20\d\d)(?![\d,]\d|\d))?"
)
_BEFORE_MONTH = re.compile(
    r"(?:\b(?P<day>\d{1,2})(?:st|nd|rd|th)?(?:\s+day)?(?:\s+of)?[\s\u00a0-]+)?(?:\b(?:early|mid"
    r"|late)[\s-]+)?$",
    re.IGNORECASE,
)
_WORD_LED = re.compile(
    r"(?:Q[1-4]|Quarter|quarter|Mondays?|Tuesdays?|Thursdays?|Wednesdays?|Fridays?|Saturdays?|Sundays?"
    r"|Half past|half past|Noon|noon|Midday|midday|Midnight|midnight|o['’]clock)\b"
)
_ORDINAL_BEFORE = re.compile(r"\b(first|second|third|fourth|1st|2nd|3rd|4th)[ -]$")
_PAST = re.compile(r" (past|to) ([a-z]+|\d{1,2})\b")
_HOUR = re.compile(r" ([a-z]+|\d{1,2})\b")
_HOUR_BEFORE = re.compile(r"\b([a-z]+|\d{1,2}) $", re.IGNORECASE)
_YEAR_AFTER = re.compile(r"(?:\s+(?:of\s+)?(?:fiscal\s+)?|[-/ ])(1[0-9]\d\d|20\d\d)\b")
_NUMBER = re.compile(r"\d+")
_ISO = re.compile(
    r"(?P<year>[12]\d{3})-(?P<month>0[1-9]|1[0-2])(?:-(?P<day>0[1-9]|[12]\d|3[01]))?(?![\d-]\d|\d)"
)
_SLASHED = re.compile(r"(?P<a>\d{1,2})(?P<sep>[/.])(?P<b>\d{1,2})(?P=sep)(?P<year>\d{4}|\d\d)(?![\d/])")
_YEAR_RANGE = re.compile(
    r"(?P<from>1[0-9]\d\d|20\d\d)\s?[-–—/]\s?(?P<to>1[0-9]\d\d|20\d\d|\d\d)(?![\w%]|[.,]\d|-\d)"
)
_YEAR = re.compile(r"(?P<year>1[0-9]\d\d|20\d\d)(?P<decade>['’]?s\b)?(?![\w%/]|[.,:]\d|-\d{3,})")
_CENTURY = re.compile(r"(?P<n>\d{1,2})(?:st|nd|rd|th)[ -][Cc]entury\b")
_CLOCK = re.compile(
    r"(?P<h>[01]?\d|2[0-4])(?:[:.h](?P<m>[0-5]\d))?\s?(?P<half>[ap])\.?\s?m\b\.?"
    r"|(?P<h24>[01]?\d|2[0-4]):(?P<m24>[0-5]\d)(?::[0-5]\d)?(?!\d|:)",
    re.IGNORECASE,
)
_YEAR_PREFIX = re.compile(r"\b(?:mid|pre|post|early|late)-$", re.IGNORECASE)
_COUNTED = re.compile(
    r"\s(?!(?:season|series|census|elections?|games|olympics|is|was|has|years)\b)[a-z]{3,}s\b"
)
_YEAR_LEAD = re.compile(
    r"(?:\b(?:in|since|by|of|from|until|till|to|during|before|after|around|circa|c\.|between|and|for"
    r"|years?|early|mid|late|through|fiscal|calendar|FY|the)[\s-]|[(\[–—,;-]\s?)$",
    re.IGNORECASE,
)


def dates(text: str) -> tuple[Date, ...]:
    """Every date and time of a text in order, without overlap; the cost is linear in its length."""
    found = [*_named(text), *_word_led(text), *_digit_led(text)]
    found.sort(key=lambda date: (date.start, -date.end))
    kept: list[Date] = []
    end = 0
    for date in found:
        if date.start >= end:
            kept.append(date)
            end = date.end
    return tuple(kept)


def _whole(pattern: re.Pattern[str], text: str) -> Iterable[re.Match[str]]:
    """What a pattern that begins with a letter finds at the beginning of words."""
    for match in pattern.finditer(text):
        before = text[match.start() - 1] if match.start() else " "
        if not (before.isalnum() or before == "_"):
            yield match


def _named(text: str) -> Iterable[Date]:
    for match in _whole(_MONTH, text):
        month = _MONTH_OF[match["month"].lower()]
        before = _BEFORE_MONTH.search(text, max(match.start() - 24, 0), match.start())
        lead = before["day"] if before else None
        day = int(match["day"] or lead or 0)
        year = int(match["year"]) if match["year"] else None
        if day > 31 or (not day and not year and len(match["month"]) <= 3 and not _surely_month(text, match)):
            continue
        start, end = before.start() if before and not match["day"] else match.start(), match.end()
        # A closing dot belongs to the abbreviation only when something of the date follows it.
        if text[end - 1] == "." and len(match["month"]) > 4:
            end -= 1
        kind = DateKind.DAY if day else DateKind.MONTH
        yield Date(start, end, text[start:end], kind, year, month, day or None)


def _surely_month(text: str, match: re.Match[str]) -> bool:
    """Whether a lone "May" or "Mar" is a month rather than a verb or a name."""
    lead = text[max(match.start() - 12, 0) : match.start("month")].split()
    if not lead:
        return False
    if match["month"] == "May":
        return lead[-1][-1] not in '.!?:;"“'
    return lead[-1].lower() in {
        "in", "since", "until", "till", "by", "from", "to", "of", "early", "mid", "late", "during",
            "and", "or",
        "before", "after", "every", "each", "last", "next", "this", "through", "mid-", "between",
    }  # fmt: skip


def _word_led(text: str) -> Iterable[Date]:
    for match in _whole(_WORD_LED, text):
        start, end = match.span()
        word = match[0].lower()
        if (day := word.removesuffix("s")) in _DAYS:
            yield Date(start, end, match[0], DateKind.WEEKDAY, weekday=_DAYS.index(day))
        elif word in _NOONS:
            yield Date(start, end, match[0], DateKind.TIME, minute=_NOONS[word])
        elif word.endswith("clock"):
            hour = _HOUR_BEFORE.search(text, max(start - 8, 0), start)
            yield from _by_hour(text, hour.start(1), end, hour[1], 0) if hour else ()
        elif word == "half past":
            hour = _HOUR.match(text, end)
            yield from _by_hour(text, start, hour.end(), hour[1], 30) if hour else ()
        else:
            yield from _quarter(text, match)


def _quarter(text: str, match: re.Match[str]) -> Iterable[Date]:
    """A quarter of a year ("Q3 2021", "third quarter") or of an hour ("quarter to four")."""
    start, end = match.span()
    past = _PAST.match(text, end)
    if past:
        return _by_hour(text, start, past.end(), past[2], 15 if past[1] == "past" else -15)
    ordinal = _ORDINAL_BEFORE.search(text, max(start - 8, 0), start)
    told = match[0][1:] if match[0][0] == "Q" and match[0][1:].isdecimal() else ""
    if not told and not ordinal:
        return []
    number = int(told) if told else _QUARTERS[ordinal[1]] if ordinal else 0
    year = _YEAR_AFTER.match(text, end)
    start, end = ordinal.start() if ordinal else start, year.end() if year else end
    return [
        Date(start, end, text[start:end], DateKind.QUARTER, int(year[1]) if year else None, quarter=number)
    ]


def _by_hour(text: str, start: int, end: int, name: str, offset: int) -> list[Date]:
    hour = _HOURS.get(name.lower()) or (int(name) if name.isdecimal() else 0)
    if not 1 <= hour <= 24:
        return []
    minute = (hour * 60 + offset) % 1440
    return [Date(start, end, text[start:end], DateKind.TIME, minute=minute, half_day=True)]


def _digit_led(text: str) -> Iterable[Date]:
    """Dates that begin with a digit; every number is looked at once, by the readings in order."""
    for number in _NUMBER.finditer(text):
        start, end = number.span()
        readings = _READINGS.get(end - start, ())
        if not readings or _within_word(text, start):
            continue
        for read in readings:
            found = read(text, start)
            if found:
                yield from found
                break


def _within_word(text: str, start: int) -> bool:
    """Whether digits go on with what stands before them, so that no date begins there; "mid-2020" does."""
    before = text[start - 1] if start else " "
    if before.isalpha() or before in "_.,:/$€£¥₹#":
        return True
    joined = before == "-" and start > 1 and text[start - 2].isalnum()
    return joined and _YEAR_PREFIX.search(text, max(start - 6, 0), start) is None


def _iso(text: str, start: int) -> list[Date]:
    match = _ISO.match(text, start)
    if match is None:
        return []
    day = int(match["day"]) if match["day"] else None
    kind = DateKind.DAY if day else DateKind.MONTH
    return [Date(start, match.end(), match[0], kind, int(match["year"]), int(match["month"]), day)]


def _slashed(text: str, start: int) -> list[Date]:
    match = _SLASHED.match(text, start)
    if match is None:
        return []
    first, second, year = int(match["a"]), int(match["b"]), int(match["year"])
    if len(match["year"]) == 2:
        year += 2000 if year < 70 else 1900
    day, month = (first, second) if second <= 12 else (second, first)
    if not 1 <= month <= 12 or not 1 <= day <= 31:
        return []
    either = first <= 12 and second <= 12 and match["sep"] == "/"
    return [Date(start, match.end(), match[0], DateKind.DAY, year, month, day, swapped=either)]


def _clock(text: str, start: int) -> list[Date]:
    match = _CLOCK.match(text, start)
    if match is None:
        return []
    if match["h24"]:
        minute = int(match["h24"]) % 24 * 60 + int(match["m24"])
        half_day = minute < 13 * 60 and not match["h24"].startswith("0")
        return [Date(start, match.end(), match[0], DateKind.TIME, minute=minute, half_day=half_day)]
    hour = int(match["h"])
    if not 1 <= hour <= 12:
        return []
    minute = hour % 12 * 60 + int(match["m"] or 0) + (720 if match["half"] in "pP" else 0)
    return [Date(start, match.end(), match[0], DateKind.TIME, minute=minute)]


def _century(text: str, start: int) -> list[Date]:
    match = _CENTURY.match(text, start)
    if match is None:
        return []
    return [Date(start, match.end(), match[0], DateKind.DECADE, int(match["n"]) * 100 - 100)]


def _range(text: str, start: int) -> list[Date]:
    match = _YEAR_RANGE.match(text, start)
    if match is None:
        return []
    first = int(match["from"])
    last = int(match["to"]) if len(match["to"]) == 4 else first - first % 100 + int(match["to"])
    if last <= first:
        return []
    ends = (("from", first), ("to", last))
    return [Date(*match.span(name), match[name], DateKind.YEAR, year) for name, year in ends]


def _year(text: str, start: int) -> list[Date]:
    match = _YEAR.match(text, start)
    if match is None:
        return []
    year = int(match["year"])
    if match["decade"]:
        return [Date(start, match.end(), match[0], DateKind.DECADE, year)] if year % 10 == 0 else []
    told = _YEAR_LEAD.search(text, max(start - 12, 0), start) is not None
    if told or (year >= 1500 and not _COUNTED.match(text, match.end())):
        return [Date(start, match.end(), match[0], DateKind.YEAR, year)]
    return []


_SHORT = (_slashed, _clock, _century)
_READINGS = {1: _SHORT, 2: _SHORT, 4: (_iso, _range, _year)}
"""How to read dates that begin with a number of so many digits."""


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
        width = 100 if "century" in claim.text.lower() else 10
        return source.year is not None and claim.year is not None and 0 <= source.year - claim.year < width
    if claim.year is not None and (claim.year != source.year or source.kind is DateKind.DECADE):
        return False
    if claim.quarter is not None:
        in_quarter = source.month is not None and (source.month + 2) // 3 == claim.quarter
        return in_quarter or claim.quarter == source.quarter
    return _same_day(claim, source)


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
