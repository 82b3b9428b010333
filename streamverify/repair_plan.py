"""What a repair is made of: how a sentence is to be rewritten, and what the function that rewrites gets.

Before: a policy asks for a repair. After: `repair.py` runs it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from streamverify.errors import UsageError
from streamverify.parameters import a_function
from streamverify.types import Passage, Sentence, Verdict


@dataclass(frozen=True, slots=True)
class RepairRequest:
    """What a rewrite function gets to work with."""

    sentence: Sentence
    verdict: Verdict
    """With findings and evidence (best first)."""
    passages: tuple[Passage, ...]
    """All passages of the stream."""
    question: str | None
    attempt: int
    """1, 2, …"""
    rejected: tuple[str, ...] = ()
    """Earlier replacements that did not pass."""


Rewrite = Callable[[RepairRequest], Awaitable[str]]
Accepts = Callable[[Sentence, Verdict], bool]


@dataclass(frozen=True, slots=True)
class RepairPlan:
    """How a sentence is to be repaired."""

    rewrite: Rewrite
    attempts: int = 2
    """Calls of `rewrite` before the policy's `decide` has the word; 1 or more."""
    timeout: float = 30.0
    """Seconds that one call of `rewrite` may take."""

    accepts: Accepts | None = None
    """Whether a sentence of a replacement, SUPPORTED or without a claim, may be shown with its verdict."""

    def __post_init__(self) -> None:
        """Refuse a plan that would never repair."""
        a_function("Repair: rewrite", self.rewrite)
        if self.attempts < 1:
            raise UsageError("Repair: attempts must be 1 or more")
        if not self.timeout > 0:
            raise UsageError("Repair: timeout must be above 0 seconds")
