"""Why a sentence has the label it has, in one word for a machine; a person reads `Verdict.reason_text`."""

from __future__ import annotations

from typing import Literal, TypeAlias

NonClaimReason: TypeAlias = Literal[
    "empty",
    "code",
    "heading",
    "question",
    "greeting",
    "offer",
    "lead_in",
    "meta",
    "abstention",
    "advice",
    "reference",
]
"""Of `no_claim`: what the sentence is instead."""

UncheckedReason: TypeAlias = Literal[
    "no_passages", "no_content", "language", "too_long", "overloaded", "scorer_failed", "halted", "failed"
]
"""Of `unverified`: why there was no check; the last two are the stream's own ends."""

ReasonCode: TypeAlias = Literal["", "false_abstention"] | NonClaimReason | UncheckedReason
"""Empty where the label says all; `false_abstention` is of `contradicted`."""
