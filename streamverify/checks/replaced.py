"""What stands in the sources in the place of a number or a date that none of them holds.

A value that no source holds is mostly worked out from theirs, and then nothing stands in its place. It was
put there instead of another where the words around a rival are the claim's own, or where the sources have
the very figure with another unit.

Before: `signals.py` found that nothing holds or gives the value. After: the signals go to the judge.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isclose

from streamverify.checks.aligned import Ground, Place, Reader
from streamverify.checks.dates import Date
from streamverify.checks.quantity import NumberReading, Quantity

CLOSE = 0.2
"""Up to this closeness a rival says nothing: sentences share words by chance."""

_FAMILIES = {
    "seconds": "time",
    "months": "time",
    "ratio": "share",
    "point": "share",
    "celsius": "temperature",
    "fahrenheit": "temperature",
    "kelvin": "temperature",
}
"""Dimensions between which units are mixed up; any currency is mixed up with any other."""
_TOO_SMALL = 1.0
"""Up to here a figure is too common to be the same one: "one week" beside "a day"."""


def closest(value: Quantity | Date, rivals: Sequence[Place], reader: Reader, ground: Ground) -> float:
    """How far (0-1) above `CLOSE` the words around the closest rival are those around the claim's value."""
    rivals = [place for place in rivals if not ground.loose(place)]
    words = reader.around(value.start, value.end)
    if not rivals or not words:
        return 0.0
    weights = ground.weighed(words)
    best = max(ground.closeness(place, weights, reader.own) for place in rivals)
    return max(best - CLOSE, 0.0) / (1 - CLOSE)


def other_unit(quantity: Quantity, near: Iterable[Quantity]) -> Quantity | None:
    """The same figure with another unit of the same kind, if it stands there: 14 euros for 14 dollars."""
    own = [r for r in quantity.readings if r.dimension and abs(r.value) > _TOO_SMALL]
    for other in near:
        if not other.implied and any(
            theirs.dimension and isclose(ours.value, theirs.value) and _family(ours) == _family(theirs)
            for ours in own
            for theirs in other.readings
        ):
            return other
    return None


def _family(reading: NumberReading) -> str:
    dimension = reading.dimension
    return "money" if len(dimension) == 3 and dimension.isupper() else _FAMILIES.get(dimension, dimension)
