"""Days of the week, short ones too, and the days that a stretch of them holds.

Before: `dates.py` finds a word that may be one. After: `index.py` asks for the days between, so that "open
Monday to Friday" holds a Wednesday; `signals.py` for those outside: then it is closed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from streamverify.checks.date import Date, DateKind
from streamverify.text.calendar import DAYS

SHORT = r"Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun"
"""Short forms, as they are written; some are words of other meanings, see `stands_for_a_day`."""

_BESIDE = rf"(?:{SHORT})[a-z]{{0,6}}\b"
_BEHIND = re.compile(
    rf"\.?(?:\s?(?:[-–—/&,]|\b(?:to|through|thru|until|till|and|or)\b)\s?{_BESIDE}|,?\s\(?\d|:|\))"
)
_BEFORE = re.compile(
    rf"(?:{_BESIDE}\.?\s?(?:[-–—/&,]|\b(?:to|through|thru|until|till|and|or)\b)\s?"
    r"|\b(?:[Oo]n|[Bb]y|[Uu]ntil|[Ff]rom|[Ee]very|[Ee]ach|[Nn]ext|[Ll]ast|[Dd]eadline:|[Cc]losed)\s)$"
)
_ARTICLE = re.compile(r"\b[Tt]he\s$")
_TO = re.compile(r"\.?\s?(?:[-–—]|to|through|thru|until|till|up to)\s?")
_AND = re.compile(r"\.?\s?(?:[,/&]|,?\s?\b(?:and|or)\b)\s?(?:on\s)?")
_OPEN_OR_SHUT = re.compile(
    r"(?P<shut>\b(?:closed|shut|unavailable|unstaffed|no (?:service|deliver(?:y|ies)|classes|trains|buses))\b"
    r"|(?:\bnot|n['’]t) (?:be )?(?:open|available|staffed)\b)"
    r"|\b(?:open(?:s|ed|ing)?|available|staffed|hours)\b",
    re.IGNORECASE,
)
_PART_OF_A_WEEK = re.compile(r"\b[Ww]eek(?:days?|(?P<end>-?ends?))\b")
_WEEKDAYS, _WEEKEND = range(5), (5, 6)
_SHUT = "shut"
_AROUND = 80
"""Characters around a day in which a word must say what is with it."""
_REACH = 24
"""Characters in front of a short form that are looked at."""


def weekday(word: str) -> int | None:
    """0 for Monday to 6 for Sunday, of a name in full or short, in any number; None for another word."""
    folded = word.lower().rstrip(".")
    for number, day in enumerate(DAYS):
        if folded.removesuffix("s") == day or (len(folded) < 6 and day.startswith(folded[:3])):
            return number
    return None


def stands_for_a_day(text: str, start: int, end: int) -> bool:
    """Whether the short form here is a day ("Mon–Fri", "on Sun", "Sat 4 May") and not the sun, or who sat."""
    if _ARTICLE.search(text, max(start - 5, 0), start):
        return False
    if _BEHIND.match(text, end) is not None:
        return True
    return _BEFORE.search(text, max(start - _REACH, 0), start) is not None


def between(text: str, found: Sequence[Date]) -> Iterable[Date]:
    """The days inside what a text names: Tuesday to Thursday of "Monday to Friday", both of "at weekends"."""
    for match in _PART_OF_A_WEEK.finditer(text):
        for day in _WEEKEND if match["end"] else _WEEKDAYS:
            yield Date(*match.span(), DAYS[day].title(), DateKind.WEEKDAY, weekday=day)
    for start, end, days in _stretches(text, found):
        for day in days[1:-1]:
            yield Date(start, end, DAYS[day].title(), DateKind.WEEKDAY, weekday=day)


def outside(text: str, date: Date, sources: Iterable[tuple[str, Sequence[Date]]]) -> bool:
    """Whether a claim says of a day that sources leave out what follows from it: closed, for "open Mon-Fri".

    Of days that are said to be closed, that the others are not follows only where no source says when it is
    open.

    Args:
        text: the claim's.
        date: of the claim.
        sources: texts with their dates.
    """
    claimed = _told(text, date.start, date.end) if date.weekday is not None else None
    if claimed is None:
        return False
    shut, opens = False, False
    for source, found in sources:
        for start, end, days in _rows(source, found):
            closed = _told(source, start, end) == _SHUT
            if date.weekday in days:
                return False
            shut |= closed
            opens |= not closed and len(days) > 1
    return opens if claimed == _SHUT else shut and not opens


def _stretches(text: str, found: Sequence[Date]) -> Iterable[tuple[int, int, list[int]]]:
    """Where the stretches of days stand ("Monday to Friday"), and their days."""
    for first, last in pairwise(found):
        if first.weekday is None or last.weekday is None or not first.kind is last.kind is DateKind.WEEKDAY:
            continue
        if _TO.fullmatch(text, first.end, last.start):
            days = (last.weekday - first.weekday) % 7
            yield first.start, last.end, [(first.weekday + step) % 7 for step in range(days + 1)]


def _rows(text: str, found: Sequence[Date]) -> Iterable[tuple[int, int, set[int]]]:
    """Where days stand, alone, in a list or in a stretch, and which days each row has."""
    rows: list[tuple[int, int, set[int]]] = []
    stretches = {start: days for start, _, days in _stretches(text, found)}
    for date in found:
        if date.weekday is None:
            continue
        days = {date.weekday, *stretches.get(date.start, ())}
        start, end, before = rows[-1] if rows else (-1, -1, set())
        if rows and (_TO.fullmatch(text, end, date.start) or _AND.fullmatch(text, end, date.start)):
            rows[-1] = start, date.end, before | days
        else:
            rows.append((date.start, date.end, days))
    return rows


def _told(text: str, start: int, end: int) -> str | None:
    """Whether something is open or `_SHUT` on the days that stand here, by the nearest word before them."""
    before = [*_OPEN_OR_SHUT.finditer(text, max(start - _AROUND, 0), start)]
    told = before[-1] if before else _OPEN_OR_SHUT.search(text, end, end + _AROUND)
    return told and (told.lastgroup or "open")
