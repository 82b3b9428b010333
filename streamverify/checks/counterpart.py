"""Which value of the sources a finding names where the claim has another: the one the claim speaks of.

Before: `signals.py` found that no source holds the claim's value. After: the finding shows this one to the
reader, and marks it in its passage.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from streamverify.checks.aligned import Place, Reader
from streamverify.checks.dates import Date
from streamverify.checks.index import Source, SourceView
from streamverify.checks.numbers import of_its_kind, slip
from streamverify.checks.quantity import Quantity

V = TypeVar("V", Quantity, Date)

_MOST = 200
"""Places that are compared; each costs what the claim is long."""


def other_number(
    quantity: Quantity, view: SourceView, reader: Reader | None, *, likely: Quantity | None = None
) -> tuple[Source, Quantity] | None:
    """The `likely` one, or one of the claim's kind with the same digits, or the closest of its kind.

    Without a reader of the claim, the first of its kind.
    """
    others = of_its_kind(quantity, (other for _, other in view.quantities))
    likely = likely or slip(quantity, others)
    if likely is not None:
        return next(found for found in view.quantities if found[1] is likely)
    named = {id(other) for other in others}
    placed = [(one.place, one.quantity) for one in view.number_places if id(one.quantity) in named]
    return _closest(quantity, placed, view, reader)


def other_date(date: Date, view: SourceView, reader: Reader | None) -> tuple[Source, Date] | None:
    """The closest date of the claim's kind."""
    placed = [(place, other) for place, other in view.date_places if other.kind is date.kind]
    return _closest(date, placed, view, reader)


def _closest(
    value: Quantity | Date, placed: Sequence[tuple[Place, V]], view: SourceView, reader: Reader | None
) -> tuple[Source, V] | None:
    """That among whose neighbours most of the claim's words stand; of equals, or in titles, the first."""
    placed = [found for found in placed[:_MOST] if view.sources[found[0].source].passage >= 0]
    if not placed:
        return None
    placed = [found for found in placed if view.sources[found[0].source].offset >= 0] or placed[:1]
    words = reader.around(value.start, value.end) if reader is not None else ()
    if reader is None or not words:
        return view.sources[placed[0][0].source], placed[0][1]
    weights = view.ground.weighed(words)
    place, other = max(placed, key=lambda found: view.ground.closeness(found[0], weights, reader.own))
    return view.sources[place.source], other
