"""Whether the numbers of a claim stand in its sources, and which number stands there instead.

Before: `quantities.py` read the numbers out of both. After: `signals.py` counts, the judge weighs.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple, TypeAlias

from streamverify.checks.dates import Date, DateKind
from streamverify.checks.quantity import Hedge, NumberReading, Quantity

_EXACT = 1e-6
"""Relative difference below which two numbers are one: floating point, not rounding."""
_CONVERTED = 0.02
"""Relative difference that a conversion between metric and customary units is allowed."""
_ADDED_FROM = 80
"""Most numbers of which sums and differences are looked for: the work is quadratic."""
_DERIVED_FROM = 40
"""Most that are multiplied and divided, too: of many numbers something would always fit."""


Range: TypeAlias = tuple[float, float]
"""The smallest and the largest value."""


class Allowance(NamedTuple):
    """Which source values are as good as one reading of a claim's number."""

    values: Range | None
    """Of a number without a unit: values as written, whatever their unit."""
    bases: Mapping[tuple[str, bool], Range]
    """Of one with a unit: by dimension and whether it is metric, in the base unit."""


class QuantityPool:
    """The numbers of some source texts, ready to be asked for a value."""

    def __init__(self, found: Iterable[Quantity]) -> None:
        self.quantities = tuple(found)
        self._bases: dict[tuple[str, bool], list[float]] = {}
        self._raw: list[float] = []
        for quantity in self.quantities:
            for reading in quantity.readings:
                self._bases.setdefault((reading.dimension, reading.metric), []).append(reading.base)
                self._raw.append(reading.value)
        if len(self._raw) > 1:  # most pools are of one number, of which there is one to each in a text
            self._raw.sort()
            for values in self._bases.values():
                values.sort()

    def holds(self, quantity: Quantity) -> bool:
        """Whether some source number equals this one, within what its wording allows."""
        return self.holds_within(allowances(quantity))

    def holds_within(self, allowed: Iterable[Allowance]) -> bool:
        """`holds` of a number whose `allowances` are known: one number is often asked of many pools."""
        return any(map(self._holds, allowed))

    def _holds(self, allowed: Allowance) -> bool:
        if allowed.values is not None:
            return _any_between(self._raw, *allowed.values)
        return any(_any_between(self._bases.get(kind, ()), *wanted) for kind, wanted in allowed.bases.items())


def as_good(quantity: Quantity, allowed: Iterable[Allowance]) -> bool:
    """`holds_within` of a pool of this number alone, without making one: each is asked of every claim."""
    return any(_within(reading, one) for one in allowed for reading in quantity.readings)


def _within(reading: NumberReading, allowed: Allowance) -> bool:
    if allowed.values is not None:
        return allowed.values[0] <= reading.value <= allowed.values[1]
    wanted = allowed.bases.get((reading.dimension, reading.metric))
    return wanted is not None and wanted[0] <= reading.base <= wanted[1]


def allowances(quantity: Quantity) -> tuple[Allowance, ...]:
    """For each reading of a claim's number the source values that are as good as it."""
    return tuple([_allowance(quantity, reading) for reading in quantity.readings])


def _allowance(quantity: Quantity, reading: NumberReading) -> Allowance:
    low, high = bounds(quantity, reading)
    dimension, metric = reading.dimension, reading.metric
    if not dimension:
        return Allowance((low, high), {})
    factor = reading.base / reading.value if reading.value else 1.0
    bases = {
        (dimension, metric): (low * factor, high * factor),
        # A bare number in a table or a list ("Margin (%): 12.5") leaves its unit elsewhere.
        ("", True): (low, high),
        (dimension, not metric): (low * factor * (1 - _CONVERTED), high * factor * (1 + _CONVERTED)),
    }
    if dimension == "celsius":
        degrees = reading.value * 1.8 + 32
        bases["fahrenheit", False] = degrees - 1, degrees + 1
    elif dimension == "fahrenheit":
        degrees = (reading.value - 32) / 1.8
        bases["celsius", True] = degrees - 0.6, degrees + 0.6
    return Allowance(None, bases)


def bounds(quantity: Quantity, reading: NumberReading) -> tuple[float, float]:
    """Smallest and largest source value, in the claim's unit, that the claim's wording allows.

    "About" allows half of the last digit written and 5 %, at most a quarter; "over" and "under" the
    number itself and half as much beyond it; a magnitude (1.2 million) half of its last digit.
    """
    first = quantity.readings[0].value
    value = reading.value
    step = min(quantity.step * abs(value / first if first else 1.0), abs(value))
    tiny = abs(value) * _EXACT + 1e-12
    if quantity.hedge is Hedge.ABOUT:
        slack = min(max(step / 2, abs(value) * 0.05), abs(value) / 4)
        return value - slack - tiny, value + slack + tiny
    if quantity.hedge is Hedge.OVER:
        return value - tiny, value * 1.5 + tiny
    if quantity.hedge is Hedge.UNDER:
        return value / 1.5 - tiny, value + tiny
    if quantity.rounded and step < abs(value):
        return value - step / 2 - tiny, value + step / 2 + tiny
    return value - tiny, value + tiny


def _any_between(values: Sequence[float], low: float, high: float) -> bool:
    position = bisect_left(values, low)
    return position < len(values) and values[position] <= high


def rival(quantity: Quantity, near: Sequence[Quantity]) -> Quantity | None:
    """The number of the same kind that stands in the evidence where the claim has another.

    The same kind is the same unit's dimension or the same counted noun; None when there is none.
    """
    kinds = {reading.dimension for reading in quantity.readings if reading.dimension}
    rivals = [
        other
        for other in near
        if not other.implied
        and (
            any(reading.dimension in kinds for reading in other.readings)
            or (quantity.noun != "" and other.noun == quantity.noun)
        )
    ]
    # The likeliest slip keeps digits (12.5 for 1.25) or the order of magnitude.
    return min(rivals, key=lambda other: _distance(quantity, other), default=None)


def _distance(one: Quantity, other: Quantity) -> tuple[bool, float]:
    digits = _digits(one.text) != _digits(other.text)
    first, second = one.readings[0].base, other.readings[0].base
    return digits, abs(first - second) / (abs(first) + abs(second) or 1.0)


def _digits(text: str) -> str:
    return "".join(char for char in text if char.isdecimal()).strip("0")


def derivable(quantity: Quantity, sources: Sequence[Quantity], when: Sequence[Date] = ()) -> bool:
    """Whether one step of arithmetic over the sources gives this number.

    Sums of up to four numbers, differences, products and quotients of two, a share of one, the time
    between two dates. Products and quotients are looked for among 40 numbers, the rest among 80; of longer
    sources nothing is derived: something would always fit.
    """
    if len(sources) > _ADDED_FROM or len(when) > _ADDED_FROM:
        return False
    for reading in quantity.readings:
        low, high = _reach(quantity, reading)
        results = (*_combined(sources, reading.dimension), *_elapsed(when, reading.dimension))
        if any(low <= result <= high for result in results):
            return True
    return False


def reachable(date: Date, when: Sequence[Date], sources: Sequence[Quantity]) -> bool:
    """Whether another date, later or earlier by a time span that the sources name, is this one."""
    if len(sources) > _ADDED_FROM or len(when) > _ADDED_FROM or date.kind is DateKind.DECADE:
        return False
    spans = {
        dimension: [r.base for q in sources for r in q.readings if r.dimension == dimension]
        for dimension in ("seconds", "months")
    }
    if date.minute is not None:
        minutes = [span / 60 for span in spans["seconds"]]
        distances = [abs(date.minute - other.minute) for other in when if other.minute is not None]
        return any(distance % 720 == span % 720 for distance in distances for span in minutes)
    if date.year is None:
        return False
    months = [*spans["months"], *(span / 2_629_800 for span in spans["seconds"])]
    return any(
        _lands(date, other, sign * span)
        for other in when
        if other.year is not None
        for span in months
        for sign in (1, -1)
    )


def _lands(date: Date, start: Date, months: float) -> bool:
    """Whether so many months from one date lead to the other, as finely as both are known."""
    assert start.year is not None
    assert date.year is not None
    if start.month is None:
        return date.month is None and months % 12 == 0 and start.year + months / 12 == date.year
    place = start.year * 12 + start.month - 1 + months
    if date.month is None:
        return place // 12 == date.year
    return abs(place - date.year * 12 - date.month + 1) < 1


def _reach(quantity: Quantity, reading: NumberReading) -> tuple[float, float]:
    """Smallest and largest result of arithmetic, in the dimension's base unit, that is this number."""
    factor = reading.base / reading.value if reading.value else 1.0
    low, high = (bound * factor for bound in bounds(quantity, reading))
    return low - abs(low) * 1e-4, high + abs(high) * 1e-4


def _combined(pool: Sequence[Quantity], dimension: str) -> list[float]:
    own = [q.readings[0].base for q in pool if q.readings[0].dimension == dimension and not q.implied]
    results = [
        sum(parts)
        for count in (2, 3, 4)
        if len(own) <= 12 or count == 2
        for parts in combinations(own, count)
    ]
    results += [abs(first - second) for first, second in combinations(own, 2)]
    if len(pool) > _DERIVED_FROM:
        return results
    factors = {q.readings[0].value for q in pool if q.readings[0].value}
    factors |= {r.base for q in pool for r in q.readings if r.dimension == "ratio" and r.base}
    results += [value * factor for value in own for factor in factors]
    results += [value / factor for value in own for factor in factors]
    results += [
        value * (1 + sign * factor)
        for value in own
        for factor in factors
        if 0 < factor < 1
        for sign in (1, -1)
    ]
    if dimension in {"", "ratio", "times", "point"}:
        alike: dict[str, list[float]] = {}
        for quantity in pool:
            alike.setdefault(quantity.readings[0].dimension, []).append(quantity.readings[0].base)
        for values in alike.values():
            results += [first / second for first in values for second in values if second]
            if dimension == "point":
                results += [abs(first - second) * 100 for first, second in combinations(values, 2)]
    return results


def _elapsed(when: Sequence[Date], dimension: str) -> list[float]:
    dated = [date for date in when if date.year is not None and date.kind is not DateKind.DECADE]
    timed = [date.minute for date in when if date.minute is not None]
    if dimension == "seconds":
        return [abs(first - second) * 60.0 for first, second in combinations(timed, 2)]
    years = [abs((first.year or 0) - (second.year or 0)) for first, second in combinations(dated, 2)]
    if dimension == "months":
        months = [
            abs(((first.year or 0) - (second.year or 0)) * 12 + (first.month or 0) - (second.month or 0))
            for first, second in combinations(dated, 2)
            if first.month and second.month
        ]
        return [*(year * 12.0 for year in years), *(float(month) for month in months)]
    return [float(year) for year in years] if not dimension else []
