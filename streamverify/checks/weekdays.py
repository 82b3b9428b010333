"""Days of the week, short ones too, and the days that a stretch of them holds.

Before: `dates.py` finds a word that may be one. After: `index.py` asks for the days between, so that "open
Monday to Friday" holds a Wednesday.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from streamverify.checks.date import Date, DateKind

DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
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
    """The days inside the stretches of days of a text: Tuesday to Thursday of "Monday to Friday"."""
    for first, last in pairwise(found):
        if first.weekday is None or last.weekday is None or not first.kind is last.kind is DateKind.WEEKDAY:
            continue
        if _TO.fullmatch(text, first.end, last.start):
            for step in range(1, (last.weekday - first.weekday) % 7):
                day = (first.weekday + step) % 7
                yield Date(first.start, last.end, DAYS[day].title(), DateKind.WEEKDAY, weekday=day)
