"""Telephone numbers, compared by their digits: 1-800-555-0199, +1 800 555 0199 and 18005550199 are one.

Read as quantities they would be several numbers, none of which the sources write so. Before: any text. After:
`signals.py` looks a claim's numbers up among the sources', and reads quantities in what is left.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

_NUMBER = re.compile(
    r"(?<![\w.,$€£+-])(?:\+|00)?\(?\d{1,5}\)?(?:[ \u00a0./-]?\(?\d{2,5}\)?){1,5}(?![\w%]|[.,:/-]\d|\s?[€$£%])"
)
_SIGNED = re.compile(
    r"\+|00\d|1[ \u00a0.-]\(?[2-9]\d\d\)?[ \u00a0.-]\d{3}[ \u00a0.-]\d{4}$|0\d{1,4}[ \u00a0/-]|\(\d"
)
"""How a number begins that can be nothing else: +44, 0049, 1-800, 020 7946, (555)."""
_LED = re.compile(
    r"\b(?:call(?:s|ed|ing)?|(?:tele)?phone|tel|dial|ring|hotline|helpline|fax|mobile|whatsapp)\b"
    r"[^.\d\n]{0,24}$",
    re.IGNORECASE,
)
_DASHED = re.compile(r"\d{3}-\d{3}-\d{4}$")
_DATED = re.compile(
    r"\(?(?:1[5-9]|20)\d\d\)?[-/ \u00a0](?:1[5-9]|20)\d\d\)?$"
    r"|\d{1,2}([./-])\d{1,2}\1\d{2,4}$|\d{4}[./-]\d\d[./-]\d\d$"
)
"""Spans of years and dates."""
_GROUPED = re.compile(r"\d{1,3}(?:[ \u00a0]\d{3})+$")
"""A large number written in groups of three."""
_DIVIDER = re.compile(r"(?<=\d)[ \u00a0()./-]{1,2}(?=\d)|\((?=\d)")
_REACH = 40
_FEWEST, _MOST = 7, 15
"""Digits: local numbers have seven at least, E.164 allows fifteen."""


class Phone(NamedTuple):
    """A telephone number of a text."""

    start: int
    end: int
    digits: str
    """Without a leading zero, or the one or double zero of a prefix."""


def phones(text: str) -> tuple[Phone, ...]:
    """The telephone numbers of a text in order; the cost is linear in its length."""
    found = []
    for match in _NUMBER.finditer(text):
        digits = "".join(char for char in match.group() if char.isdecimal())
        written = match.group()
        if not _FEWEST <= len(digits) <= _MOST or _GROUPED.match(written) or _DATED.match(written):
            continue
        if (
            _SIGNED.match(written)
            or _DASHED.fullmatch(written)
            or _LED.search(text, max(match.start() - _REACH, 0), match.start())
        ):
            found.append(Phone(match.start(), match.end(), digits.lstrip("0")))
    return tuple(found)


def undivided(text: str) -> str:
    """A text whose figures stand together: a number that is not led in by "call" is found there."""
    return _DIVIDER.sub("", text)


def listed(phone: Phone, others: Iterable[Phone], texts: Iterable[str]) -> bool:
    """Whether one of the others is the same number, with or without the code of a country.

    Args:
        phone: of the claim.
        others: of the sources.
        texts: of the sources, `undivided`.
    """
    alone = re.compile(rf"(?<!\d){phone.digits}(?!\d)")
    return any(alone.search(text) for text in texts) or any(
        one.digits.endswith(two.digits)
        for other in others
        for one, two in ((phone, other), (other, phone))
        if len(two.digits) >= _FEWEST
    )
