"""Days that share their month and year with another: "3–5 May 2021", "May 3 to 5, 2021", "3 and 4 May".

Before: `dates.py` found the day that stands beside the month. After: it tells both.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from streamverify.types import Span

_BEFORE = re.compile(
    r"(?<![\w.,:/$€£¥₹#+-])(?P<day>\d{1,2})(?:st|nd|rd|th)?(?:\s?[-–—/]\s?|\s(?:to|and|or|until|through)\s|\s?&\s?)$"
)
_BEHIND = re.compile(
    r"(?P<joined>\s?[-–—/]\s?|\s(?:to|and|or|until|through)\s|\s?&\s?)(?P<day>\d{1,2})(?:st|nd|rd|th)?"
    r"(?![\w%°/:-]|[.,]\d)(?:,?\s(?P<year>1[0-9]\d\d|20\d\d)(?![\d,]\d|\d))?"
)
_DONE = re.compile(r"\s*(?:$|[.,;:!?)\]])")
"""What must follow where only a word joins: "May 3 and 5 of the guests" is no second day."""
_FURTHEST = 12
"""Characters back to the first of two days: "31st through "."""


class OtherDay(NamedTuple):
    """The other day of the two."""

    place: Span
    day: int
    year: int | None = None


def day_before(text: str, start: int, day: int) -> OtherDay | None:
    """The earlier day of two, of which the later stands here in front of their month.

    Args:
        text: any text.
        start: where the later day begins.
        day: the later one, 1-31.
    """
    match = _BEFORE.search(text, max(start - _FURTHEST, 0), start)
    if match is None or not 1 <= int(match["day"]) < day:
        return None
    return OtherDay(Span(*match.span("day")), int(match["day"]))


def day_behind(text: str, end: int, day: int) -> OtherDay | None:
    """The later day of two, of which the earlier ends here behind their month, and the year behind both."""
    match = _BEHIND.match(text, end)
    if match is None or not day < int(match["day"]) <= 31:
        return None
    if match["joined"].strip().isalpha() and not match["year"] and not _DONE.match(text, match.end()):
        return None
    year = int(match["year"]) if match["year"] else None
    return OtherDay(Span(match.start("day"), match.end()), int(match["day"]), year)
