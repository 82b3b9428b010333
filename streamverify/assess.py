"""Everything that happens to one closed sentence, in one blocking call.

Before: `pump.py` calls this in a thread for every sentence that closed.
After: the verdict goes to `session.py`.

    markers ─► reading ─► scorer ─► checks ─► judge ─► citations ─► Verdict
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from streamverify.calibration import Calibration, logit
from streamverify.checks import Checked, SourceIndex, check
from streamverify.citations import (
    CitationThresholds,
    Marker,
    Place,
    Requirement,
    Resolver,
    Style,
    check_citations,
    cited_passages,
    combine,
    find_markers,
    suggest,
)
from streamverify.claims import Reading, read
from streamverify.evidence import CitedWindows, evidence_for
from streamverify.judge import check_calibration, conflict, features, label_for, unsupported_spans
from streamverify.language import detect
from streamverify.passages import cut
from streamverify.policy import body
from streamverify.scorers.protocol import Abort, Claim, ClaimScore, NliScore, Scorer, WindowScore
from streamverify.types import (
    Citation,
    Evidence,
    Finding,
    FindingKind,
    Label,
    Passage,
    Sentence,
    Span,
    SuggestedCitation,
    Verdict,
    Work,
)

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
class Measured:
    """What was measured about one claim, before anything is decided."""

    claim: Claim
    score: ClaimScore
    checked: Checked
    features: Mapping[str, float]
    """As `judge.features` names them."""


@dataclass(frozen=True, slots=True)
class Basis:
    """What all streams of a verifier share."""

    scorer: Scorer
    calibration: Calibration
    require_citations: Requirement = "never"
    citation_style: Style = "[1]"
    """How suggested markers look."""
    citation_place: Place = "before"
    """Where they stand: before the final stop or after it."""

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
        scorer, traits = basis.scorer, basis.scorer.traits
        self._windows = cut(
            self._passages, scorer.token_spans, traits.window_tokens, title_tokens=traits.title_tokens
        )
        self._prepared = basis.scorer.prepare(self._windows, abort=abort) if self._windows else None
        self._index = SourceIndex(self._passages, question=question)
        self._resolver = Resolver(self._passages)
        self._cited = CitedWindows(self._windows, self._passages)

    @property
    def work(self) -> Work:
        """What preparing cost."""
        from_cache = self._prepared.from_cache if self._prepared is not None else 0
        return Work(windows=len(self._windows), windows_from_cache=from_cache)

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
        generated = Work(tokens_generated=len(self._basis.scorer.token_spans(sentence.text)))
        refusal = self._refusal(sentence, reading.claim) if reading.claim is not None else None
        if refusal is not None:
            citations = self._citations(sentence, refusal.label, markers, None)
            return Assessment(refusal.model_copy(update={"citations": citations}), generated)
        if reading.abstained_topic is not None:
            answered, work = self._false_abstention(sentence, reading.abstained_topic, generated, abort)
            if answered is not None or reading.claim is None:
                return Assessment(answered or self._no_claim(sentence, reading, markers), work)
            generated = work
        if reading.claim is None:
            return Assessment(self._no_claim(sentence, reading, markers), generated)
        measured = self.measure(reading.claim, markers, abort)
        return Assessment(self._verdict(sentence, measured, markers), _cost(generated, measured.score))

    def read(
        self, sentence: Sentence, previous: Sequence[Sentence], handed: Sequence[Marker] = ()
    ) -> tuple[tuple[Marker, ...], Reading]:
        """The citation markers of a sentence, placed in the answer, and what it claims."""
        written = tuple(m.moved(sentence.start) for m in find_markers(sentence.text, known=self._resolver))
        markers = combine(written, handed) if handed else written
        return markers, read(sentence, previous=previous, markers=[Span(m.start, m.end) for m in markers])

    def measure(self, claim: Claim, markers: Sequence[Marker], abort: Abort) -> Measured:
        """Everything a calibration may weigh about a claim. Blocking; there must be passage text.

        Raises:
            ScoringError: the scorer failed, or `abort` was set.
        """
        focus = self._cited.likeliest(cited_passages(markers, self._resolver), claim.text)
        asked = Claim(claim.text, claim.offsets, focus, (focus,) if len(focus) > 1 else ())
        score = self._score(asked, abort)
        checked = self._check(claim, score.single[:NEAR])
        return Measured(claim, score, checked, features(score, checked.signals))

    def _verdict(self, sentence: Sentence, measured: Measured, markers: Sequence[Marker]) -> Verdict:
        basis, claim, score = self._basis, measured.claim, measured.score
        contradiction = basis.scorer.traits.contradiction
        label, probability = label_for(basis.calibration, measured.features, contradiction=contradiction)
        findings = list(measured.checked.findings)
        ids = [passage.id for passage in self._passages]
        if (disagreement := conflict(claim, score, self._windows, ids)) is not None:
            findings.append(disagreement)
        unsupported: tuple[Span, ...] = ()
        if label is not Label.SUPPORTED:
            risk = basis.calibration.token_risk
            unsupported = unsupported_spans(claim, score.tokens, risk, findings, body(sentence))
        evidence = evidence_for(claim.text, label, score.single, self._windows, self._passages)
        return Verdict(
            index=sentence.index,
            label=label,
            score=probability,
            evidence=evidence,
            citations=self._citations(sentence, label, markers, measured),
            suggestion=self._suggestion(sentence, label, markers, evidence),
            findings=tuple(sorted(findings, key=lambda finding: (finding.start, finding.end))),
            unsupported_spans=unsupported,
        )

    def _no_claim(self, sentence: Sentence, reading: Reading, markers: Sequence[Marker]) -> Verdict:
        citations = self._citations(sentence, Label.NO_CLAIM, markers, None)
        reason = str(reading.reason) if reading.reason is not None else ""
        return Verdict(index=sentence.index, label=Label.NO_CLAIM, reason=reason, citations=citations)

    def _false_abstention(
        self, sentence: Sentence, topic: Claim, generated: Work, abort: Abort
    ) -> tuple[Verdict | None, Work]:
        """A verdict where the sentence says that the passages are silent and they are not."""
        if self._refusal(sentence, topic) is not None:
            return None, generated
        score = self._score(topic, abort)
        work = _cost(generated, score)
        measured = features(score, self._check(topic, score.single[:NEAR]).signals)
        probability = self._basis.calibration.probability(measured)
        if probability < ANSWERED:
            return None, work
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
        return verdict, work

    def _refusal(self, sentence: Sentence, claim: Claim) -> Verdict | None:
        """UNVERIFIED where no scorer could answer, with the reason."""
        span = body(sentence)
        scorer = self._basis.scorer
        languages, limit = scorer.traits.languages, scorer.traits.claim_tokens

        def refuse(reason: str, kind: FindingKind | None = None) -> Verdict:
            detail = reason.partition(": ")[2]
            findings = (
                () if kind is None else (Finding(kind=kind, start=span.start, end=span.end, detail=detail),)
            )
            return Verdict(index=sentence.index, label=Label.UNVERIFIED, reason=reason, findings=findings)

        if self._prepared is None:
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

    def _score(self, claim: Claim, abort: Abort) -> ClaimScore:
        assert self._prepared is not None
        [score] = self._basis.scorer.score(self._prepared, [claim], abort=abort)
        return score

    def _check(self, claim: Claim, near: Sequence[WindowScore]) -> Checked:
        windows = [self._windows[entry.window] for entry in near]
        return check(claim, self._index, near=[(w.passage, w.start, w.end) for w in windows])

    def _citations(
        self, sentence: Sentence, label: Label, markers: Sequence[Marker], measured: Measured | None
    ) -> tuple[Citation, ...]:
        basis = self._basis
        joint: float | None = None
        support: dict[str, float] = {}
        if measured is not None and (markers or basis.require_citations != "never"):
            support = self._support(measured)
            if measured.score.together:
                joint = basis.calibration.probability(_seen_as(measured.features, measured.score.together[0]))
        return check_citations(
            sentence,
            label,
            markers,
            self._resolver,
            support,
            joint_support=joint,
            thresholds=CitationThresholds(support=basis.calibration.threshold),
            require=basis.require_citations,
        )

    def _suggestion(
        self, sentence: Sentence, label: Label, markers: Sequence[Marker], evidence: Sequence[Evidence]
    ) -> SuggestedCitation | None:
        if markers or label is not Label.SUPPORTED:
            return None
        made = suggest(
            sentence.text,
            label,
            evidence,
            self._resolver,
            kind=sentence.kind,
            style=self._basis.citation_style,
            place=self._basis.citation_place,
        )
        if made is None:
            return None
        return SuggestedCitation(at=sentence.start + made.at, text=made.text, passages=made.passages)

    def _support(self, measured: Measured) -> dict[str, float]:
        """For each passage that was looked at, the probability that it alone supports the claim."""
        best: dict[str, NliScore] = {}
        for entry in measured.score.single:  # highest entailment first
            best.setdefault(self._passages[self._windows[entry.window].passage].id, entry.score)
        calibration = self._basis.calibration
        return {
            id_: calibration.probability(_seen_as(measured.features, score)) for id_, score in best.items()
        }


def _seen_as(measured: Mapping[str, float], score: NliScore) -> dict[str, float]:
    """The features as if the claim had met this premise only; the checks' signals stay those of the claim."""
    entailment, contradiction = logit(score.entailment), logit(score.contradiction)
    return {
        **measured,
        "single": entailment,
        "second": entailment,
        "joint": entailment,
        "contradiction": contradiction,
    }


def _cost(before: Work, score: ClaimScore) -> Work:
    return before.model_copy(
        update={
            "claims": before.claims + 1,
            "tokens_scored": before.tokens_scored + score.tokens_scored,
            "passes": before.passes + score.passes,
        }
    )
