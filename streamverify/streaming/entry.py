"""A closed sentence on its way from its verdict to the reader.

Before: the segmenter closed it. After: `session.py` tells it, and puts it into the report.
"""

from __future__ import annotations

from dataclasses import dataclass

from streamverify.policy import Decision
from streamverify.streaming.settlement import Settlement
from streamverify.types import Citation, JudgedSentence, Sentence, Verdict


@dataclass(slots=True)
class Entry:
    """What is known of one sentence; `decision` is set once its last verdict was told."""

    sentence: Sentence
    settlement: Settlement | None = None
    decision: Decision | None = None
    citations: tuple[Citation, ...] = ()
    """Where some came too late for the verdict: all of them."""

    def judged(self) -> JudgedSentence:
        """As the report has it."""
        settlement, decision = self.settlement, self.decision
        assert settlement is not None
        assert decision is not None
        fields = {name: getattr(self.sentence, name) for name in Sentence.model_fields}
        fields |= {name: getattr(settlement.verdict, name) for name in Verdict.model_fields}
        if self.citations:
            fields["citations"] = self.citations
        return JudgedSentence(
            **fields,
            action=decision.action,
            latency_ms=settlement.latency_ms,
            replacement=settlement.replacement,
            scorer=settlement.scorer,
        )
