"""Scales that a text states once for its figures: "in thousands of euros", "Sales (€m)", "(million lira)".

Before: `index.py` asks for the scales of its texts. After: `signals.py` looks a claim's "€12.5 million" up as
12,500 where the sources count in thousands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from streamverify.checks.quantity import Quantity

_WORDS = r"(?:thousands?|millions?|billions?)"
_SHORT = r"(?:mn|bn|m|k)(?![\w²³])"
_MONEY = r"(?:\b(?:USD|EUR|GBP|CHF|JPY|SEK|NOK|DKK|CAD|AUD|INR|CNY)|US\$|[€$£¥])"
_SCALE = re.compile(
    rf"\bin\s+(?:{_MONEY}\s?)?(?P<stated>{_WORDS})(?=\s*(?:of\s+(?:\w+\s+)?(?:euros?|dollars?|pounds?|crowns?|francs?|yen"
    rf"|kron\w+|{_MONEY})|[.,;:)|]|$))"
    rf"|{_MONEY}\s?(?:in\s+)?(?P<money>{_WORDS}|{_SHORT})"
    rf"|[(|]\s?(?:in\s+)?(?P<column>{_WORDS})(?:\s(?:of\s)?[^\W\d_]{{3,12}})?\s?[)|]",
    re.MULTILINE,
)
"""Not "hundreds of millions of users", nor a bare m, which is a metre."""
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
