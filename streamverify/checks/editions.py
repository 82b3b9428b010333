"""When a passage is from, and which edition it is: what its title, its metadata and its first words tell.

"Effective January 1, 2024" and "Last updated: 3 May 2021" date a text; `hr_policy_2021.pdf`, "Travel rules
v2" and "(old)" tell editions of what is otherwise called the same. English cues.

Before: `versions.py` reads a passage. After: it compares two of them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from streamverify.checks.dates import dates
from streamverify.types import Passage

DATED = (
    "date", "updated", "modified", "published", "effective", "valid_from", "version_date", "year",
    "last_modified", "last_updated", "updated_at", "modified_at", "effective_date", "published_at",
)  # fmt: skip
"""Metadata that tells a passage's date."""
_FILES = ("file_name", "filename", "source", "file_path", "path")
_NUMBERED = ("version", "edition", "revision")
_LONGEST_DATE = 40
"""Characters that are read of a date."""
_LONGEST_NAME = 240
"""Characters that are read of a title or the name of a file."""
_HEAD, _TAIL = 240, 160

Moment = tuple[int, int, int]

_SAYS_WHEN = re.compile(
    r"\b(?:(?:last )?(?:updated|revised|modified|reviewed|amended)|effective(?: date)?|valid"
    r"|in (?:force|effect)|applies|applicable)(?: (?:on|from|since|as of))?:? (?=\S)",
    re.IGNORECASE,
)
_FROM = re.compile(
    r"\W{0,4}(?:from|as (?:of|at)|starting|since) (?=(?:\d{1,2} )?[A-Z][a-z]{2,8}\.? \d)", re.IGNORECASE
)
_MONTHS_TO = re.compile(r".{0,24}?(?:\bto\b|\buntil\b|\btill\b|[-–—])", re.DOTALL)
_EDITION = re.compile(
    r"\b(?:v|ver|version|rev|revision|edition|release)[ .]?(\d{1,3}(?:\.\d{1,3}){0,3})\b"
    r"|\b(\d{1,2})(?:st|nd|rd|th) edition\b",
    re.IGNORECASE,
)
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
    """Draft or old, neither, or final; year; numbers of the edition."""


def told(passage: Passage) -> tuple[str, ...]:
    """What a passage's metadata tell of its date and edition: all that is read of them here."""
    dated = [str(passage.metadata.get(name, ""))[:_LONGEST_DATE] for name in (*DATED, *_NUMBERED)]
    return (*dated, *(str(passage.metadata.get(name, ""))[:_LONGEST_NAME] for name in _FILES))


def moment(passage: Passage) -> Moment | None:
    """The latest date of a passage's metadata and title; else what its own text says of it."""
    given = [str(passage.metadata[name])[:_LONGEST_DATE] for name in DATED if name in passage.metadata]
    found = [_day(text) for text in (*given, (passage.title or "")[:_HEAD])]
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
    return _day(text[begun : begun + 24], 2) if (begun := from_a_day(text)) else None


def from_a_day(text: str) -> int:
    """Where the date stands from which on a text says of itself that it holds; 0 where it says none."""
    found = _FROM.match(text)
    return found.end() if found and not _MONTHS_TO.match(text, found.end(), found.end() + 28) else 0


def editions(passage: Passage) -> tuple[Edition | None, ...]:
    """What a passage's title, version, file and id tell of its edition, in this order."""
    title = (passage.title or "")[:_LONGEST_NAME]
    titled = _edition(title)
    number = next((str(passage.metadata[key])[:12] for key in _NUMBERED if key in passage.metadata), "")
    counted = [int(part) for part in re.findall(r"\d{1,3}", number)] if _counts(number) else []
    file = next((str(passage.metadata[key])[:_LONGEST_NAME] for key in _FILES if key in passage.metadata), "")
    named = [_edition(name.rpartition("/")[2]) for name in (file, passage.id[:_LONGEST_NAME])]
    # `doc_2001` may only be counted; `hr_policy_2021` is of a year.
    told_years = [one if one and " " in one.name else None for one in named]
    return (
        titled if titled and any(titled.grade) else None,
        Edition(titled.name if titled else "", (0, 0, *counted)) if counted else None,
        *told_years,
    )


def _counts(number: str) -> bool:
    return re.fullmatch(r"[vV]?\d{1,3}(?:\.\d{1,3}){0,3}", number) is not None


def _edition(text: str) -> Edition | None:
    """What a title or the name of a file tells; None of an empty one."""
    rank = _RANK.search(text)
    grade = 0 if rank is None else (-1 if rank["old"] or rank["draft"] else 1)
    spaced = _SEPARATORS.sub(lambda found: "." if found[0] == "." else " ", text)
    number = _EDITION.search(spaced)
    years = _YEAR.findall(spaced)
    bare = _EDITION.sub(" ", _YEAR.sub(" ", _RANK.sub(" ", text).replace("_", " ")))
    name = " ".join(_SEPARATORS.sub(" ", bare).casefold().split())
    counted = [int(part) for part in (number[1] or number[2]).split(".")] if number else []
    return Edition(name, (grade, int(max(years, default="0")), *counted)) if text else None


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
    rank, year = (
        mine if mine != other else 0 for mine, other in zip(our.grade, their.grade[:2], strict=False)
    )
    return Edition(our.name, (rank, year, *(our.grade[2:] if our.grade[2:] != their.grade[2:] else ())))


def names_edition(claim: str, years: AbstractSet[int], found: Sequence[Edition]) -> bool:
    """Whether a claim says which edition it is on: its number, its year, or that it is a draft."""
    numbers = {tuple(map(int, (one[1] or one[2]).split("."))) for one in _EDITION.finditer(claim)}
    if any(one.grade[1] in years or one.grade[2:] in numbers for one in found):
        return True
    return any(one.grade[0] < 0 for one in found) and _RANK.search(claim) is not None
