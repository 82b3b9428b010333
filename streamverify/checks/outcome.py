"""What the checks say of one claim: findings for people, numbers for the calibrated verdict."""

from __future__ import annotations

from dataclasses import dataclass, fields

from streamverify.checks.index import Near
from streamverify.types import Finding


@dataclass(frozen=True, slots=True)
class Signals:
    """What the checks measured about a claim; every field lies in 0-1 and grows with what its name says.

    *All* sources are the passages, their titles and the question; *near* ones are the windows given,
    the titles of their passages and the question. Only what the claim itself says counts, not what
    was put in from its context.
    """

    number_missing: float = 0.0
    """Share of the claim's telling numbers (with a unit, above 12, or broken) that no source holds, one step
    of arithmetic over short sources does not give, and that tell no case of a rule (see `supposed.py`)."""
    value_unaligned: float = 0.0
    """By how much a rival of a number or date that the sources hold stands closer to the claim's words than
    that value itself (see `aligned.py`); the widest gap."""
    value_replaced: float = 0.0
    """How far the words around a rival are the claim's own, where no source holds the claim's number or date
    and nothing gives it (see `replaced.py`); the closest."""
    unit_replaced: float = 0.0
    """Share of the telling numbers that are nowhere, the figure standing near with another unit."""
    number_rival: float = 0.0
    """Share of the telling numbers that are missing near where another number of that kind stands."""
    date_missing: float = 0.0
    """Share of the dates and times that no source holds."""
    year_missing: float = 0.0
    """1 when the claim says in which year, decade or century something was, and nothing in the sources leads
    there (see `years.py`)."""
    name_missing: float = 0.0
    """Share of the names and identifiers that no source mentions."""
    name_missing_near: float = 0.0
    """Likewise in the near sources."""
    name_moved: float = 0.0
    """How far the sentence nearest to the claim has all its words but a name that stands elsewhere, and
    another name there (see `moved.py`)."""
    quote_missing: float = 0.0
    """Share of the quotations that no source holds."""
    negation_mismatch: float = 0.0
    """Share of words in common with the evidence sentence where only one of the two is negated; else 0."""
    exchanged: float = 0.0
    """Share of the claim's content words that a sentence has which says another number, day or name between
    the same two words (see `exchanged.py`); else 0."""
    verb_denied: float = 0.0
    """1 when the claim says of a thing what that sentence denies of it with the same verb, or the other way
    round (see `denied.py`)."""
    opposite: float = 0.0
    """By how much more than half the claim's words are those of an evidence sentence that has the opposite of
    one of them beside the same words, 1 where all are; else 0."""
    general_missing: float = 0.0
    """1 when the claim says most, usually, often, one of the, … and no near source does."""
    causal_missing: float = 0.0
    """1 when the claim gives a cause or a purpose and no near source has a word for either."""
    tentative_missing: float = 0.0
    """1 when the claim says probably, expected, should, … and no near source does."""
    superseded: float = 0.0
    """1 when the claim follows a passage of which a later version says otherwise."""
    verbatim: float = 0.0
    """1 when the claim is, word for word, a whole sentence of a near source."""

    def features(self) -> dict[str, float]:
        """Field names to values, in the order of the fields."""
        return {field.name: float(getattr(self, field.name)) for field in fields(self)}


@dataclass(frozen=True, slots=True)
class Checked:
    """What the checks say about one claim."""

    findings: tuple[Finding, ...]
    """In text order; their spans point into the answer."""
    signals: Signals
    against: tuple[Near, ...] = ()
    """Where in passages those values stand that findings name in place of the claim's."""
