"""What a detector finds, and the text without it.

Before: `recognisers.py`, or a detector of somebody else's. After: whoever stores or shows the text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple, Protocol, get_args

PiiKind = Literal[
    "email",
    "iban",
    "card",
    "national_id",
    "passport",
    "driving_licence",
    "birth_date",
    "phone",
    "ip_address",
    "address",
    "person",
]
"""What the own recognisers tell apart."""
KINDS: tuple[str, ...] = get_args(PiiKind)

BLOCK = "\u2588"
"""FULL BLOCK, for a character that is not kept where places must stay what they are."""

LONGEST = 240
"""Characters of the longest item."""
CONTEXT = 256
"""Characters before an item that may say what it is."""

_STOP = re.compile(r"(?<!\w)(\w{0,12})([.!?…])[.!?…]{0,3}[\"'”’»)\]*_]{0,3}\s|\n")
_LONG_WORD = re.compile(r"(?<=\w{13})[.!?…]{1,4}[\"'”’»)\]*_]{0,3}\s")
_GOES_ON = frozenset(
    "ave apt av avda blvd bd bldg col ct dept dhr dipl dr fl frl geb gen hr hwy ing jr ln lt mevr mme mlle "
    "mr mrs ms no nr pkwy pl po prof rd rev sgt sig sq sr sra st ste str tel tlf".split()
)
"""Abbreviations that an item may go on behind; so it may behind a letter, and behind one or two digits."""


class PiiItem(NamedTuple):
    """Something personal in a text: the characters `[start, end)`."""

    kind: str
    """One of `KINDS`, or a word of another detector's."""
    start: int
    end: int


class PiiDetector(Protocol):
    """Finds personal data; deterministic, and safe to be called from any thread."""

    @property
    def name(self) -> str:
        """For people."""
        ...

    def __call__(self, text: str, /) -> Sequence[PiiItem]:
        """The items in a text, in its order, without overlap."""
        ...


def marked(text: str, detector: PiiDetector) -> str:
    """The text with each item's kind in its place: `[email]`."""
    return replaced(text, detector(text), lambda item: f"[{item.kind}]")


def blocked(text: str, detector: PiiDetector) -> str:
    """The text with each item replaced by as many characters: its kind and blocks, or blocks alone.

    Every span keeps pointing at the same place.
    """
    return replaced(text, detector(text), block)


def block(item: PiiItem) -> str:
    """What stands in place of an item, as long as it."""
    length, word = item.end - item.start, f"[{item.kind}]"
    if length < len(word):
        return BLOCK * length
    return f"[{item.kind}{BLOCK * (length - len(word))}]"


def replaced(text: str, items: Sequence[PiiItem], instead: Instead) -> str:
    """The text with something else in place of each item (in text order, no overlap)."""
    if not items:
        return text
    parts, at = [], 0
    for item in items:
        parts += [text[at : item.start], instead(item)]
        at = item.end
    return "".join((*parts, text[at:]))


class Instead(Protocol):
    """What stands in place of an item."""

    def __call__(self, item: PiiItem, /) -> str:
        """Its text."""
        ...


def barriers(text: str) -> list[int]:
    """Where something ends that no item goes on behind: a line, or a sentence.

    Returns:
        The place behind each line feed, and behind the blank after a sentence's stop, in order. A text may be
        cut there and its parts searched one by one, given the characters before.
    """
    found = [match.end() for match in _STOP.finditer(text) if _ends(match)]
    long_words = [match.end() for match in _LONG_WORD.finditer(text)]
    return sorted({*found, *long_words}) if long_words else found


def _ends(match: re.Match[str]) -> bool:
    word = match[1]
    if match[0] == "\n" or match[2] != ".":
        return True
    if word.isdigit():
        return len(word) > 2
    return len(word) != 1 and not word.casefold().endswith("str") and word.casefold() not in _GOES_ON
