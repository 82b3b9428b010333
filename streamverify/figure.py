"""Figures that say when they could not be computed.

A figure is a finite number, or the reason why there is none. It never becomes 0, 1 or NaN on the way, and
what was not computed passes no gate.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from streamverify.text.printing import counted


@dataclass(frozen=True, slots=True)
class NotComputed:
    """Takes the place of a figure that has nothing to be computed from; passes no gate."""

    reason: str
    nothing: bool = field(default=False, compare=False)
    """Whether there is nothing to measure, as in an answer that makes no claim: that is no failure, and
    coverage does not ask for a figure there."""

    def __post_init__(self) -> None:
        """Refuse a gap that does not say why."""
        if not self.reason:
            raise ValueError("NotComputed needs a reason")


Figure = float | NotComputed


def finite(value: float, what: str = "a figure") -> float:
    """The number as a float.

    Raises:
        ValueError: it is infinite or not a number at all. Caller.
    """
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{what} must be a finite number or NotComputed, not {number}")
    return number


def share(part: float, whole: float, reason: str) -> Figure:
    """`part / whole`, or why there is none: nothing to divide by."""
    return finite(part / whole) if whole else NotComputed(reason)


Method = Literal["bca", "percentile", "clustered", "wilson", "normal", "welch"]
"""How an interval was made: bias-corrected bootstrap of the cases, plain percentiles of it, bootstrap of the
answers behind a pooled rate, Wilson's score interval, the normal approximation, Welch's interval of a
difference."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A two-sided 95 % interval unless its maker says otherwise; `low <= high`, both finite."""

    low: float
    high: float
    method: Method

    def __post_init__(self) -> None:
        """Refuse what is no interval."""
        if not finite(self.low, "an interval's end") <= finite(self.high, "an interval's end"):
            raise ValueError(f"an interval's low end {self.low} lies above its high end {self.high}")

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


BINS = 10
"""Bins of a histogram."""


@dataclass(frozen=True, slots=True)
class Spread:
    """How the cases' figures are spread; at least one of them."""

    median: float
    deviation: Figure
    """Sample standard deviation (n - 1)."""
    smallest: float
    largest: float
    p95: float
    """By the nearest-rank method."""
    histogram: tuple[int, ...]
    """Cases in each of ten bins of equal width over `[start, end]`; the last holds its upper end too."""
    start: float
    end: float

    @classmethod
    def of(cls, values: Sequence[float], start: float | None, end: float | None) -> Spread | None:
        """The spread of some figures; None without any.

        Args:
            values: finite.
            start: where the histogram begins; the smallest value if None, or where a value lies before it.
            end: likewise.
        """
        if not values:
            return None
        ordered = sorted(finite(value) for value in values)
        low = min(ordered[0], ordered[0] if start is None else start)
        high = max(ordered[-1], ordered[-1] if end is None else end)
        bins = [0] * BINS
        for value in ordered:
            place = int(BINS * ((value - low) / (high - low))) if high > low else 0
            bins[min(place, BINS - 1)] += 1
        middle = len(ordered) // 2
        return cls(
            median=ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2,
            deviation=_deviation(ordered),
            smallest=ordered[0],
            largest=ordered[-1],
            p95=ordered[-(-95 * len(ordered) // 100) - 1],
            histogram=tuple(bins),
            start=low,
            end=high,
        )


def _deviation(values: Sequence[float]) -> Figure:
    if len(values) < 2:
        return NotComputed("fewer than two cases")
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One metric over many cases: the figure, how sure it is, and how many cases it rests on."""

    figure: Figure
    interval: Interval | NotComputed
    computed: int
    """Cases whose figure was computed."""
    not_computed: Mapping[str, int] = field(default_factory=dict)
    """Reason to the number of cases that have no figure because of it."""
    spread: Spread | None = None
    nothing: int = 0
    """Of the cases without a figure, those in which there is nothing to measure."""

    def __post_init__(self) -> None:
        """Refuse a figure that rests on nothing."""
        if not isinstance(self.figure, NotComputed):
            finite(self.figure)
            if not self.computed:
                raise ValueError("a figure without a single computed case must be NotComputed")

    @property
    def cases(self) -> int:
        """Computed or not."""
        return self.computed + sum(self.not_computed.values())

    @property
    def coverage(self) -> Figure:
        """Computed cases / cases with something to measure."""
        return share(self.computed, self.cases - self.nothing, "there is no case with something to measure")

    def __str__(self) -> str:
        """The figure, its interval and its coverage, on one line; each reason once."""
        reasons = "; ".join(sorted(self.not_computed))
        if isinstance(self.figure, NotComputed):
            head = f"not computed: {self.figure.reason}"
            if reasons == self.figure.reason:
                return f"{head}, 0 of {counted(self.cases, 'case')}"
        else:
            head = shown(self.figure)
            if isinstance(self.interval, Interval):
                head += f" [{shown(self.interval.low)}, {shown(self.interval.high)}]"
        text = f"{head}, {self.computed} of {counted(self.cases, 'case')}"
        if self.not_computed:
            text += f", {sum(self.not_computed.values())} not computed: {reasons}"
        return text


def shown(value: Figure, places: int = 3) -> str:
    """A figure for people: `not computed` where there is none."""
    return "not computed" if isinstance(value, NotComputed) else f"{value:.{places}f}"
