"""A name in the place of the source's own: "Bol studied in Leipzig" where Achterberg did, and Bol taught him.

Most wrong names stand in the passages, of somebody else. Where the sentence that shares most with the claim
shares nearly all but one name, has another name there, and the claim's stands elsewhere in the sources, the
two were mixed up. A pronoun in that sentence, or "The company" at its beginning, may mean the claim's name:
it counts half. Where the sentence before it has the name, nothing is said.

Before: `names.py` finds the names. After: `signals.py` tells it, the judge weighs.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from typing import NamedTuple

from streamverify.checks.aliases import has_other_name
from streamverify.checks.index import Source, SourceView
from streamverify.checks.names import Name, names
from streamverify.checks.namesakes import namesake
from streamverify.checks.negation import Statement, nearest_to
from streamverify.text.words import fold, stems_of, strip_possessive, tokens

LEAST = 0.7
"""Share of the claim's other content words that the sentence holds."""
CLEAR = 0.8
"""Share from which on it is told, where no pronoun may mean the name."""
_FEWEST = 3
_PRONOUN = re.compile(
    r"\b(?:he|she|it|they|him|them|his|her|its|their|this|these|who|we|our|i|my)\b", re.IGNORECASE
)
_DEFINITE = re.compile(r"\W*(?:The|That|Those|These|Both)\s+[\w-]*\b(?:[a-z]|[A-Z][a-z]*-)")
"""How a sentence begins that speaks of what was named before: "The company"."""
_SHORTEST = 3
"""Letters of a word that tells a name wherever its letters stand; a shorter one must stand whole."""


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


def moved(text: str, found: Sequence[Name], evidence: Sequence[tuple[Hashable, Statement]]) -> Moved | None:
    """The one name of a claim that the sentence nearest to it has another name for.

    Args:
        text: the claim's.
        found: its names that the sources do hold.
        evidence: the sentences of the sources in order, each with the text it stands in.
    """
    own = Statement(text)
    place = nearest_to(own, [statement for _, statement in evidence]) if found else None
    if place is None or len(own.content) <= _FEWEST:
        return None
    source, nearest = evidence[place]
    there = SourceView([Source(0, nearest.text, 0)])
    theirs, ours = fold(nearest.text), fold(text)
    lost = [
        (name, other)
        for name in found
        for other in [_instead(name, there, theirs, ours)]
        if other is not None
    ]
    if len(lost) != 1:
        return None
    [(name, same_surname)] = lost
    rest = own.content - set(stems_of(tokens(fold(name.text))))
    if len(rest) < _FEWEST or (share := len(rest & nearest.content) / len(rest)) <= LEAST:
        return None
    before, other = evidence[place - 1] if place else (None, nearest)
    if before == source and _mentioned(name, fold(other.text)):
        return None  # "The company", "the plan": what the sentence before speaks of
    others = [same_surname] if same_surname else _others(nearest.text, ours)
    if not others:
        return None
    stands_in = _PRONOUN.search(nearest.text) or _DEFINITE.match(nearest.text)
    return Moved(name, others[0], nearest, share, stands_in is not None)


def _instead(name: Name, there: SourceView, folded: str, ours: str) -> str | None:
    """None of a name that the sentence has in some form; of another, whoever of its surname is there."""
    if not _mentioned(name, folded):
        forms = (name.text, *name.text.split())
        return None if any(has_other_name(form, there) for form in forms) else ""
    other = namesake(name.text, (source.text for source in there.sources))
    return None if other is None or fold(other) in ours else other


def _others(sentence: str, ours: str) -> list[str]:
    return [one.text for one in names(sentence) if not _mentioned(one, ours)]


def _mentioned(name: Name, folded: str) -> bool:
    """Whether a folded text has a word of the name; a name of short words, whole or written out."""
    words = [strip_possessive(word) for word in fold(name.text).split()]
    telling = [word for word in words if len(word.replace(".", "")) >= _SHORTEST]
    if telling:
        return any(word in folded for word in telling)
    bare = tokens(folded.replace(".", ""))
    short = [word.replace(".", "") for word in words]
    acronym = name.text.isupper() and name.text.replace(".", "").isalpha()
    spelled = "".join(word[0] for word in bare) if acronym else ""
    return any(word in bare or word in spelled or _is_america(word, bare) for word in short)


def _is_america(word: str, others: Sequence[str]) -> bool:
    return word == "us" and any(other.startswith("america") for other in others)
