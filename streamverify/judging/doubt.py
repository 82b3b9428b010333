"""Whether a verdict is in doubt, so that another scorer has the word; pure.

Before: `assessor.py` made an assessment with one scorer. After: `streaming/cascade.py` asks the next.
"""

from __future__ import annotations

from typing import NamedTuple

from streamverify.errors import UsageError
from streamverify.judging.repeats import Assessment
from streamverify.text.layout import body
from streamverify.types import Finding, FindingKind, Sentence, Verdict


class Band(NamedTuple):
    """Calibrated probabilities (0-1), ends included, that leave a verdict in doubt; empty where equal."""

    low: float
    high: float
    kept: float = 0.0
    """Share (0-1) of the log-odds before that stay in the verdict of whoever decides."""

    @classmethod
    def of(cls, given: tuple[float, float]) -> Band:
        """The band with these ends.

        Raises:
            UsageError: they are not two numbers, in order, from 0 to 1. Caller.
        """
        # Written so that NaN fails too.
        try:
            low, high = given
            right = 0 <= low <= high <= 1
        except (TypeError, ValueError):
            right = False
        if not right:
            raise UsageError(f"a band is two probabilities, 0 <= low <= high <= 1, not {given!r}")
        return cls(float(low), float(high))

    @property
    def empty(self) -> bool:
        """Whether nothing is ever in doubt."""
        return self.low == self.high

    def doubts(self, assessment: Assessment) -> bool:
        """Whether something hangs on a probability in the band, or the scorer could not read the sentence."""
        if self.empty:
            return False
        return assessment.unread or any(self.low <= p <= self.high for p in assessment.probabilities)


def unconfirmed(verdict: Verdict, sentence: Sentence, scorer: str, why: str) -> Verdict:
    """The verdict with a finding: it stands because `scorer`, who was to decide, gave no word."""
    span = body(sentence)
    detail = f"{scorer} was to decide and {why}: the verdict before it stands"
    finding = Finding(kind=FindingKind.UNCONFIRMED, start=span.start, end=span.end, detail=detail)
    findings = sorted((*verdict.findings, finding), key=lambda one: (one.start, one.end))
    return verdict.model_copy(update={"findings": tuple(findings)})
