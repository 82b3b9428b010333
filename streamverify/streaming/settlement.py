"""What is known of one sentence so far: its verdict, who has the next word, what took its place.

Before: `judge.py` makes it. After: `session.py` tells it when its turn has come.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from streamverify.judging.doubt import unconfirmed
from streamverify.types import Citation, Label, Outcome, Replacement, Sentence, Verdict


@dataclass(frozen=True, slots=True)
class Settlement:
    """The outcome of judging one sentence, or in a cascade what is known of it so far."""

    verdict: Verdict
    latency_ms: float
    scorer: str | None = None
    """Model whose verdict it is, in a cascade."""
    asking: str | None = None
    """Model that is being asked now and has the next word; None where this is the last."""
    withhold: bool = False
    """The check failed and its sentence must not be shown."""
    replacement: Replacement | None = None
    """A repair that passed."""


def told(settlement: Settlement) -> dict[str, Any]:
    """What an event tells of a settlement."""
    fields = {name: getattr(settlement.verdict, name) for name in Verdict.model_fields}
    provisional = settlement.asking is not None
    return {**fields, "latency_ms": settlement.latency_ms, "provisional": provisional}


def stands(sentence: Sentence, before: Settlement, asking: str) -> Settlement:
    """What is left of a provisional verdict where the stream ends before the next word."""
    verdict = unconfirmed(before.verdict, sentence, asking, "the stream ended first")
    return replace(before, verdict=verdict, asking=None)


def not_checked(
    sentence: Sentence, ending: Outcome, unchecked: Callable[[Sentence], tuple[Citation, ...]]
) -> Verdict:
    """The verdict on a sentence that nobody judged before the stream ended."""
    return Verdict(
        index=sentence.index,
        label=Label.UNVERIFIED,
        reason="halted" if ending == "halted" else "failed",
        reason_text="the stream ended before this sentence was checked",
        citations=unchecked(sentence),
    )
