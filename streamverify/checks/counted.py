"""Small counts and what they count, and days of two kinds: 6 doses for 4, calendar for working days.

A small count stands everywhere, so that some passage has it tells little, and that none has it as little.
Where one sentence has nearly all the words of the claim and counts the same thing otherwise, it tells.

Before: `signals.py` has the claim's numbers and the sources'. After: it tells them, the judge weighs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from streamverify.checks.derived import derivable
from streamverify.checks.hedges import hedged
from streamverify.checks.negation import Statement, nearest_to
from streamverify.checks.number_words import CARDINALS
from streamverify.checks.numbers import allowances, as_good
from streamverify.checks.quantity import Hedge, Quantity
from streamverify.text.words import listed, stems_of

S = TypeVar("S")

LEAST = 0.8
"""Share of the claim's content words that the sentence must have."""
LEAST_OF_ITS_OWN = 0.6
"""Share of the sentence's content words that the claim must have."""
_FEWEST = 2
_COMPARING = frozenset(["", *stems_of(listed("more less fewer other further"))])
"""What stands behind a number of things that is a difference, or of things not named."""
_FIGURES = frozenset(stems_of(CARDINALS))
_WORKING = re.compile(r"\b(?:working|business|trading)\b", re.IGNORECASE)
_RUNNING = re.compile(r"\b(?:calendar|consecutive)\b", re.IGNORECASE)


def other_days(quantity: Quantity, sources: Iterable[Quantity]) -> Quantity | None:
    """As many days of the other kind, working or calendar, where the sources have so many of that alone."""
    own = _days(quantity)
    if not own:
        return None
    allowed = allowances(quantity)
    held = [other for other in sources if as_good(other, allowed)]
    return held[0] if held and all(_days(other) == -own for other in held) else None


def _days(quantity: Quantity) -> int:
    """1 for working days, -1 for calendar days, 0 for any other number."""
    return (_WORKING.search(quantity.text) is not None) - (_RUNNING.search(quantity.text) is not None)


def other_count(
    quantity: Quantity,
    text: str,
    beside: Sequence[Quantity],
    sources: Sequence[Quantity],
    own: Sequence[Quantity],
) -> Quantity | None:
    """The number of the same thing in a sentence that says nearly what the claim says.

    Args:
        quantity: a small count of the claim.
        text: the source with that sentence.
        beside: the numbers of that sentence.
        sources: all numbers of the sources.
        own: all numbers of the claim.
    """
    if not _plain(quantity) or quantity.hedge is Hedge.ABOUT:
        return None
    allowed = allowances(replace(quantity, hedge=Hedge.NONE))
    if any(as_good(other, allowed) and _may_count(other, quantity.noun) for other in sources):
        return None
    rivals = [other for other in beside if other.noun == quantity.noun and not other.implied]
    named = [one for one in own if one is not quantity and one.noun == quantity.noun]
    if len(rivals) != 1 or named or not _plain(rivals[0]):
        return None
    if derivable(quantity, [one for one in own if one is not quantity]):
        return None  # "seven left, five of these and two of those"
    return rivals[0] if hedged(text, rivals[0]).hedge is quantity.hedge else None


def _may_count(quantity: Quantity, noun: str) -> bool:
    """Whether it counts these things, or leaves what it counts elsewhere ("a compartment for six")."""
    return quantity.noun == noun or not (quantity.noun or quantity.readings[0].dimension)


def _plain(quantity: Quantity) -> bool:
    """Whether it is a small whole number of some things, and no share, place or amount."""
    [first, *others] = quantity.readings
    counted = quantity.noun not in _COMPARING and quantity.weak and quantity.text.isalnum()
    return counted and not others and not first.dimension


def alike(text: str, evidence: Sequence[tuple[S, Statement]]) -> tuple[S, Statement] | None:
    """The sentence with the text it stands in that has nearly all content words of a claim, figures aside."""
    own = Statement(text)
    place = nearest_to(own, [statement for _, statement in evidence])
    if place is None:
        return None
    ours, theirs = (_words(statement) for statement in (own, evidence[place][1]))
    shared = len(ours & theirs)
    enough = shared >= _FEWEST and shared >= LEAST * len(ours) and shared >= LEAST_OF_ITS_OWN * len(theirs)
    return evidence[place] if enough else None


def _words(statement: Statement) -> set[str]:
    return {word for word in statement.content if not word[0].isdigit()} - _FIGURES
