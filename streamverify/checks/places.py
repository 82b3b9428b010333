"""Where the sources hold a claim's value, and where they hold a rival of it.

Before: `quantities.py` and `dates.py` read the values. After: `aligned.py` compares the places.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from streamverify.checks.aligned import Place
from streamverify.checks.dates import Date, same
from streamverify.checks.numbers import Allowance, allowances, as_good
from streamverify.checks.quantity import Edge, Quantity

_PLAIN_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")


class PlacedNumber:
    """A number of the sources: where it stands, and what it could be a rival of."""

    def __init__(self, place: Place, quantity: Quantity) -> None:
        self.place, self.quantity = place, quantity
        self._never = quantity.implied or _PLAIN_YEAR.fullmatch(quantity.text) is not None
        self._kinds = _kinds(quantity)

    @property
    def measured(self) -> bool:
        """Whether it has a unit: no count of the claim names it."""
        return bool(self._kinds)

    def within(self, allowed: Iterable[Allowance]) -> bool:
        """Whether it is one of the values that are as good as a claim's number."""
        return as_good(self.quantity, allowed)

    def answers(self, kinds: frozenset[str], noun: str) -> bool:
        """Whether it could answer the same question: the same dimension, or the same counted noun."""
        if self._never:
            return False
        return bool(kinds & self._kinds) if kinds or self._kinds else noun == self.quantity.noun


def number_places(
    number: Quantity, named: Callable[[PlacedNumber], bool], sources: Sequence[PlacedNumber]
) -> tuple[list[Place], list[Place]]:
    """Where the sources hold a number, and where a rival: of its kind, and not `named` by the claim."""
    holders: list[Place] = []
    rivals: list[tuple[Place, int]] = []
    allowed, kinds = allowances(number), _kinds(number)
    opposite = -1  # the other end of a range of which the claim's number is the same end
    for index, other in enumerate(sources):
        if other.within(allowed):
            holders.append(other.place)
            if number.edge is other.quantity.edge is Edge.FIRST:
                opposite = index + 1
            elif number.edge is other.quantity.edge is Edge.LAST and rivals and rivals[-1][1] == index - 1:
                rivals.pop()
        elif index != opposite and other.answers(kinds, number.noun) and not named(other):
            rivals.append((other.place, index))
    return holders, [place for place, _ in rivals]


def _kinds(number: Quantity) -> frozenset[str]:
    return frozenset([reading.dimension for reading in number.readings if reading.dimension])


def date_places(
    date: Date, named: Callable[[Date], bool], sources: Sequence[tuple[Place, Date]]
) -> tuple[list[Place], list[Place]]:
    """Where the sources hold a date, and where a rival: as fine, and not `named` by the claim."""
    holders, rivals = [], []
    for place, other in sources:
        if same(date, other):
            holders.append(place)
        elif other.kind is date.kind and not named(other):
            rivals.append(place)
    return holders, rivals
