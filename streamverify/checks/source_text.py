"""One text of a stream's sources, read once for every view that holds it.

Before: `index.py` has a passage, a title, the question or a window. After: its views put together what their
texts hold. Each kind of thing is read when it is first asked for; the words are read off one pass.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from streamverify._lazy import cached_property
from streamverify.checks.aligned import Run, run_of
from streamverify.checks.currencies import named
from streamverify.checks.dates import Date, dates, spans
from streamverify.checks.joined import clocked
from streamverify.checks.negation import Statement, statements
from streamverify.checks.number_words import CARDINALS, ORDINALS
from streamverify.checks.numbers import QuantityPool
from streamverify.checks.phones import Phone, phones, undivided
from streamverify.checks.quantities import quantities
from streamverify.checks.quantity import Quantity
from streamverify.checks.quotes import LEAST_WORDS, plain
from streamverify.checks.roman import romans
from streamverify.checks.scales import scales
from streamverify.text.words import (
    STOP_WORDS,
    even,
    fold,
    placed_words,
    split_words,
    stems_of,
    stems_of_content,
    strip_possessive,
    without_possessives,
)
from streamverify.types import Span

V = TypeVar("V", Date, Quantity)

_CAPITALISED = re.compile(r"\b[A-Z][\w'’-]*+")
_JOINT = re.compile(r"\s++(?:(?:of|the|and|for|on|in|de|la|du|&)\s++)?")
"""What may stand between two capitalised words of one name."""
_MOST_JOINED = 8
"""Capitalised words that are read as one name at most."""
_DOTTED = re.compile(r"\b(?:[A-Za-z]\.){2,}")
_WORDS_OF = re.compile(r"[^\W\d_]+")
_CAPITALS = re.compile(r"\b[A-Z](?:\.?[A-Z])+\b")
BEGINNING = 5
"""Letters of a beginning that a name and its adjective share."""
_NEIGHBOURS = re.compile(r"(?<!\w)(\w+)(?=[-.(](\w+)|\s(\d+)(?!\w))")
_COUNTED = re.compile(
    r"(?<!\w)(\w++)\s(?=(?:the\s)?(\d\d?(?:st|nd|rd|th)?|[ivxlc]{2,8}|[ivx]"
    rf"|{'|'.join((*CARDINALS[2:], *ORDINALS))})\b)"
)


class SourceText:
    """What one text holds; every step is linear in it, and offsets are the text's."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def dates(self) -> tuple[Date, ...]:
        """Its dates, in order."""
        return dates(self.text)

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """Its numbers, in order; a bare year is a date and a number, a time with seconds a span too."""
        others = sorted((*_not_years(self.dates), *(Span(one.start, one.end) for one in self.phones)))
        found = quantities(self.text, skip=others, hedges=False)
        taken = {one.start for one in found}
        more = [one for one in clocked(self.text) if one.start not in taken]
        return tuple(sorted((*found, *more), key=lambda one: one.start)) if more else found

    @cached_property
    def romans(self) -> tuple[Quantity, ...]:
        """Its Roman numbers, in order."""
        return tuple(romans(self.text))

    @cached_property
    def quantity_pool(self) -> QuantityPool:
        """Its numbers, to be asked for a value."""
        return QuantityPool(self.quantities)

    @cached_property
    def phones(self) -> tuple[Phone, ...]:
        """Its telephone numbers, in order."""
        return phones(self.text)

    @cached_property
    def undivided(self) -> str:
        """The text with its figures put together."""
        return undivided(self.text)

    @cached_property
    def scales(self) -> frozenset[float]:
        """What it says its figures are counted in."""
        return frozenset(scales(self.text))

    @cached_property
    def currencies(self) -> frozenset[str]:
        """The currencies it names."""
        return named(self.text)

    @cached_property
    def folded(self) -> str:
        """The text folded, for exact look-ups of identifiers."""
        return fold(self.text)

    @cached_property
    def _words(self) -> list[str]:
        """The words of the folded text, possessive endings kept."""
        return split_words(self.folded)

    @cached_property
    def words(self) -> frozenset[str]:
        """Folded words, with and without their possessive endings; dotted ones also without dots."""
        if even(self.text):
            folded = set(self._words)
        else:  # folding is slow and words repeat: each is folded once
            folded = {fold(word) for word in set(split_words(self.text.lower()))}
        if "." in self.text:
            folded.update(fold(match.replace(".", "")) for match in _DOTTED.findall(self.text))
        return frozenset(folded.union(strip_possessive(word) for word in folded if "'" in word))

    @cached_property
    def stems(self) -> frozenset[str]:
        """Stems of `words`."""
        return frozenset(stems_of(self.words))

    @cached_property
    def unmarked(self) -> frozenset[str]:
        """Those of `words` that have apostrophes, without them."""
        return frozenset(word.replace("'", "") for word in self.words if "'" in word)

    @cached_property
    def beginnings(self) -> frozenset[tuple[str, int]]:
        """How the longer ones of `words` begin, and how many letters they have."""
        return frozenset((word[:BEGINNING], len(word)) for word in self.words if len(word) >= BEGINNING)

    @cached_property
    def capitals(self) -> frozenset[str]:
        """Small words that stand in it as acronyms, folded: "us" for US and U.S."""
        found = {match.replace(".", "").lower() for match in _CAPITALS.findall(self.text)}
        return STOP_WORDS & found

    @cached_property
    def counted(self) -> frozenset[tuple[str, str]]:
        """Folded words and the small number, in whichever form, behind each: Apollo 11, Henry the Eighth."""
        return frozenset(_COUNTED.findall(self.folded))

    @cached_property
    def joined(self) -> frozenset[str]:
        """Folded neighbours as one word: "wifi" for Wi-Fi, "xr2000" for XR-2000 and XR 2000."""
        return frozenset(one + (other or number) for one, other, number in _NEIGHBOURS.findall(self.folded))

    @cached_property
    def stem_run(self) -> tuple[str, ...]:
        """Stems of its content words, in order."""
        return tuple(stems_of_content(without_possessives(self._words)))

    @cached_property
    def plain(self) -> str:
        """Its words, for look-ups of quotations: `quotes.plain`."""
        return f" {' '.join(self._words)} "

    @cached_property
    def run(self) -> Run:
        """Where its words stand."""
        return run_of(self.text, placed_words(self.text))

    @cached_property
    def initials(self) -> frozenset[str]:
        """Initials of every run of capitalised words, folded: "who" for World Health Organization."""
        found: set[str] = set()
        for run in _capitalised(self.text):
            names = _WORDS_OF.findall(run)
            if names[0].lower() in {"the", "a", "an"}:  # the first word of a sentence
                names = names[1:]
            capitals = "".join(name[0] for name in names if name[0].isupper()).lower()
            found.update({capitals, "".join(name[0] for name in names).lower()})
        return frozenset(found)

    @cached_property
    def acronyms(self) -> str:
        """First letters of all words in a row: an acronym's expansion shows as the acronym."""
        return "".join(word[0] for word in _WORDS_OF.findall(self.folded))

    @cached_property
    def statements(self) -> tuple[Statement, ...]:
        """Its sentences, read for their polarity."""
        return tuple(statements(self.text))

    @cached_property
    def plain_sentences(self) -> frozenset[str]:
        """The words of each of its sentences that has three or more."""
        found = (plain(sentence.text) for sentence in self.statements)
        return frozenset(words for words in found if words.count(" ") > LEAST_WORDS)


class Stretch(SourceText):
    """A stretch of a longer text that is read anyway: its numbers and dates are taken from there.

    They are those that stand in it whole, understood with what stands around the stretch.
    """

    def __init__(self, whole: SourceText, start: int, end: int) -> None:
        super().__init__(whole.text[start:end])
        self._whole, self._start, self._end = whole, start, end

    @cached_property
    def dates(self) -> tuple[Date, ...]:
        """The dates of the longer text that stand in it."""
        return self._moved(self._whole.dates)

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """The numbers of the longer text that stand in it."""
        return self._moved(self._whole.quantities)

    def _moved(self, found: Sequence[V]) -> tuple[V, ...]:
        start, end = self._start, self._end
        inside = found[bisect_left(found, start, key=_start_of) : bisect_left(found, end, key=_start_of)]
        return tuple(
            [replace(one, start=one.start - start, end=one.end - start) for one in inside if one.end <= end]
        )


def _start_of(value: Date | Quantity) -> int:
    return value.start


def _not_years(found: Sequence[Date]) -> list[Span]:
    return spans([date for date in found if not date.text.isdecimal()])


def _capitalised(text: str) -> Iterator[str]:
    """Runs of two or more capitalised words, with the small words between them."""
    start = end = count = 0
    for word in _CAPITALISED.finditer(text):
        if count and count < _MOST_JOINED and _JOINT.fullmatch(text, end, word.start()):
            count += 1
        else:
            if count > 1:
                yield text[start:end]
            start, count = word.start(), 1
        end = word.end()
    if count > 1:
        yield text[start:end]
