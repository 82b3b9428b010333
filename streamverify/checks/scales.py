"""Scales that a text states once for its figures: "amounts in thousands of euros", "Sales (€m)".

Before: `index.py` asks for the scales of its texts. After: `signals.py` looks a claim's "€12.5 million" up as
12,500 where the sources count in thousands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from streamverify.checks.quantity import Quantity

_NAMES = r"(?P<{}>thousands?|millions?|billions?|mn|bn|m|k|000s?)(?![\w²³])"
_MONEY = r"(?:[A-Z]{3}|US\$|[€$£¥])"
_SCALE = re.compile(
    rf"\b(?:in|of)\s+(?:{_MONEY}\s?)?(?:['’]?){_NAMES.format('stated')}"
    rf"|{_MONEY}\s?(?:in\s+)?(?:['’]?){_NAMES.format('money')}"
    rf"|[(|,]\s?{_NAMES.format('column')}\s?(?:[)|]|of\b)"
)
_WORTH = {"t": 1e3, "k": 1e3, "0": 1e3, "m": 1e6, "b": 1e9}


def scales(text: str) -> Iterator[float]:
    """What the figures of a text are counted in: 1000.0, 1e6 or 1e9 for each place that says so."""
    for match in _SCALE.finditer(text):
        name = match["stated"] or match["money"] or match["column"]
        yield _WORTH[name[0].lower()]


def scaled(quantity: Quantity, scale: float) -> Quantity:
    """The bare figure that stands for a quantity where figures are counted in this scale."""
    readings = tuple(
        replace(reading, value=reading.value / scale, base=reading.base / scale, dimension="")
        for reading in quantity.readings
        if reading.dimension == "" or reading.dimension.isupper()
    )
    return replace(quantity, readings=readings or quantity.readings, step=quantity.step / scale)
