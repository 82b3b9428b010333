"""When a passage is from, and which edition it is: what its title, its metadata and its first words tell.

"Effective January 1, 2024" and "Last updated: 3 May 2021" date a text; "Travel rules, Version 2" and "(old)"
tell editions of what is otherwise called the same. Numbers of ids, of files and of "API v2" are as often
those of things that stand side by side, and tell none. English cues.

Before: `versions.py` reads a passage. After: it compares two of them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from streamverify.checks.dates import dates
from streamverify.passages import told_dates
from streamverify.types import Passage

_LONGEST_DATE = 40
"""Characters that are read of a date."""
_LONGEST_NAME = 240
"""Characters that are read of a title."""
_HEAD, _TAIL = 240, 160

Moment = tuple[int, int, int]

_SAYS_WHEN = re.compile(
    r"\b(?:(?:last )?(?:updated|revised|modified|reviewed|amended)|effective(?: date)?|valid"
    r"|in (?:force|effect)|applies|applicable)(?: (?:on|from|since|as of))?:? (?=\S)",
    re.IGNORECASE,
)
_EDITION = re.compile(
    r"\b(?:version|rev|revision|edition)[ .]{0,2}(\d{1,3}(?:\.\d{1,3}){0,3})\b"
    r"|\b(\d{1,2})(?:st|nd|rd|th) edition\b",
    re.IGNORECASE,
)
"""What tells a title's edition."""
_COUNTS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NAMED = re.compile(
    r"\b(?:v|ver|version|rev|revision|edition|release)[ .]?"
    rf"(\d{{1,3}}(?:\.\d{{1,3}}){{0,3}}|{'|'.join(_COUNTS)})\b"
    r"|\b(\d{1,2})(?:st|nd|rd|th) edition\b",
    re.IGNORECASE,
)
"""What a claim may call an edition by."""
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_OLD = r"old|former|previous|outdated|superseded|archived|withdrawn"
_NEW = r"new|current|latest|approved"
_RANK = re.compile(
    rf"\((?:(?P<old>{_OLD})|(?P<new>{_NEW}))\)|\b(?:(?P<draft>draft)|(?P<final>final))\b", re.IGNORECASE
)
_SEPARATORS = re.compile(r"[\W_]+")


class Edition(NamedTuple):
    """What something is called without what tells its edition, and that: two of one name are compared."""

    name: str
    grade: tuple[int, ...]
    """Draft or old, neither, or final; numbers of the edition."""
    years: frozenset[int]
    numbers: frozenset[tuple[int, ...]]
    """By which, and by its years, a claim may name it: also what tells no edition, as "API v2"."""


def moment(passage: Passage) -> Moment | None:
    """The latest date of a passage's metadata and title; else what its own text says of it."""
    found = [_day(text) for text in (*told_dates(passage), (passage.title or "")[:_HEAD])]
    return max((one for one in found if one is not None), default=None) or _written(passage.text)


def _day(text: str, reach: int = _HEAD) -> Moment | None:
    found = [
        (date.year, date.month or 0, date.day or 0)
        for date in dates(text)
        if date.year is not None and date.start <= reach
    ]
    return max(found, default=None)


def _written(text: str) -> Moment | None:
    for part in (text[:_HEAD], text[-_TAIL:]):
        for said in _SAYS_WHEN.finditer(part):
            if (when := _day(part[said.end() : said.end() + _LONGEST_DATE], 2)) is not None:
                return when
    return None


def editions(passage: Passage) -> tuple[Edition | None, ...]:
    """What a passage's title tells of its edition."""
    return (_edition((passage.title or "")[:_LONGEST_NAME]),)


def _edition(text: str) -> Edition | None:
    """What a title tells; None of an empty one."""
    if not text:
        return None
    rank = _RANK.search(text)
    grade = 0 if rank is None else (-1 if rank["old"] or rank["draft"] else 1)
    number = _EDITION.search(text)
    counted = [int(part) for part in (number[1] or number[2]).split(".")] if number else []
    bare = _EDITION.sub(" ", _RANK.sub(" ", text))
    name = " ".join(_SEPARATORS.sub(" ", bare).casefold().split())
    return Edition(name, (grade, *counted), frozenset(map(int, _YEAR.findall(text))), _numbers(text))


def _numbers(text: str) -> frozenset[tuple[int, ...]]:
    found = (one[1] or one[2] for one in _NAMED.finditer(text))
    return frozenset(
        (_COUNTS.index(one.lower()) + 1,) if one.lower() in _COUNTS else tuple(map(int, one.split(".")))
        for one in found
    )


def newer(ours: Sequence[Edition | None], theirs: Sequence[Edition | None]) -> bool:
    """Whether one is a later edition of what the other is called, by the first thing that tells."""
    for our, their in zip(ours, theirs, strict=True):
        if our and their and our.name == their.name and our.grade != their.grade:
            return our.grade > their.grade
    return False


def telling(ours: Sequence[Edition | None], theirs: Sequence[Edition | None]) -> list[Edition]:
    """What one tells of its edition that the other does not tell of its own likewise."""
    return [
        our if their is None else _own_part(our, their)
        for our, their in zip(ours, theirs, strict=True)
        if our is not None
    ]


def _own_part(our: Edition, their: Edition) -> Edition:
    rank = our.grade[0] if our.grade[0] != their.grade[0] else 0
    return Edition(our.name, (rank,), our.years - their.years, our.numbers - their.numbers)


def names_edition(claim: str, years: AbstractSet[int], found: Sequence[Edition]) -> bool:
    """Whether a claim says which edition it is on: its number, its year, or that it is a draft."""
    numbers = _numbers(claim)
    if any(one.years & years or one.numbers & numbers for one in found):
        return True
    return any(one.grade[0] < 0 for one in found) and _RANK.search(claim) is not None
