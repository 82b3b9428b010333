"""The order of one stream, without I/O, tasks or clock.

Before: `segment.py` closes sentences.
After: `stream.py` delivers the events.

    feed ──► TextReleased (text that flows) , SentenceClosed
    settle ─► SentenceJudged , TextReleased (text that was held)      in text order, however verdicts arrive
    end ────► the unterminated tail as a last sentence
    conclude ► StreamFinished | StreamHalted | StreamFailed           once, last

Two cursors walk over the closed sentences. `_judged` is the next sentence whose verdict may be told.
`_shown` is the next sentence whose text may be shown, and moves only under a holding policy: over a
sentence that need not wait at once, over any other once its decision is known.
"""

from __future__ import annotations

import bisect
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from streamverify.citations import NotComputed, citation_metrics
from streamverify.events import (
    Event,
    FailureCode,
    PassageSummary,
    SentenceClosed,
    SentenceJudged,
    StreamFailed,
    StreamFinished,
    StreamHalted,
    StreamOpened,
    Terminal,
    TextReleased,
)
from streamverify.policy import UNGROUNDED, Decision, Policy, Redact, Tally, repaired, whole
from streamverify.segment import Segmenter
from streamverify.types import (
    Action,
    Citation,
    CitationFigures,
    Fingerprint,
    JudgedSentence,
    Label,
    Lag,
    Passage,
    Replacement,
    Report,
    Sentence,
    Span,
    Timings,
    Verdict,
    Work,
)

Ending = Literal["finished", "halted", "failed"]


@dataclass(frozen=True, slots=True)
class Settlement:
    """The outcome of judging one sentence."""

    verdict: Verdict
    latency_ms: float
    withhold: bool = False
    """The check failed and its sentence must not be shown."""
    replacement: Replacement | None = None
    """A repair that passed."""


@dataclass(slots=True)
class _Entry:
    """A closed sentence on its way: `decision` is set when its verdict was told."""

    sentence: Sentence
    settlement: Settlement | None = None
    decision: Decision | None = None
    citations: tuple[Citation, ...] = ()
    """Where some came too late for the verdict: all of them."""


@dataclass(slots=True)
class Session:
    """One stream's state machine; every method returns the events it caused, in order.

    Times are milliseconds since the stream opened, given by the caller.
    """

    policy: Policy
    segmenter: Segmenter
    halted: str | None = None
    """Why the policy stopped the stream; the caller stops the source then."""
    _seq: int = 0
    _answer: list[str] = field(default_factory=list)
    _length: int = 0
    _released: list[str] = field(default_factory=list)
    _entries: list[_Entry] = field(default_factory=list)
    _judged: int = 0
    _shown: int = 0
    _claims: int = 0
    _ungrounded: int = 0
    _first_text_ms: float | None = None
    _ended: bool = False

    @property
    def settled(self) -> bool:
        """Whether the source ended and every sentence has had its verdict told."""
        return self._ended and self._judged == len(self._entries)

    def before(self, index: int, count: int) -> Sequence[Sentence]:
        """Up to `count` closed sentences before sentence `index`, in text order."""
        return [entry.sentence for entry in self._entries[max(index - count, 0) : index]]

    @property
    def length(self) -> int:
        """Characters fed so far."""
        return self._length

    def open(self, passages: Sequence[Passage], fingerprint: Fingerprint, at_ms: float) -> list[Event]:
        """The first event."""
        summaries = tuple(PassageSummary(id=p.id, title=p.title, chars=len(p.text)) for p in passages)
        opened = StreamOpened(
            seq=self._take_seq(),
            at_ms=at_ms,
            passages=summaries,
            fingerprint=fingerprint,
            policy=self.policy.name,
        )
        return [opened]

    def feed(self, text: str, at_ms: float) -> list[Event]:
        """Take a piece of the answer."""
        if not text:
            return []
        events: list[Event] = []
        start, self._length = self._length, self._length + len(text)
        self._answer.append(text)
        if not self.policy.holds_text:
            events.append(self._release(text, Span(start, self._length), Action.RELEASE, at_ms))
        return [*events, *self._close(self.segmenter.feed(text), at_ms)]

    def closed_at(self, place: int) -> Sentence | None:
        """The closed sentence that a citation at `place` ends or stands in; None while it is still open."""
        index = bisect.bisect_left(self._entries, place, key=lambda entry: entry.sentence.end)
        return self._entries[index].sentence if index < len(self._entries) else None

    def recite(self, index: int, citations: Sequence[Citation]) -> None:
        """Put the citations of sentence `index` into the report in place of those told with its verdict."""
        self._entries[index].citations = tuple(citations)

    def citations(self, index: int) -> tuple[Citation, ...] | None:
        """What checks found so far about the citations of sentence `index`; None before its first."""
        entry = self._entries[index]
        if entry.citations or entry.settlement is None:
            return entry.citations or None
        return entry.settlement.verdict.citations

    def end(self, at_ms: float) -> list[Event]:
        """The source ended: what is still open becomes the last sentence."""
        if self._ended:
            return []
        self._ended = True
        return self._close(self.segmenter.flush(), at_ms)

    def settle(self, index: int, settlement: Settlement, at_ms: float) -> list[Event]:
        """Take the outcome for sentence `index`; tells it, and what waited for it, when its turn has come."""
        if self.halted is not None:
            return []
        self._entries[index].settlement = settlement
        return self._advance(at_ms)

    def conclude(
        self,
        ending: Ending,
        *,
        timings: Timings,
        work: Work,
        fingerprint: Fingerprint,
        error: str | None = None,
        code: FailureCode = "internal_error",
        unchecked: Callable[[Sentence], tuple[Citation, ...]] = lambda _: (),
    ) -> tuple[list[Event], Terminal]:
        """The last events: a verdict for whatever has none yet, then the terminal one.

        Args:
            ending: `finished` only when every sentence was settled.
            timings: as measured by the caller; this adds what only the session knows.
            work: the caller's counters.
            fingerprint: of the scorer.
            error: what went wrong, or why the policy halted.
            code: who ended a stream that failed.
            unchecked: the citations of a sentence that was not checked.
        """
        at_ms = timings.total_ms
        events = self.end(at_ms) if ending != "finished" else []
        for entry in self._entries[self._judged :]:
            if entry.settlement is None:
                entry.settlement = Settlement(_not_checked(entry.sentence, ending, unchecked), latency_ms=0.0)
            entry.decision = Decision(Action.HALT if ending == "halted" else Action.RELEASE)
            if self.policy.holds_text:
                entry.decision = Decision(Action.HALT if ending == "halted" else Action.REDACT)
            events.append(self._tell(entry.settlement, at_ms))
            self._judged += 1
        report = self._report(ending, timings, work, fingerprint, error)
        seq = self._take_seq()
        if ending == "finished":
            return events, StreamFinished(seq=seq, at_ms=at_ms, report=report)
        if ending == "halted":
            return events, StreamHalted(seq=seq, at_ms=at_ms, report=report)
        failed = StreamFailed(seq=seq, at_ms=at_ms, report=report, error=error or "unknown", code=code)
        return events, failed

    def _close(self, sentences: Sequence[Sentence], at_ms: float) -> list[Event]:
        events: list[Event] = []
        for sentence in sentences:
            self._entries.append(_Entry(sentence))
            events.append(SentenceClosed(seq=self._take_seq(), at_ms=at_ms, sentence=sentence))
        return [*events, *self._advance(at_ms)] if sentences and self.halted is None else events

    def _advance(self, at_ms: float) -> list[Event]:
        """Move both cursors as far as they go."""
        events = self._show(at_ms)
        while self._judged < len(self._entries):
            entry = self._entries[self._judged]
            if entry.settlement is None:
                break
            self._judged += 1
            events.append(self._tell(entry.settlement, at_ms))
            entry.decision = self._decide(entry.sentence, entry.settlement)
            if entry.decision.action is Action.HALT:
                self.halted = entry.decision.reason
                break
            events.extend(self._show(at_ms))
        return events

    def _show(self, at_ms: float) -> list[Event]:
        """Release held text whose turn has come."""
        events: list[Event] = []
        while self.policy.holds_text and self._shown < len(self._entries):
            entry = self._entries[self._shown]
            if not self.policy.holds(entry.sentence):
                releases = whole(entry.sentence, Action.RELEASE)
            elif entry.decision is not None:
                releases = entry.decision.release
            else:
                break
            events.extend(self._release(r.text, r.span, r.action, at_ms) for r in releases)
            self._shown += 1
        return events

    def _decide(self, sentence: Sentence, settlement: Settlement) -> Decision:
        verdict = settlement.verdict
        tally = Tally(self._claims, self._ungrounded)
        self._claims += verdict.score is not None
        self._ungrounded += verdict.label in UNGROUNDED
        if settlement.replacement is not None:
            return repaired(sentence, settlement.replacement)
        if settlement.withhold and self.policy.holds(sentence):
            return Redact(placeholder="[unchecked statement withheld]").redact(sentence)
        return self.policy.decide(sentence, verdict, tally)

    def _tell(self, settlement: Settlement, at_ms: float) -> SentenceJudged:
        verdict = settlement.verdict
        fields = {name: getattr(verdict, name) for name in Verdict.model_fields}
        return SentenceJudged(seq=self._take_seq(), at_ms=at_ms, latency_ms=settlement.latency_ms, **fields)

    def _release(self, text: str, span: Span, action: Action, at_ms: float) -> TextReleased:
        if self._first_text_ms is None and text:
            self._first_text_ms = at_ms
        self._released.append(text)
        return TextReleased(seq=self._take_seq(), at_ms=at_ms, text=text, span=span, action=action)

    def _take_seq(self) -> int:
        seq, self._seq = self._seq, self._seq + 1
        return seq

    def _report(
        self, ending: Ending, timings: Timings, work: Work, fingerprint: Fingerprint, error: str | None
    ) -> Report:
        judged = tuple(_judged(entry) for entry in self._entries)
        scores = [sentence.score for sentence in judged if sentence.score is not None]
        figures = _citation_figures(judged)
        lags = [
            sentence.latency_ms
            for sentence in judged
            if sentence.latency_ms is not None and sentence.score is not None
        ]
        return Report(
            outcome=ending,
            answer="".join(self._answer),
            released="".join(self._released),
            sentences=judged,
            counts={label: sum(sentence.label is label for sentence in judged) for label in Label},
            grounding_score=statistics.fmean(scores) if scores else None,
            citation_accuracy=figures.accuracy,
            citation_figures=figures,
            timings=timings.model_copy(
                update={"first_text_ms": self._first_text_ms, "verdict_lag_ms": _lag(lags)}
            ),
            work=work,
            fingerprint=fingerprint,
            error=error,
        )


def _not_checked(
    sentence: Sentence, ending: Ending, unchecked: Callable[[Sentence], tuple[Citation, ...]]
) -> Verdict:
    return Verdict(
        index=sentence.index,
        label=Label.UNVERIFIED,
        reason=f"{ending}: the stream ended before this sentence was checked",
        citations=unchecked(sentence),
    )


def _judged(entry: _Entry) -> JudgedSentence:
    settlement, decision = entry.settlement, entry.decision
    assert settlement is not None
    assert decision is not None
    fields = {name: getattr(entry.sentence, name) for name in Sentence.model_fields}
    fields |= {name: getattr(settlement.verdict, name) for name in Verdict.model_fields}
    if entry.citations:
        fields["citations"] = entry.citations
    return JudgedSentence(
        **fields, action=decision.action, latency_ms=settlement.latency_ms, replacement=settlement.replacement
    )


def _citation_figures(verdicts: Sequence[Verdict]) -> CitationFigures:
    computed = citation_metrics(verdicts)
    shares = {
        "existence": computed.existence,
        "accuracy": computed.citation_accuracy,
        "precision": computed.citation_precision,
        "completeness": computed.citation_completeness,
        "quality": computed.citation_quality,
        "multi_source_coverage": computed.multi_source_coverage,
    }
    return CitationFigures(
        citations=computed.citations,
        fabricated=computed.fabricated,
        missing=computed.missing,
        **{name: None if isinstance(share, NotComputed) else share for name, share in shares.items()},
        not_computed={name: share.reason for name, share in shares.items() if isinstance(share, NotComputed)},
    )


def _lag(values: Sequence[float]) -> Lag | None:
    """Percentiles by the nearest-rank method."""
    if not values:
        return None
    ordered = sorted(values)
    rank95 = -(-95 * len(ordered) // 100)
    return Lag(p50=statistics.median(ordered), p95=ordered[rank95 - 1], max=ordered[-1])
