"""Everything that happens to one closed sentence, in one blocking call.

Before: `streaming/pump.py` calls this in a thread for every sentence that closed.
After: the verdict goes to `streaming/session.py`.

    markers ─► reading ─► scorer ─► checks ─► judge ─► citations ─► Verdict
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from streamverify.calibration import Calibration, logit
from streamverify.checks.number_words import NUMBER_WORDS
from streamverify.citations import Marker, markup
from streamverify.claims.reader import ClaimReading, load, read
from streamverify.claims.released import LEARNED
from streamverify.judging.citations import CitationChecker, CitationOptions, features_for
from streamverify.judging.known_premises import KnownPremises
from streamverify.judging.premises import Measured, PreparedPremises
from streamverify.judging.repeats import Assessment, Lean, Repeats
from streamverify.judging.score_cache import ScoreCache
from streamverify.judging.verdict import check_calibration, conflict, label_for, unsupported_spans
from streamverify.reasons import UncheckedReason
from streamverify.scorers.protocol import Abort, Claim, Expecting, Scorer
from streamverify.text.language import detect
from streamverify.text.layout import body
from streamverify.text.words import STOP_WORDS, tokens
from streamverify.types import (
    Finding,
    FindingKind,
    Fingerprint,
    Label,
    Passage,
    Sentence,
    Span,
    Verdict,
    Work,
)

_NEAR = 3
"""Sentences before one that tell its language where it does not."""

ANSWERED = 0.8
"""Calibrated probability at which a passage counts as answering what the sentence says is not there."""


LONGEST_SENTENCE = 8000
"""Characters; a longer one is not read. The library's own segmenter closes sentences well before."""

_UNREAD = frozenset({"language", "too_long"})
"""Reasons that another scorer may not have."""

_LONGEST_WORD = 1000
_LONGEST_HINT = 1000
_FEW_WINDOWS = 3
"""Every scorer looks at so many windows, whatever they hold: there is nothing to choose by hints."""
_UNBROKEN = re.compile(rf"\S{{{_LONGEST_WORD}}}")


@dataclass(frozen=True, slots=True)
class VerifierConfig:
    """What all streams of a verifier share."""

    scorer: Scorer
    calibration: Calibration
    citations: CitationOptions = field(default_factory=CitationOptions)
    cache: ScoreCache = field(default_factory=ScoreCache, repr=False, compare=False)
    premises: KnownPremises = field(default_factory=KnownPremises, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Refuse a calibration this library cannot compute, before any stream runs."""
        check_calibration(self.calibration, self.scorer.traits)

    @property
    def fingerprint(self) -> Fingerprint:
        """The scorer's, with the calibration in use and what the reader of claims learned."""
        told = {"calibration": self.calibration.digest, "reader": LEARNED}
        return self.scorer.fingerprint.model_copy(update=told)

    def expecting(self, passages: Sequence[Passage], question: str | None) -> AbstractContextManager[None]:
        """While these wait for `assessor`, the scorer leaves room for them, where it can; never blocks."""
        if isinstance(self.scorer, Expecting) and not self.premises.knows(passages, question):
            return self.scorer.expect([one.text for one in passages])
        return nullcontext()

    def assessor(self, passages: Sequence[Passage], question: str | None, abort: Abort) -> Assessor:
        """Cut, index and read the passages of one stream; encode them too, unless that can wait. Blocking.

        Raises:
            ScoringError: the scorer failed, or `abort` was set.
        """
        load()

        def prepared() -> PreparedPremises:
            return PreparedPremises(self.scorer, passages, question, abort, self.cache)

        premises, known = self.premises.get(passages, question, prepared)
        return Assessor(self, premises.renewed(passages, abort) if known else premises)


class _Topic(NamedTuple):
    """What an abstention is about, looked up."""

    work: Work
    verdict: Verdict | None = None
    """Where the passages are not silent after all."""
    probabilities: tuple[float, ...] = ()
    unread: bool = False


class Assessor:
    """Judges the sentences of one stream against its passages; safe to use from several threads."""

    def __init__(self, basis: VerifierConfig, material: PreparedPremises) -> None:
        self._basis, self._material = basis, material
        self._citing = CitationChecker(material, basis.calibration, basis.citations)
        self._repeats = Repeats()

    @property
    def work(self) -> Work:
        """What preparing cost."""
        return self._material.work

    def ahead(self, abort: Abort) -> None:
        """Have passages encoded before claims ask for them, while no claim is scored; returns at once."""
        self._material.ahead(abort)

    def assess(
        self,
        sentence: Sentence,
        previous: Sequence[Sentence],
        abort: Abort,
        native_markers: Sequence[Marker] = (),
        *,
        hurried: bool = False,
        lean: Lean | None = None,
    ) -> Assessment:
        """The verdict on one sentence. Blocking; depends on nothing but its arguments and the passages.

        Args:
            sentence: closed, markers included.
            previous: the sentences before it, in text order.
            abort: when set, the call ends soon with `ScoringError`.
            native_markers: citations of this sentence that came beside the text, placed in the answer.
            hurried: take the fewest passes that give a verdict, which then tells their number.
            lean: what a scorer before said, to be weighed in the label's probability.

        Raises:
            ScoringError: the scorer failed, or `abort` was set.
        """
        if (refused := _unreadable(sentence)) is not None:
            return Assessment(refused, Work())  # for any scorer
        if native_markers:  # they are not in the text, which is what a like is known by
            return self._assess(sentence, previous, abort, native_markers, hurried=hurried, lean=lean)
        assessment = self._repeats.get(sentence, previous, lean)
        if assessment is None:
            assessment = self._assess(sentence, previous, abort, (), hurried=hurried, lean=lean)
            if not hurried:  # its like may have more time
                self._repeats.put(sentence, previous, assessment, lean)
        return assessment

    def _assess(
        self,
        sentence: Sentence,
        previous: Sequence[Sentence],
        abort: Abort,
        native_markers: Sequence[Marker],
        *,
        hurried: bool,
        lean: Lean | None,
    ) -> Assessment:
        markers, reading = self.read(sentence, previous, native_markers)
        work = Work(tokens_generated=len(self._basis.scorer.token_spans(sentence.text)))
        measured: Measured | None = None
        margin: float | None = None
        hangs_on: list[float] = []
        verdict = self._refused(sentence, reading.claim, previous) if reading.claim is not None else None
        unread = verdict is not None and verdict.reason in _UNREAD
        if verdict is None and reading.abstained_topic is not None:
            topic = self._answered(sentence, reading.abstained_topic, abort)
            verdict, unread = topic.verdict, topic.unread
            hangs_on += topic.probabilities
            work = work + topic.work
        if verdict is None and reading.claim is not None:
            measured = self.measure(replace(reading.claim, hurried=hurried), markers, abort)
            work = work + measured.work
            verdict, probability = self._verdict(sentence, measured, lean)
            hangs_on.append(probability)
            margin = logit(probability) - logit(self._basis.calibration.threshold)
        if verdict is None:
            reason = reading.reason.value if reading.reason is not None else ""
            verdict = Verdict(index=sentence.index, label=Label.NO_CLAIM, reason=reason)
        citations, cost = self._citing.check(
            sentence, verdict.label, markers, measured, previous=previous, abort=abort
        )
        suggestion = self._citing.suggestion(sentence, verdict.label, markers, verdict.evidence)
        fewer = (
            measured.score.passes if measured is not None and hurried and not measured.from_cache else None
        )
        verdict = verdict.model_copy(
            update={"citations": citations, "suggestion": suggestion, "passes": fewer}
        )
        hangs_on += [citation.score for citation in citations if citation.score is not None]
        return Assessment(verdict, work + cost, tuple(hangs_on), unread, margin)

    def read(
        self, sentence: Sentence, previous: Sequence[Sentence], native_markers: Sequence[Marker] = ()
    ) -> tuple[tuple[Marker, ...], ClaimReading]:
        """The citation markers of a sentence, placed in the answer, and what it claims."""
        markers = self._citing.find(sentence, native_markers)
        reading = read(sentence, previous=previous, markers=markup(markers))
        if reading.claim is None or len(self._material.windows) <= _FEW_WINDOWS:
            return markers, reading
        around = (self._material.question, previous[-1].text if previous else None)
        hints = tuple(text[:_LONGEST_HINT] for text in around if text)
        return markers, replace(reading, claim=replace(reading.claim, hints=hints))

    def measure(self, claim: Claim, markers: Sequence[Marker], abort: Abort) -> Measured:
        """Everything a calibration may weigh about a claim. Blocking; there must be passage text.

        Raises:
            ScoringError: the scorer failed, or `abort` was set.
        """
        return self._material.measure(self._citing.asked(claim, markers), abort)

    def _verdict(self, sentence: Sentence, measured: Measured, lean: Lean | None) -> tuple[Verdict, float]:
        """The verdict, and the calibrated probability that its label was read from."""
        basis, material, claim, score = self._basis, self._material, measured.claim, measured.score
        calibration = basis.calibration if lean is None else basis.calibration.leaning(*lean)
        contradiction = basis.scorer.traits.contradiction
        # A claim that cites several passages may need them together; whichever reading speaks for it counts.
        readings = [measured.features, *(features_for(measured.features, joint) for joint in score.together)]
        best = max(readings, key=calibration.probability)
        label, probability = label_for(calibration, best, contradiction=contradiction)
        findings = list(measured.checked.findings)
        ids = [passage.id for passage in material.passages]
        bar = calibration.contradiction_about
        if (disagreement := conflict(claim, measured.same(bar), material.windows, ids)) is not None:
            findings.append(disagreement)
        unsupported: tuple[Span, ...] = ()
        if label is not Label.SUPPORTED:
            risk = calibration.token_risk
            said = body(sentence, sections=False)
            unsupported = unsupported_spans(claim, score.tokens, risk, findings, said)
        against = measured.checked.against if label is not Label.SUPPORTED else ()
        verdict = Verdict(
            index=sentence.index,
            label=label,
            score=probability,
            evidence=material.finder.evidence(claim.text, label, score.single, against),
            findings=tuple(sorted(findings, key=lambda finding: (finding.start, finding.end))),
            unsupported_spans=unsupported,
        )
        return verdict, probability

    def _answered(self, sentence: Sentence, topic: Claim, abort: Abort) -> _Topic:
        """Whether the passages answer what the sentence says they are silent about."""
        if (refused := self._refused(sentence, topic, ())) is not None:
            return _Topic(Work(), unread=refused.reason in _UNREAD)
        measured = self._material.measure(topic, abort)
        probability = self._basis.calibration.probability(measured.features)
        if probability < ANSWERED:
            return _Topic(measured.work, probabilities=(probability,))
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
            reason="false_abstention",
            reason_text="the passages seem to answer what the sentence says they do not",
            evidence=material.finder.evidence(topic.text, Label.SUPPORTED, score.single),
            findings=(finding,),
            unsupported_spans=(span,),
        )
        return _Topic(measured.work, verdict, (probability,))

    def _refused(self, sentence: Sentence, claim: Claim, previous: Sequence[Sentence]) -> Verdict | None:
        """UNVERIFIED where no scorer could answer, with the reason."""
        scorer = self._basis.scorer
        languages, limit = scorer.traits.languages, scorer.traits.claim_tokens
        if self._material.empty:
            return _unverified(sentence, "no_passages", "there is no passage text to check against")
        if not _says_something(claim):
            return _unverified(sentence, "no_content", "nothing in this sentence can be looked up by itself")
        before = " ".join(other.text for other in previous[-_NEAR:])
        language = detect(claim.text, before=before) if languages is not None else None
        if language is not None and languages is not None and language not in languages:
            covered = ", ".join(sorted(languages))
            text = f"reads like {language!r}, the scorer covers {covered}"
            return _unverified(sentence, "language", text, FindingKind.LANGUAGE)
        tokens = len(scorer.token_spans(claim.text))
        if tokens > limit:
            text = f"{tokens} tokens in one sentence, the scorer reads {limit}"
            return _unverified(sentence, "too_long", text, FindingKind.TOO_LONG)
        return None


def _says_something(claim: Claim) -> bool:
    """Whether a claim has a word or a figure of its own that is more than grammar: "It does." has none."""
    own = "".join(
        char if offset >= 0 else " " for char, offset in zip(claim.text, claim.offsets, strict=True)
    )
    words = tokens(own)
    return any(
        (word not in STOP_WORDS and (len(word) > 1 or not word.isascii() or word.isdecimal()))
        or word in NUMBER_WORDS
        for word in words
    )


def _unreadable(sentence: Sentence) -> Verdict | None:
    """UNVERIFIED, before any pattern looks at it, where a sentence is none that somebody could read."""
    if len(sentence.text) > LONGEST_SENTENCE:
        text = f"{len(sentence.text)} characters in one sentence, {LONGEST_SENTENCE} are read"
    elif _UNBROKEN.search(sentence.text) is not None:
        text = f"a word of more than {_LONGEST_WORD} characters"
    else:
        return None
    return _unverified(sentence, "too_long", text, FindingKind.TOO_LONG)


def _unverified(
    sentence: Sentence, reason: UncheckedReason, text: str, kind: FindingKind | None = None
) -> Verdict:
    """The verdict where there is no check, with a finding over the sentence where one of that kind is due."""
    span = body(sentence)
    findings: tuple[Finding, ...] = ()
    if kind is not None:
        findings = (Finding(kind=kind, start=span.start, end=span.end, detail=text),)
    return Verdict(
        index=sentence.index,
        label=Label.UNVERIFIED,
        reason=reason,
        reason_text=text,
        findings=findings,
    )
