"""The task that moves one stream: reads the source, has sentences judged, queues events.

See `stream.py` for the picture. This is the one place with a broad `except`: whatever fails here is
kept, told in `StreamFailed` and raised to the reader.
"""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing

import anyio
from anyio.abc import TaskGroup

from streamverify.citations import Marker
from streamverify.errors import ScoringError, StreamInterruptedError, UsageError
from streamverify.events import Event, FailureCode, SentenceClosed
from streamverify.judging.citations import unchecked
from streamverify.loops.event_loop import cancel_requested
from streamverify.streaming.config import StreamConfig
from streamverify.streaming.fairness import Turns
from streamverify.streaming.judge import SentenceJudge
from streamverify.streaming.late_citations import NativeCitations
from streamverify.streaming.pipe import Pipe
from streamverify.streaming.preparation import Preparation
from streamverify.streaming.retrieval import SINK, Gathered
from streamverify.streaming.session import StreamState
from streamverify.streaming.sources import SLICE, Source, checked, close_source, pieces_of, slices
from streamverify.streaming.task import (
    CAPACITY,
    OwnedTask,
    cancelled_by_others,
    first_error,
    is_ending,
    telling,
)
from streamverify.types import Citation, Outcome, Passage, Report, Sentence, Timings

PENDING = 32
"""Sentences that may wait for their verdict before the source is made to wait."""

IN_DOUBT = 256
"""Sentences that may wait for a later scorer's word, their first verdict told, before the source waits."""

CONTEXT = 40
"""How many sentences before it the judge of a sentence sees (a list item's lead-in may be far above)."""


class Pump:
    """Moves one stream; `start` once, read `events`, `stop` to end it."""

    def __init__(self, config: StreamConfig, source: Source) -> None:
        self._config, self._source = config, source
        self._fingerprint = config.fingerprint  # put together from files and weights: once a stream
        self._session = StreamState(
            policy=config.policy, segmenter=config.segmenter, on_unverified=config.on_unverified
        )
        self._judge = SentenceJudge(config)
        self._native = NativeCitations(self._session)
        self._task = OwnedTask("streamverify-pump")
        self._reading = anyio.CancelScope()
        self._opened = 0.0
        self._is_open = False
        self._waited_ms = 0.0
        self._prepare_ms: float | None = None
        self._pending = self._in_doubt = self._position = 0
        self._gathered = Gathered(config.passages or ())
        self._known: tuple[Passage, ...] = self._gathered.since(0)
        """As far as they were taken in by the loop, which other threads add to."""
        self._preparing, self._read_all = 0, False
        self._preparation: Preparation | None = None
        self._error: Exception | None = None
        self._code: FailureCode = "closed"
        self._interruption: StreamInterruptedError | None = None
        self._group: TaskGroup | None = None
        self.events: Pipe[Event] = Pipe(CAPACITY)
        self.report: Report | None = None

    def start(self) -> None:
        """Begin; the events' clock starts here."""
        self._opened = time.perf_counter()
        self._task.start(self._run)

    async def stop(self) -> None:
        """Cancel what still runs and wait for its end."""
        await self._task.stop()

    def abandoned_with(self, reader: object) -> None:
        """`stop`, without waiting, once `reader` has been collected."""
        self._task.abandoned_with(reader)

    def interrupt(self, reason: str) -> None:
        """End the source as if it had failed; from any thread. See `VerifiedStream.interrupt`."""
        self._interruption = self._interruption or StreamInterruptedError(reason)
        self._task.loop.call_soon(self._reading.cancel)

    def add_passages(self, passages: Sequence[Passage]) -> None:
        """Judge the sentences that close from now on against these too; safe from any thread.

        Raises:
            PassageError: an id is known already, with another text. Caller.
        """
        if self._gathered.add(passages):
            self._task.loop.call_soon(self._absorb_soon)

    def cite(self, markers: Sequence[Marker]) -> None:
        """Have these checked with the sentences they stand in; see `VerifiedStream.cite`."""
        late = self._native.add(markers)
        if self._group is not None and not self._task.finished:
            for sentence in late:
                self._group.start_soon(self._recite, sentence)

    async def _run(self) -> None:
        SINK.set(self)
        try:
            with self._task.scope:
                try:
                    async with anyio.create_task_group() as self._group:
                        if self._config.passages is not None:
                            self._open()
                            self._prepare()
                        await self._read()
                except BaseException as raised:
                    error = first_error(raised)
                    if is_ending(error):
                        raise
                    self._error = telling(error)  # kept: told in StreamFailed, raised to the reader
                    self._code = "check_failed" if isinstance(self._error, ScoringError) else "internal_error"
        finally:
            try:
                self._conclude()
            finally:
                self.events.end(self._error)

    async def _read(self) -> None:
        pieces: AsyncIterator[str] | None = None
        try:
            pieces = pieces_of(self._source)
            with self._reading:
                await self._take_all(pieces)
            if self._reading.cancelled_caught:
                self._error, self._code = self._interruption, "interrupted"
        except Exception as error:  # noqa: BLE001 - the source's own: raised to the reader as it is
            self._error = error
            self._code = "usage_error" if isinstance(error, UsageError) else "source_failed"
        finally:
            if pieces is not None:
                with cancelled_by_others():
                    await close_source(self._source, pieces)
        self._open()
        self._publish(self._session.end(self._now()))
        self._read_all = True

    async def _take_all(self, pieces: AsyncIterator[str]) -> None:
        turns = Turns(pieces)
        while True:
            asked = time.perf_counter()
            try:
                if isinstance(pieces, Pipe):
                    await pieces.run_callback(self._take_now)
                piece = await turns.next()
            except StopAsyncIteration:
                return
            except anyio.get_cancelled_exc_class() as error:
                if cancel_requested():
                    raise
                # Raised on, it would cancel whoever reads the stream, whom nobody asked to end.
                raise StreamInterruptedError("the source was cancelled from within") from error
            finally:
                self._waited_ms += (time.perf_counter() - asked) * 1000
            for part in slices(checked(piece, self._position)):
                self._take(part)
                await self._room()
                await turns.yield_if_due()
            self._position += 1

    def _take_now(self, piece: str) -> bool:
        """Take a piece in the task that hands it in; False where that would take long or there is no room."""
        if len(piece) > SLICE or self._crowded:
            return False
        began = time.perf_counter()
        self._take(checked(piece, self._position))
        self._position += 1
        self._waited_ms -= (time.perf_counter() - began) * 1000
        return True

    def _absorb_soon(self) -> None:
        # A callback of the loop is no task, and only a task may start tasks.
        self._absorbing = self._task.loop.spawn(self._absorb_now, "streamverify-absorb")

    async def _absorb_now(self) -> None:
        self._absorb()

    def _absorb(self) -> None:
        """Take in what `add_passages` brought, and begin preparing it."""
        if len(self._known) == len(self._gathered) or self._group is None or self._task.finished:
            return
        new = self._gathered.since(len(self._known))
        self._known += new
        if self._is_open:  # else the opening tells of them
            self._session.retrieved(new)
            if self._config.observation is not None:
                self._config.observation.retrieved(new)
        if not self._preparing:  # else all that come meanwhile are prepared as one
            self._prepare()

    def _take(self, text: str) -> None:
        self._absorb()  # passages told before this piece are there, however the callbacks were ordered
        self._open()
        limit = self._config.max_answer_chars
        if self._session.length + len(text) > limit:
            raise UsageError(f"the answer is longer than max_answer_chars={limit}; the source was stopped")
        self._publish(self._session.feed(text, self._now()))

    def _open(self) -> None:
        """Tell `StreamOpened`: at once where the passages are known, else with the first text."""
        if not self._is_open:
            self._is_open = True
            fingerprint = self._fingerprint
            known = self._known = self._gathered.since(0)
            if self._config.observation is not None:
                self._config.observation.opened(known, fingerprint, self._config.policy.name)
            self._publish(self._session.open(known, fingerprint, self._now()))

    @property
    def _crowded(self) -> bool:
        return self.events.full or self._pending >= PENDING or self._in_doubt >= IN_DOUBT

    async def _room(self) -> None:
        """Back-pressure: go on only when the reader and the judges have caught up."""
        while self._crowded:
            await self.events.moved()

    def _publish(self, events: Sequence[Event]) -> None:
        for event in events:
            self._tell(event)
            if isinstance(event, SentenceClosed):
                self._begin(event.sentence)
        if self._session.failure is not None:
            raise telling(self._session.failure)

    def _tell(self, event: Event) -> None:
        self.events.put(event)
        if self._config.observation is not None:
            self._config.observation.event(event)

    def _begin(self, sentence: Sentence) -> None:
        if self._stale:
            self._prepare()
        assert self._preparation is not None
        assert self._group is not None
        self._pending += 1
        previous = self._session.before(sentence.index, CONTEXT)
        self._group.start_soon(self._settle, sentence, previous, self._preparation)

    @property
    def _stale(self) -> bool:
        """Whether passages are known that are not being prepared."""
        return self._preparation is None or len(self._preparation.passages) < len(self._known)

    def _prepare(self) -> None:
        assert self._group is not None
        self._preparation = Preparation(self._known, self._config.citations.numbering)
        self._preparing += 1
        self._group.start_soon(self._assemble, self._preparation)

    async def _assemble(self, preparation: Preparation) -> None:
        with cancelled_by_others():
            if await self._judge.prepare(preparation):
                self._prepare_ms = self._now()
        self._preparing -= 1
        if self._stale and not self._preparing and not self._read_all:
            self._prepare()

    async def _settle(
        self, sentence: Sentence, previous: Sequence[Sentence], preparation: Preparation
    ) -> None:
        native_markers = self._native.of(sentence)
        judged = self._judge.settlements(sentence, previous, preparation, native_markers)
        flows, in_doubt = not self._config.policy.holds_text, 0
        with cancelled_by_others():
            async with aclosing(judged) as settlements:
                async for settlement in settlements:
                    self._native.told(sentence, len(native_markers))
                    self._publish(self._session.settle(sentence.index, settlement, self._now()))
                    if flows or settlement.asking is None:
                        # Its reader has a verdict: it no longer counts as one that keeps the reader waiting.
                        self._pending -= not in_doubt
                        self._in_doubt += (settlement.asking is not None) - in_doubt
                        in_doubt = settlement.asking is not None
                        self.events.notify()
                    if self._session.halted is not None:
                        assert self._group is not None
                        self._group.cancel_scope.cancel()

    async def _recite(self, sentence: Sentence) -> None:
        """Check the citations of a sentence once more, with those that came too late for its verdict."""
        assert self._preparation is not None
        previous = self._session.before(sentence.index, CONTEXT)
        native_markers = self._native.of(sentence)
        try:
            verdict = await self._judge.verdict(sentence, previous, self._preparation, native_markers)
        except ScoringError:
            if self._config.on_failure == "raise":
                raise
            return  # the verdict stands as it was told; `_conclude` adds what no check covered
        if self._native.covers_more(sentence, len(native_markers)):
            self._session.recite(sentence.index, verdict.citations)

    def _unchecked(self, sentence: Sentence) -> tuple[Citation, ...]:
        """What is known, without a check, about the citations of a sentence that got none."""
        if self._preparation is None:  # no passages were ever told, so nothing is known to be fabricated
            return ()
        return unchecked(sentence, self._native.of(sentence), self._preparation.resolver)

    def _admit_uncovered(self) -> None:
        """Put citations handed in late into the report though no check of them ended well."""
        for sentence, rest in self._native.uncovered():
            told = self._session.citations(sentence.index)
            if told is not None:
                assert self._preparation is not None
                known = unchecked(sentence, rest, self._preparation.resolver, beside=told)
                self._session.recite(sentence.index, known)

    def _conclude(self) -> None:
        """Queue the last events and write the report; a cancelled stream has failed."""
        self._judge.finish()
        self._open()
        ending: Outcome
        error: str | None
        if self._session.halted is not None:
            ending, error, self._error = "halted", self._session.halted, None
        elif self._error is not None:
            ending, error = "failed", f"{type(self._error).__name__}: {self._error}"
        elif self._task.scope.cancel_called or not self._session.settled:
            ending, error, self._code = "failed", "closed before its end", "closed"
        else:
            ending, error = "finished", None
        if self._preparation is not None and self._stale:  # for citations of what nobody checks any more
            self._preparation = Preparation(self._known, self._config.citations.numbering)
        self._admit_uncovered()
        total_ms = self._now()
        timings = Timings(
            prepare_ms=self._prepare_ms,
            total_ms=total_ms,
            overhead_ratio=total_ms / self._waited_ms if self._waited_ms > 1 else None,
        )
        events, terminal = self._session.conclude(
            ending,
            timings=timings,
            work=self._judge.work,
            fingerprint=self._fingerprint,
            error=error,
            code=self._code,
            unchecked=self._unchecked,
            second_opinions=self._judge.second_opinions,
        )
        if terminal.report.outcome != ending and self._session.failure is not None:
            self._error = telling(self._session.failure)
        self.report = terminal.report
        for warning in terminal.report.warnings:
            logging.getLogger("streamverify").warning("%s", warning)
        for event in (*events, terminal):
            self._tell(event)

    def _now(self) -> float:
        return (time.perf_counter() - self._opened) * 1000
