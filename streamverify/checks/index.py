"""What the checks need to know of a stream's passages, extracted once and only when asked for.

A `SourceView` is some stretch of source text (all of it, or the windows that matter to one claim) with its
numbers, dates and words, put together from its texts (`source_text.py`). `SourceIndex` owns the view of
everything and makes the narrow ones. Every step is linear in the text; offsets are those of the passage's
text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial
from itertools import chain
from typing import NamedTuple, TypeVar

from streamverify._lazy import cached_property
from streamverify.checks.aligned import Ground, Place
from streamverify.checks.dates import Date, DateKind, DatePool, dates
from streamverify.checks.month_ends import edges
from streamverify.checks.negation import Statement
from streamverify.checks.numbers import QuantityPool
from streamverify.checks.phones import Phone
from streamverify.checks.places import PlacedNumber
from streamverify.checks.quantities import quantities
from streamverify.checks.quantity import Quantity
from streamverify.checks.source_text import SourceText, Stretch
from streamverify.checks.versions import Versions
from streamverify.checks.weekdays import between
from streamverify.passages import told_dates
from streamverify.text.words import STOP_WORDS
from streamverify.types import Passage

T = TypeVar("T")

Near = tuple[int, int, int]
"""A window: position of the passage, and the range of its text in characters."""

ALIGNED_WHOLE = 20_000
"""Characters of all sources up to which values are aligned within all of them, so that all are read for them;
above, within the near ones only."""


class Source(NamedTuple):
    """One text the claim may be held against."""

    passage: int
    """Position of the passage; -1 for the question."""
    text: str
    offset: int
    """Where `text` begins in the passage's text; -1 for a title or the question."""


def _alone(source: Source) -> SourceText:
    return SourceText(source.text)


class SourceView:
    """Numbers, dates and words of some source texts; each kind is extracted on first use.

    Args:
        sources: the texts.
        read: gives what a text holds; a view whose texts others have too is given one that remembers.
        dated: dates that the metadata of their passages tell, for look-ups only.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        read: Callable[[Source], SourceText] = _alone,
        dated: Iterable[Date] = (),
    ) -> None:
        self.sources = tuple(sources)
        self._dated = tuple(dated)
        self.texts = tuple(read(source) for source in self.sources)
        """What each of `sources` holds."""

    @cached_property
    def dates(self) -> tuple[tuple[Source, Date], ...]:
        """Every date with the text it stands in."""
        return tuple((source, date) for source, text in self._pairs for date in text.dates)

    @cached_property
    def quantities(self) -> tuple[tuple[Source, Quantity], ...]:
        """Every number with the text it stands in; a bare year is a date and a number."""
        return tuple((source, quantity) for source, text in self._pairs for quantity in text.quantities)

    @property
    def _pairs(self) -> Iterable[tuple[Source, SourceText]]:
        return zip(self.sources, self.texts, strict=True)

    @cached_property
    def quantity_pool(self) -> QuantityPool:
        """The numbers, to be asked for a value."""
        numbered = (one for text in self.texts for one in text.romans)
        return QuantityPool(chain((quantity for _, quantity in self.quantities), numbered))

    def holds_date(self, date: Date) -> bool:
        """Whether a text names the date, or, of a year, has it as a number."""
        if self.date_pool.holds(date):
            return True
        number = quantities(date.text) if date.kind is DateKind.YEAR else ()
        return bool(number) and self.quantity_pool.holds(number[0])

    @cached_property
    def currencies(self) -> frozenset[str]:
        """Every currency that is named."""
        return _union(text.currencies for text in self.texts)

    @cached_property
    def scales(self) -> tuple[frozenset[float], ...]:
        """For each text the scales that its passage states, in its title or elsewhere."""
        stated: dict[int, set[float]] = {}
        for source, text in self._pairs:
            stated.setdefault(source.passage, set()).update(text.scales)
        return tuple(frozenset(stated[source.passage]) for source in self.sources)

    @cached_property
    def date_pool(self) -> DatePool:
        """The dates, to be asked for a date."""
        inside = (
            date
            for source, text in self._pairs
            for named in (between, edges)
            for date in named(source.text, text.dates)
        )
        return DatePool(chain((date for _, date in self.dates), inside, self._dated))

    @cached_property
    def phones(self) -> tuple[Phone, ...]:
        """Every telephone number."""
        return tuple(phone for text in self.texts for phone in text.phones)

    @cached_property
    def ground(self) -> Ground:
        """Where the words of the texts stand."""
        return Ground(
            (source.passage, text.run, source.offset < 0 <= source.passage) for source, text in self._pairs
        )

    @cached_property
    def number_places(self) -> tuple[PlacedNumber, ...]:
        """Every number, and where it stands."""
        order = {source: index for index, source in enumerate(self.sources)}
        return tuple(
            PlacedNumber(Place(order[source], number.start, number.end, number.text), number)
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
        return _union(text.words for text in self.texts)

    @cached_property
    def stems(self) -> frozenset[str]:
        """Stems of `words`."""
        return _union(text.stems for text in self.texts)

    @cached_property
    def unmarked(self) -> frozenset[str]:
        """Those of `words` that have apostrophes, without them."""
        return _union(text.unmarked for text in self.texts)

    @cached_property
    def beginnings(self) -> frozenset[tuple[str, int]]:
        """How the longer ones of `words` begin, and how many letters they have."""
        return _union(text.beginnings for text in self.texts)

    @cached_property
    def capitals(self) -> frozenset[str]:
        """Small words that stand in the texts as acronyms, folded: "us" for US and U.S."""
        return _union(text.capitals for text in self.texts)

    def mentions(self, folded: str) -> bool:
        """Whether the texts have the word; a small one like "us" must stand there as an acronym."""
        return folded in (self.capitals if folded in STOP_WORDS else self.words)

    @cached_property
    def joined(self) -> frozenset[str]:
        """Folded neighbours as one word."""
        return _union(text.joined for text in self.texts)

    @cached_property
    def counted(self) -> frozenset[tuple[str, str]]:
        """Folded words and the small number, in whichever form, behind each: Apollo 11, Henry the Eighth."""
        return _union(text.counted for text in self.texts)

    @cached_property
    def initials(self) -> frozenset[str]:
        """Initials of every run of capitalised words, folded: "who" for World Health Organization."""
        return _union(text.initials for text in self.texts)

    @cached_property
    def acronyms(self) -> str:
        """First letters of all words in a row: an acronym's expansion shows as the acronym."""
        return "".join(text.acronyms + " " for text in self.texts)

    @cached_property
    def size(self) -> int:
        """Characters of all texts."""
        return sum(len(source.text) for source in self.sources)

    @cached_property
    def statements(self) -> tuple[tuple[Source, Statement], ...]:
        """The sentences of the passages, read for their polarity; neither titles nor the question."""
        return tuple((source, sentence) for source, text in self._spoken for sentence in text.statements)

    @property
    def _spoken(self) -> Iterable[tuple[Source, SourceText]]:
        return ((source, text) for source, text in self._pairs if source.offset >= 0)

    @cached_property
    def folded(self) -> tuple[str, ...]:
        """Each text folded, for exact look-ups of identifiers."""
        return tuple(text.folded for text in self.texts)

    @cached_property
    def plain(self) -> tuple[str, ...]:
        """The words of each text, for look-ups of quotations."""
        return tuple(text.plain for text in self.texts)

    @cached_property
    def plain_sentences(self) -> frozenset[str]:
        """The words of each sentence of the passages that has three or more."""
        return _union(text.plain_sentences for _, text in self._spoken)


def _union(parts: Iterable[frozenset[T]]) -> frozenset[T]:
    return frozenset[T]().union(*parts)


class SourceIndex:
    """The passages of one stream, and the question if given, as the checks see them.

    Args:
        passages: in their order.
        question: what was asked.
        read: gives what a text holds; an index of texts that another one has too is given one that remembers.
    """

    def __init__(
        self,
        passages: Sequence[Passage],
        *,
        question: str | None = None,
        read: Callable[[str], SourceText] | None = None,
    ) -> None:
        self.passages = tuple(passages)
        self.question = question
        self._narrow = _Narrow(self.passages, question, read or lru_cache(maxsize=256)(SourceText))
        self.everything = self._narrow.everything
        self.versions = Versions(self.passages, self._narrow.read)
        # The function is another object's: what remembers its own method is freed by the collector alone, and
        # an index holds some hundred thousand characters' worth of small objects.
        self._view = lru_cache(maxsize=64)(self._narrow.view)

    def name(self, passage: int) -> str:
        """How a finding calls a passage: its id, or the question."""
        return f"passage {self.passages[passage].id}" if passage >= 0 else "the question"

    def only(self, places: Iterable[int]) -> SourceIndex:
        """The index of the passages at these places, as if there were no others."""
        some = [self.passages[place] for place in places]
        return SourceIndex(some, question=self.question, read=self._narrow.read)

    def near(self, windows: Iterable[Near]) -> SourceView:
        """The view of some windows with the titles of their passages and the question.

        Without windows it is the view of everything.
        """
        key = tuple(sorted(set(windows)))
        return self._view(key) if key else self.everything


class _Narrow:
    """Makes views, of everything and of some windows; remembers what their texts hold."""

    def __init__(
        self, passages: Sequence[Passage], question: str | None, read: Callable[[str], SourceText]
    ) -> None:
        self._passages = passages
        self._titles = [
            Source(position, passage.title, -1) for position, passage in enumerate(passages) if passage.title
        ]
        self._asked = [Source(-1, question, -1)] if question else []
        texts = [Source(position, passage.text, 0) for position, passage in enumerate(passages)]
        # Answers return to the same few windows sentence after sentence, in other company.
        self.read = read
        self._dated = [
            [date for text in told_dates(passage) if text for date in dates(text)] for passage in passages
        ]
        self.everything = SourceView(
            [*texts, *self._titles, *self._asked], lambda source: read(source.text), chain(*self._dated)
        )
        self._stretch = lru_cache(maxsize=256)(partial(_stretch, self.everything))

    def view(self, windows: tuple[Near, ...]) -> SourceView:
        """Of these windows, the titles of their passages and the question."""
        inside = {passage for passage, _, _ in windows}
        texts = [
            Source(passage, self._passages[passage].text[start:end], start) for passage, start, end in windows
        ]
        titles = [title for title in self._titles if title.passage in inside]
        dated = chain.from_iterable(self._dated[passage] for passage in inside)
        return SourceView([*texts, *titles, *self._asked], self._text_of, dated)

    def _text_of(self, source: Source) -> SourceText:
        """What a source of a narrow view holds; of a window, from its passage if that is read anyway."""
        if source.offset < 0 or self.everything.size > ALIGNED_WHOLE:
            return self.read(source.text)
        return self._stretch(source)


def _stretch(everything: SourceView, source: Source) -> SourceText:
    whole = everything.texts[source.passage]
    if len(source.text) == len(whole.text):
        return whole
    return Stretch(whole, source.offset, source.offset + len(source.text))
