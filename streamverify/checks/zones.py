"""Time zones behind times of day, and how far the clocks of two of them are apart.

Before: `dates.py` found a time. After: `date.py` compares two of them: 3 p.m. EST is 8 p.m. GMT.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import product

_HOUR = 60
_OFFSETS: dict[str, tuple[int, ...]] = {
    "EST": (-5,), "EDT": (-4,), "ET": (-5, -4),
    "CST": (-6,), "CDT": (-5,), "CT": (-6, -5),
    "MST": (-7,), "MDT": (-6,), "MT": (-7, -6),
    "PST": (-8,), "PDT": (-7,), "PT": (-8, -7),
    "GMT": (0,), "UTC": (0,), "BST": (1,), "CET": (1,), "CEST": (2,), "JST": (9,),
    "AEST": (10,), "AEDT": (11,),
}  # fmt: skip
"""Hours from Greenwich; of a zone that does not say whether it is summer, both."""
_ALIKE = ("EST EDT ET", "CST CDT CT", "MST MDT MT", "PST PDT PT", "CET CEST")
"""Names that are used for each other all year round."""
_NAMED = {"eastern": "ET", "central": "CT", "mountain": "MT", "pacific": "PT"}
_SHIFT = (
    r"(?:UTC|GMT)[ ]?[+−-](?!14:?(?:0[1-9]|[1-5]\d))(?:1[0-4]|0?\d)"
    r"(?::[0-5]\d(?![ ]?\(?(?:[A-Z]{2,4}\b|[Ll]ocal\b|Eastern\b|Central\b|Mountain\b|Pacific\b))|[0-5]\d)?"
    r"(?!\d|:\d|[ ]?[AaPp]\.?[ ]?[Mm]\b)"
)
"""Up to 14 hours; with a zone or a.m. or p.m. of its own behind it, another time: 15:00 UTC-17:00 UTC."""
_ZONE = (
    rf"(?:{_SHIFT}|E[SD]?T\b|C[SD]?T\b|M[SD]?T\b|P[SD]?T\b|GMT\b|UTC\b|BST\b"
    r"|CES?T\b|JST\b|IST\b|AE[SD]T\b"
    r"|(?:Eastern|Central|Mountain|Pacific)\b(?:(?:[ ](?:Standard|Daylight))?[ ][Tt]ime\b|(?![ ][A-Z]))"
    r"|[Ll]ocal[ ]time\b)"
)
_BEHIND = re.compile(rf"[ \u00a0]?(?:\((?P<within>{_ZONE})\)|(?P<bare>{_ZONE}))")
_SHIFTED = re.compile(r"(?:UTC|GMT) ?(?P<sign>[+−-])(?P<hours>\d\d?):?(?P<minutes>\d\d)?")


def zone_behind(text: str, end: int) -> tuple[str, int]:
    """The zone behind a time that ends here, and where that ends; an empty one where there is none."""
    match = _BEHIND.match(text, end)
    if match is None:
        return "", end
    name = match["within"] or match["bare"]
    return _NAMED.get(name.split(" ")[0].lower(), name), match.end()


def apart(one: str, other: str) -> Iterable[int] | None:
    """By how many minutes the clock of one zone may be before another's.

    By none that is known where only one has a known offset; None where neither has.
    """
    if not one or not other or one == other:
        return (0,)
    offsets = _offsets(one), _offsets(other)
    if not any(offsets):
        return None
    found = {first - second for first, second in product(*offsets)}
    alike = any(one in names.split() and other in names.split() for names in _ALIKE)
    return found | {0} if alike else found


def _offsets(zone: str) -> tuple[int, ...]:
    shifted = _SHIFTED.fullmatch(zone)
    if shifted:
        minutes = int(shifted["hours"]) * _HOUR + int(shifted["minutes"] or 0)
        return (minutes if shifted["sign"] == "+" else -minutes,)
    return tuple(hours * _HOUR for hours in _OFFSETS.get(zone, ()))
