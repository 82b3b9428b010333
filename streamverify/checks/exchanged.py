"""A value or a name in the very place of the evidence's own: "for two hours" where it says "for eight hours".

Wrong details are put between the right words. Where the sentence that shares most with the claim has, between
the same two words, another number, unit, weekday, month or name, the claim's is not what it says there. Where
it does not have the claim's number at all, the words before are enough.
Before: `nearest.py` found the sentence. After: it leaves out what follows from other values, tells the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from streamverify._lazy import cached_property
from streamverify.checks.negation import Statement
from streamverify.checks.number_words import CARDINALS, ORDINALS
from streamverify.checks.numerals import values_of
from streamverify.checks.weekdays import DAYS
from streamverify.text.words import STOP_WORDS, WORD, fold, listed, stem, strip_possessive
from streamverify.types import Span

CLEAR = 0.75
"""Share of the claim's content words that the sentence must have."""
LEAST = 0.65
"""What is enough of them where the claim has `OF_ITS_OWN` of the sentence's, and it is no name."""
OF_ITS_OWN = 0.5
_LONGEST = 1000
"""Characters of a sentence that is read: a longer one is a table, or no sentence."""
_SHORTEST = 3
"""Letters of a name."""
_BESIDE = 2
"""Words behind a value of the evidence among which the claim's next word makes it the same one."""

_BACK = 3
"""Words before a number among which one must carry content."""

_PIECE = re.compile(rf"\d{{1,20}}(?:[.,:/'’]\d{{1,20}}){{0,6}}|{WORD.pattern}")
_NUMERAL = re.compile(
    r"\d{1,3}(?:(?P<mark>[.,'’])\d{3})(?:(?P=mark)\d{3}){0,6}(?:[.,]\d{1,20})?|\d+(?:[.,]\d+)?"
)
"""One number; a time, a date and a run of several are left as they stand."""
_MONTHS = listed("january february march april may june july august september october november december")
_UNITS = listed("""
    minute hour day week month year metre centimetre millimetre kilometre mile gram kilogram tonne litre
    millilitre
""")
_KINDS = {
    **{word: ("number", str(value)) for value, word in enumerate(CARDINALS)},
    **{word: ("ordinal", word) for word in ORDINALS},
    **{form: ("weekday", word) for word in DAYS for form in (word, f"{word}s")},
    **{form: ("unit", word) for word in _UNITS for form in (word, f"{word}s")},
    "seconds": ("unit", "second"),
}
_ENDS = re.compile(r"\W{0,3}(?:$|[,;.)])")
_JOINED = re.compile(r"\s?(?:[-–—]|to|and|or|until)\s?")
"""What stands between the two ends of a range."""
_TITLES = frozenset(
    listed("""
    mr mrs ms miss dr prof professor sir lady lord king queen prince princess duke pope bishop father judge
    justice president chancellor minister senator governor mayor councillor secretary ambassador general
    colonel captain officer director chair chairman chairwoman manager coach
    """)
)
_HEDGES = frozenset(listed("about around roughly approximately nearly almost over some circa"))


class Exchange(NamedTuple):
    """Where a claim has something else than its evidence."""

    start: int
    """Offset in the claim's text."""
    end: int
    kind: str
    """`number`, `ordinal`, `unit`, `weekday`, `month` or `name`."""
    text: str
    other: str
    """What stands in its place."""
    there: Span
    """Where, in the evidence."""
    share: float
    """Of the claim's content words, those that the sentence has, 0-1."""


class _Piece(NamedTuple):
    start: int
    end: int
    text: str
    stem: str
    kind: str
    value: str
    """What tells it from others of its kind; empty where it is of none."""


class Pieces:
    """The words and numbers of a sentence, read when first asked for."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def all(self) -> Sequence[_Piece]:
        """In order; none of a sentence that is too long."""
        if len(self.text) > _LONGEST:
            return ()
        return tuple(_piece(match, first=not place) for place, match in enumerate(_PIECE.finditer(self.text)))

    def between(self, before: str, after: str) -> Iterator[_Piece]:
        """What stands between two words."""
        pieces = self.all
        for place in range(1, len(pieces) - 1):
            if pieces[place - 1].stem == before and pieces[place + 1].stem == after:
                yield pieces[place]

    def before(self, place: int) -> tuple[str, ...]:
        """The words before one, back to the first that carries content; none where that is far."""
        found: list[str] = []
        for one in reversed(self.all[max(place - _BACK, 0) : place]):
            found.append(one.stem)
            if fold(one.text) not in STOP_WORDS:
                return tuple(found)
        return ()

    def has(self, piece: _Piece) -> bool:
        """Whether it has the same value anywhere."""
        return any((one.kind, one.value) == (piece.kind, piece.value) for one in self.all)

    def says(self, piece: _Piece, after: str) -> bool:
        """Whether the sentence has the value with this word soon behind it, or at the end of a clause."""
        for place, one in enumerate(self.all):
            if (one.kind, one.value) == (piece.kind, piece.value):
                if one.kind != "name" and _ENDS.match(self.text, one.end):
                    return True  # "a cabin has four berths, a larger one six"
                behind = self.all[place + 1 : place + 1 + _BESIDE]
                if any(other.stem == after for other in behind):
                    return True
        return False


def exchanged(text: str, nearest: Statement) -> Exchange | None:
    """The first value or name of a claim in the place of another one.

    Args:
        text: the claim's.
        nearest: the sentence of the sources that shares most words with it.
    """
    own = Statement(text)
    common = len(own.content & nearest.content)
    share, whole = (common / max(len(one.content), 1) for one in (own, nearest))
    if share < (LEAST if whole >= OF_ITS_OWN else CLEAR) or (len(own.cues) + len(nearest.cues)) % 2:
        return None  # "not in version 4" is no other version of "since version 5"
    ours, theirs = Pieces(text), Pieces(nearest.text)
    for place, piece in enumerate(ours.all):
        before = ours.all[place - 1].stem if place else ""
        after = ours.all[place + 1].stem if place + 1 < len(ours.all) else ""
        if not piece.value or not before or before in _HEDGES:
            continue
        if piece.kind == "name" and share < CLEAR:
            continue
        if piece.kind == "unit" and ours.all[place - 1].kind != "number":
            continue
        rival = _between(piece, before, after, theirs) or _behind(place, ours, theirs)
        if rival is not None and not _alike(piece, rival, theirs):
            return Exchange(
                piece.start,
                piece.end,
                piece.kind,
                piece.text,
                rival.text,
                Span(rival.start, rival.end),
                share,
            )
    return None


def _alike(piece: _Piece, rival: _Piece, theirs: Pieces) -> bool:
    """Whether the two do not exclude each other: a title and a name, a value within a range."""
    if piece.kind == "name":
        common = any(one.text == piece.text.lower() for one in theirs.all)
        return common or not _TITLES.isdisjoint((fold(piece.text), fold(rival.text)))
    return piece.kind == "number" and _within(piece, rival, theirs)


def _within(piece: _Piece, rival: _Piece, theirs: Pieces) -> bool:
    """Whether a number lies between the rival and another one that it is joined to: 4 of "3 to 5"."""
    place = theirs.all.index(rival)
    for other in theirs.all[max(place - 2, 0) : place + 3]:
        between = theirs.text[min(other.end, rival.end) : max(other.start, rival.start)]
        values = [one.value for one in (rival, piece, other)]
        if _JOINED.fullmatch(between) and all(value.replace(".", "", 1).isdecimal() for value in values):
            one_end, number, other_end = map(float, values)
            if min(one_end, other_end) <= number <= max(one_end, other_end):
                return True
    return False


def says(text: str, found: Exchange) -> bool:
    """Whether a sentence has the value that a claim has in the place of another, wherever it has it."""
    return any(one.text == found.text for one in Pieces(text).all)


def _between(piece: _Piece, before: str, after: str, theirs: Pieces) -> _Piece | None:
    """What of its kind the evidence has between the same two words."""
    if not after:
        return None
    there = [one for one in theirs.between(before, after) if one.kind == piece.kind]
    if not there or any(one.value == piece.value for one in there) or theirs.says(piece, after):
        return None
    return there[0]


def _behind(place: int, ours: Pieces, theirs: Pieces) -> _Piece | None:
    """What number the evidence, which does not have this one, has behind the same words.

    What stands before a number is what it is of, and what stands behind it only what it counts.
    """
    piece = ours.all[place]
    if piece.kind != "number" or theirs.has(piece) or not (before := ours.before(place)):
        return None
    for other, one in enumerate(theirs.all):
        if one.kind == "number" and not ours.has(one) and theirs.before(other) == before:
            return one
    return None


def _piece(match: re.Match[str], *, first: bool) -> _Piece:
    text = match[0]
    word = strip_possessive(fold(text))
    root = stem(word)
    kind, value = _KINDS.get(word, ("", ""))
    if text[0].isdecimal() and text[-1].isdecimal():
        kind, value = "number", _plain(text)
    elif not kind and text[0].isupper():
        if word in _MONTHS:
            kind, value = "month", word
        elif not first and len(text) >= _SHORTEST:
            kind, value = "name", root
    return _Piece(match.start(), match.end(), text, root, kind, value)


def _plain(text: str) -> str:
    """A number in one form, whatever parts its thousands and its fraction; 9:00 is 9."""
    hour = text.removesuffix(":00")
    return repr(max(values_of(hour))).removesuffix(".0") if _NUMERAL.fullmatch(hour) else hour
