"""What a stream is called in traces: names of attributes, and their values from verdicts and reports. Pure.

Before: `tracing.py` is told an event. After: OpenTelemetry.

`gen_ai.*` and `error.type` are OpenTelemetry's conventions for generative AI (status: development), with the
event `gen_ai.evaluation.result`; `evaluations.*` and `openinference.*` are OpenInference's, version 0.1.42.
The names stand here as texts, since the constants in OpenTelemetry's own package are deprecated. What begins
with `streamverify.` is ours.
"""

from __future__ import annotations

from collections.abc import Mapping

from streamverify.events import FinalEvent, StreamFailed
from streamverify.observe import Opening
from streamverify.types import Label, Report, Verdict

Attributes = dict[str, str | int | float | bool]

EVENT = "gen_ai.evaluation.result"
"""The log event of one evaluation."""
NAME = "groundedness"
"""What is evaluated: whether the passages support the text."""
SPAN_KIND = "openinference.span.kind"
ERROR = "error.type"

_WORST_FIRST = (Label.CONTRADICTED, Label.UNSUPPORTED, Label.UNVERIFIED, Label.SUPPORTED, Label.NO_CLAIM)


class Evaluation:
    """One result: a score and a label, or the reason why there are none."""

    def __init__(
        self, *, score: float | None = None, label: str = "", error: str = "", explanation: str = ""
    ) -> None:
        """An `error` stands alone: what was not verified has neither a score nor a label."""
        self.score, self.label, self.error, self.explanation = score, label, error, explanation

    def attributes(self, *, text: bool) -> Attributes:
        """Of the event `gen_ai.evaluation.result`."""
        told: Attributes = {"gen_ai.evaluation.name": NAME}
        if self.error:
            told[ERROR] = self.error
        else:
            told["gen_ai.evaluation.score.label"] = self.label
            if self.score is not None:
                told["gen_ai.evaluation.score.value"] = self.score
        if text and self.explanation:
            told["gen_ai.evaluation.explanation"] = self.explanation
        return told

    def flattened(self, number: int, *, text: bool) -> Attributes:
        """The same in OpenInference's shape, for the span that was evaluated.

        OpenInference has no place for an evaluation that failed; it asks for a score, a label or an
        explanation, so that the label says `unverified` there, and still no score stands beside it.
        """
        start = f"evaluations.{number}.evaluation"
        told: Attributes = {f"{start}.name": NAME, f"{start}.annotator_kind": "CODE"}
        told[f"{start}.label"] = Label.UNVERIFIED.value if self.error else self.label
        if not self.error and self.score is not None:
            told[f"{start}.score"] = self.score
        if text and self.explanation:
            told[f"{start}.explanation"] = self.explanation
        return told


def of_sentence(verdict: Verdict) -> Evaluation:
    """The verdict on one sentence."""
    if verdict.label is Label.UNVERIFIED:
        return Evaluation(error=verdict.reason or "unverified", explanation=verdict.reason_text)
    return Evaluation(score=verdict.score, label=verdict.label.value, explanation=_why(verdict))


def of_answer(report: Report, failed: str = "") -> Evaluation | None:
    """The verdict on a whole answer; None where there was nothing to verify.

    The label is the worst of its sentences', so that one sentence that is contradicted is not lost in a mean.

    Args:
        report: on the answer.
        failed: why the stream itself failed, in one word; empty where it did not.
    """
    worst = next((label for label in _WORST_FIRST if report.counts.get(label)), None)
    if failed:
        return Evaluation(error=failed)
    if worst is None:
        return None
    if worst is Label.UNVERIFIED:
        # Nothing is known to be wrong, but nobody looked at all of it: not a pass.
        reasons = [s.reason for s in report.sentences if s.label is Label.UNVERIFIED and s.reason]
        return Evaluation(error=max(sorted(set(reasons)), key=reasons.count, default="unverified"))
    return Evaluation(score=report.grounding_score, label=worst.value)


def opening_attributes(opening: Opening, *, text: bool, openinference: bool) -> Attributes:
    """Of a stream's span when it begins."""
    told: Attributes = {
        "streamverify.stream": opening.stream,
        "streamverify.policy": opening.policy,
        "streamverify.model": opening.fingerprint.model,
        "streamverify.passages": len(opening.passages),
    }
    for name, value in (("domain", opening.context.domain), ("run", opening.context.run)):
        if value is not None:
            told[f"streamverify.{name}"] = value
    if openinference:
        told[SPAN_KIND] = "EVALUATOR"
    if text:
        if opening.context.conversation is not None:
            told["gen_ai.conversation.id"] = opening.context.conversation
        if opening.question is not None:
            told["gen_ai.retrieval.query.text"] = opening.question
            if openinference:
                told["input.value"] = opening.question
    return told


def final_attributes(event: FinalEvent, *, text: bool, openinference: bool) -> Attributes:
    """Of a stream's span when it ends."""
    report = event.report
    told: Attributes = {"streamverify.outcome": report.outcome}
    told |= {f"streamverify.sentences.{label.value}": report.counts.get(label, 0) for label in Label}
    figures: Mapping[str, float | None] = {
        "grounding_score": report.grounding_score,
        "citation_accuracy": report.citation_accuracy,
        "first_text_ms": report.timings.first_text_ms,
        "overhead_ratio": report.timings.overhead_ratio,
    }
    told |= {f"streamverify.{name}": value for name, value in figures.items() if value is not None}
    if isinstance(event, StreamFailed):
        told[ERROR] = event.code
    if openinference and (found := of_answer(report, failed_word(event))) is not None:
        told |= found.flattened(0, text=text)
    if text:
        told["streamverify.released"] = report.released
        if openinference:
            told["output.value"] = report.released
    return told


def sentence_attributes(verdict: Verdict, sentence: str, *, text: bool, openinference: bool) -> Attributes:
    """Of a sentence's span."""
    told: Attributes = {
        "streamverify.sentence": verdict.index,
        "streamverify.label": verdict.label.value,
        "streamverify.findings": len(verdict.findings),
    }
    if verdict.score is not None:
        told["streamverify.score"] = verdict.score
    if verdict.reason:
        told["streamverify.reason"] = verdict.reason
    found = of_sentence(verdict)
    if found.error:
        told[ERROR] = found.error
    if openinference:
        told[SPAN_KIND] = "EVALUATOR"
        told |= found.flattened(0, text=text)
    if text:
        told["streamverify.sentence.text"] = sentence
        if openinference:
            told["input.value"] = sentence
    return told


def failed_word(event: FinalEvent) -> str:
    """Why a stream failed, in one word of a closed list; empty where it did not."""
    return event.code if isinstance(event, StreamFailed) else ""


def _why(verdict: Verdict) -> str:
    if verdict.evidence:
        best = verdict.evidence[0]
        return f"{best.passage}: {best.text}"
    return verdict.why
