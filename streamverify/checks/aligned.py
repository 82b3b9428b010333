"""Whether a claim's value stands in the sources as the value of the same thing.

A wrong number is mostly one that the passages do hold, of another subject, another year, another case.
So every place that holds the claim's value is compared with every place that holds a rival, a value of
the same kind that the claim does not name: at which of them do the words around speak of what the claim
speaks of? Words are all this sees; a signal here is a hint, a finding needs a wide gap.

Before: `index.py` keeps a `Ground` for a view, `places.py` tells the two kinds of places. After: `signals.py`
asks about each value of a claim.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import NamedTuple

from streamverify.checks.dates import Date
from streamverify.checks.quantity import Quantity
from streamverify.text.sentence_ends import SENTENCE_END
from streamverify.text.words import STOP_WORDS, listed, placed_words, stems_of

HALF = 6.0
"""Words of distance at which a word counts half."""
_CLAUSE, _SENTENCE = 3.0, 12.0
"""Words that the end of a clause and of a sentence are worth as distance."""
_SAME_PASSAGE = 0.15
"""What a word counts that stands far off in the same passage, or in its title."""
_OTHER_CLAUSE = 0.6
"""What a claim's word counts that stands in another clause of the claim than the value."""
_REACH = 12
"""Words on either side of a value that must be accounted for by the claim."""
CLEAR = 0.12
"""By how much a rival must be closer to the claim than its own value for a finding."""

_TELLING = frozenset(
    listed(
        "without before after under over not no more all same until above below most less other others else"
    )
)
"""Words of grammar that tell one case from another."""
_LINKS = frozenset(stems_of(listed("from to until till through and or between")))
"""Words that stand between the values of a row."""
_OTHERS = frozenset(stems_of(listed("otherwise else rest remainder")))
"""Words for what was not named: no word of the claim need stand beside them. "Other" tells too little."""
_NEAR_OTHERS = 8.0
"""Words, ends of clauses counted as `_CLAUSE`, from such a word to its value."""
_MARK = re.compile(r"[;:,)–—\s(](?:(?<=[;:,)–—])(?=\s|$)|(?<=[\s(])[–—(])")
"""Marks at which a clause ends. Every way begins with a class of characters, to which the search skips."""
_CONJUNCTION = re.compile(r"\b(?:and|but|or|while|whereas|which|who|where|if|when|unless|although|plus)\b")


class Place(NamedTuple):
    """A value of the sources: whose text it stands in and where."""

    source: int
    """Index of the text in the view."""
    start: int
    end: int
    text: str


class Contrast(NamedTuple):
    """A claim's value against its closest rival."""

    held: float
    """Closeness (0-1) of the best place that holds the claim's value."""
    rival: float
    """Closeness (0-1) of the best place that holds a rival."""
    other: Place
    """That place."""

    @property
    def gap(self) -> float:
        """How much closer the rival is, 0-1."""
        return max(self.rival - self.held, 0.0)


class Run(NamedTuple):
    """The words of one text: where they stand, how far along, and what they are."""

    starts: list[int]
    along: list[float]
    stems: list[str]
    places: dict[str, list[float]]
    sentences: dict[str, int]
    """For each stem how many sentences hold it."""
    ends: list[int]
    """Where the text's sentences end, in order."""
    prose: list[int]
    """Of how many words before each place, and before the end, a row of values is not made."""


class Ground:
    """Where the words of some texts stand, to be asked how close a value is to a claim's words.

    Args:
        runs: of each text, with the passage it belongs to (-1: the question) and whether it is a title.
    """

    def __init__(self, runs: Iterable[tuple[int, Run, bool]]) -> None:
        self._runs: list[Run | None] = []
        self._passages: list[int] = []
        self._of_passage: dict[int, set[str]] = {}
        self._sentences: dict[str, int] = {}
        for passage, run, title in runs:
            self._runs.append(None if title else run)
            self._passages.append(passage)
            self._of_passage.setdefault(passage, set()).update(run.places)
            for root, count in () if title else run.sentences.items():
                self._sentences[root] = self._sentences.get(root, 0) + count

    def passage(self, place: Place) -> int:
        """Position of the passage a place belongs to; -1 for the question."""
        return self._passages[place.source]

    def loose(self, place: Place) -> bool:
        """Whether a place stands in a title or the question: it is said of everything there."""
        return self._runs[place.source] is None or self._passages[place.source] < 0

    def weighed(self, words: Iterable[tuple[str, float]]) -> list[tuple[str, float]]:
        """The words with weights that sum to 1: each divided by the root of how many sentences hold it."""
        found = [(root, weight / max(self._sentences.get(root, 1), 1) ** 0.5) for root, weight in words]
        total = sum(weight for _, weight in found)
        return [(root, weight / total) for root, weight in found]

    def closeness(self, place: Place, words: Sequence[tuple[str, float]], own: frozenset[str]) -> float:
        """How far (0-1) a place speaks of what the claim speaks of.

        Args:
            place: of a value in these texts.
            words: stems of the claim with weights that sum to 1.
            own: every stem of the claim.

        Returns:
            The weighted share of the claim's words near the place, a word counting less the farther it
            stands, times the share of the words near the place that are the claim's, weighed likewise.
        """
        run = self._runs[place.source]
        if run is None or not run.starts:
            return 0.0
        middle = min(bisect_left(run.starts, place.start), len(run.starts) - 1)
        here = run.along[middle]
        held = self._of_passage[self._passages[place.source]]
        found = 0.0
        for root, weight in words:
            if root in run.places:
                found += weight * max(_nearness(run.places[root], here), _SAME_PASSAGE)
            elif root in held:
                found += weight * _SAME_PASSAGE
        return found * _accounted(run, middle, place, own)

    def complement(self, place: Place) -> bool:
        """Whether a value is said of whatever was not named: "the rest get 20 days", "otherwise 5 euros"."""
        run = self._runs[place.source]
        if run is None or not run.starts:
            return False
        middle = min(bisect_left(run.starts, place.start), len(run.starts) - 1)
        return any(
            run.stems[index] in _OTHERS and run.along[middle] - run.along[index] <= _NEAR_OTHERS
            for index in range(max(middle - 6, 0), middle)
        )

    def beside(self, holder: Place, rival: Place, words: Sequence[tuple[str, float]]) -> bool:
        """Whether two values stand in one sentence whose words are no nearer to the rival than to the holder.

        Of values in a row (“from 2015 to 2025”, “5.2% in 2019, 8.1% in 2020”) what stands before all is said
        of each, so it is as near to either. It is a row while nothing but values stands between them.

        Args:
            holder: where the claim's value stands.
            rival: where another one does.
            words: stems of the claim with weights that sum to 1.
        """
        run = self._runs[holder.source]
        if run is None or holder.source != rival.source or not run.starts:
            return False
        if bisect_left(run.ends, holder.start + 1) != bisect_left(run.ends, rival.start + 1):
            return False
        first, second = sorted((holder, rival), key=lambda place: place.start)
        between = bisect_left(run.starts, first.end), bisect_left(run.starts, second.start)
        row = run.prose[max(between)] == run.prose[between[0]]
        here, there = (
            run.along[min(bisect_left(run.starts, place.start), len(run.starts) - 1)]
            for place in (holder, rival)
        )
        lead = 0.0
        for root, weight in words:
            places = run.places.get(root, ())
            since = bisect_left(places, min(here, there)) if row and not _has_digit(root) else 0
            if since < len(places):
                lead += weight * (_nearness(places, here, since) - _nearness(places, there, since))
        return lead >= 0


def _has_digit(word: str) -> bool:
    return any(char.isdigit() for char in word)


def _clause_ends(text: str) -> list[int]:
    """Where the clauses of a text end, in order."""
    return sorted(match.end() for pattern in (_MARK, _CONJUNCTION) for match in pattern.finditer(text))


def _nearness(places: Sequence[float], here: float, since: int = 0) -> float:
    """1 at the nearest of these places, those from index `since` on, less the farther it stands."""
    index = bisect_left(places, here, since)
    distance = min(abs(place - here) for place in places[max(index - 1, since) : index + 1])
    return float(0.5 ** (distance / HALF))


def _accounted(run: Run, middle: int, place: Place, own: frozenset[str]) -> float:
    """The share of the words around a place that the claim has."""
    shared = total = 0.0
    for index in range(max(middle - _REACH, 0), min(middle + _REACH, len(run.starts))):
        if place.start <= run.starts[index] < place.end:
            continue
        weight = 0.5 ** (abs(run.along[index] - run.along[middle]) / HALF)
        total += weight
        shared += weight * (run.stems[index] in own)
    return shared / total if total else 0.0


_EMPTY = STOP_WORDS - _TELLING


def _stems(found: Iterable[tuple[int, str]]) -> list[tuple[int, str]]:
    kept = [
        (start, word) for start, word in found if word not in _EMPTY and (len(word) > 1 or word.isdecimal())
    ]
    return [*zip((start for start, _ in kept), stems_of(word for _, word in kept), strict=True)]


def run_of(text: str, found: Iterable[tuple[int, str]]) -> Run:
    """The words of a text in order.

    Args:
        text: a source's.
        found: its words as `placed_words` finds them.
    """
    ends = [(match.end(), _SENTENCE) for match in SENTENCE_END.finditer(text)]
    ends += [(end, _CLAUSE) for end in _clause_ends(text)]
    ends.sort()
    ends.append((len(text) + 1, 0.0))
    words = _stems(found)
    places: dict[str, list[float]] = {}
    sentences: dict[str, int] = {}
    alongs: list[float] = []
    along = 0.0
    following = iter(ends)
    end, worth = next(following)
    inside: set[str] = set()
    for start, root in words:
        while end <= start:
            along += worth
            if worth == _SENTENCE:
                inside = set()
            end, worth = next(following)
        along += 1
        alongs.append(along)
        if root in places:
            places[root].append(along)
        else:
            places[root] = [along]
        if root not in inside:
            inside.add(root)
            sentences[root] = sentences.get(root, 0) + 1
    stems = [root for _, root in words]
    prose = [0, *accumulate(not (root in _LINKS or _has_digit(root)) for root in stems)]
    last = [end for end, worth in ends if worth == _SENTENCE]
    return Run([start for start, _ in words], alongs, stems, places, sentences, last, prose)


class Reader:
    """A claim's words, to be asked for those around one of its values."""

    def __init__(self, text: str) -> None:
        self._words = _stems(placed_words(text))
        self._clauses = _clause_ends(text)
        self.own = frozenset(root for _, root in self._words)

    def around(self, start: int, end: int) -> list[tuple[str, float]]:
        """The stems outside this range, those of its clause weighing 1 and the others less."""
        clause = bisect_left(self._clauses, start + 1)
        found: dict[str, float] = {}
        for place, root in self._words:
            if not start <= place < end:
                near = bisect_left(self._clauses, place + 1) == clause
                found[root] = max(found.get(root, 0.0), 1.0 if near else _OTHER_CLAUSE)
        return list(found.items())


def contrast(
    value: Quantity | Date,
    holders: Sequence[Place],
    rivals: Sequence[Place],
    reader: Reader,
    ground: Ground,
) -> Contrast | None:
    """How close the claim's value and its closest rival stand to what the claim speaks of.

    None where there is nothing to compare: no rival, no word beside the value, or the question or a
    title holds the value.
    """
    rivals = [place for place in rivals if not ground.loose(place)]
    if not holders or not rivals or any(ground.loose(place) or ground.complement(place) for place in holders):
        return None
    words = reader.around(value.start, value.end)  # looks at every word of the claim
    if not words:
        return None
    weights = ground.weighed(words)

    around = _Neighbours(holders)
    rivals = [
        rival for rival in rivals if not any(ground.beside(one, rival, weights) for one in around.of(rival))
    ]
    if not rivals:
        return None

    def best(places: Sequence[Place]) -> tuple[float, Place]:
        return max(
            ((ground.closeness(place, weights, reader.own), place) for place in places),
            key=lambda found: (found[0], found[1].text),
        )

    held, _ = best(holders)
    rival, other = best(rivals)
    return Contrast(held, rival, other)


class _Neighbours:
    """Places in order, to be asked for those next to another: of its sentence they are the nearest."""

    def __init__(self, places: Sequence[Place]) -> None:
        self._places = sorted(places)
        self._at = [place[:2] for place in self._places]

    def of(self, other: Place) -> Sequence[Place]:
        """The last one before it and the first one behind it."""
        index = bisect_left(self._at, other[:2])
        return self._places[max(index - 1, 0) : index + 1]
