"""Cuts a sentence into clauses, so that a passage that backs only a part of it can be told."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

from streamverify.citations.masks import covers, masked
from streamverify.types import Span

_MINIMUM_WORDS = 3
"""A shorter stretch is no assertion of its own; it stays with its neighbour."""

_LINK_WORDS = (
    r"and|but|or|nor|while|whereas|although|though|because|since|so|yet|unless|until|which|who|whose|whom|where|when"
    r"|after|before|if|as|with"
)
_CUT = re.compile(
    rf"""
      (?P<stop>[;:])\s++
    | (?<!\s)\s++[–—-]\s++                # a run of blanks is looked at once, from its first
    | ,\s++(?=(?:{_LINK_WORDS})\b)
    | (?<!\s)\s++(?=(?:but|while|whereas|although|because|unless)\b)
    | (?<=\]),?\s++(?=[^\W\d_])            # a clause ends with its own marker: `… [1], a ship … [2]`
    """,
    re.IGNORECASE | re.VERBOSE,
)
_WORD = re.compile(r"\w+")
_OPEN, _CLOSE = "([{“„«", ")]}”«»"


def clauses(text: str) -> tuple[Span, ...]:
    """Where the clauses of a sentence stand, in order, without overlap; one span for a simple sentence.

    Cut at semicolons, colons, dashes, at a comma before a linking word, before `but`, `while`,
    `because` …, and behind a marker; never within brackets, quotation marks, code or formulas.
    Every letter and digit of the sentence lies in exactly one clause.
    """
    hidden = masked(text)
    depth = _depths(text)
    body = Span(len(text) - len(text.lstrip()), len(text.rstrip()))
    cuts = [
        match
        for match in _CUT.finditer(text, body.start, body.end)
        if not depth[match.start()] and not covers(hidden, match.start())
    ]
    words = [word.start() for word in _WORD.finditer(text)]  # no cut lies within a word
    found: list[Span] = []
    start = body.start
    for cut in cuts:
        if (
            _between(words, start, cut.start()) < _MINIMUM_WORDS
            or _between(words, cut.end(), body.end) < _MINIMUM_WORDS
        ):
            continue
        found.append(Span(start, cut.start()))
        start = cut.end()
    if start < body.end:
        found.append(Span(start, body.end))
    return tuple(found)


def _between(places: Sequence[int], start: int, end: int) -> int:
    """How many of these places, in order, lie from `start` to before `end`."""
    return bisect_left(places, end) - bisect_left(places, start)


def _depths(text: str) -> bytearray:
    """For each character 1 when it stands inside brackets or quotation marks that are closed again."""
    inside = bytearray(len(text) + 1)
    opened: list[int] = []
    quote = -1
    for place, char in enumerate(text):
        if char == '"':
            if quote >= 0:
                inside[quote : place + 1] = b"\1" * (place + 1 - quote)
            quote = -1 if quote >= 0 else place
        elif char in _OPEN:
            opened.append(place)
        elif char in _CLOSE and opened:
            start = opened.pop()
            if not opened:
                inside[start : place + 1] = b"\1" * (place + 1 - start)
    return inside
