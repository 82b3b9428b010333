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
from streamverify.checks.namesakes import TITLES
from streamverify.checks.negation import Statement
from streamverify.checks.number_words import CARDINALS, ORDINALS
from streamverify.checks.numerals import values_of
from streamverify.text.calendar import DAYS, MONTHS
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

_TOKEN = re.compile(rf"\d{{1,20}}(?:[.,:/'’]\d{{1,20}}){{0,6}}|{WORD.pattern}")
_NUMERAL = re.compile(
    r"\d{1,3}(?:(?P<mark>[.,'’])\d{3})(?:(?P=mark)\d{3}){0,6}(?:[.,]\d{1,20})?|\d+(?:[.,]\d+)?"
)
"""One number; a time, a date and a run of several are left as they stand."""
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
_LISTED = re.compile(r"(?:,|,? (?:and|or|nor)|\s?[&/])\s?(?:[a-z]{1,4} )?")
"""What stands between two names of a list, a preposition said again included."""
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


class _Token(NamedTuple):
    start: int
    end: int
    text: str
    stem: str
    kind: str
    value: str
    """What tells it from others of its kind; empty where it is of none."""


class Tokens:
    """The words and numbers of a sentence, read when first asked for."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def all(self) -> Sequence[_Token]:
        """In order; none of a sentence that is too long."""
        if len(self.text) > _LONGEST:
            return ()
        return tuple(_token(match, first=not place) for place, match in enumerate(_TOKEN.finditer(self.text)))

    def between(self, before: str, after: str) -> Iterator[_Token]:
        """What stands between two words."""
        found = self.all
        for place in range(1, len(found) - 1):
            if found[place - 1].stem == before and found[place + 1].stem == after:
                yield found[place]

    def before(self, place: int) -> tuple[str, ...]:
        """The words before one, back to the first that carries content; none where that is far."""
        found: list[str] = []
        for one in reversed(self.all[max(place - _BACK, 0) : place]):
            found.append(one.stem)
            if fold(one.text) not in STOP_WORDS:
                return tuple(found)
        return ()

    def has(self, token: _Token) -> bool:
        """Whether it has the same value anywhere."""
        return any((one.kind, one.value) == (token.kind, token.value) for one in self.all)

    def says(self, token: _Token, after: str) -> bool:
        """Whether the sentence has the value with this word soon behind it, or at the end of a clause."""
        for place, one in enumerate(self.all):
            if (one.kind, one.value) == (token.kind, token.value):
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
    ours, theirs = Tokens(text), Tokens(nearest.text)
    for place, token in enumerate(ours.all):
        before = ours.all[place - 1].stem if place else ""
        after = ours.all[place + 1].stem if place + 1 < len(ours.all) else ""
        if not token.value or not before or before in _HEDGES:
            continue
        if token.kind == "name" and share < CLEAR:
            continue
        if token.kind == "unit" and ours.all[place - 1].kind != "number":
            continue
        rival = _between(token, before, after, theirs) or _behind(place, ours, theirs)
        if rival is not None and not _alike(token, rival, theirs):
            return Exchange(
                token.start,
                token.end,
                token.kind,
                token.text,
                rival.text,
                Span(rival.start, rival.end),
                share,
            )
    return None


def _alike(token: _Token, rival: _Token, theirs: Tokens) -> bool:
    """Whether the two do not exclude each other: a title and a name, a value within a range."""
    if token.kind == "name":
        common = any(one.text == token.text.lower() for one in theirs.all)
        return common or not TITLES.isdisjoint((fold(token.text), fold(rival.text)))
    return token.kind == "number" and _within(token, rival, theirs)


def _listed_with(token: _Token, rival: _Token, theirs: Tokens) -> bool:
    """Whether a name is joined to its rival there: "Ben or David", not "Ben killed David"."""
    return any(
        one.stem == token.stem
        and _LISTED.fullmatch(theirs.text, min(one.end, rival.end), max(one.start, rival.start))
        for one in theirs.all
    )


def _within(token: _Token, rival: _Token, theirs: Tokens) -> bool:
    """Whether a number lies between the rival and another one that it is joined to: 4 of "3 to 5"."""
    place = theirs.all.index(rival)
    for other in theirs.all[max(place - 2, 0) : place + 3]:
        between = theirs.text[min(other.end, rival.end) : max(other.start, rival.start)]
        values = [one.value for one in (rival, token, other)]
        if _JOINED.fullmatch(between) and all(value.replace(".", "", 1).isdecimal() for value in values):
            one_end, number, other_end = map(float, values)
            if min(one_end, other_end) <= number <= max(one_end, other_end):
                return True
    return False


def says(text: str, found: Exchange) -> bool:
    """Whether a sentence has the value that a claim has in the place of another, wherever it has it."""
    return any(one.text == found.text for one in Tokens(text).all)


def _between(token: _Token, before: str, after: str, theirs: Tokens) -> _Token | None:
    """What of its kind the evidence has between the same two words."""
    if not after:
        return None
    there = [one for one in theirs.between(before, after) if one.kind == token.kind]
    if not there or any(one.value == token.value for one in there) or theirs.says(token, after):
        return None
    if token.kind == "name" and _listed_with(token, there[0], theirs):
        return None  # "in English or in German" is "in German or English"
    return there[0]


def _behind(place: int, ours: Tokens, theirs: Tokens) -> _Token | None:
    """What number the evidence, which does not have this one, has behind the same words.

    What stands before a number is what it is of, and what stands behind it only what it counts.
    """
    token = ours.all[place]
    if token.kind != "number" or theirs.has(token) or not (before := ours.before(place)):
        return None
    for other, one in enumerate(theirs.all):
        if one.kind == "number" and not ours.has(one) and theirs.before(other) == before:
            return one
    return None


def _token(match: re.Match[str], *, first: bool) -> _Token:
    text = match[0]
    word = strip_possessive(fold(text))
    root = stem(word)
    kind, value = _KINDS.get(word, ("", ""))
    if text[0].isdecimal() and text[-1].isdecimal():
        kind, value = "number", _plain(text)
    elif not kind and text[0].isupper():
        if word in MONTHS:
            kind, value = "month", word
        elif not first and len(text) >= _SHORTEST:
            kind, value = "name", root
    return _Token(match.start(), match.end(), text, root, kind, value)


def _plain(text: str) -> str:
    """A number in one form, whatever parts its thousands and its fraction; 9:00 is 9."""
    hour = text.removesuffix(":00")
    return repr(max(values_of(hour))).removesuffix(".0") if _NUMERAL.fullmatch(hour) else hour
