"""Whether the numbers of a claim stand in its sources, and which number stands there instead.

Before: `quantities.py` read the numbers out of both. After: `signals.py` counts, the judge weighs.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from streamverify.checks.quantity import Hedge, NumberReading, Quantity

_EXACT = 1e-9
"""Relative difference below which two numbers are one: floating point, not rounding."""
_CONVERTED = 0.02
"""Relative difference that a conversion between metric and customary units is allowed."""


_CONVERTED_SHARE = 0.05
"""The same between a share (one third) and a per cent, which is mostly written without decimals."""
_CONVERTED_JOINED = 0.0075
"""The same for what is written in two units: who says 6 ft 2 in has measured to the inch."""
_SCALES = {"celsius": (1.0, 0.0), "kelvin": (1.0, -273.15), "fahrenheit": (5 / 9, -160 / 9)}
"""By scale of temperature what a degree is in Celsius, and where its zero stands."""


Range: TypeAlias = tuple[float, float]
"""The smallest and the largest value."""
Kind: TypeAlias = tuple[str, bool]
"""A dimension, and whether the unit is metric."""
COUNTED: Kind = ("#", True)
"""That of what is counted."""
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
                alike = self._bases.setdefault(_kind(quantity, reading), {})
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
    return any(_within(quantity, reading, one) for one in allowed for reading in quantity.readings)


def _kind(quantity: Quantity, reading: NumberReading) -> Kind:
    """Of a source's number; one that counts things ("25 users") is none that left its unit elsewhere."""
    counts = quantity.counts and not reading.dimension
    return COUNTED if counts else (reading.dimension, reading.metric)


def _within(quantity: Quantity, reading: NumberReading, allowed: Allowance) -> bool:
    if allowed.values is not None:
        return allowed.values[0] <= abs(reading.value) <= allowed.values[1]
    wanted = allowed.bases.get(_kind(quantity, reading))
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


def of_its_kind(quantity: Quantity, near: Iterable[Quantity]) -> list[Quantity]:
    """The numbers of the evidence with the dimension of its unit, or with its counted noun."""
    kinds = {reading.dimension for reading in quantity.readings if reading.dimension}
    return [
        other
        for other in near
        if not other.implied
        and (
            any(reading.dimension in kinds for reading in other.readings)
            or (quantity.noun != "" and other.noun == quantity.noun)
        )
    ]


def slip(quantity: Quantity, others: Iterable[Quantity]) -> Quantity | None:
    """The one with the same digits, a likely slip: 12.5 for 1.25."""
    return next((other for other in others if _digits(other.text) == _digits(quantity.text)), None)


def _digits(text: str) -> str:
    return "".join(char for char in text if char.isdecimal()).strip("0")
