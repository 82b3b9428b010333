"""Amounts in a currency that no source names, where the sources name another: pounds where all is in crowns.

The figure alone may stand there or follow from theirs, and is not the same amount.

Before: `index.py` holds the texts. After: `signals.py` accuses the amount.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from streamverify.checks.quantity import Quantity
from streamverify.checks.units import UNITS, Unit
from streamverify.text.words import alternatives

_CROWNS = ("crowns", "SEK", "NOK", "DKK", "CZK")


def is_currency(dimension: str) -> bool:
    """Whether a unit of this dimension is money."""
    return dimension == "crowns" or (len(dimension) == 3 and dimension.isupper())


_SHORT = frozenset({"p", "Fr.", "eur", "usd", "gbp"})
_UNITS = {name: unit for name, unit in UNITS.items() if is_currency(unit.dimension) and name not in _SHORT}


def _kinds(unit: Unit) -> frozenset[str]:
    kinds = unit.dimension, *(UNITS[name].dimension for name in unit.others)
    return frozenset(filter(is_currency, kinds))


_NAMES = {
    **{name.lower(): _kinds(unit) for name, unit in _UNITS.items()},
    **dict.fromkeys(("kr", "kč"), frozenset(_CROWNS)),
    **dict.fromkeys(("sterling",), frozenset({"GBP"})),
    **dict.fromkeys(("cent", "cents", "¢"), frozenset({"EUR", "USD", "AUD", "CAD", "NZD", "HKD", "SGD"})),
}
_SIGNS = "$€£¥₹¢"
_WORDS = alternatives(name for name in _NAMES if name[-1] not in _SIGNS)
_NAMED = re.compile(rf"[{re.escape(_SIGNS)}]|(?<![^\W\d_])(?:{_WORDS})(?![^\W\d_])")
_NO_MONEY = re.compile(r"\d\s?p$")
"""1080p, 50 p: pages and lines are written like pence."""


def named(text: str) -> frozenset[str]:
    """Every currency that a text may speak of, with a figure or without."""
    return frozenset[str]().union(*(_NAMES.get(found, ()) for found in set(_NAMED.findall(text.lower()))))


def foreign(quantity: Quantity, currencies: frozenset[str], sources: Iterable[Quantity]) -> bool:
    """Whether an amount is in a currency that no source names, and amounts of theirs are in another.

    Args:
        quantity: of the claim.
        currencies: what the sources have `named`.
        sources: their numbers. What may be a weight as well is none where they have weights.
    """
    own = {reading.dimension for reading in quantity.readings}
    money = {dimension for dimension in own if is_currency(dimension)}
    if not money or "" in own or money & currencies or _NO_MONEY.search(quantity.text):
        return False
    others = own - money
    paid = False
    for source in sources:
        kinds = {reading.dimension for reading in source.readings}
        if kinds & (others | money):
            return False
        paid |= all(map(is_currency, kinds)) and not source.implied and not _NO_MONEY.search(source.text)
    return paid
