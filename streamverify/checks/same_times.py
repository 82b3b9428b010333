"""Clock times in two forms: 7 p.m. is 19:00, and 9.15 is 09:15.

Before: `exchanged.py` found one number in the place of another. After: `nearest.py` tells it unless they are
the same time of day.
"""

from __future__ import annotations

import re

from streamverify.checks.dates import dates
from streamverify.checks.exchanged import Exchange
from streamverify.checks.number_words import CARDINALS
from streamverify.types import Span

_HALF = 12 * 60
_BARE = re.compile(r"(\d{1,2}?)(?:[.:h]?([0-5]\d))?")
"""An hour, or an hour and minutes: 7, 7.30, 1930."""


def same_time(text: str, found: Exchange, evidence: str) -> bool:
    """Whether a claim's number is the time of day that stands in its place in the evidence.

    One of the two at least is written as a time.
    """
    ours, timed = _minutes(text, Span(found.start, found.end))
    theirs, also = _minutes(evidence, found.there)
    return (timed or also) and not ours.isdisjoint(theirs)


def _minutes(text: str, place: Span) -> tuple[set[int], bool]:
    """What a number may say in minutes after noon or midnight, and whether it is written as a time of day."""
    for date in dates(text):
        if date.minute is not None and date.start < place.end and place.start < date.end:
            return {date.minute % _HALF}, True
    word = text[place.start : place.end].lower()
    if word in CARDINALS:
        return {CARDINALS.index(word) * 60 % _HALF}, False
    bare = _BARE.fullmatch(word)
    return ({(int(bare[1]) * 60 + int(bare[2] or 0)) % _HALF} if bare else set()), False
