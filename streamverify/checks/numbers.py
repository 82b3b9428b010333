"""Whether the numbers of a claim stand in its sources, and which number stands there instead.

Before: `quantities.py` read the numbers out of both. After: `signals.py` counts, the judge weighs.
"""

from __future__ import annotations

import datetime as dt
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple, TypeAlias

from streamverify.checks.dates import Date, DateKind
from streamverify.checks.quantity import Hedge, NumberReading, Quantity

_EXACT = 1e-9
"""Relative difference below which two numbers are one: floating point, not rounding."""
_CONVERTED = 0.02
"""Relative difference that a conversion between metric and customary units is allowed."""
_ADDED_FROM = 80
"""Most numbers of which sums and differences are looked for: the work is quadratic."""
_DERIVED_FROM = 40
"""Most that are multiplied and divided, too: of many numbers something would always fit."""


_CONVERTED_SHARE = 0.05
"""The same between a share (one third) and a per cent, which is mostly written without decimals."""
_CONVERTED_JOINED = 0.0075
"""The same for what is written in two units: who says 6 ft 2 in has measured to the inch."""
_SCALES = {"celsius": (1.0, 0.0), "kelvin": (1.0, -273.15), "fahrenheit": (5 / 9, -160 / 9)}
"""By scale of temperature what a degree is in Celsius, and where its zero stands."""

_DAY = 86_400.0
_LEAP = 2000
"""The year of days of which no year is known."""

Range: TypeAlias = tuple[float, float]
"""The smallest and the largest value."""
Kind: TypeAlias = tuple[str, bool]
"""A dimension, and whether the unit is metric."""
Written: TypeAlias = tuple[float, bool]
"""How a number was written: what its unit is worth, and whether a smaller one was joined to it."""


class Accepted(NamedTuple):
    """Which numbers of one kind are as good as a claim's, in the base unit."""

    written: Written | None
    """How the claim's own is written; None where that makes no difference."""
    same: Range
    """Written alike, or anyhow."""
    converted: Range
    """Written in another unit: what was converted was rounded to the digits of the claim."""
    joined: Range
    """The same where either is written in two units."""

    def range_of(self, written: Written) -> Range:
        """The range for a source's number written so."""
        if self.written is None or written == self.written:
            return self.same
        return self.joined if written[1] or self.written[1] else self.converted


def _anyhow(allowed: Range) -> Accepted:
    return Accepted(None, allowed, allowed, allowed)


class Allowance(NamedTuple):
    """Which source values are as good as one reading of a claim's number."""

    values: Range | None
    """Of a number without a unit: values as written, whatever their unit."""
    bases: Mapping[Kind, Accepted]
    """Of one with a unit: by its kind."""


class QuantityPool:
    """The numbers of some source texts, ready to be asked for a value."""

    def __init__(self, found: Iterable[Quantity]) -> None:
        self.quantities = tuple(found)
        self._bases: dict[Kind, dict[Written, list[float]]] = {}
        self._raw: list[float] = []
        for quantity in self.quantities:
            for reading in quantity.readings:
                alike = self._bases.setdefault((reading.dimension, reading.metric), {})
                alike.setdefault((reading.factor, reading.joined), []).append(reading.base)
                self._raw.append(abs(reading.value))
        if len(self._raw) > 1:  # most pools are of one number, of which there is one to each in a text
            self._raw.sort()
            for alike in self._bases.values():
                for values in alike.values():
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
        return any(
            _any_between(values, *wanted.range_of(written))
            for kind, wanted in allowed.bases.items()
            for written, values in self._bases.get(kind, {}).items()
        )


def as_good(quantity: Quantity, allowed: Iterable[Allowance]) -> bool:
    """`holds_within` of a pool of this number alone, without making one: each is asked of every claim."""
    return any(_within(reading, one) for one in allowed for reading in quantity.readings)


def _within(reading: NumberReading, allowed: Allowance) -> bool:
    if allowed.values is not None:
        return allowed.values[0] <= abs(reading.value) <= allowed.values[1]
    wanted = allowed.bases.get((reading.dimension, reading.metric))
    if wanted is None:
        return False
    low, high = wanted.range_of((reading.factor, reading.joined))
    return low <= reading.base <= high


def allowances(quantity: Quantity) -> tuple[Allowance, ...]:
    """For each reading of a claim's number the source values that are as good as it."""
    return tuple([_allowance(quantity, reading) for reading in quantity.readings])


def _allowance(quantity: Quantity, reading: NumberReading) -> Allowance:
    low, high = bounds(quantity, reading)
    dimension, metric = reading.dimension, reading.metric
    if not dimension:
        return Allowance((low, high), {})
    half, far = min(_step(quantity, reading) or 1.0, 1.0) / 2, abs(reading.value) * _CONVERTED
    rounding = min(half, far) if dimension != "ratio" else _of_share(half, reading)
    fine = max(min(half, far), abs(reading.value) * _CONVERTED_JOINED)
    written = reading.factor, reading.joined

    def around(slack: float) -> Range:
        return (low - slack) * reading.factor, (high + slack) * reading.factor

    bases = {
        (dimension, metric): Accepted(written, around(0.0), around(rounding), around(rounding)),
        # A bare number in a table or a list ("Margin (%): 12.5") leaves its unit elsewhere, and has no sign.
        ("", True): _anyhow((low, high) if reading.value >= 0 else (-high, -low)),
        (dimension, not metric): Accepted(written, around(far), around(far), around(fine)),
    }
    if dimension in _SCALES:
        bases |= _on_other_scales(dimension, low - half, high + half)
    return Allowance(None, bases)


def _of_share(half: float, reading: NumberReading) -> float:
    """What a per cent may differ from a share: half of its last digit; a share half a per cent."""
    return min(half * min(reading.factor, 0.01) / reading.factor, abs(reading.value) * _CONVERTED_SHARE)


def _on_other_scales(scale: str, low: float, high: float) -> dict[Kind, Accepted]:
    """The temperatures from `low` to `high` on every other scale."""
    degree, zero = _SCALES[scale]
    return {
        (other, other != "fahrenheit"): _anyhow(
            ((low * degree + zero - its_zero) / its_degree, (high * degree + zero - its_zero) / its_degree)
        )
        for other, (its_degree, its_zero) in _SCALES.items()
        if other != scale
    }


def bounds(quantity: Quantity, reading: NumberReading) -> tuple[float, float]:
    """Smallest and largest source value, in the claim's unit, that the claim's wording allows.

    "About" allows half of the last digit written and 5 %, at most a quarter; "over" and "under" the
    number itself and half as much beyond it; a magnitude (1.2 million) half of its last digit.
    """
    value = reading.value
    step = min(_step(quantity, reading), abs(value))
    tiny = abs(value) * _EXACT + 1e-12
    if quantity.hedge is Hedge.ABOUT:
        slack = min(max(step / 2, abs(value) * 0.05), abs(value) / 4)
        return value - slack - tiny, value + slack + tiny
    if quantity.hedge is Hedge.OVER:
        return value - tiny, value + abs(value) / 2 + tiny
    if quantity.hedge is Hedge.UNDER:
        return value - abs(value) / 3 - tiny, value + tiny
    if quantity.rounded and step < abs(value):
        return value - step / 2 - tiny, value + step / 2 + tiny
    return value - tiny, value + tiny


def _step(quantity: Quantity, reading: NumberReading) -> float:
    """What the last digit written is worth in this reading of the number."""
    first = quantity.readings[0].value
    return quantity.step * abs(reading.value / first if first else 1.0)


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
        results = (
            *_combined(sources, reading.dimension),
            *_unit_elsewhere(sources, reading),
            *_elapsed(when, reading.dimension),
        )
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
    low, high = (bound * reading.factor for bound in bounds(quantity, reading))
    return low - abs(low) * 1e-4, high + abs(high) * 1e-4


def _read_as(quantity: Quantity, dimension: str) -> NumberReading | None:
    """The first reading of a number as one of this kind, if it is stated as such."""
    # Of units a second reading is as likely as the first: pounds, degrees.
    readings = quantity.readings[:1] if dimension in {"", "ratio"} else quantity.readings
    return next((r for r in readings if r.dimension == dimension and not quantity.implied), None)


def _combined(pool: Sequence[Quantity], dimension: str) -> list[float]:
    own = [read.base for q in pool if (read := _read_as(q, dimension)) is not None]
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


def _unit_elsewhere(pool: Sequence[Quantity], reading: NumberReading) -> list[float]:
    """Differences of two numbers, one of which has its unit elsewhere: 2,940 tonnes, 3,310 the year before.

    In tables neither has one; of a number without a unit the sources may say it of either.
    """
    own: list[tuple[float, bool]] = []
    for quantity in pool:
        first = quantity.readings[0]
        if quantity.implied:
            continue
        if not first.dimension:
            own.append((first.value * reading.factor, True))
        elif not reading.dimension:
            own.append((first.value, False))
        elif reading.dimension == "point" and first.dimension == "ratio":
            own.append((first.base * 100, False))
        elif (alike := _read_as(quantity, reading.dimension)) is not None:
            own.append((alike.base, False))
    return [abs(one - other) for (one, bare), (other, also) in combinations(own, 2) if bare or also]


def _days_between(when: Sequence[Date]) -> list[float]:
    """Seconds from one day to another, and with both days counted; a day without a year is of the other's."""
    days = [date for date in when if date.day is not None and date.month is not None]
    found: list[float] = []
    for one, other in combinations(days, 2):
        years = one.year or other.year or _LEAP, other.year or one.year or _LEAP
        try:
            first, second = (
                dt.date(year, date.month or 1, date.day or 1)
                for year, date in zip(years, (one, other), strict=True)
            )
        except ValueError:  # 30 February
            continue
        apart = abs((first - second).days)
        found += [apart * _DAY, (apart + 1) * _DAY]
    return found


def _elapsed(when: Sequence[Date], dimension: str) -> list[float]:
    dated = [date for date in when if date.year is not None and date.kind is not DateKind.DECADE]
    timed = [date.minute for date in when if date.minute is not None]
    if dimension == "seconds":
        minutes = [abs(first - second) * 60.0 for first, second in combinations(timed, 2)]
        return [*minutes, *_days_between(when)]
    years = [abs((first.year or 0) - (second.year or 0)) for first, second in combinations(dated, 2)]
    if dimension == "months":
        months = [
            abs(((first.year or 0) - (second.year or 0)) * 12 + (first.month or 0) - (second.month or 0))
            for first, second in combinations(dated, 2)
            if first.month and second.month
        ]
        return [*(year * 12.0 for year in years), *(float(month) for month in months)]
    return [float(year) for year in years] if not dimension else []
