"""What a number in a text is: its readings, what it counts, how sure it is said to be.

Before: `quantities.py` reads them out of a text. After: `numbers.py` and `aligned.py` compare them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from streamverify.checks.units import Unit


class Hedge(StrEnum):
    """How a number is said to stand to the true one."""

    NONE = "none"
    ABOUT = "about"
    OVER = "over"
    """The true number is larger, or equal where it says "at least"."""
    UNDER = "under"
    """The true number is smaller, or equal where it says "at most"."""


class Edge(StrEnum):
    """Which end of a range a number is."""

    NONE = "none"
    FIRST = "first"
    LAST = "last"


@dataclass(frozen=True, slots=True)
class NumberReading:
    """One way to understand a number."""

    value: float
    """As written, magnitude applied."""
    base: float
    """In the base unit of the dimension; equal to `value` without one."""
    dimension: str = ""
    """Empty where no known unit stands beside the number."""
    metric: bool = True
    factor: float = 1.0
    """What one of the unit written is worth in the base unit: tells apart what was converted."""
    joined: bool = False
    """Written in two units (6 ft 2 in): what converts it need not round it far."""

    @classmethod
    def of(cls, value: float, unit: Unit) -> NumberReading:
        """So many of a unit."""
        return cls(value, value * unit.factor, unit.dimension, unit.metric, unit.factor)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number in a text; `start` and `end` are its offsets, unit included."""

    start: int
    end: int
    text: str
    readings: tuple[NumberReading, ...]
    noun: str = ""
    """Stem of what is counted, where no known unit stands there."""
    hedge: Hedge = Hedge.NONE
    step: float = 0.0
    """Value of the last digit written (1.2 million: 100,000); 0 for an exact number."""
    rounded: bool = False
    """It names a magnitude (1.2 million), so its last digit was probably rounded."""
    weak: bool = False
    """A small count, an ordinal, "one", "half": absent from a source it says little."""
    counts: bool = False
    """It is no small count, and the noun stands directly behind it, in the same line."""
    implied: bool = False
    """Not written as a number ("daily", "an hour", "both"): evidence, never a claim."""
    edge: Edge = Edge.NONE
