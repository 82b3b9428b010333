"""When a passage is from, and which edition it is: what its title, its metadata and its first words tell.

"Effective January 1, 2024" and "Last updated: 3 May 2021" date a text; "Travel rules, Version 2" and "(old)"
tell editions of what is otherwise called the same. Numbers of ids, of files and of "API v2" are as often
those of things that stand side by side, and tell none. English cues.

Before: `versions.py` reads a passage. After: it compares two of them.
"""

from __future__ import annotations

import re
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


def edition(passage: Passage) -> Edition:
    """What a passage's title tells of its edition; nothing, without one."""
    text = (passage.title or "")[:_LONGEST_NAME]
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


def newer(ours: Edition, theirs: Edition) -> bool:
    """Whether one is a later edition of what the other is called."""
    return ours.name == theirs.name and ours.grade > theirs.grade


def names_edition(claim: str, years: AbstractSet[int], ours: Edition, theirs: Edition) -> bool:
    """Whether a claim says that it is on this edition and not the other: by number, year, or as a draft."""
    if (ours.years - theirs.years) & years or (ours.numbers - theirs.numbers) & _numbers(claim):
        return True
    return ours.grade[0] < 0 and ours.grade[0] != theirs.grade[0] and _RANK.search(claim) is not None
