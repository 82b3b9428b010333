"""How a number is said to stand to the true one: "about", "at least", "up to", "5+"."""

from __future__ import annotations

import re
from dataclasses import replace

from streamverify.checks.quantity import Hedge, Quantity

_BEFORE_HEDGE = re.compile(
    r"(?:\b(?P<about>about|around|roughly|approximately|approx\.?|circa|ca\.|some|close to|estimated"
    r"|an? average of)"
    r"|\b(?P<under>just under|under|less than|fewer than|below|nearly|almost|up to|at most|no more than"
    r"|not more than"
    r"|maximum of|within|shy of|no later than|as much as|as many as|not exceed(?:ing)?)"
    r"|\b(?P<over>just over|over|more than|greater than|above|exceed(?:s|ed|ing)?|at least|no less than"
    r"|no fewer than|not less than|minimum of|upwards of|in excess of|beyond)|(?P<tilde>[~≈]))"
    r"\s?(?:the |an? |another )?[$€£]?$",
    re.IGNORECASE,
)
_AFTER_HEDGE = re.compile(
    r"(?P<plus>\+)|\s?(?P<over>or more|or above|or older|and over|upwards)\b|\s?(?P<about>or so|-odd)\b"
    r"|\s?(?P<under>or less|or fewer|or below|or under)\b"
)


def hedged(text: str, quantity: Quantity) -> Quantity:
    """The quantity with the hedge that stands right before it, else right behind it, if any."""
    before = _BEFORE_HEDGE.search(text, max(quantity.start - 24, 0), quantity.start)
    if before:
        kind = "about" if before["about"] or before["tilde"] else "under" if before["under"] else "over"
        return replace(quantity, hedge=Hedge(kind))
    after = _AFTER_HEDGE.match(text, quantity.end)
    if after:
        kind = "about" if after["about"] else "under" if after["under"] else "over"
        return replace(quantity, hedge=Hedge(kind))
    return quantity
