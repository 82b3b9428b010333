"""Everything that happens to one closed sentence, in one blocking call.

Before: `pump.py` calls this in a thread for every sentence that closed.
After: the verdict goes to `session.py`.

    markers ─► reading ─► scorer ─► checks ─► judge ─► citations ─► Verdict
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from streamverify.calibration import Calibration
from streamverify.citations import Marker, markup
from streamverify.citing import CitationOptions, Citing, added, seen_as
from streamverify.claims import Reading, read
from streamverify.evidence import evidence_for
from streamverify.judge import check_calibration, conflict, label_for, unsupported_spans
from streamverify.language import detect
from streamverify.material import Material, Measured
from streamverify.policy import body
from streamverify.scorers.protocol import Abort, Claim, Scorer
from streamverify.types import Finding, FindingKind, Label, Passage, Sentence, Span, Verdict, Work

ANSWERED = 0.8
"""Calibrated probability at which a passage counts as answering what the sentence says is not there."""


@dataclass(frozen=True, slots=True)
class Assessment:
    """A verdict and what it cost."""

    verdict: Verdict
    work: Work


@dataclass(frozen=True, slots=True)
class Basis:
    """What all streams of a verifier share."""

    scorer: Scorer
    calibration: Calibration
    citations: CitationOptions = field(default_factory=CitationOptions)

    def __post_init__(self) -> None:
        """Refuse a calibration this library cannot compute, before any stream runs."""
        check_calibration(self.calibration, self.scorer.traits)

    def assessor(self, passages: Sequence[Passage], question: str | None, abort: Abort) -> Assessor:
        """Cut, index and encode the passages of one stream. Blocking.

        Raises:
            ScoringError: the scorer failed, or `abort` was set.
        """
        return Assessor(self, Material(self.scorer, passages, question, abort))


class Assessor:
    """Judges the sentences of one stream against its passages; safe to use from several threads."""

    def __init__(self, basis: Basis, material: Material) -> None:
        self._basis, self._material = basis, material
        self._citing = Citing(material, basis.calibration, basis.citations)

    @property
    def work(self) -> Work:
        """What preparing cost."""
        return self._material.work

    def assess(
        self, sentence: Sentence, previous: Sequence[Sentence], abort: Abort, handed: Sequence[Marker] = ()
    ) -> Assessment:
        """The verdict on one sentence. Blocking; depends on nothing but its arguments and the passages.

        Args:
            sentence: closed, markers included.
            previous: the sentences before it, in text order.
            abort: when set, the call ends soon with `ScoringError`.
            handed: citations of this sentence that came beside the text, placed in the answer.

        Raises:
            ScoringError: the scorer failed, or `abort` was set.
        """
        markers, reading = self.read(sentence, previous, handed)
        work = Work(tokens_generated=len(self._basis.scorer.token_spans(sentence.text)))
        measured: Measured | None = None
        verdict = self._refused(sentence, reading.claim) if reading.claim is not None else None
        if verdict is None and reading.abstained_topic is not None:
            verdict, cost = self._false_abstention(sentence, reading.abstained_topic, abort)
            work = added(work, cost)
        if verdict is None and reading.claim is not None:
            measured = self.measure(reading.claim, markers, abort)
            work = added(work, measured.work)
            verdict = self._verdict(sentence, measured)
        if verdict is None:
            reason = str(reading.reason) if reading.reason is not None else ""
            verdict = Verdict(index=sentence.index, label=Label.NO_CLAIM, reason=reason)
        citations, cost = self._citing.check(
            sentence, verdict.label, markers, measured, previous=previous, abort=abort
        )
        suggestion = self._citing.suggestion(sentence, verdict.label, markers, verdict.evidence)
        verdict = verdict.model_copy(update={"citations": citations, "suggestion": suggestion})
        return Assessment(verdict, added(work, cost))

    def read(
        self, sentence: Sentence, previous: Sequence[Sentence], handed: Sequence[Marker] = ()
    ) -> tuple[tuple[Marker, ...], Reading]:
        """The citation markers of a sentence, placed in the answer, and what it claims."""
        markers = self._citing.find(sentence, handed)
        return markers, read(sentence, previous=previous, markers=markup(markers))

    def measure(self, claim: Claim, markers: Sequence[Marker], abort: Abort) -> Measured:
        """Everything a calibration may weigh about a claim. Blocking; there must be passage text.

        Raises:
            ScoringError: the scorer failed, or `abort` was set.
        """
        return self._material.measure(self._citing.asked(claim, markers), abort)

    def _verdict(self, sentence: Sentence, measured: Measured) -> Verdict:
        basis, material, claim, score = self._basis, self._material, measured.claim, measured.score
        contradiction = basis.scorer.traits.contradiction
        # A claim that cites several passages may need them together; whichever reading speaks for it counts.
        readings = [measured.features, *(seen_as(measured.features, joint) for joint in score.together)]
        best = max(readings, key=basis.calibration.probability)
        label, probability = label_for(basis.calibration, best, contradiction=contradiction)
        findings = list(measured.checked.findings)
        ids = [passage.id for passage in material.passages]
        if (disagreement := conflict(claim, score, material.windows, ids)) is not None:
            findings.append(disagreement)
        unsupported: tuple[Span, ...] = ()
        if label is not Label.SUPPORTED:
            risk = basis.calibration.token_risk
            unsupported = unsupported_spans(claim, score.tokens, risk, findings, body(sentence))
        return Verdict(
            index=sentence.index,
            label=label,
            score=probability,
            evidence=evidence_for(claim.text, label, score.single, material.windows, material.passages),
            findings=tuple(sorted(findings, key=lambda finding: (finding.start, finding.end))),
            unsupported_spans=unsupported,
        )

    def _false_abstention(
        self, sentence: Sentence, topic: Claim, abort: Abort
    ) -> tuple[Verdict | None, Work]:
        """A verdict where the sentence says that the passages are silent and they are not."""
        if self._refused(sentence, topic) is not None:
            return None, Work()
        measured = self._material.measure(topic, abort)
        probability = self._basis.calibration.probability(measured.features)
        if probability < ANSWERED:
            return None, measured.work
        material, score = self._material, measured.score
        span = body(sentence)
        finding = Finding(
            kind=FindingKind.FALSE_ABSTENTION,
            start=span.start,
            end=span.end,
            detail=f"passage {material.id_of(score.single[0].window)} seems to answer this",
        )
        verdict = Verdict(
            index=sentence.index,
            label=Label.CONTRADICTED,
            score=1 - probability,
            reason="false_abstention: the passages seem to answer what the sentence says they do not",
            evidence=evidence_for(
                topic.text, Label.SUPPORTED, score.single, material.windows, material.passages
            ),
            findings=(finding,),
            unsupported_spans=(span,),
        )
        return verdict, measured.work

    def _refused(self, sentence: Sentence, claim: Claim) -> Verdict | None:
        """UNVERIFIED where no scorer could answer, with the reason."""
        span = body(sentence)
        scorer = self._basis.scorer
        languages, limit = scorer.traits.languages, scorer.traits.claim_tokens

        def refuse(reason: str, kind: FindingKind | None = None) -> Verdict:
            detail = reason.partition(": ")[2]
            findings: tuple[Finding, ...] = ()
            if kind is not None:
                findings = (Finding(kind=kind, start=span.start, end=span.end, detail=detail),)
            return Verdict(index=sentence.index, label=Label.UNVERIFIED, reason=reason, findings=findings)

        if self._material.empty:
            return refuse("no_passages: there is no passage text to check against")
        language = detect(claim.text) if languages is not None else None
        if language is not None and languages is not None and language not in languages:
            covered = ", ".join(sorted(languages))
            return refuse(
                f"language: reads like {language!r}, the scorer covers {covered}", FindingKind.LANGUAGE
            )
        tokens = len(scorer.token_spans(claim.text))
        if tokens > limit:
            reason = f"too_long: {tokens} tokens in one sentence, the scorer reads {limit}"
            return refuse(reason, FindingKind.TOO_LONG)
        return None
