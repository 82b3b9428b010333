"""Numbers written in two parts: 6 ft 2 in, 6'2", 5 lb 3 oz, 2h 15m, an hour and a half.

Before: `quantities.py` read both parts, or the figures of the first. After: they are one number, in the
smaller unit.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from streamverify.checks.quantity import NumberReading, Quantity
from streamverify.checks.units import UNITS

_FEET_AND_INCHES = re.compile(
    r"['’′](?:\s?(\d\d?(?:\.\d{1,3})?)\s?(?:[\"″”]|['’′]{2})|(\d\d?)(?![\w'’′]|[.,]\d))"
)
_HOURS_AND_MINUTES = re.compile(
    r"\s?h(?:rs?)?\s?(?:(\d\d?)\s?m(?:ins?)?\b"
    r"|([0-5]\d)(?=\s{0,2}(?:$|[,;:)|\n–-]|\.(?!\d))|\s(?:and|or|to|by|in|on|from|for|until|with)\b))"
)
"""The minutes may go without a unit: 4 h 30."""
_MINUTES_AND_SECONDS = re.compile(r"\s?m(?:ins?)?\s?(\d\d?)\s?s(?:ecs?)?\b")
_MARKED = (
    (_FEET_AND_INCHES, "ft", "inch", 9.0),
    (_HOURS_AND_MINUTES, "h", "min", 999.0),
    (_MINUTES_AND_SECONDS, "min", "s", 999.0),
)
"""What follows a first figure, the units of both, and how many of the larger there may be."""
_ON_THE_CLOCK = re.compile(r"(?<![\d:.,+-])(\d{1,2}):([0-5]\d):([0-5]\d)(?![\d:]|\.\d)")
_BEGINS_MARKED = frozenset("'’′hm ")
_AND_A = " and a "
_GAP = re.compile(r"[ \u00a0-]|,? and |, ")
_LISTED = frozenset({"seconds", "months", "USD", "EUR", "GBP"})
"""Kinds, beside customary measures, whose parts are joined by "and" or a comma, too."""
_LONE = re.compile(r"an? (?:year|month|week|day|hour|minute)$", re.IGNORECASE)
"""One of a span without a number: "a year and eight months"."""
_INCH = re.compile(r"\s?(?:in\b\.?|[\"″”])")
_ENDS_FEET = re.compile(r"(?:[- ](?:ft|foot|feet))$", re.IGNORECASE)
_NOTHING_MORE = re.compile(r"\s?(?:$|[.,;:)](?!\d)|tall\b|high\b|and\b)")


def marked(text: str, start: int, end: int, value: float) -> Quantity | None:
    """The number whose first figure stands here, if a mark or a letter joins a second to it (6'2", 2h15m)."""
    if text[end : end + 1] not in _BEGINS_MARKED or text[max(start - 2, 0) : start].rstrip().endswith("°"):
        return None
    for pattern, larger, smaller, most in _MARKED:
        more = pattern.match(text, end)
        if more and value <= most and value.is_integer():
            one, other = (
                NumberReading.of(value, UNITS[larger]),
                NumberReading.of(float(more[more.lastindex or 1]), UNITS[smaller]),
            )
            whole = _whole(one, other)
            if whole is not None:
                return Quantity(start, more.end(), text[start : more.end()], (whole,))
    return None


def clocked(text: str) -> list[Quantity]:
    """Times of three parts as spans of time, as results are listed: 2:11:47 is 2 h 11 min 47 s."""
    found = []
    for match in _ON_THE_CLOCK.finditer(text):
        hours, minutes, seconds = (int(part) for part in match.groups())
        reading = NumberReading.of(3600.0 * hours + 60 * minutes + seconds, UNITS["s"])
        found.append(Quantity(match.start(), match.end(), match[0], (reading,), weak=True, implied=True))
    return found


def join(text: str, found: Sequence[Quantity]) -> list[Quantity]:
    """The quantities of a text, with each smaller part joined to the larger one right before it."""
    joined: list[Quantity] = []
    for quantity in found:
        whole = _joined(text, joined[-1], quantity) if joined else None
        if whole is None:
            joined.append(quantity)
        else:
            joined[-1] = whole
    return joined


def _joined(text: str, one: Quantity, other: Quantity) -> Quantity | None:
    gap = text[one.end : other.start] if other.start - one.end <= len(_AND_A) else ""
    if gap == _AND_A:
        return _with_part(text, one, other)
    lone = one.implied and not (gap == " and " and _LONE.match(one.text))
    if not gap or lone or other.implied or not _GAP.fullmatch(gap):
        return None
    end, parts = other.end, other.readings
    if not parts[0].dimension and _ENDS_FEET.search(one.text):
        inch = _INCH.match(text, end)
        if not inch and gap != "-" and not (len(gap) == 1 and _NOTHING_MORE.match(text, end)):
            return None
        end = inch.end() if inch else end
        parts = tuple(NumberReading.of(part.value, UNITS["inch"]) for part in parts)
    for large, small in product(one.readings, parts):
        whole = _whole(large, small)
        if whole is not None and (len(gap) == 1 or not large.metric or large.dimension in _LISTED):
            return Quantity(one.start, end, text[one.start : end], (whole,), step=min(other.step, 1.0))
    return None


def _with_part(text: str, one: Quantity, part: Quantity) -> Quantity | None:
    """So many of a unit and half of one, or a quarter."""
    share, whole = part.readings[0], one.readings[0]
    if share.dimension != "ratio" or not share.value < 1 or not whole.dimension or whole.dimension == "ratio":
        return None
    value = whole.value + share.value
    reading = replace(whole, value=value, base=value * whole.factor)
    return Quantity(one.start, part.end, text[one.start : part.end], (reading,))


def _whole(large: NumberReading, small: NumberReading) -> NumberReading | None:
    """Both as one number in the smaller unit; None where they are not parts of one."""
    if not large.dimension or (large.dimension, large.metric) != (small.dimension, small.metric):
        return None
    if not large.value.is_integer() or not 0 <= small.base < large.factor or not large.value:
        return None
    if large.dimension in {"ratio", "bytes"}:
        return None
    value = (large.base + small.base) / small.factor
    return replace(small, value=value, base=large.base + small.base, joined=True)
