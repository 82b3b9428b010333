"""Numbers written as words: cardinals to the trillions, ordinals, fractions, "twice", "a dozen".

Parsing is greedy from left to right and never joins what English would not: "twenty-one" is one
number, "one two" and "three and four" are two.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from streamverify.text.words import alternatives, listed

CARDINALS = tuple(
    listed(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
        "sixteen seventeen eighteen nineteen"
    )
)
"""The words of the first numbers, each at its value."""
_UNITS = {word: float(value) for value, word in enumerate(CARDINALS)}
_TENS = {
    word: 10.0 * value
    for value, word in enumerate(listed("twenty thirty forty fifty sixty seventy eighty ninety"), start=2)
}
MAGNITUDES = {
    "hundred": 1e2,
    "thousand": 1e3,
    "million": 1e6,
    "billion": 1e9,
    "trillion": 1e12,
    "lakh": 1e5,
    "crore": 1e7,
    "dozen": 12.0,
}
_ORDINAL_UNITS = {
    word: float(value)
    for value, word in enumerate(
        listed(
            "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth "
            "thirteenth fourteenth "
            "fifteenth sixteenth seventeenth eighteenth nineteenth"
        ),
        start=1,
    )
}
_ORDINAL_TENS = {
    word: 10.0 * value
    for value, word in enumerate(
        listed("twentieth thirtieth fortieth fiftieth sixtieth seventieth eightieth ninetieth"), start=2
    )
}
ORDINALS = {word: int(value) for word, value in (_ORDINAL_UNITS | _ORDINAL_TENS).items()}
"""The ordinals of one word, with their values."""
_FRACTIONS = {"half": 1 / 2, "halves": 1 / 2, "quarter": 1 / 4, "quarters": 1 / 4} | {
    name + ending: 1 / value for name, value in _ORDINAL_UNITS.items() if value >= 3 for ending in ("", "s")
}
_TIMES = {
    "once": 1.0,
    "twice": 2.0,
    "thrice": 3.0,
    "double": 2.0,
    "doubled": 2.0,
    "doubles": 2.0,
    "doubling": 2.0,
    "twofold": 2.0,
    "threefold": 3.0,
    "fourfold": 4.0,
    "fivefold": 5.0,
    "tenfold": 10.0,
    "triple": 3.0,
    "tripled": 3.0,
    "triples": 3.0,
    "quadrupled": 4.0,
}
NUMBER_WORDS = frozenset(
    _UNITS.keys()
    | _TENS.keys()
    | MAGNITUDES.keys()
    | _ORDINAL_UNITS.keys()
    | _ORDINAL_TENS.keys()
    | _FRACTIONS.keys()
    | _TIMES.keys()
)
"""Every word that a number may be spelled with, folded."""

_ANY = alternatives(NUMBER_WORDS)

RUN = re.compile(rf"\b(?:{_ANY})(?:(?:\s+|-)(?:and[\s-]+(?:a\s+|an\s+)?)?(?:{_ANY}))*\b", re.IGNORECASE)
"""A stretch of number words; it may hold several numbers."""

_TOKEN = re.compile(r"[A-Za-z]+")


class Spelled(NamedTuple):
    """A number in words: its readings and where it stands."""

    start: int
    end: int
    value: float
    ordinal: bool = False
    fraction: bool = False
    """`value` is a share of one: a half, two thirds."""
    times: bool = False
    """`value` multiplies: twice, double."""
    scaled: bool = False
    """It names a magnitude (million), so it was probably rounded."""


class _Token(NamedTuple):
    word: str
    start: int
    end: int


def spelled(text: str, start: int, end: int) -> list[Spelled]:
    """The numbers in `text[start:end]`, a match of `RUN`, in order."""
    tokens = [
        _Token(match[0].lower(), match.start(), match.end()) for match in _TOKEN.finditer(text, start, end)
    ]
    found: list[Spelled] = []
    position = 0
    while position < len(tokens):
        number, position = _one(tokens, position)
        if number is not None:
            found.append(number)
    return found


def _one(tokens: list[_Token], position: int) -> tuple[Spelled | None, int]:
    """The number that begins at a token (None for "and", "a"), and the position after it."""
    first = tokens[position]
    word = first.word
    if word in _TIMES:
        return Spelled(first.start, first.end, _TIMES[word], times=True), position + 1
    if word in _FRACTIONS and word not in _ORDINAL_UNITS:
        return Spelled(first.start, first.end, _FRACTIONS[word], fraction=True), position + 1
    if word in _ORDINAL_UNITS or word in _ORDINAL_TENS:
        value = _ORDINAL_UNITS.get(word) or _ORDINAL_TENS[word]
        return Spelled(first.start, first.end, value, ordinal=True), position + 1
    if word not in _UNITS and word not in _TENS and word not in MAGNITUDES:
        return None, position + 1
    return _cardinal(tokens, position)


@dataclass(slots=True)
class _Sum:
    """A cardinal while it is being read, word by word."""

    total: float = 0.0
    group: float = 0.0
    room: float = float("inf")
    """The next word must be worth less than this to be added to the group."""
    scaled: bool = False

    @property
    def value(self) -> float:
        return self.total + self.group

    def takes(self, word: str) -> bool:
        """Add a word if English lets it follow; False leaves the number as it is."""
        if word in MAGNITUDES:
            return self._scale(MAGNITUDES[word])
        if word in _TENS and self.room > 90:
            self.group, self.room = self.group + _TENS[word], 10.0
            return True
        if word in _UNITS and self.room > _UNITS[word] and (self.room != 10.0 or _UNITS[word]):
            self.group, self.room = self.group + _UNITS[word], 0.0
            return True
        return False

    def _scale(self, scale: float) -> bool:
        if scale > 100:
            self.total += (self.group or 1.0) * scale
            self.group, self.room = 0.0, 1000.0
        elif self.group >= scale or (self.group == 0 and self.room < scale):
            return False
        else:
            self.group, self.room = (self.group or 1.0) * scale, 100.0
        self.scaled = True
        return True


def _cardinal(tokens: list[_Token], position: int) -> tuple[Spelled, int]:
    """The cardinal that begins at a token with what closes it: "… and a half", "… fifth", "… thirds"."""
    start = tokens[position].start
    number = _Sum()
    end = position
    while end < len(tokens) and (number.takes(tokens[end].word) or _goes_on(tokens, end, number.room)):
        end += 1
    closed = _closed(tokens, end, number) if end < len(tokens) else None
    if closed is not None:
        value, kind, after = closed
        ordinal, fraction = kind == "ordinal", kind == "fraction"
        scaled = number.scaled and kind == "" and value.is_integer()
        return Spelled(start, tokens[after - 1].end, value, ordinal, fraction, scaled=scaled), after
    return Spelled(start, tokens[end - 1].end, number.value, scaled=number.scaled), end


def _goes_on(tokens: list[_Token], position: int, room: float) -> bool:
    """Whether "and" joins here: "two hundred and five" goes on, "two and five" does not."""
    if tokens[position].word != "and" or room not in {100.0, 1000.0} or position + 1 == len(tokens):
        return False
    after = tokens[position + 1].word
    return after in _UNITS or after in _TENS or after in _ORDINAL_UNITS


def _closed(tokens: list[_Token], position: int, number: _Sum) -> tuple[float, str, int] | None:
    """The value, the kind and the end of a number that its last word turns into something else."""
    word = tokens[position].word
    if word == "and":
        mixed = _mixed(tokens, position)
        scale = MAGNITUDES.get(tokens[position - 1].word, 1.0)
        of = scale if scale >= 1000 or scale == 12 else 1.0  # "a million and a half", "a dozen and a half"
        return (number.value + mixed[0] * of, "", mixed[1]) if mixed else None
    if (word in _ORDINAL_UNITS and number.room == 10.0 and _ORDINAL_UNITS[word] < 10) or (
        word in _ORDINAL_TENS and number.room == 100.0
    ):
        return number.value + (_ORDINAL_UNITS.get(word) or _ORDINAL_TENS[word]), "ordinal", position + 1
    if word in _FRACTIONS and number.group and not number.scaled:
        # "two thirds", "one quarter": numerator and denominator.
        return number.group * _FRACTIONS[word], "fraction", position + 1
    return None


def _mixed(tokens: list[_Token], position: int) -> tuple[float, int] | None:
    """The share in "… and a half" and the position after it."""
    after = position + 1
    if after < len(tokens) and tokens[after].word in {"a", "an", "one"}:
        after += 1
    if after < len(tokens) and tokens[after].word in {"half", "quarter", "third"}:
        return _FRACTIONS[tokens[after].word], after + 1
    return None
