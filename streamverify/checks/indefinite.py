"""Number words that tell no number: "will one day", "several million dollars", "the same quarter a year ago".

Before: `quantities.py` built a quantity of such words. After: it keeps it as implied: compared and never
accused.
"""

from __future__ import annotations

import re

from streamverify.checks.number_words import MAGNITUDES
from streamverify.text.calendar import MONTHS
from streamverify.text.words import alternatives

_MAGNITUDE = re.compile(rf"(?:{alternatives(MAGNITUDES)})\b", re.IGNORECASE)
_MANY = re.compile(r"\b(?:several|many|few|couple|countless|multiple|untold)(?: of)?[ -]$", re.IGNORECASE)
"""Before a magnitude: some unknown number of them."""
_COLUMN = re.compile(r"[(|]\s?(?:in )?$")
"""Before a magnitude: what a table counts in, "Exports (million lira)"."""
_ONE_DAY = re.compile(r"one (?:day|night|morning|evening|afternoon)$", re.IGNORECASE)
_WILL = re.compile(
    r"\b(?:will|would|may|might|could|can|shall|should|must|hopes? to|wants? to|wanted to)(?: not)? $",
    re.IGNORECASE,
)
_OF_TIME = re.compile(
    rf" (?:when|while|(?:early |late )?in (?:the )?(?:early |late |mid-?)?"
    rf"(?:{alternatives(MONTHS)}|spring|summer|autumn|fall|winter|\d{{4}}))\b",
    re.IGNORECASE,
)
"""Behind "one day": it is told when, not how long."""
_QUARTER = re.compile(r"(?:one )?quarter an? (?:year|month|week)$", re.IGNORECASE)
_AGO = re.compile(r" (?:ago|earlier|before|prior|previously|later|on)\b", re.IGNORECASE)
_REACH = 16
"""Characters looked at on either side."""


def indefinite(text: str, start: int, end: int) -> bool:
    """Whether the words of a number at `text[start:end]` name no number."""
    words, before = text[start:end], text[max(start - _REACH, 0) : start]
    if _MAGNITUDE.match(words):
        return _MANY.search(before) is not None or _COLUMN.search(before) is not None
    if _ONE_DAY.match(words):
        return _WILL.search(before) is not None or _OF_TIME.match(text, end) is not None
    return _QUARTER.match(words) is not None and _AGO.match(text, end) is not None
