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
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

from streamverify._extras import require
from streamverify.figure import Figure, NotComputed
from streamverify.monitor.traffic import Traffic, Window, one_a_stream

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
    """What one window held, one value an answer."""

    numbers: Mapping[str, Sequence[float]]
    """Distribution to its values."""
    words: Mapping[str, Sequence[str]]
    """Distribution to its words."""


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
    def drifted(self) -> tuple[Shift, ...]:
        """Those that differ, by more than chance and by enough to matter."""
        return tuple(shift for shift in self.shifts if shift.drifted)


def level(look: int, alpha: float = ALPHA) -> float:
    """What the look of this number, from 1, may spend."""
    return alpha * 6 / (math.pi * look) ** 2


def sample(traffic: Traffic, window: Window) -> Sample:
    """What is compared: score and label of one sentence an answer, and the rest of whole answers."""
    answers, picked = traffic.answers(window), one_a_stream(traffic.judged(window))
    return Sample(
        numbers={
            "score": [one.score for one in picked if one.score is not None],
            "grounding": [one.grounding_score for one in answers if one.grounding_score is not None],
            "length": [float(one.chars) for one in answers],
            "passages": [float(one.passages) for one in answers],
        },
        words={"label": [one.label for one in picked], "language": traffic.languages(window)},
    )


def looks(traffic: Traffic, reference: Window, now: Window, length: timedelta) -> tuple[Look, ...]:
    """Every whole window of a length in `now`, in order, held against the reference."""
    before = sample(traffic, reference)
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
    shifts = [_numbers(name, values, after.numbers.get(name, ())) for name, values in before.numbers.items()]
    shifts += [_words(name, values, after.words.get(name, ())) for name, values in before.words.items()]
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


def _numbers(name: str, before: Sequence[float], after: Sequence[float]) -> Shift:
    rows = len(before), len(after)
    if min(rows) < _FEWEST:
        return _nothing(name, rows, "ks")
    stats = require("scipy.stats", extra="eval", feature="drift")
    with warnings.catch_warnings():
        # Of nearly equal samples the exact probability may round to above 1; what SciPy then takes for it
        # is good there, and no reader of the report could do anything about it.
        warnings.filterwarnings("ignore", "ks_2samp: Exact calculation unsuccessful", RuntimeWarning)
        found = stats.ks_2samp(list(before), list(after))
    moved = float(stats.wasserstein_distance(list(before), list(after)))
    before_counts, after_counts = _binned(before, after)
    p, distance = float(found.pvalue), float(found.statistic)
    return Shift(name, rows, "ks", p, distance, moved, _psi(before_counts, after_counts))


def _binned(before: Sequence[float], after: Sequence[float]) -> tuple[Counter[float], Counter[float]]:
    """How many values lie in each bin: tenths of the reference, or its own values where it has few."""
    known = sorted(set(before))
    if (
        len(known) <= _BINS
    ):  # a cut between equal values would put what moved beyond them into one bin with them
        within = set(known)
        return Counter(before), Counter(value if value in within else math.inf for value in after)
    ordered = sorted(before)
    cuts = sorted({ordered[len(ordered) * bin_ // _BINS] for bin_ in range(1, _BINS)})
    held = [
        Counter(float(sum(value >= cut for cut in cuts)) for value in values) for values in (before, after)
    ]
    return held[0], held[1]


def _words(name: str, before: Sequence[str], after: Sequence[str]) -> Shift:
    rows = len(before), len(after)
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


def _common(before: Sequence[str], after: Sequence[str]) -> tuple[Counter[str], Counter[str]]:
    """How often each word occurs; rare ones together, since the test needs five expected in each cell."""
    counts, total = (Counter(before), Counter(after)), len(before) + len(after)
    least = min(len(before), len(after))
    rare = {word for word in {*before, *after} if (counts[0][word] + counts[1][word]) * least < 5 * total}
    told = [Counter("(rare)" if word in rare else word for word in one) for one in (before, after)]
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
