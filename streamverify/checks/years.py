"""Years from nowhere: of all missing dates the one kind that tells something by itself.

A day or a month that no source has is as often worked out as made up; a year is rarely worked out by more
than a span that the sources name (`derived.py`). Before: `signals.py` found a date nowhere, and nothing that
gives it. After: it counts unless it belongs to a case of a rule or is a round year near one of the sources'.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from streamverify.checks.date import Date, DateKind
from streamverify.checks.dates import dates
from streamverify.checks.supposed import conditional, of_some_kind

_ABOUT = re.compile(
    r"\b(?:around|about|circa|ca?\.|roughly|approximately)\s+(?:the\s+year\s+)?$", re.IGNORECASE
)
_REACH = 30
_ROUND = 10
"""Years by which a round year may differ from the one it stands for: "around 1800" of 1790."""
_PRODUCT = re.compile(r"(?<!^)(?<![.!?:;] )\b[A-Z][\w+#.-]*[ :-]$")
"""What stands before a year that is part of a name: Windows Server 2022, ISO 9001:2015."""
_SPELLED = re.compile(
    r"\b(?:twenties|thirties|forties|fifties|sixties|seventies|eighties|nineties)\b", re.IGNORECASE
)
_SPAN = re.compile(r"(?<![\d.,])\d{1,3}(?![\d.,]\d|\d)")
_SPANS = 12
"""Spans of the claim's own that are tried."""


def stray(text: str, date: Date, others: Iterable[Date], texts: Iterable[str] = ()) -> bool:
    """Whether a date is a year, a decade or a century that nothing in the sources leads to.

    Args:
        text: the claim's.
        date: of the claim, which no source holds or gives.
        others: dates of the sources, and the claim's other ones.
        texts: of the sources, in which a decade may be spelled out.
    """
    if date.kind not in {DateKind.YEAR, DateKind.DECADE} or date.year is None:
        return False
    before = max(date.start - _REACH, 0)
    if conditional(text, date.start) or of_some_kind(text, date.start) or _part_of_a_name(text, date):
        return False
    known = {other.year for other in others if other is not date and other.year is not None}
    if date.kind is DateKind.DECADE and date.year % 100 == 0:
        return not any(date.year - 1 <= year <= date.year + 100 for year in known)
    if date.kind is DateKind.DECADE and any(_SPELLED.search(one) for one in texts):
        return False
    if date.year % _ROUND == 0 and _ABOUT.search(text, before, date.start):
        return not any(abs(year - date.year) <= _ROUND for year in known)
    own = {int(found) for found in _SPAN.findall(text)[:_SPANS]}
    return not any(abs(year - date.year) in own for year in known)


def _part_of_a_name(text: str, date: Date) -> bool:
    named = _PRODUCT.search(text, max(date.start - _REACH, 0), date.start)
    return date.kind is DateKind.YEAR and named is not None and not dates(named[0])
