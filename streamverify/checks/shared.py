"""What the numbers of a range or a list share: "3 to 5 km", "$1.5-2 million", and the sign of degrees.

Before: `quantities.py` read each number by itself. After: the last one's unit and magnitude are read into
those before it, and the two ends of a range know which they are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from streamverify.checks.currencies import is_currency
from streamverify.checks.number_words import MAGNITUDES
from streamverify.checks.numerals import below_zero, sign_before
from streamverify.checks.quantity import Edge, Quantity

_SIGNED = frozenset({"celsius", "fahrenheit"})
_JOINED = re.compile(r"\s?(?:-|–|—|−|×|x|by|to|and|or|,|up to|through|/)\s?(?:up to )?$")
_RANGED = re.compile(r"\s?(?:[-–—−]|\b(?:to|up to|through|and|or)\b)\s?$")
"""What stands between the ends of a range, or between two numbers that one magnitude is told of."""
_SCALE = re.compile(
    r"(?<=[\w\s-])(?P<word>(?:hundred|thousand|million|billion|trillion|lakh|crore)\b)"
    r"|(?<=[\d\s])(?P<short>[kK]|[mMbBt]n|[mMbB])(?![^\W_])",
    re.IGNORECASE,
)
_SHORT = {"k": 1e3, "m": 1e6, "mn": 1e6, "b": 1e9, "bn": 1e9, "tn": 1e12}
_UNITS_TOO = frozenset("mMbBK")
_LONGEST_GAP = 8


def spread(text: str, found: Sequence[Quantity]) -> list[Quantity]:
    """Give "3" in "3 to 5 km" its unit: the last number of a range or a list carries it for all."""
    shared = list(found)
    for index in range(len(shared) - 1, -1, -1):
        here = shared[index]
        if index + 1 < len(shared):
            here = _with_unit_of(text, here, shared[index + 1])
        shared[index] = _signed(text, here)
    for index, (here, after) in enumerate(pairwise(shared)):
        if _ends(text, here, after):
            shared[index] = replace(here, edge=Edge.FIRST)
            shared[index + 1] = replace(after, edge=Edge.LAST)
    return shared


def _gap(text: str, here: Quantity, after: Quantity) -> str:
    """What stands between two numbers, if it is short; a currency before the second is part of that one."""
    return text[here.end : after.start] if after.start - here.end <= _LONGEST_GAP else ""


def _ends(text: str, here: Quantity, after: Quantity) -> bool:
    """Whether two numbers are the ends of one range; the second one may be of the next."""
    if here.implied or after.implied or not _RANGED.fullmatch(_gap(text, here, after)):
        return False
    kinds = {reading.dimension for reading in here.readings}
    return any(
        reading.dimension in kinds and reading.base > here.readings[0].base for reading in after.readings
    )


def _with_unit_of(text: str, here: Quantity, after: Quantity) -> Quantity:
    if here.noun or here.implied or after.implied:
        return here
    gap = _gap(text, here, after)
    if not _JOINED.match(gap):
        return here
    here = _with_scale_of(here, after) if _RANGED.fullmatch(gap) else here
    if any(reading.dimension for reading in here.readings):
        return here
    leads = {(lead.dimension, lead.factor): lead for lead in after.readings if lead.dimension}
    if not leads:
        return here
    shared = tuple(
        replace(lead, value=reading.value, base=reading.value * lead.factor, joined=False)
        for lead in leads.values()
        for reading in here.readings
    )
    return replace(here, readings=(*shared, *here.readings), weak=False)


def _with_scale_of(here: Quantity, after: Quantity) -> Quantity:
    """The first number of "5 to 6 million" as so many million, too; any other as it is."""
    scale = _scale(after, money=_is_money(here) or _is_money(after))
    if scale == 1 or _scale(here, money=True) > 1 or any(r.dimension == "ratio" for r in here.readings):
        return here
    largest = max(reading.value for reading in after.readings) / scale
    scaled = tuple(
        replace(reading, value=reading.value * scale, base=reading.base * scale)
        for reading in here.readings
        if 0 < reading.value < largest
    )
    if not scaled:
        return here  # 500 to 1.5 million
    # Both ends are as precise: 800 of "800 to 830 million" is not rounded to hundreds.
    step = min(here.step * scale, after.step)
    return replace(here, readings=(*scaled, *here.readings), step=step, rounded=True, weak=False)


def _scale(quantity: Quantity, *, money: bool) -> float:
    """The magnitude in a number's text: a million in "6 million users", 1 without any.

    A bare m is a metre, and a B a byte, unless it is said of money.
    """
    found = _SCALE.search(quantity.text)
    if found is None:
        return 1.0
    if found["word"]:
        return MAGNITUDES[found["word"].lower()]
    return _SHORT[found["short"].lower()] if money or found["short"] not in _UNITS_TOO else 1.0


def _is_money(quantity: Quantity) -> bool:
    return any(is_currency(reading.dimension) for reading in quantity.readings)


def _signed(text: str, quantity: Quantity) -> Quantity:
    """A temperature with the minus before it, or "below zero" behind it; any other number as it is."""
    if not any(reading.dimension in _SIGNED for reading in quantity.readings):
        return quantity
    start, end = sign_before(text, quantity.start), quantity.end
    if start == quantity.start and not below_zero(text, end):
        return quantity
    readings = tuple(
        replace(reading, value=-reading.value, base=-reading.base)
        if reading.dimension in _SIGNED
        else reading
        for reading in quantity.readings
    )
    return replace(quantity, start=start, end=end, text=text[start:end], readings=readings)
