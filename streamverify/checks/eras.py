"""Centuries and decades in words: "the nineteenth century", "the early sixties".

Before: `dates.py` met the word. After: `date.py` compares them with those in figures.
"""

from __future__ import annotations

import re

from streamverify.checks.date import Date, DateKind
from streamverify.checks.number_words import spelled

ERAS = r"[Cc]entur(?:y|ies)|(?:[Tt]wen|[Tt]hir|[Ff]or|[Ff]if|[Ss]ix|[Ss]even|[Ee]igh|[Nn]ine)ties"
_ORDINAL = re.compile(
    r"(?<![\w-])(?:(?:early|mid|late)[- ])?(?P<nth>(?:twenty[- ])?[a-z]{5,11})[ -]$", re.IGNORECASE
)
_THE = re.compile(r"\b(?:the|in) (?:(?:early|mid|late|roaring|swinging)[- ])?$", re.IGNORECASE)
_TENS = {
    "twenties": 20, "thirties": 30, "forties": 40, "fifties": 50, "sixties": 60, "seventies": 70,
    "eighties": 80, "nineties": 90,
}  # fmt: skip
_LAST_CENTURY = 21


def era(text: str, start: int, end: int) -> list[Date]:
    """The century or decade whose word stands there; none if it is no date: a century of rain, his sixties.

    A decade in words may be any century's.
    """
    word = text[start:end].lower()
    if word in _TENS:
        if _THE.search(text, max(start - 16, 0), start) is None:
            return []
        return [Date(start, end, text[start:end], DateKind.DECADE, 1900 + _TENS[word], open_century=True)]
    match = _ORDINAL.search(text, max(start - 30, 0), start)
    nth = next(iter(spelled(match["nth"], 0, len(match["nth"]))), None) if match else None
    if match is None or nth is None or not nth.ordinal or nth.end != len(match["nth"]):
        return []
    if not 1 < nth.value <= _LAST_CENTURY:
        return []
    first = match.start("nth")
    return [Date(first, end, text[first:end], DateKind.DECADE, int(nth.value) * 100 - 100)]
