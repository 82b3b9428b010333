"""Years from nowhere: of all missing dates the one kind that tells something by itself.

A day or a month that no source has is as often worked out as made up; a year is rarely worked out by more
than a span that the sources name (`derived.py`). Before: `signals.py` found a date nowhere, and nothing that
gives it. After: it counts unless it belongs to a case of a rule or is a round year near one of the sources'.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from streamverify.checks.date import Date, DateKind
from streamverify.checks.supposed import conditional, of_some_kind

_ABOUT = re.compile(
    r"\b(?:around|about|circa|ca?\.|roughly|approximately)\s+(?:the\s+year\s+)?$", re.IGNORECASE
)
_REACH = 30
_ROUND = 10
"""Years by which a round year may differ from the one it stands for: "around 1800" of 1790."""


def stray(text: str, date: Date, others: Iterable[Date]) -> bool:
    """Whether a date is a year, a decade or a century that nothing in the sources leads to.

    Args:
        text: the claim's.
        date: of the claim, which no source holds or gives.
        others: dates of the sources.
    """
    if date.kind not in {DateKind.YEAR, DateKind.DECADE} or date.year is None:
        return False
    if conditional(text, date.start) or of_some_kind(text, date.start):
        return False
    about = date.year % _ROUND == 0 and _ABOUT.search(text, max(date.start - _REACH, 0), date.start)
    return not (about and any(o.year is not None and abs(o.year - date.year) <= _ROUND for o in others))
