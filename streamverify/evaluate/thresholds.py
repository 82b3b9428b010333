"""What thresholds do to labelled sentences: misses and false alarms at each, and what they cost.

Before: scores beside labels. After: `fitting.py` chooses one of them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from streamverify.bounds import STEP
from streamverify.errors import UsageError
from streamverify.figure import Figure, share


@dataclass(frozen=True, slots=True)
class LabelledScore:
    """A sentence that was scored and labelled."""

    case: str
    index: int
    """Of the sentence in its answer."""
    group: str
    score: float
    """Calibrated P(supported), 0-1."""
    grounded: bool


@dataclass(frozen=True, slots=True)
class Threshold:
    """What a threshold does to the labelled sentences it was looked at with."""

    threshold: float
    ungrounded: int
    missed: int
    """Sentences that are not grounded and reach it."""
    grounded: int
    alarms: int
    """Sentences that are grounded and do not reach it."""

    @property
    def miss_rate(self) -> Figure:
        """Missed / not grounded."""
        return share(self.missed, self.ungrounded, "no sentence is labelled as not grounded")

    @property
    def false_alarms(self) -> Figure:
        """Alarms / grounded."""
        return share(self.alarms, self.grounded, "no sentence is labelled as grounded")

    def cost(self, miss: float, alarm: float) -> float:
        """What its mistakes cost in all."""
        return miss * self.missed + alarm * self.alarms


def at(threshold: float, rows: Sequence[LabelledScore]) -> Threshold:
    """What a threshold does to these sentences."""
    bad = [row.score for row in rows if not row.grounded]
    good = [row.score for row in rows if row.grounded]
    missed, passed = sum(score >= threshold for score in bad), sum(score >= threshold for score in good)
    return Threshold(threshold, len(bad), missed, len(good), len(good) - passed)


POINTS = 101
"""Of a curve that is shown."""


def curve(rows: Sequence[LabelledScore], points: int | None = POINTS) -> tuple[Threshold, ...]:
    """Misses and false alarms at each threshold where they change, ascending.

    Args:
        rows: labelled.
        points: at most so many, evenly picked among them; all if None.
    """
    bad = sorted(row.score for row in rows if not row.grounded)
    good = sorted(row.score for row in rows if row.grounded)
    places = sorted({place for score in (*bad, *good) if (place := score + STEP) < 1})
    if points is not None and len(places) > points:
        places = [places[round(step * (len(places) - 1) / (points - 1))] for step in range(points)]
    return tuple(
        Threshold(place, len(bad), len(bad) - bisect_left(bad, place), len(good), bisect_left(good, place))
        for place in [STEP, *places]
    )


RATIOS = (1, 2, 5, 10, 20, 50)
"""How many false alarms a miss costs, in a sweep."""


def sweep(
    points: Sequence[Threshold], ratios: Sequence[float] = RATIOS
) -> tuple[tuple[float, Threshold], ...]:
    """For each price of a miss, in false alarms, the cheapest threshold; of equally cheap ones the highest.

    Args:
        points: a curve; all of its points, or the cheapest may be missed.
        ratios: each above 0.

    Raises:
        UsageError: a ratio is not above 0. Caller.
    """
    if not all(0 < ratio < float("inf") for ratio in ratios):
        raise UsageError("what a miss costs, in false alarms, must be above 0")
    return tuple((ratio, cheapest(points, (ratio, 1.0))) for ratio in ratios) if points else ()


def cheapest(points: Sequence[Threshold], costs: tuple[float, float]) -> Threshold:
    """The cheapest threshold where a miss and a false alarm cost so much; of equally cheap ones the highest.

    A higher one misses no more.
    """
    return min(points, key=lambda point: (point.cost(*costs), -point.threshold))
