"""Numbers written as words: cardinals to the trillions, ordinals, fractions, "twice", "a dozen".

Parsing is greedy from left to right and never joins what English would not: "twenty-one" is one
number, "one two" and "three and four" are two.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_UNITS = {
    word: float(value)
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen".split()
    )
}
_TENS = {
    word: 10.0 * value
    for value, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), start=2)
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
_PLURAL_MAGNITUDES = {"dozens", "hundreds", "thousands", "millions", "billions"}
_ORDINAL_UNITS = {
    word: float(value)
    for value, word in enumerate(
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
        "fifteenth sixteenth seventeenth eighteenth nineteenth".split(),
        start=1,
    )
}
_ORDINAL_TENS = {
    word: 10.0 * value
    for value, word in enumerate(
        "twentieth thirtieth fortieth fiftieth sixtieth seventieth eightieth ninetieth".split(), start=2
    )
}
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
_ALL = (
    _UNITS.keys()
    | _TENS.keys()
    | MAGNITUDES.keys()
    | _ORDINAL_UNITS.keys()
    | _ORDINAL_TENS.keys()
    | _FRACTIONS.keys()
    | _TIMES.keys()
)
_ANY = "|".join(sorted(_ALL, key=len, reverse=True))

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


def _cardinal(tokens: list[_Token], position: int) -> tuple[Spelled, int]:
    start = tokens[position].start
    total = group = 0.0
    room = float("inf")  # the next word must be worth less than this to be added to the group
    scaled = False
    end = position
    while end < len(tokens):
        word = tokens[end].word
        if word == "and":
            mixed = _mixed(tokens, end)
            if mixed is not None:
                share, after = mixed
                value = total + group + share
                return Spelled(start, tokens[after - 1].end, value), after
            # "two hundred and five" goes on, "two and five" does not.
            if room in {100.0, 1000.0} and end + 1 < len(tokens) and _small(tokens[end + 1].word):
                end += 1
                continue
            break
        if word in MAGNITUDES:
            scale = MAGNITUDES[word]
            if scale <= 100:
                if group >= scale or (group == 0 and room < scale):
                    break
                group = (group or 1.0) * scale
                room = 100.0
            else:
                total += (group or 1.0) * scale
                group, room = 0.0, 1000.0
            scaled = True
        elif word in _TENS and room > 90:
            group += _TENS[word]
            room = 10.0
        elif word in _UNITS and room > _UNITS[word] and not (room == 10.0 and _UNITS[word] == 0):
            group += _UNITS[word]
            room = 0.0
        elif (word in _ORDINAL_UNITS and room == 10.0 and _ORDINAL_UNITS[word] < 10) or (
            word in _ORDINAL_TENS and room == 100.0
        ):
            value = total + group + (_ORDINAL_UNITS.get(word) or _ORDINAL_TENS[word])
            return Spelled(start, tokens[end].end, value, ordinal=True), end + 1
        elif word in _FRACTIONS and end > position and group and not scaled:
            # "two thirds", "one quarter": a share, written as numerator and denominator.
            return Spelled(start, tokens[end].end, group * _FRACTIONS[word], fraction=True), end + 1
        else:
            break
        end += 1
    return Spelled(start, tokens[end - 1].end, total + group, scaled=scaled), max(end, position + 1)


def _small(word: str) -> bool:
    return word in _UNITS or word in _TENS or word in _ORDINAL_UNITS


def _mixed(tokens: list[_Token], position: int) -> tuple[float, int] | None:
    """The share in "… and a half" and the position after it."""
    after = position + 1
    if after < len(tokens) and tokens[after].word in {"a", "an", "one"}:
        after += 1
    if after < len(tokens) and tokens[after].word in {"half", "quarter", "third"}:
        return _FRACTIONS[tokens[after].word], after + 1
    return None
