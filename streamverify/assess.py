"""Everything that happens to one closed sentence, in one blocking call.

Before: `pump.py` calls this in a thread for every sentence that closed.
After: the verdict goes to `session.py`.

    markers ─► reading ─► scorer ─► checks ─► judge ─► citations ─► Verdict
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from streamverify.calibration import Calibration
from streamverify.checks import SourceIndex, check
from streamverify.citations import Marker, Resolver, check_citations, find_markers
from streamverify.claims import Reading, read
from streamverify.evidence import CitedWindows, evidence_for
from streamverify.judge import check_calibration, conflict, features, label_for, placed, unsupported_spans
from streamverify.language import detect
from streamverify.passages import cut
from streamverify.policy import body
from streamverify.scorers.protocol import Abort, Claim, ClaimScore, Scorer
from streamverify.types import Citation, Finding, FindingKind, Label, Passage, Sentence, Span, Verdict, Work

Requirement = Literal["never", "claims", "numbers"]
"""Which sentences must carry a citation: none, those that make a claim, those that claim a number."""

NEAR = 2
"""Best windows whose text the checks hold the claim against."""

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
    require_citations: Requirement = "never"

    def __post_init__(self) -> None:
        """Refuse a calibration this library cannot compute, before any stream runs."""
        check_calibration(self.calibration)

    def assessor(self, passages: Sequence[Passage], question: str | None, abort: Abort) -> Assessor:
        """Cut, index and encode the passages of one stream. Blocking.

        Raises:
            ScoringError: the scorer failed, or `abort` was set.
        """
        return Assessor(self, passages, question, abort)


class Assessor:
    """Judges the sentences of one stream against its passages; safe to use from several threads."""

    def __init__(self, basis: Basis, passages: Sequence[Passage], question: str | None, abort: Abort) -> None:
        self._basis = basis
        self._passages = tuple(passages)
        self._windows = cut(self._passages, basis.scorer.token_spans, basis.scorer.traits.window_tokens)
        self._prepared = basis.scorer.prepare(self._windows, abort=abort) if self._windows else None
        self._index = SourceIndex(self._passages, question=question)
        self._resolver = Resolver(self._passages)
        self._cited = CitedWindows(self._windows, self._passages)

    @property
    def work(self) -> Work:
        """What preparing cost."""
        from_cache = self._prepared.from_cache if self._prepared is not None else 0
        return Work(windows=len(self._windows), windows_from_cache=from_cache)

    def assess(self, sentence: Sentence, previous: Sequence[Sentence], abort: Abort) -> Assessment:
        """The verdict on one sentence. Blocking; depends on nothing but its arguments and the passages.

        Args:
            sentence: closed, markers included.
            previous: the sentences before it, in text order.
            abort: when set, the call ends soon with `ScoringError`.

        Raises:
            ScoringError: the scorer failed, or `abort` was set.
        """
        markers = tuple(_shifted(marker, sentence.start) for marker in find_markers(sentence.text, known=self._resolver))
        spans = [Span(marker.start, marker.end) for marker in markers]
        reading = read(sentence, previous=previous, markers=spans)
        generated = Work(tokens_generated=len(self._basis.scorer.token_spans(sentence.text)))
        if reading.claim is None:
            return self._without_claim(sentence, reading, markers, generated, abort)
        refusal = self._refusal(sentence, reading.claim)
        if refusal is not None:
            return Assessment(refusal, generated)
        return self._with_claim(sentence, reading, reading.claim, markers, generated, abort)

    def _with_claim(
        self,
        sentence: Sentence,
        reading: Reading,
        claim: Claim,
        markers: Sequence[Marker],
        generated: Work,
        abort: Abort,
    ) -> Assessment:
        basis = self._basis
        cited = tuple(dict.fromkeys(id_ for marker in markers for id_ in self._resolver.resolve(marker)))
        focus = self._cited.likeliest(cited, claim.text)
        asked = Claim(claim.text, claim.offsets, focus, (focus,) if len(focus) > 1 else ())
        score = self._score(asked, abort)
        near = [(w.passage, w.start, w.end) for entry in score.single[:NEAR] for w in [self._windows[entry.window]]]
        checked = check(claim, self._index, near)
        measured = features(score, checked.signals)
        label, probability = label_for(
            basis.calibration, measured, contradiction=basis.scorer.traits.contradiction
        )
        findings = list(checked.findings)
        ids = [passage.id for passage in self._passages]
        if (disagreement := conflict(claim, score, self._windows, ids)) is not None:
            findings.append(disagreement)
        unsupported: tuple[Span, ...] = ()
        if label is not Label.SUPPORTED:
            unsupported = unsupported_spans(
                claim, score.tokens, basis.calibration.token_risk, findings, body(sentence)
            )
        verdict = Verdict(
            index=sentence.index,
            label=label,
            score=probability,
            evidence=evidence_for(claim.text, label, score.single, self._windows, self._passages),
            citations=self._citations(sentence, reading, label, markers, score, measured),
            findings=tuple(sorted(findings, key=lambda finding: (finding.start, finding.end))),
            unsupported_spans=unsupported,
        )
        return Assessment(verdict, _cost(generated, score))

    def _without_claim(
        self, sentence: Sentence, reading: Reading, markers: Sequence[Marker], generated: Work, abort: Abort
    ) -> Assessment:
        """NO_CLAIM, unless the sentence says that the passages are silent and they are not."""
        work = generated
        topic = reading.abstained_topic
        if topic is not None and self._prepared is not None and self._refusal(sentence, topic) is None:
            score = self._score(topic, abort)
            work = _cost(generated, score)
            signals = check(topic, self._index, ()).signals
            probability = self._basis.calibration.probability(features(score, signals))
            if probability >= ANSWERED:
                best = self._passages[self._windows[score.single[0].window].passage].id
                span = body(sentence)
                finding = Finding(
                    kind=FindingKind.FALSE_ABSTENTION,
                    start=span.start,
                    end=span.end,
                    detail=f"passage {best} seems to answer this",
                )
                verdict = Verdict(
                    index=sentence.index,
                    label=Label.CONTRADICTED,
                    score=1 - probability,
                    reason="false_abstention: the passages seem to answer what the sentence says they do not",
                    evidence=evidence_for(topic.text, Label.SUPPORTED, score.single, self._windows, self._passages),
                    findings=(finding,),
                    unsupported_spans=(span,),
                )
                return Assessment(verdict, work)
        citations = self._citations(sentence, reading, Label.NO_CLAIM, markers, None, {})
        verdict = Verdict(index=sentence.index, label=Label.NO_CLAIM, reason=reading.reason, citations=citations)
        return Assessment(verdict, work)

    def _refusal(self, sentence: Sentence, claim: Claim) -> Verdict | None:
        """UNVERIFIED where no scorer could answer, with the reason."""
        span = body(sentence)
        traits = self._basis.scorer.traits

        def refuse(reason: str, kind: FindingKind | None = None) -> Verdict:
            detail = reason.partition(": ")[2]
            findings = () if kind is None else (Finding(kind=kind, start=span.start, end=span.end, detail=detail),)
            return Verdict(index=sentence.index, label=Label.UNVERIFIED, reason=reason, findings=findings)

        if self._prepared is None:
            return refuse("no_passages: there is no passage text to check against")
        language = detect(claim.text) if traits.languages is not None else None
        if language is not None and traits.languages is not None and language not in traits.languages:
            covered = ", ".join(sorted(traits.languages))
            return refuse(f"language: reads like {language!r}, the scorer covers {covered}", FindingKind.LANGUAGE)
        tokens = len(self._basis.scorer.token_spans(claim.text))
        if tokens > traits.claim_tokens:
            return refuse(
                f"too_long: {tokens} tokens in one sentence, the scorer reads {traits.claim_tokens}",
                FindingKind.TOO_LONG,
            )
        return None

    def _score(self, claim: Claim, abort: Abort) -> ClaimScore:
        assert self._prepared is not None
        [score] = self._basis.scorer.score(self._prepared, [claim], abort=abort)
        return score

    def _citations(
        self,
        sentence: Sentence,
        reading: Reading,
        label: Label,
        markers: Sequence[Marker],
        score: ClaimScore | None,
        measured: Mapping[str, float],
    ) -> tuple[Citation, ...]:
        raise NotImplementedError


def _shifted(marker: Marker, by: int) -> Marker:
    raise NotImplementedError


def _cost(generated: Work, score: ClaimScore) -> Work:
    return generated.model_copy(
        update={"claims": 1, "tokens_scored": score.tokens_scored, "passes": score.passes}
    )
