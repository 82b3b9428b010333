"""Differences that a claim works out itself: "2 kg more than the T8", "saves 40 kr", "cut by three days".

Before: `signals.py` finds a value of the claim in the sources, held of something else. After: it accuses it
unless it is told as a difference and is one of two values of the sources.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations
from math import isclose

from streamverify.checks.quantity import Quantity

_MOST = 80
"""Numbers of the sources of which differences are looked for: of more, something would always fit."""
_BEFORE = re.compile(
    r"\b(?:by|saves?|saved|saving|gained|lost"
    r"|(?:difference|gap|margin|rise|rises|increase|drop|fall|cut) of)\s"
    r"(?:about\s|around\s|some\s|only\s|just\s)?[$€£]?$",
    re.IGNORECASE,
)
_BEHIND = re.compile(
    r"(?:\s[\w%-]{1,20}){0,2}\s(?:more|less|fewer|higher|lower|longer|shorter|later|earlier|sooner|larger"
    r"|smaller|cheaper|dearer|bigger|older|younger|faster|slower|heavier|lighter|taller|ahead|behind|apart"
    r"|short of|above|below)\b",
    re.IGNORECASE,
)
_REACH = 40


def difference(text: str, quantity: Quantity, sources: Sequence[Quantity]) -> bool:
    """Whether a claim's number is told as a difference and two numbers of the sources have it."""
    told = _BEHIND.match(text, quantity.end) or _BEFORE.search(
        text, max(quantity.start - _REACH, 0), quantity.start
    )
    if told is None or len(sources) > _MOST:
        return False
    own = {reading.base for reading in quantity.readings}
    others = [one for one in sources if own.isdisjoint(reading.base for reading in one.readings)]
    for reading in quantity.readings:
        kinds = {reading.dimension, ""} if reading.dimension else None
        theirs = {
            other.base
            for one in others
            for other in one.readings
            if kinds is None or other.dimension in kinds
        }
        if any(isclose(abs(a - b), reading.base, rel_tol=1e-6) for a, b in combinations(sorted(theirs), 2)):
            return True
    return False
