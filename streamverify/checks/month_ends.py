"""Days that a text names as the end or the beginning of a month or a year: "until the end of March".

Before: `dates.py` finds the month or the year. After: `index.py` holds the days as well, so that "31 March"
is found. The other way round nothing is needed: a day in the sources holds its month.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from streamverify.checks.date import Date, DateKind

_EDGE = re.compile(
    r"\b(?:(?P<last>end|close|last day)|start|beginning|first day)\s(?:of\s(?:the\s)?(?:year\s)?)?$",
    re.IGNORECASE,
)
_REACH = 24
"""Characters in front of a month or a year that are looked at."""
_LEAP = 2000


def edges(text: str, found: Sequence[Date]) -> Iterable[Date]:
    """The first and last days that a text names so; of a February without a year both last days."""
    for date in found:
        if date.kind not in {DateKind.MONTH, DateKind.YEAR} or not (date.month or date.year):
            continue
        edge = _EDGE.search(text, max(date.start - _REACH, 0), date.start)
        if edge is None:
            continue
        month = date.month or (12 if edge["last"] else 1)
        for year in (date.year,) if date.year else (_LEAP, _LEAP + 1):
            day = calendar.monthrange(year, month)[1] if edge["last"] else 1
            yield replace(date, kind=DateKind.DAY, month=month, day=day)
