"""Whether answers come about as they did: distributions against a reference, and labels against promises.

Before: `traffic.py` reads a reference and later windows. After: `streamverify monitor drift`.

Each later window is a *look*. Looking again and again finds something by chance: 30 daily tests at 0.05 do
with a probability of 0.79. Hence look k has the level alpha * 6 / (pi^2 k^2), which sums to alpha over all
looks there will ever be (alpha-spending, the online Bonferroni of Tian and Ramdas 2021, "Online control of
the familywise error rate", Statistical Methods in Medical Research 30); within a look the distributions share
it by Holm's rule (1979, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
Statistics 6).
"""

from __future__ import annotations

import math
import warnings
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import accumulate
from typing import Any, TypeVar

from streamverify._extras import require
from streamverify.errors import UsageError
from streamverify.figure import Figure, NotComputed
from streamverify.monitor.traffic import Traffic, Window
from streamverify.records.histograms import NUMBERS, WORDS, number_of

T = TypeVar("T")

ALPHA = 0.05
"""Probability of any false alarm, over all looks and distributions."""
LEAST_SHIFT = 0.05
"""Distance (0-1) below which a difference does not matter, however sure it is."""
PSI_ROWS = 500
"""Rows below which the population stability index says nothing: without any drift it exceeds 0.1 in 84 % of
windows of 100, and in 29 % of 200."""
_BINS = 10
_FEWEST = 20


@dataclass(frozen=True, slots=True)
class Sample:
    """What one window held: how often each value occurred, one value an answer."""

    numbers: Mapping[str, Counter[float]]
    """Distribution to its values."""
    words: Mapping[str, Counter[str]]
    """Distribution to its words."""

    @classmethod
    def of(cls, numbers: Mapping[str, Iterable[float]], words: Mapping[str, Iterable[str]]) -> Sample:
        """From values as they are, one an answer."""
        return cls(
            {name: Counter(values) for name, values in numbers.items()},
            {name: Counter(values) for name, values in words.items()},
        )


@dataclass(frozen=True, slots=True)
class Shift:
    """One distribution, then and now."""

    name: str
    rows: tuple[int, int]
    """In the reference, and now."""
    test: str
    """`ks` (two-sample Kolmogorov-Smirnov) for numbers, `chi2` (homogeneity) for words."""
    p: Figure
    distance: Figure
    """0-1: the largest gap between the two distribution functions; of words, the total variation."""
    wasserstein: Figure
    """How far values moved on average, in their own unit; of words nothing."""
    psi: Figure
    """Population stability index, to be looked at; it never alarms, and below 500 rows it means nothing."""
    drifted: bool = False

    @property
    def psi_means_something(self) -> bool:
        """Whether there are rows enough to look at it."""
        return min(self.rows) >= PSI_ROWS


@dataclass(frozen=True, slots=True)
class Look:
    """One window held against the reference."""

    number: int
    """From 1."""
    window: Window
    level: float
    """What it may spend of alpha."""
    shifts: tuple[Shift, ...]

    @property
    def compared(self) -> bool:
        """Whether any distribution had the rows that a test needs."""
        return any(isinstance(shift.p, float) for shift in self.shifts)

    @property
    def drifted(self) -> tuple[Shift, ...]:
        """Those that differ, by more than chance and by enough to matter."""
        return tuple(shift for shift in self.shifts if shift.drifted)


def level(look: int, alpha: float = ALPHA) -> float:
    """What the look of this number, from 1, may spend."""
    return alpha * 6 / (math.pi * look) ** 2


def sample(traffic: Traffic, window: Window) -> Sample:
    """What is compared: score and label of one sentence an answer, and the rest of whole answers."""
    found = traffic.values(window)
    return Sample(
        numbers={
            name: Counter({number_of(name, value): count for value, count in found.get(name, {}).items()})
            for name in NUMBERS
        },
        words={name: Counter(found.get(name, {})) for name in WORDS},
    )


MOST_LOOKS = 10_000
"""Windows that one call compares."""


def looks(traffic: Traffic, reference: Window, now: Window, length: timedelta) -> tuple[Look, ...]:
    """Every whole window of a length in `now`, in order, held against the reference.

    Raises:
        UsageError: the reference holds nothing that could be compared, or there are more windows than
            `MOST_LOOKS`. Caller.
    """
    if (now.until - now.since) / length > MOST_LOOKS:
        raise UsageError(
            f"{now} holds more than {MOST_LOOKS:,} windows of {length}: look at fewer, or longer ones"
        )
    before = sample(traffic, reference)
    if not any(count for held in (before.numbers, before.words) for count in held.values()):
        raise UsageError(
            f"the reference {reference} holds no answers that have ended: name a time, domain and run that do"
        )
    return tuple(
        look(number, window, before, sample(traffic, window))
        for number, window in enumerate(now.parts(length), 1)
    )


def look(number: int, window: Window, before: Sample, after: Sample, *, alpha: float = ALPHA) -> Look:
    """One window held against the reference.

    Args:
        number: of the look at this reference, from 1.
        window: when.
        before: the reference.
        after: the window.
        alpha: probability of any false alarm, over all looks.

    Raises:
        MissingExtraError: SciPy is not installed. Caller.
    """
    nothing: Counter[Any] = Counter()
    shifts = [_numbers(name, held, after.numbers.get(name, nothing)) for name, held in before.numbers.items()]
    shifts += [_words(name, held, after.words.get(name, nothing)) for name, held in before.words.items()]
    spent = level(number, alpha)
    return Look(number, window, spent, _decided(shifts, spent))


def _decided(shifts: Sequence[Shift], spent: float) -> tuple[Shift, ...]:
    """Holm: the smallest p against the level over all, the next over one less, and so on."""
    tested = sorted((shift.p, place) for place, shift in enumerate(shifts) if isinstance(shift.p, float))
    sure = set()
    for rank, (p, place) in enumerate(tested):
        if not p <= spent / (len(tested) - rank):
            break
        sure.add(place)
    return tuple(
        Shift(
            *(shift.name, shift.rows, shift.test, shift.p, shift.distance, shift.wasserstein, shift.psi),
            drifted=place in sure and isinstance(shift.distance, float) and shift.distance >= LEAST_SHIFT,
        )
        for place, shift in enumerate(shifts)
    )


def _numbers(name: str, before: Counter[float], after: Counter[float]) -> Shift:
    rows = before.total(), after.total()
    if min(rows) < _FEWEST:
        return _nothing(name, rows, "ks")
    stats = require("scipy.stats", extra="eval", feature="drift")
    with warnings.catch_warnings():
        # Of nearly equal samples the exact probability may round to above 1; what SciPy then takes for it
        # is good there, and no reader of the report could do anything about it.
        warnings.filterwarnings("ignore", "ks_2samp: Exact calculation unsuccessful", RuntimeWarning)
        found = stats.ks_2samp(list(before.elements()), list(after.elements()))
    (was, was_often), (is_, is_often) = ((list(one), list(one.values())) for one in (before, after))
    moved = float(stats.wasserstein_distance(was, is_, was_often, is_often))
    p, distance = float(found.pvalue), float(found.statistic)
    return Shift(name, rows, "ks", p, distance, moved, _psi(*_binned(before, after)))


def _binned(before: Counter[float], after: Counter[float]) -> tuple[Counter[float], Counter[float]]:
    """How many values lie in each bin: tenths of the reference, or its own values where it has few."""
    if len(before) <= _BINS:
        # A cut between equal values would put what moved beyond them into one bin with them.
        known: Counter[float] = Counter()
        for value, count in after.items():
            known[value if value in before else math.inf] += count
        return before, known
    ordered, total = sorted(before), before.total()
    reached = list(accumulate(before[value] for value in ordered))
    cuts = sorted({ordered[bisect_right(reached, total * bin_ // _BINS)] for bin_ in range(1, _BINS)})
    held: list[Counter[float]] = [Counter(), Counter()]
    for values, binned in zip((before, after), held, strict=True):
        for value, count in values.items():
            binned[bisect_right(cuts, value)] += count
    return held[0], held[1]


def _words(name: str, before: Counter[str], after: Counter[str]) -> Shift:
    rows = before.total(), after.total()
    if min(rows) < _FEWEST:
        return _nothing(name, rows, "chi2")
    stats = require("scipy.stats", extra="eval", feature="drift")
    counts = _common(before, after)
    words = sorted({*counts[0], *counts[1]})
    distance = sum(abs(counts[0][word] / rows[0] - counts[1][word] / rows[1]) for word in words) / 2
    no_way = NotComputed("words have no distance from each other")
    if len(words) == 1:
        return Shift(name, rows, "chi2", 1.0, 0.0, no_way, 0.0)
    table = [[count[word] for word in words] for count in counts]
    p = float(stats.chi2_contingency(table).pvalue)
    return Shift(name, rows, "chi2", p, distance, no_way, _psi(*counts))


def _common(before: Counter[str], after: Counter[str]) -> tuple[Counter[str], Counter[str]]:
    """How often each word occurs; rare ones together, since the test needs five expected in each cell."""
    rows = before.total(), after.total()
    rare = {word for word in {*before, *after} if (before[word] + after[word]) * min(rows) < 5 * sum(rows)}
    told: list[Counter[str]] = [Counter(), Counter()]
    for counts, common in zip((before, after), told, strict=True):
        for word, count in counts.items():
            common["(rare)" if word in rare else word] += count
    return told[0], told[1]


def _nothing(name: str, rows: tuple[int, int], test: str) -> Shift:
    few = NotComputed(f"{rows[0]} rows in the reference and {rows[1]} now; {_FEWEST} are needed in each")
    return Shift(name, rows, test, few, few, few, few)


def _psi(before: Counter[T], after: Counter[T]) -> float:
    """Population stability index; an empty bin counts as half a row, so that it is finite."""
    total = before.total(), after.total()
    index = 0.0
    for place in {*before, *after}:
        was, is_ = max(before[place], 0.5) / total[0], max(after[place], 0.5) / total[1]
        index += (is_ - was) * math.log(is_ / was)
    return index
