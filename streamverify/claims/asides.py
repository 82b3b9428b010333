"""What an abstention says after all: "The documents do not give the price, which was 50 euros".

Before: `nonclaims.py` found the sentence that says the sources are silent, and what about. After: `reader.py`
has the aside judged like any claim. An aside counts only where it tells something that can be wrong: a figure
or a name in a clause of its own, or an amount in brackets. What only names the topic stays with it.
"""

from __future__ import annotations

import re
from typing import TypeAlias

Ranges: TypeAlias = tuple[tuple[int, int], ...]
"""Parts of a text, in order."""

_SEAM = re.compile(
    r"(?P<relative>,? (?:which|who)) (?=(?:is|are|was|were|has|had|costs?|opened|ended|began|took|stood)\b)"
    r"|(?P<bracket>\s?\()"
    r"|(?P<so>(?<!\s),?\s{1,4}(?:and\s{1,4})?"
    r"(?:so|thus|hence|therefore|(?:which means|meaning)(?: that)?),?\s{1,4})"
    r"|:\s{1,4}|\s{1,4}[–—-]{1,2}\s{1,4}|,?\s{1,4}(?:because|since)\s{1,4}"
    r"|,?\s{1,4}as (?=(?:the|a|it|they|its) )"
    r"|,\s{1,4}(?!(?:and|or|nor|if|whether|how|when|what|which|who|whose|why|where|such|including|like|for|in|on|at"
    r"|by|with|to|from|of|as|especially|particularly|e\.g)\b)",
    re.IGNORECASE,
)
"""Blanks are counted: a run of any length would be read anew from each of them."""
_FINITE = re.compile(
    r"\b(?:is|are|was|were|has|have|had|does|did|can|will|would|must|(?-i:may)|costs?|opens?|opened|closes?|closed|ends?"
    r"|ended|begins?|began|takes?|took|lasts?|pays?|paid|rose|fell|built|became|sells?|sold|weighs?"
    r"|measures?|stands?|stood|holds?|held|runs?|ran|\w{3,}ed)\b",
    re.IGNORECASE,
)
_FIGURE = re.compile(r"[\d€$£%]")
_NAME = re.compile(r"\b[A-Z][a-z]{2,}")
_AMOUNT = re.compile(
    r"(?:about |around |roughly |some |over |under )?(?:[€$£]\s?\d|\d[\d.,]*\s?(?:[€$£%]|euros?|dollars?"
    r"|pounds?|crowns?|percent|per cent|years?|months?|weeks?|days?|hours?|minutes?|km|m|kg|million"
    r"|billion)\b)",
    re.IGNORECASE,
)
_HELPLESS = re.compile(
    r"(?:i|we|please|you(?:['’]d| would| may| might| should|['’]ll| will)"
    r"|it(?:['’]s| is| remains) (?:not |best|unclear|impossible|hard|difficult|open|unknown)"
    r"|there(?:['’]s| is) no way|this|that)\b",
    re.IGNORECASE,
)
"""What follows from not knowing: "…, so I cannot tell", "…, so please ask"."""
_CLOSER = re.compile(r"[),;]")


def aside(text: str, start: int, end: int) -> tuple[int, Ranges] | None:
    """Where the topic of an abstention ends and something is said after all, and the parts that say it.

    Args:
        text: the sentence.
        start: where the topic begins.
        end: where the sentence ends.

    Returns:
        The end of the topic, and the ranges of the aside; of a relative clause or a bracket they begin with
        what it speaks of. None without one.
    """
    figure, name, verb = (_last(pattern, text, start, end) for pattern in (_FIGURE, _NAME, _FINITE))
    for seam in _SEAM.finditer(text, start, end):
        rest = seam.end()
        if seam["bracket"] is not None:
            closer = _CLOSER.search(text, rest, end)
            stop = closer.start() if closer else end
            if seam.start() > start and _AMOUNT.match(text, rest, stop):
                return seam.start(), ((start, seam.start()), (rest, stop))
        elif seam["so"] is not None:
            if verb >= rest and _HELPLESS.match(text, rest) is None:
                return seam.start(), ((rest, end),)
        elif figure < rest and name <= rest:  # a capital that begins the clause is no name
            continue
        elif seam["relative"] is not None:
            closer = _CLOSER.search(text, rest, end)
            return seam.start(), ((start, seam.start()), (rest - 1, closer.start() if closer else end))
        elif verb >= rest:
            return seam.start(), ((rest, end),)
    return None


def _last(pattern: re.Pattern[str], text: str, start: int, end: int) -> int:
    """Where the last match begins; -1 without one."""
    return max((match.start() for match in pattern.finditer(text, start, end)), default=-1)
