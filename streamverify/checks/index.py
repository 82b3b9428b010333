"""What the checks need to know of a stream's passages, extracted once and only when asked for.

A `SourceView` is some stretch of source text (all of it, or the windows that matter to one claim) with its
numbers, dates and words. `SourceIndex` owns the view of everything and makes the narrow ones. Every
step is linear in the text; offsets are those of the passage's text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

from streamverify.checks.aligned import Ground, Place
from streamverify.checks.dates import Date, DatePool, dates, spans
from streamverify.checks.negation import Statement, statements
from streamverify.checks.numbers import QuantityPool
from streamverify.checks.quantities import quantities
from streamverify.checks.quantity import Quantity
from streamverify.checks.quotes import LEAST_WORDS, plain
from streamverify.checks.versions import Versions
from streamverify.text.words import WORD, content_stems, fold, stem, strip_possessive
from streamverify.types import Passage, Span

Near = tuple[int, int, int]
"""A window: position of the passage, and the range of its text in characters."""

PREFIX = 5
"""Length of the beginnings by which words can be looked up."""

_CAPITALISED = re.compile(r"\b[A-Z][\w'’-]*+")
_JOINT = re.compile(r"\s++(?:(?:of|the|and|for|on|in|de|la|du|&)\s++)?")
"""What may stand between two capitalised words of one name."""
_MOST_JOINED = 8
"""Capitalised words that are read as one name at most."""
_DOTTED = re.compile(r"\b(?:[A-Za-z]\.){2,}")
_WORDS_OF = re.compile(r"[^\W\d_]+")


class Source(NamedTuple):
    """One text the claim may be held against."""

    passage: int
    """Position of the passage; -1 for the question."""
    text: str
    offset: int
    """Where `text` begins in the passage's text; -1 for a title or the question."""


class SourceView:
    """Numbers, dates and words of some source texts; each kind is extracted on first use."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self.sources = tuple(sources)

    @cached_property
    def _dated(self) -> tuple[tuple[Source, tuple[Date, ...]], ...]:
        return tuple((source, dates(source.text)) for source in self.sources)

    @cached_property
    def dates(self) -> tuple[tuple[Source, Date], ...]:
        """Every date with the text it stands in."""
        return tuple((source, date) for source, found in self._dated for date in found)

    @cached_property
    def quantities(self) -> tuple[tuple[Source, Quantity], ...]:
        """Every number with the text it stands in; a bare year is a date and a number."""
        return tuple(
            (source, quantity)
            for source, found in self._dated
            for quantity in quantities(source.text, skip=_not_years(found), hedges=False)
        )

    @cached_property
    def quantity_pool(self) -> QuantityPool:
        """The numbers, to be asked for a value."""
        return QuantityPool(quantity for _, quantity in self.quantities)

    @cached_property
    def date_pool(self) -> DatePool:
        """The dates, to be asked for a date."""
        return DatePool(date for _, date in self.dates)

    @cached_property
    def ground(self) -> Ground:
        """Where the words of the texts stand."""
        return Ground(
            (source.passage, source.text, source.offset < 0 <= source.passage) for source in self.sources
        )

    @cached_property
    def number_places(self) -> tuple[tuple[Place, Quantity, QuantityPool], ...]:
        """Every number, where it stands, and a pool of it alone."""
        order = {source: index for index, source in enumerate(self.sources)}
        return tuple(
            (Place(order[source], number.start, number.end, number.text), number, QuantityPool([number]))
            for source, number in self.quantities
        )

    @cached_property
    def date_places(self) -> tuple[tuple[Place, Date], ...]:
        """Every date and where it stands."""
        order = {source: index for index, source in enumerate(self.sources)}
        return tuple(
            (Place(order[source], date.start, date.end, date.text), date) for source, date in self.dates
        )

    @cached_property
    def words(self) -> frozenset[str]:
        """Folded words, possessive endings taken off."""
        found: set[str] = set()
        for source in self.sources:
            found.update(WORD.findall(source.text.lower()))
            found.update(match.replace(".", "").lower() for match in _DOTTED.findall(source.text))
        # Folding is slow and words repeat: each is folded once.
        folded = {word if word.isascii() else fold(word) for word in found}
        return frozenset({strip_possessive(word) for word in folded} | folded)

    @cached_property
    def stems(self) -> frozenset[str]:
        """Stems of `words`."""
        return frozenset(stem(word) for word in self.words)

    @cached_property
    def _prefixes(self) -> dict[str, list[str]]:
        groups: dict[str, list[str]] = {}
        for word in self.words:
            if len(word) >= PREFIX:
                groups.setdefault(word[:PREFIX], []).append(word)
        return groups

    def by_prefix(self, prefix: str) -> Sequence[str]:
        """The words that begin with these `PREFIX` folded characters."""
        return self._prefixes.get(prefix, ())

    @cached_property
    def initials(self) -> frozenset[str]:
        """Initials of every run of capitalised words, folded: "who" for World Health Organization."""
        found: set[str] = set()
        for source in self.sources:
            for run in _capitalised(source.text):
                names = _WORDS_OF.findall(run)
                capitals = "".join(name[0] for name in names if name[0].isupper()).lower()
                found.update({capitals, "".join(name[0] for name in names).lower()})
        return frozenset(found)

    @cached_property
    def acronyms(self) -> str:
        """First letters of all words in a row: an acronym's expansion shows as the acronym."""
        return "".join(
            "".join(word[0] for word in _WORDS_OF.findall(fold(source.text))) + " " for source in self.sources
        )

    @cached_property
    def size(self) -> int:
        """Characters of all texts."""
        return sum(len(source.text) for source in self.sources)

    @cached_property
    def statements(self) -> tuple[tuple[Source, Statement], ...]:
        """The sentences of the passages, read for their polarity; neither titles nor the question."""
        return tuple(
            (source, sentence)
            for source in self.sources
            if source.offset >= 0
            for sentence in statements(source.text)
        )

    @cached_property
    def stem_runs(self) -> tuple[tuple[str, ...], ...]:
        """For each text the stems of its content words in order."""
        return tuple(tuple(content_stems(source.text)) for source in self.sources)

    @cached_property
    def folded(self) -> tuple[str, ...]:
        """Each text folded, for exact look-ups of identifiers."""
        return tuple(fold(source.text) for source in self.sources)

    @cached_property
    def plain(self) -> tuple[str, ...]:
        """The words of each text, for look-ups of quotations."""
        return tuple(plain(source.text) for source in self.sources)

    @cached_property
    def plain_sentences(self) -> frozenset[str]:
        """The words of each sentence of the passages that has three or more."""
        found = (plain(sentence.text) for _, sentence in self.statements)
        return frozenset(words for words in found if words.count(" ") > LEAST_WORDS)


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


class SourceIndex:
    """The passages of one stream, and the question if given, as the checks see them."""

    def __init__(self, passages: Sequence[Passage], *, question: str | None = None) -> None:
        self.passages = tuple(passages)
        self.question = question
        self._titles = [
            Source(position, passage.title, -1)
            for position, passage in enumerate(self.passages)
            if passage.title
        ]
        asked = [Source(-1, question, -1)] if question else []
        self._asked = asked
        texts = [Source(position, passage.text, 0) for position, passage in enumerate(self.passages)]
        self.everything = SourceView([*texts, *self._titles, *asked])
        self.versions = Versions(self.passages)
        # Answers return to the same few windows sentence after sentence.
        self._view = lru_cache(maxsize=64)(self._make_view)

    def name(self, passage: int) -> str:
        """How a finding calls a passage: its id, or the question."""
        return f"passage {self.passages[passage].id}" if passage >= 0 else "the question"

    def near(self, windows: Iterable[Near]) -> SourceView:
        """The view of some windows with the titles of their passages and the question.

        Without windows it is the view of everything.
        """
        key = tuple(sorted(set(windows)))
        return self._view(key) if key else self.everything

    def _make_view(self, windows: tuple[Near, ...]) -> SourceView:
        inside = {passage for passage, _, _ in windows}
        texts = [
            Source(passage, self.passages[passage].text[start:end], start) for passage, start, end in windows
        ]
        titles = [title for title in self._titles if title.passage in inside]
        return SourceView([*texts, *titles, *self._asked])
