"""Dates, years, quarters, decades, weekdays and clock times: read out of a text.

Before: any text, of which `clock_times.py` reads the times of day. After: `date.py` compares what is found
here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from streamverify.checks.clock_times import (
    ClockTime,
    behind_date,
    by_clock,
    clock_at,
    half_past,
    in_hours,
    military,
    noon,
    quarter_past,
)
from streamverify.checks.date import Date, DateKind, DatePool, same, spans
from streamverify.checks.day_ranges import day_before, day_behind
from streamverify.checks.eras import ERAS, era
from streamverify.checks.number_words import spelled
from streamverify.checks.units import UNITS
from streamverify.checks.weekdays import SHORT, stands_for_a_day, weekday
from streamverify.checks.zones import zone_behind
from streamverify.text.calendar import MONTHS, SHORT_MONTHS
from streamverify.text.words import STOP_WORDS, listed

__all__ = ["Date", "DateKind", "DatePool", "dates", "same", "spans"]


_MONTH_OF = {
    name: number
    for number, month in enumerate(MONTHS, start=1)
    for name in (month, *(short for short in SHORT_MONTHS if month.startswith(short)))
}
_QUARTERS = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "final": 4, "last": 4,
    "1st": 1, "2nd": 2, "3rd": 3, "4th": 4,
}  # fmt: skip

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
    r"(?:\b(?:(?P<day>\d{1,2})(?:st|nd|rd|th)?(?:\s+day)?(?:\s+of)?"
    r"|(?P<word>(?:(?:twenty|thirty)[- ])?[a-z]{4,11})(?:\s+day)?\s+of)[\s\u00a0-]+)?"
    r"(?:\b(?:early|mid|late)[\s-]+)?$",
    re.IGNORECASE,
)
_WORD_LED = re.compile(
    r"(?:Q[1-4]|FY|Quarter|quarter|Mondays?|Tuesdays?|Thursdays?|Wednesdays?|Fridays?|Saturdays?|Sundays?"
    rf"|{ERAS}|{SHORT}|[Hh]alf past|[Nn]oon|[Mm]idday|[Mm]idnight|o['’]clock)(?:\b|(?<=FY)(?=\d))"
)
_ORDINAL_BEFORE = re.compile(
    r"\b(first|second|third|fourth|final|last|1st|2nd|3rd|4th)[ -](?:fiscal |calendar )?$",
    re.IGNORECASE | re.ASCII,
)
_YEAR_AFTER = re.compile(
    r"(?:\s+(?:of\s+)?(?:(?:fiscal|the)\s+)?(?:year\s+)?(?:FY\s?)?|[-/ ])(1[0-9]\d\d|20\d\d)\b"
)
_FISCAL = re.compile(r"(?:\s|\s?['’])?(?P<from>20\d\d|\d\d)(?:\s?[-–/]\s?(?P<to>20\d\d|\d\d))?(?!\w|[.,]\d)")
_NUMBER = re.compile(r"\d+")
_ISO = re.compile(
    r"(?P<year>[12]\d{3})-(?P<month>0[1-9]|1[0-2])(?:-(?P<day>0[1-9]|[12]\d|3[01]))?(?![\d-]\d|\d)"
)
_YEAR_FIRST = re.compile(
    r"(?P<year>[12]\d{3})/(?P<month>0?[1-9]|1[0-2])/(?P<day>0?[1-9]|[12]\d|3[01])(?![\d/])"
)
_MONTH_AND_YEAR = re.compile(r"(?P<month>0[1-9]|1[0-2])/(?P<year>(?:19|20)\d\d)(?![\d/.-]\d|[\d/])")
_SLASHED = re.compile(r"(?P<a>\d{1,2})(?P<sep>[/.-])(?P<b>\d{1,2})(?P=sep)(?P<year>\d{4}|\d\d)(?![\d/-])")
_YEAR_RANGE = re.compile(
    r"(?P<from>1[0-9]\d\d|20\d\d)\s?[-–—/]\s?(?P<to>1[0-9]\d\d|20\d\d|\d\d)(?![\w%]|[.,]\d|-\d)"
)
_YEAR = re.compile(r"(?P<year>1[0-9]\d\d|20\d\d)(?P<decade>['’]?s\b)?(?![\w%/]|[.,:]\d|-\d{3,})")
_CENTURY = re.compile(r"(?P<n>\d{1,2})(?:st|nd|rd|th)[ -][Cc]entury\b")
_YEAR_PREFIX = re.compile(r"\b(?:mid|pre|post|early|late)-$", re.IGNORECASE)
_COUNTED = re.compile(
    r"\s(?!(?:season|series|census|elections?|games|olympics|is|was|has|years)\b)[a-z]{3,}s\b"
)
_UNIT_BEHIND = re.compile(r"\s?([^\W\d_]+)(?![\w'’])")
_ALSO_MEASURED = frozenset(listed("m g l t percent hours hrs minutes mins ms days weeks"))
"""Units of one small letter, of shares and of time that seldom follow a year as words (in 1998 seconds)."""
_MEASURED = frozenset({
    name
    for name, unit in UNITS.items()
    if name in _ALSO_MEASURED
    or (
        unit.dimension
        in {"length", "area", "volume", "mass", "bytes", "watts", "watt hours", "hertz", "volts", "amperes",
            "pressure", "joules"}
        and len(name) > 1
        and name not in STOP_WORDS
        and (name != name.lower() or len(name) == 2 or name.endswith("s") or name == "feet")
    )
})  # fmt: skip
"""Names of units of a thing: a number with one of them behind it is no year, whatever stands before it."""
_SHORT_YEAR = re.compile(r"(?P<year>\d\d)(?P<decade>s\b)?(?![\w%/'’]|[.,:]\d|-\d|\s(?:per\s?cent|%))")
_APOSTROPHE = re.compile(r"(?:^|[\s(–—-])['’‘]$")
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
        lead = _day_before(before) if before else 0
        day = int(match["day"] or lead)
        year = int(match["year"]) if match["year"] else None
        if day > 31 or (not day and not year and len(match["month"]) <= 3 and not _surely_month(text, match)):
            continue
        # What stood there may be any word: "the end of May".
        own = before is not None and not match["day"] and (lead > 0 or not before["word"])
        start, end = before.start() if before is not None and own else match.start(), match.end()
        # A closing dot belongs to the abbreviation only when something of the date follows it.
        if text[end - 1] == "." and len(match["month"]) > 4:
            end -= 1
        other = None
        if match["day"]:
            other = day_behind(text, end, day)
            year = year or (other.year if other is not None else None)
        elif own and lead and before is not None and before["day"]:
            other = day_before(text, before.start("day"), day)
        if other is not None:
            place = other.place
            yield Date(*place, text[place.start : place.end], DateKind.DAY, year, month, other.day)
        kind = DateKind.DAY if day else DateKind.MONTH
        yield Date(start, end, text[start:end], kind, year, month, day or None)


def _day_before(match: re.Match[str]) -> int:
    """The day of a month that stands before it, in figures or in words ("the third of"); 0 without one."""
    if match["day"] or not match["word"]:
        return int(match["day"] or 0)
    nth = next(iter(spelled(match["word"], 0, len(match["word"]))), None)
    return int(nth.value) if nth is not None and nth.ordinal and nth.end == len(match["word"]) else 0


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
        if (day := weekday(word)) is not None:
            if len(word) > 5 or stands_for_a_day(text, start, end):
                yield Date(start, end, match[0], DateKind.WEEKDAY, weekday=day)
        elif moment := _spoken(text, word, start, end):
            yield _time(text, moment)
        elif word.startswith("centur") or word.endswith("ties"):
            yield from era(text, start, end)
        elif word == "fy":
            yield from _fiscal(text, start, end)
        else:
            yield from _quarter(text, match)


def _spoken(text: str, word: str, start: int, end: int) -> ClockTime | None:
    """The time of day that a lowered word tells together with those around it."""
    if word.endswith("clock"):
        return by_clock(text, start, end)
    if word == "half past":
        return half_past(text, start, end)
    return quarter_past(text, start, end) if word == "quarter" else noon(word, start)


def _time(text: str, moment: ClockTime) -> Date:
    start, end, minute, half_day = moment
    zone, end = zone_behind(text, end)
    return Date(start, end, text[start:end], DateKind.TIME, minute=minute, half_day=half_day, zone=zone)


def _fiscal(text: str, start: int, end: int) -> list[Date]:
    """The years of FY24, FY 2024 and FY2023/24: of two, both, since firms name theirs after either."""
    match = _FISCAL.match(text, end)
    if match is None:
        return []
    first = int(match["from"]) % 100 + 2000
    found = [Date(start, match.end("from"), text[start : match.end("from")], DateKind.YEAR, first)]
    if match["to"]:
        last = int(match["to"]) % 100 + 2000
        found.append(Date(*match.span("to"), match["to"], DateKind.YEAR, last))
    return found


def _quarter(text: str, match: re.Match[str]) -> Iterable[Date]:
    """A quarter of a year ("Q3 2021", "third quarter")."""
    start, end = match.span()
    ordinal = _ORDINAL_BEFORE.search(text, max(start - 17, 0), start)
    told = match[0][1:] if match[0][0] == "Q" and match[0][1:].isdecimal() else ""
    if not told and not ordinal:
        return []
    number = int(told) if told else _QUARTERS[ordinal[1].lower()] if ordinal else 0
    year = _YEAR_AFTER.match(text, end)
    if ordinal and not year and ordinal[1].lower() in {"final", "last"}:
        return []  # the one before this one, or of a game
    start, end = ordinal.start() if ordinal else start, year.end() if year else end
    return [
        Date(start, end, text[start:end], DateKind.QUARTER, int(year[1]) if year else None, quarter=number)
    ]


def _digit_led(text: str) -> Iterable[Date]:
    """Dates that begin with a digit; every number is looked at once, by the readings in order."""
    timed = -1  # where the last time of day ended
    for number in _NUMBER.finditer(text):
        start, end = number.span()
        readings = _READINGS.get(end - start, ())
        joined = timed == start - 1 and text[timed] == "-"  # 9:00-17:00
        if not readings or (_within_word(text, start) and not joined):
            continue
        for read in readings:
            found = read(text, start)
            if found:
                yield from found
                timed = found[-1].end if found[-1].minute is not None else -1
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
    date = Date(start, match.end(), match[0], kind, int(match["year"]), int(match["month"]), day)
    moment = behind_date(text, match.end()) if day else None
    return [date, _time(text, moment)] if moment else [date]


def _year_first(text: str, start: int) -> list[Date]:
    match = _YEAR_FIRST.match(text, start)
    if match is None:
        return []
    year, month, day = (int(match[name]) for name in ("year", "month", "day"))
    return [Date(start, match.end(), match[0], DateKind.DAY, year, month, day)]


def _slashed(text: str, start: int) -> list[Date]:
    match = _SLASHED.match(text, start)
    if match is None:
        return []
    first, second, year = int(match["a"]), int(match["b"]), int(match["year"])
    if len(match["year"]) == 2 and match["sep"] == "-":
        return []  # parts of a number
    if len(match["year"]) == 2:
        year += 2000 if year < 70 else 1900
    day, month = (first, second) if second <= 12 else (second, first)
    if not 1 <= month <= 12 or not 1 <= day <= 31:
        return []
    either = first <= 12 and second <= 12 and match["sep"] in "/-"
    return [Date(start, match.end(), match[0], DateKind.DAY, year, month, day, swapped=either)]


def _month_and_year(text: str, start: int) -> list[Date]:
    match = _MONTH_AND_YEAR.match(text, start)
    if match is None:
        return []
    return [Date(start, match.end(), match[0], DateKind.MONTH, int(match["year"]), int(match["month"]))]


def _clock(text: str, start: int) -> list[Date]:
    moment = clock_at(text, start)
    return [_time(text, moment)] if moment else []


def _military(text: str, start: int) -> list[Date]:
    moment = military(text, start)
    return [_time(text, moment)] if moment else []


def _hours(text: str, start: int) -> list[Date]:
    return [_time(text, moment) for moment in in_hours(text, start)]


def _short_year(text: str, start: int) -> list[Date]:
    """A year or a decade of which an apostrophe takes the century's place: '98, the '90s.

    Years up to '29 are taken for this century's; a decade may be any century's.
    """
    match = _SHORT_YEAR.match(text, start)
    if match is None or _APOSTROPHE.search(text, max(start - 2, 0), start) is None:
        return []
    year = int(match["year"]) + (1900 if int(match["year"]) >= 30 else 2000)
    first, end = start - 1, match.end()
    if match["decade"]:
        decade = Date(first, end, text[first:end], DateKind.DECADE, year, open_century=True)
        return [decade] if year % 10 == 0 else []
    if _YEAR_LEAD.search(text, max(first - 12, 0), first) is None or _counted(text, end):
        return []
    return [Date(first, end, text[first:end], DateKind.YEAR, year)]


def _century(text: str, start: int) -> list[Date]:
    match = _CENTURY.match(text, start)
    if match is None:
        return []
    return [Date(start, match.end(), match[0], DateKind.DECADE, int(match["n"]) * 100 - 100)]


def _range(text: str, start: int) -> list[Date]:
    match = _YEAR_RANGE.match(text, start)
    if match is None or _measured(text, match.end()):
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
    if _measured(text, match.end()):
        return []
    told = _YEAR_LEAD.search(text, max(start - 12, 0), start) is not None
    if told or (year >= 1500 and not _counted(text, match.end())):
        return [Date(start, match.end(), match[0], DateKind.YEAR, year)]
    return []


def _counted(text: str, end: int) -> bool:
    """Whether a number that ends there counts things: 1998 people or 2,048 MB, and no year."""
    return _COUNTED.match(text, end) is not None or _measured(text, end)


def _measured(text: str, end: int) -> bool:
    unit = _UNIT_BEHIND.match(text, end)
    return unit is not None and unit[1] in _MEASURED


_SHORT = (_slashed, _clock, _hours, _century)
_READINGS = {
    1: _SHORT,
    2: (_month_and_year, *_SHORT, _short_year),
    4: (_iso, _year_first, _military, _range, _year),
}
"""How to read dates that begin with a number of so many digits."""
