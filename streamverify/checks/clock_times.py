"""Clock times read out of a text: 2:30 pm, 14:30, 14.30, 1430 hours, T14:30:00Z, 9-17h, half past two, noon.

Before: `dates.py` comes upon a number or a word that may begin one. After: it makes a date of what is found
here.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from streamverify.text.words import listed


class ClockTime(NamedTuple):
    """A time of day in a text; `start` and `end` are its offsets."""

    start: int
    end: int
    minute: int
    """Minutes after midnight."""
    half_day: bool = False
    """Whether it may also be 12 hours later: a time without a.m. or p.m."""


_NOONS = {"noon": 720, "midday": 720, "midnight": 0}
_HOURS = {
    word: number
    for number, word in enumerate(
        listed("one two three four five six seven eight nine ten eleven twelve"), start=1
    )
}
_PAST = re.compile(r" (past|to) ([a-z]+|\d{1,2})\b")
_HOUR = re.compile(r" ([a-z]+|\d{1,2})\b")
_HOUR_BEFORE = re.compile(r"\b([a-z]+|\d{1,2}) $", re.IGNORECASE)
_CLOCK = re.compile(
    r"(?P<h>[01]?\d|2[0-4])(?:[:.h](?P<m>[0-5]\d))?\s?(?P<half>[ap])\.?\s?m\b\.?"
    r"|(?P<h24>[01]?\d|2[0-4]):(?P<m24>[0-5]\d)(?::[0-5]\d)?(?!\d|:)",
    re.IGNORECASE,
)
_BEHIND_DATE = re.compile(
    r"T(?P<h>[01]\d|2[0-4]):?(?P<m>[0-5]\d)(?::?[0-5]\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?(?![\w:])"
)
_DOTTED = re.compile(
    r"(?P<h>[01]?\d|2[0-4])\.(?P<m>[0-5]\d)"
    r"(?:\s?(?:hours|hrs|h)\b(?!\s(?:of|per|an?)\b)"
    r"|(?=\s?$|[,;:)!?\]](?!\d)|\.(?!\w)|\s?[-–—]\s?\d"
    r"|\s(?:to|and|or|until|till|on|in|at|every|each|daily|sharp|local|for|with|but|except|UTC|GMT)\b))"
)
"""A time with a full stop; a unit, a currency, a share or any other word behind it makes it a number."""
_DOTTED_BEFORE = re.compile(
    r"(?:\b(?:from|to|at|until|till|by|between|and|before|after|since|about|around)\s|\d\s?[-–—]\s?)$",
    re.IGNORECASE,
)
_DOTTED_AFTER = re.compile(r"\s?(?:to|until|till|[-–—])\s?\d{1,2}\.\d\d")
_TIMELY = re.compile(
    r"\b(?:open(?:s|ed|ing)?|clos(?:e[sd]?|ing)|start(?:s|ed|ing)?|beg[aiu]n(?:s|ning)?|end(?:s|ed|ing)"
    r"|finish(?:es|ed)?|le(?:aves?|ft)|depart(?:s|ed|ure)?|arriv(?:es?|ed|al)|m(?:eets?|et)|happened|serve[sd]?"
    r"|hours|daily|week(?:day|end)s?|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|trains?|bus|ferry|flights?"
    r"|breakfast|lunch|dinner|doors|[ap]\.?m|o['’]clock|UTC|GMT)\b",
    re.IGNORECASE,
)
"""What speaks of the time of day: without it near by, 12.25 is a price, a score or a version."""
_PRICED = re.compile(
    r"\b(?:stocks?|shares?|prices?|priced|index|rates?|trad(?:ed|es|ing)|yields?|scores?|seconds|version)\b",
    re.IGNORECASE,
)
"""What opens and closes at 17.50 as well and tells no time."""
_HOURS_TO_HOURS = re.compile(
    r"(?P<from>[01]?\d|2[0-4])(?:\s?h(?P<past>[0-5]\d)?)?\s?(?:[-–—]|\b(?:to|until|till)\b)\s?"
    r"(?P<last>(?P<to>[01]?\d|2[0-4])\s?h(?P<later>[0-5]\d)?)\b(?!\s(?:of|per|an?|each)\b)"
)
_FROM = re.compile(r"\b(?:from|between)\s$", re.IGNORECASE)
_HOURS_BEFORE = re.compile(
    r"\b(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|satu?r?|sun)(?:days?)?|open(?:s|ed|ing)?|hours|weekdays"
    r"|weekends|daily|closed)\b",
    re.IGNORECASE,
)
"""What tells that figures with an h are hours of a clock; most are a span of time (4-6h)."""
_BESIDE_HOURS = re.compile(r"[\s.,:;(]{0,3}")
_SENTENCE_ENDS = re.compile(r"[.!?;\n]")
_MILITARY = re.compile(
    r"(?P<h>[01]\d|2[0-4])(?P<m>[0-5]\d)"
    r"(?=(?:\s?(?:hours|hrs|h)|(?:\sto\s|\s?[-–]\s?)[0-2]\d[0-5]\d\s?(?:hours|hrs|h))\b(?!\s(?:of|per|an?)\b))"
    r"(?:\s?(?:hours|hrs|h)\b)?"
)
_MILITARY_BEFORE = re.compile(
    r"(?:\b(?:at|from|until|till|between)\s|\d\d\d\d\sto\s|\d\d\d\d\s?[-–]\s?|\d\shours\sto\s)$",
    re.IGNORECASE,
)
_NEAR = 60
"""Characters before and behind a time with a full stop in which a word must speak of the time of day."""


def clock_at(text: str, start: int) -> ClockTime | None:
    """The clock time that begins with the number of one or two digits at `start`."""
    match = _CLOCK.match(text, start)
    if match is None:
        return _dotted(text, start)
    if match["h24"]:
        return _unhalved(match, match["h24"], match["m24"])
    hour = int(match["h"])
    if not 1 <= hour <= 12:
        return None
    minute = hour % 12 * 60 + int(match["m"] or 0) + (720 if match["half"] in "pP" else 0)
    return ClockTime(start, match.end(), minute)


def _dotted(text: str, start: int) -> ClockTime | None:
    match = _DOTTED.match(text, start)
    if match is None:
        return None
    end = match.end()
    if not (_DOTTED_BEFORE.search(text, max(start - 10, 0), start) or _DOTTED_AFTER.match(text, end)):
        return None
    near = max(start - _NEAR, 0), end + _NEAR
    if _TIMELY.search(text, *near) is None or _PRICED.search(text, *near):
        return None
    return _unhalved(match, match["h"], match["m"])


def _unhalved(match: re.Match[str], hour: str, minutes: str) -> ClockTime:
    """A time without a.m. or p.m.: it may be meant on either clock, unless it says 02:30 or 14:30."""
    minute = int(hour) % 24 * 60 + int(minutes)
    return ClockTime(*match.span(), minute, minute < 13 * 60 and not hour.startswith("0"))


def military(text: str, start: int) -> ClockTime | None:
    """The time of four digits at `start` (1700 hours), where it is no span of so many hours."""
    match = _MILITARY.match(text, start)
    if match is None:
        return None
    if text[start] != "0" and _MILITARY_BEFORE.search(text, max(start - 10, 0), start) is None:
        return None
    return ClockTime(*match.span(), int(match["h"]) % 24 * 60 + int(match["m"]))


def in_hours(text: str, start: int) -> list[ClockTime]:
    """Both times of a stretch that begins at `start` and is told in hours: 9-17h, from 9h to 17h30.

    What says that it is open then, or on which days, stands before it: in its sentence where a "from" leads
    it, else beside it.
    """
    both = _HOURS_TO_HOURS.match(text, start)
    before = [*_HOURS_BEFORE.finditer(text, max(start - _NEAR, 0), start)] if both else []
    if both is None or not before:
        return []
    after = before[-1].end()
    if _FROM.search(text, max(start - 10, 0), start):
        told = _SENTENCE_ENDS.search(text, after, start) is None
    else:
        told = _BESIDE_HOURS.fullmatch(text, after, start) is not None
    if not told:
        return []
    first = int(both["from"]) * 60 + int(both["past"] or 0)
    last = int(both["to"]) * 60 + int(both["later"] or 0)
    if not first < last <= 1440:
        return []
    halved = first < 780 and last < 780
    return [
        ClockTime(start, both.end("past") if both["past"] else both.end("from"), first % 1440, halved),
        ClockTime(*both.span("last"), last % 1440, halved),
    ]


def behind_date(text: str, end: int) -> ClockTime | None:
    """The time that follows an ISO date directly (T14:30:00Z); the zone is part of it and not read."""
    match = _BEHIND_DATE.match(text, end)
    if match is None:
        return None
    return ClockTime(*match.span(), int(match["h"]) % 24 * 60 + int(match["m"]))


def noon(word: str, start: int) -> ClockTime | None:
    """Noon or midnight, when the lowered word is one."""
    minute = _NOONS.get(word)
    return None if minute is None else ClockTime(start, start + len(word), minute)


def by_clock(text: str, start: int, end: int) -> ClockTime | None:
    """The hour before an "o'clock" at `start`."""
    hour = _HOUR_BEFORE.search(text, max(start - 8, 0), start)
    return _by_hour(hour.start(1), end, hour[1], 0) if hour else None


def half_past(text: str, start: int, end: int) -> ClockTime | None:
    """The hour behind a "half past"."""
    hour = _HOUR.match(text, end)
    return _by_hour(start, hour.end(), hour[1], 30) if hour else None


def quarter_past(text: str, start: int, end: int) -> ClockTime | None:
    """The hour behind a "quarter", of which it is a quarter past or to."""
    past = _PAST.match(text, end)
    return _by_hour(start, past.end(), past[2], 15 if past[1] == "past" else -15) if past else None


def _by_hour(start: int, end: int, name: str, offset: int) -> ClockTime | None:
    whole = _NOONS.get(name.lower())
    if whole is not None:
        return ClockTime(start, end, (whole + offset) % 1440)
    hour = _HOURS.get(name.lower()) or (int(name) if name.isdecimal() else 0)
    if not 1 <= hour <= 24:
        return None
    return ClockTime(start, end, (hour * 60 + offset) % 1440, half_day=True)
