"""A name in the place of the source's own: "Bol studied in Leipzig" where Achterberg did, and Bol taught him.

Most wrong names stand in the passages, of somebody else. Where the sentence that shares most with the claim
shares nearly all but one name, has another name there, and the claim's stands elsewhere in the sources, the
two were mixed up. A pronoun in that sentence may mean the claim's name, so it counts half.

Before: `names.py` finds the names. After: `signals.py` tells it, the judge weighs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from streamverify.checks.names import Name, names
from streamverify.checks.negation import Statement
from streamverify.text.words import fold, stems_of, tokens

LEAST = 0.7
"""Share of the claim's other content words that the sentence holds."""
CLEAR = 0.8
"""Share from which on it is told, where no pronoun may mean the name."""
_FEWEST = 3
_PRONOUN = re.compile(
    r"\b(?:he|she|it|they|him|them|his|her|its|their|this|these|who|we|our|i|my)\b", re.IGNORECASE
)
_SHORTEST = 3
"""Letters of a word that tells a name."""


class Moved(NamedTuple):
    """A name of the claim, and what stands in its place."""

    name: Name
    other: str
    statement: Statement
    share: float
    """Of the claim's other content words in that sentence, 0-1."""
    pronoun: bool
    """The sentence has a word that may mean the name."""

    @property
    def weight(self) -> float:
        """0-1: how far the share exceeds `LEAST`, half where a pronoun may mean the name."""
        above = (self.share - LEAST) / (1 - LEAST)
        return above / 2 if self.pronoun else above


def moved(text: str, found: Sequence[Name], evidence: Sequence[Statement]) -> Moved | None:
    """The one name of a claim that the sentence nearest to it has another name for.

    Args:
        text: the claim's.
        found: its names that the sources do hold.
        evidence: the sentences of the sources.
    """
    own = Statement(text)
    if not found or len(own.content) <= _FEWEST:
        return None
    nearest = max(evidence, key=lambda other: len(own.content & other.content), default=None)
    if nearest is None:
        return None
    theirs = fold(nearest.text)
    lost = [name for name in found if not _mentioned(name, theirs)]
    if len(lost) != 1:
        return None
    [name] = lost
    rest = own.content - set(stems_of(tokens(fold(name.text))))
    if len(rest) < _FEWEST or (share := len(rest & nearest.content) / len(rest)) <= LEAST:
        return None
    ours = fold(text)
    others = [other.text for other in names(nearest.text) if not _mentioned(other, ours)]
    if not others:
        return None
    return Moved(name, others[0], nearest, share, _PRONOUN.search(nearest.text) is not None)


def _mentioned(name: Name, folded: str) -> bool:
    return any(word in folded for word in fold(name.text).split() if len(word) >= _SHORTEST)
