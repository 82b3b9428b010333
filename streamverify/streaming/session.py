"""The order of one stream, without I/O, tasks or clock.

Before: `sentences/segmenter.py` closes sentences.
After: `stream.py` delivers the events.

    feed ──► TextReleased (text that flows) , SentenceClosed
    settle ─► SentenceJudged , TextReleased (text that was held)      in text order, however verdicts arrive
              SentenceRevised                                         as later scorers of a cascade speak
    end ────► the unterminated tail as a last sentence
    conclude ► StreamFinished | StreamHalted | StreamFailed           once, last

Three cursors walk over the closed sentences. `_judged` is the next sentence whose verdict may be told.
`_decided` is the next whose last word the policy has not heard: where a later scorer is still being asked, a
policy that lets text flow has its verdict told as provisional, and no policy decides. `_shown` is the next
sentence whose text may be shown, and moves only under a holding policy: over a sentence that need not wait
at once, over any other once its decision is known.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from streamverify.errors import UsageError
from streamverify.events import (
    Event,
    FailureCode,
    FinalEvent,
    PassageSummary,
    SentenceClosed,
    SentenceJudged,
    SentenceRevised,
    StreamOpened,
    TextReleased,
)
from streamverify.policy import UNGROUNDED, Decision, Policy, Redact, Tally, repaired
from streamverify.sentences.segmenter import Segmenter
from streamverify.sentences.tiling import TilingSegmenter
from streamverify.showing.quoting import Quoting
from streamverify.showing.releases import FilteringPolicy, Release, ReleaseFilter, whole
from streamverify.streaming.ending import final_event
from streamverify.streaming.entry import Entry
from streamverify.streaming.placeholders import Placeholders
from streamverify.streaming.settlement import Settlement, not_checked, stands, told
from streamverify.types import (
    Action,
    Citation,
    Fingerprint,
    JudgedSentence,
    Label,
    Outcome,
    Passage,
    SecondOpinion,
    Sentence,
    Span,
    Timings,
    Work,
)

OnUnverified = Literal["release", "withhold"]

UNCHECKED = "[unchecked statement withheld]"
"""In place of a sentence that could not be checked, under a policy that holds text."""


@dataclass(slots=True)
class StreamState:
    """One stream's state machine; every method returns the events it caused, in order.

    Times are milliseconds since the stream opened, given by the caller.
    """

    policy: Policy
    segmenter: Segmenter
    on_unverified: OnUnverified = "withhold"
    """What becomes of a held sentence that could not be checked, where the policy would let it go."""
    halted: str | None = None
    """Why the policy stopped the stream; the caller stops the source then."""
    failure: BaseException | None = None
    """What segmenter, policy or filter raised, which may be anybody's code: the caller ends the stream, once
    it has told the events that were returned all the same."""
    _seq: int = 0
    _answer: list[str] = field(default_factory=list)
    _length: int = 0
    _released: list[str] = field(default_factory=list)
    _entries: list[Entry] = field(default_factory=list)
    _judged: int = 0
    _decided: int = 0
    _shown: int = 0
    _claims: int = 0
    _ungrounded: int = 0
    _placeholders: Placeholders = field(default_factory=Placeholders)
    _filter: ReleaseFilter | None = None
    _quoting: Quoting = field(default_factory=lambda: Quoting(str, ()))
    _redacted: list[Span] = field(default_factory=list)
    """Characters in place of which something else was shown, in text order."""
    _first_text_ms: float | None = None
    _ended: bool = False

    def __post_init__(self) -> None:
        """Hold the segmenter to its laws, and make the policy's filter, where it has one."""
        self.segmenter = TilingSegmenter(self.segmenter)
        if isinstance(self.policy, FilteringPolicy):
            self._filter = self.policy.release_filter()

    @property
    def settled(self) -> bool:
        """Whether the source ended and every sentence has had its last verdict told."""
        return self._ended and self._decided == len(self._entries)

    def before(self, index: int, count: int) -> Sequence[Sentence]:
        """Up to `count` closed sentences before sentence `index`, in text order."""
        return [entry.sentence for entry in self._entries[max(index - count, 0) : index]]

    @property
    def length(self) -> int:
        """Characters fed so far."""
        return self._length

    def open(self, passages: Sequence[Passage], fingerprint: Fingerprint, at_ms: float) -> list[Event]:
        """The first event."""
        quoted = self._filter.quoted if self._filter is not None else str
        self._quoting = Quoting(quoted, passages)
        summaries = tuple(
            PassageSummary(id=p.id, title=p.title and quoted(p.title), chars=len(p.text)) for p in passages
        )
        opened = StreamOpened(
            seq=self._take_seq(),
            at_ms=at_ms,
            passages=summaries,
            fingerprint=fingerprint,
            policy=self.policy.name,
        )
        return [opened]

    def retrieved(self, passages: Sequence[Passage]) -> None:
        """More passages, which verdicts may quote from now on."""
        self._quoting.more(passages)

    def feed(self, text: str, at_ms: float) -> list[Event]:
        """Take a piece of the answer."""
        if not text:
            return []
        events: list[Event] = []
        start, self._length = self._length, self._length + len(text)
        self._answer.append(text)
        if not self.policy.holds_text:
            self._release(text, Span(start, self._length), Action.RELEASE, events, at_ms)
        return [*events, *self._close(lambda: self.segmenter.feed(text), at_ms)]

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
        """The source ended: what is still open becomes the last sentence. Again after a failed segmenter."""
        self._ended = True
        return self._close(self.segmenter.flush, at_ms)

    def settle(self, index: int, settlement: Settlement, at_ms: float) -> list[Event]:
        """Take the outcome for sentence `index`; tells it, and what waited for it, when its turn has come.

        Called again where the settlement before it said that somebody is being asked.
        """
        if self.halted is not None or self.failure is not None:
            return []
        entry = self._entries[index]
        if self._filter is not None:
            settlement = replace(settlement, verdict=self._quoting.verdict(settlement.verdict))
        before, entry.settlement = entry.settlement, settlement
        was_told = before is not None and index < self._judged
        events: list[Event] = [self._revise(before, settlement, at_ms)] if was_told and before else []
        return [*events, *self._advance(at_ms)]

    def conclude(
        self,
        ending: Outcome,
        *,
        timings: Timings,
        work: Work,
        fingerprint: Fingerprint,
        error: str | None = None,
        code: FailureCode = "internal_error",
        unchecked: Callable[[Sentence], tuple[Citation, ...]] = lambda _: (),
        second_opinions: tuple[SecondOpinion, ...] = (),
    ) -> tuple[list[Event], FinalEvent]:
        """The last events: a verdict for whatever has none yet, then the terminal one, whatever happens.

        Args:
            ending: `finished` only when every sentence was settled.
            timings: as measured by the caller; this adds what only the session knows.
            work: the caller's counters.
            fingerprint: of the scorer.
            error: what went wrong, or why the policy halted.
            code: who ended a stream that failed.
            unchecked: the citations of a sentence that was not checked.
            second_opinions: what later scorers did.
        """

        def last(
            sentences: tuple[JudgedSentence, ...], ending: Outcome, error: str | None, code: FailureCode
        ) -> FinalEvent:
            return final_event(
                ending,
                sentences,
                error,
                code,
                seq=self._take_seq(),
                answer="".join(self._answer),
                released="".join(self._released),
                timings=timings.model_copy(update={"first_text_ms": self._first_text_ms}),
                work=work,
                fingerprint=fingerprint,
                second_opinions=second_opinions,
            )

        events = self.end(timings.total_ms) if ending != "finished" else []
        seq, shown = self._seq, len(self._released)
        try:
            rest = self._rest(ending, unchecked, timings.total_ms)
            sentences = tuple(self._judged_entry(entry) for entry in self._entries)
            return [*events, *rest], last(sentences, ending, error, code)
        except Exception as raised:  # noqa: BLE001 - kept: the reader waits for a last event
            self.failure, self._seq = raised, seq
            del self._released[shown:]
            return events, last((), "failed", f"{type(raised).__name__}: {raised}", "internal_error")

    def _rest(
        self, ending: Outcome, unchecked: Callable[[Sentence], tuple[Citation, ...]], at_ms: float
    ) -> list[Event]:
        """What was not told yet, where nobody is asked any more."""
        events: list[Event] = []
        for index, entry in enumerate(self._entries[self._decided :], self._decided):
            before = entry.settlement
            if before is None:
                entry.settlement = Settlement(not_checked(entry.sentence, ending, unchecked), latency_ms=0.0)
            elif before.asking is not None:
                entry.settlement = stands(entry.sentence, before, before.asking)
            unseen = self.policy.holds_text and index >= self._shown
            kept = Action.REDACT if unseen else Action.RELEASE
            entry.decision = Decision(Action.HALT if ending == "halted" else kept)
            assert entry.settlement is not None
            if index >= self._judged:
                events.append(self._tell(entry.settlement, at_ms))
                self._judged += 1
            elif before is not None and before.asking is not None:
                events.append(self._revise(before, entry.settlement, at_ms))
        if self.failure is None:
            self._flush(events, at_ms)
        return events

    def _close(self, closing: Callable[[], Sequence[Sentence]], at_ms: float) -> list[Event]:
        events: list[Event] = []
        try:
            sentences = closing()
        except BaseException as error:  # noqa: BLE001 - kept, see `failure`
            self.failure = error
            return events
        for sentence in sentences:
            self._entries.append(Entry(sentence))
            events.append(SentenceClosed(seq=self._take_seq(), at_ms=at_ms, sentence=sentence))
        if sentences and self.halted is None and self.failure is None:
            events += self._advance(at_ms)
        return events

    def _advance(self, at_ms: float) -> list[Event]:
        """Move the cursors as far as they go."""
        events: list[Event] = []
        try:
            self._move(events, at_ms)
        except BaseException as error:  # noqa: BLE001 - kept, see `failure`
            self.failure = error
        return events

    def _move(self, events: list[Event], at_ms: float) -> None:
        self._show(events, at_ms)
        self._hear(events, at_ms)
        while self.halted is None and self._judged < len(self._entries):
            settlement = self._entries[self._judged].settlement
            if settlement is None or (settlement.asking is not None and self.policy.holds_text):
                break
            self._judged += 1
            events.append(self._tell(settlement, at_ms))
            self._hear(events, at_ms)

    def _hear(self, events: list[Event], at_ms: float) -> None:
        """Have the policy decide, in text order, about the sentences whose last word was told."""
        while self._decided < self._judged:
            entry = self._entries[self._decided]
            assert entry.settlement is not None
            if entry.settlement.asking is not None:
                break
            entry.decision = self._decide(entry.sentence, entry.settlement)
            if entry.decision.action is Action.HALT:
                self._decided += 1
                self.halted = entry.decision.reason
                break
            self._show(events, at_ms)
            self._decided += 1  # only now: where showing fails, `conclude` has to decide anew

    def _show(self, events: list[Event], at_ms: float) -> None:
        """Release held text whose turn has come."""
        while self.policy.holds_text and self._shown < len(self._entries):
            entry = self._entries[self._shown]
            if not self.policy.holds(entry.sentence):
                releases = whole(entry.sentence, Action.RELEASE)
            elif entry.decision is not None:
                releases = entry.decision.release
            else:
                break
            shown = self._placeholders.merged(entry.sentence, releases)
            if self._filter is not None:
                shown = self._filter.feed(shown, entry.sentence.text)
            self._release_all(shown, events, at_ms)
            self._shown += 1
        if self._ended and self._shown == len(self._entries):
            self._flush(events, at_ms)

    def _flush(self, events: list[Event], at_ms: float) -> None:
        if self._filter is not None:
            self._release_all(self._filter.flush(), events, at_ms)

    def _release_all(self, releases: Sequence[Release], events: list[Event], at_ms: float) -> None:
        for release in releases:
            self._release(release.text, release.span, release.action, events, at_ms)

    def _decide(self, sentence: Sentence, settlement: Settlement) -> Decision:
        verdict = settlement.verdict
        tally = Tally(self._claims, self._ungrounded)
        self._claims += verdict.score is not None
        self._ungrounded += verdict.label in UNGROUNDED
        if settlement.replacement is not None:
            return repaired(sentence, settlement.replacement)
        decision = self.policy.decide(sentence, verdict, tally)
        if not isinstance(decision, Decision):
            found = type(decision).__name__
            raise UsageError(f"the policy {self.policy.name!r} is to give a Decision, and gave {found}")
        unchecked = settlement.withhold or (
            verdict.label is Label.UNVERIFIED and self.on_unverified == "withhold"
        )
        passes = decision.action in (Action.RELEASE, Action.FLAG)
        if unchecked and passes and self.policy.holds_text and self.policy.holds(sentence):
            return Redact(placeholder=UNCHECKED).redact(sentence)
        return decision

    def _tell(self, settlement: Settlement, at_ms: float) -> SentenceJudged:
        return SentenceJudged(seq=self._take_seq(), at_ms=at_ms, **told(settlement))

    def _revise(self, before: Settlement, settlement: Settlement, at_ms: float) -> SentenceRevised:
        changed = settlement.verdict.label is not before.verdict.label
        scorer = settlement.scorer or ""
        return SentenceRevised(
            seq=self._take_seq(), at_ms=at_ms, scorer=scorer, changed=changed, **told(settlement)
        )

    def _release(self, text: str, span: Span, action: Action, events: list[Event], at_ms: float) -> None:
        told = TextReleased(seq=self._seq, at_ms=at_ms, text=text, span=span, action=action)
        self._seq += 1
        if self._first_text_ms is None and text:
            self._first_text_ms = at_ms
        self._released.append(text)
        if action is Action.REDACT:
            self._redacted.append(span)
        events.append(told)

    def _judged_entry(self, entry: Entry) -> JudgedSentence:
        """A sentence of the report; one that a filter showed in part only was redacted."""
        judged = entry.judged()
        if self._filter is None:
            return judged
        changed: dict[str, Any] = {}
        if judged.replacement is not None:
            changed["replacement"] = self._quoting.replacement(judged.replacement)
        at = bisect.bisect_right(self._redacted, judged.start, key=lambda span: span.end)
        part = at < len(self._redacted) and self._redacted[at].start < judged.end
        if part and judged.action in (Action.RELEASE, Action.FLAG):
            changed["action"] = Action.REDACT
        return judged.model_copy(update=changed)

    def _take_seq(self) -> int:
        seq, self._seq = self._seq, self._seq + 1
        return seq
