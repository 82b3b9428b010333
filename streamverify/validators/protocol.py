"""What a rule of an answer is: a function of a whole, checked answer that says whether it kept the rule.

Before: a stream has ended, live or replayed. After: a page, a gate, `records/`.

A rule is deterministic and reads only what it is given: the clock too. What could not be told is not passed.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from streamverify.context import StreamContext
from streamverify.errors import UsageError
from streamverify.figure import Figure, NotComputed, finite
from streamverify.provenance import Provenance, Visibility, provenance_of
from streamverify.types import JudgedSentence, Passage, Report


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A checked answer, with what it was given."""

    report: Report
    passages: tuple[Passage, ...]
    """In the order the retriever ranked them."""
    requester: StreamContext
    question: str | None
    now: datetime
    """With its zone; when the answer was given."""
    unsaid: Visibility = "restricted"
    """Who may see a document that does not say so."""
    _sources: Mapping[str, Provenance] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Refuse a moment that may mean several."""
        if self.now.tzinfo is None:
            raise UsageError("now must say its time zone, as datetime.now(UTC) does")
        sources = {passage.id: provenance_of(passage, self.unsaid) for passage in self.passages}
        object.__setattr__(self, "_sources", sources)

    def only(self, sentence: JudgedSentence) -> Answer:
        """The answer as if it had but this sentence."""
        alone = copy.copy(self)  # its sources are read once
        object.__setattr__(alone, "report", self.report.model_copy(update={"sentences": (sentence,)}))
        return alone

    def provenance(self, passage: str) -> Provenance | None:
        """Of the passage with this id; None where there is none."""
        return self._sources.get(passage)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Whether an answer kept a rule."""

    criterion: str
    """Name of the rule."""
    score: Figure
    """0-1, the share that kept it; or why there is none."""
    passed: bool | None
    """None where it could not be told, or where there was nothing to tell."""
    detail: str = ""
    """What broke it, in one sentence."""
    sentences: tuple[int, ...] = ()
    """Indices of the sentences that broke it."""

    @property
    def held(self) -> bool:
        """Whether it was kept, or there was nothing to keep; not where it could not be told."""
        nothing = isinstance(self.score, NotComputed) and self.score.nothing
        return self.passed is True or (self.passed is None and nothing)


class Rule(Protocol):
    """Checks one thing about an answer."""

    @property
    def name(self) -> str:
        """The criterion, as records and gates name it."""
        ...

    def __call__(self, answer: Answer, /) -> Outcome:
        """Whether the answer kept the rule."""
        ...


def outcome(
    name: str,
    kept: float,
    of: float,
    *,
    least: float,
    nothing: str,
    detail: str = "",
    sentences: Sequence[int] = (),
) -> Outcome:
    """A rule about a share.

    Args:
        name: of the rule.
        kept: how many kept it.
        of: how many there are.
        least: the share that passes, 0-1.
        nothing: why there is no share where there are none.
        detail: what broke it; told where it was broken.
        sentences: that broke it.
    """
    if not of:
        return Outcome(criterion=name, score=NotComputed(nothing, nothing=True), passed=None, detail=nothing)
    score = finite(kept / of)
    passed = score >= least
    return Outcome(
        criterion=name,
        score=score,
        passed=passed,
        detail="" if passed else detail,
        sentences=() if passed else tuple(dict.fromkeys(sentences)),
    )


def validate(rules: Sequence[Rule], answer: Answer) -> tuple[Outcome, ...]:
    """Every rule on one answer, in order.

    Raises:
        UsageError: two rules have one name. Caller.
    """
    names = [rule.name for rule in rules]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(f"two rules are called {twice!r}: give one another name")
    return tuple(rule(answer) for rule in rules)


def validate_sentences(rules: Sequence[Rule], answer: Answer) -> Iterator[tuple[int, Outcome]]:
    """Every rule that can be held to a sentence by itself, on each: those with a true `by_sentence`.

    Args:
        rules: of a whole answer; the others are left out.
        answer: with its sentences.

    Yields:
        A sentence's index, and whether it kept the rule; nothing where a rule has nothing to tell of it.
    """
    held = [rule for rule in rules if getattr(rule, "by_sentence", False)]
    if not held:
        return
    for sentence in answer.report.sentences:
        alone = answer.only(sentence)
        for rule in held:
            found = rule(alone)
            if found.passed is not None:
                yield sentence.index, found
