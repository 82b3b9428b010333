"""The task that moves one stream: reads the source, has sentences judged, queues events.

See `stream.py` for the picture. This is the one place with a broad `except`: whatever fails here is
kept, told in `StreamFailed` and raised to the reader.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Literal

import anyio
from anyio.abc import TaskGroup

from streamverify._loop import current_loop
from streamverify.assess import Basis
from streamverify.citations import Marker
from streamverify.citing import added, unchecked
from streamverify.errors import ScoringError, StreamInterruptedError, UsageError
from streamverify.events import Event, FailureCode, SentenceClosed
from streamverify.passages import passages_from
from streamverify.pipe import Pipe
from streamverify.policy import Policy, Repair
from streamverify.preparation import Preparation
from streamverify.repair import repair
from streamverify.retrieval import SINK
from streamverify.scorers.protocol import Abort
from streamverify.segment import Segmenter
from streamverify.session import Ending, Session, Settlement
from streamverify.sources import SLICE, Source, checked, close_source, pieces_of, slices
from streamverify.turns import Turns
from streamverify.types import (
    Citation,
    Label,
    Passage,
    Replacement,
    Report,
    Sentence,
    Timings,
    Verdict,
    Work,
)
from streamverify.workers import Workers

OnFailure = Literal["raise", "unverified", "withhold"]

CAPACITY = 256
"""Events that may wait for the reader before the source is made to wait."""

PENDING = 32
"""Sentences that may wait for their verdict before the source is made to wait."""

CONTEXT = 40
"""How many sentences before it the judge of a sentence sees (a list item's lead-in may be far above)."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything a stream needs from its verifier."""

    basis: Basis
    workers: Workers
    preparers: Workers
    """Apart from `workers`, so that encoding one stream's passages never keeps another's claims waiting."""
    segmenter: Segmenter
    policy: Policy
    passages: tuple[Passage, ...] | None
    """None: they come later, through `retrieved`."""
    question: str | None
    on_failure: OnFailure
    verdict_timeout: float
    max_answer_chars: int


class Pump:
    """Moves one stream; `start` once, read `events`, `stop` to end it."""

    def __init__(self, settings: Settings, source: Source) -> None:
        self._settings, self._source = settings, source
        self._session = Session(policy=settings.policy, segmenter=settings.segmenter)
        self._loop = current_loop()
        self._scope, self._reading = anyio.CancelScope(), anyio.CancelScope()
        self._finished = anyio.Event()
        self._opened = 0.0
        self._is_open = False
        self._waited_ms = 0.0
        self._prepare_ms: float | None = None
        self._pending = self._position = 0
        self._known = settings.passages or ()
        self._incoming: deque[tuple[Passage, ...]] = deque()
        self._work = Work()
        self._preparation: Preparation | None = None
        self._handed: list[Marker] = []
        self._covered: dict[int, int] = {}  # of each sentence told: how many of those handed in are in it
        self._error: Exception | None = None
        self._code: FailureCode = "closed"
        self._interruption: StreamInterruptedError | None = None
        self._group: TaskGroup | None = None
        self.events: Pipe[Event] = Pipe(CAPACITY)
        self.report: Report | None = None

    def start(self) -> None:
        """Begin; the events' clock starts here."""
        self._opened = time.perf_counter()
        self._task = self._loop.spawn(self._run, "streamverify-pump")

    async def stop(self) -> None:
        """Cancel what still runs and wait for its end."""
        self._scope.cancel()
        with anyio.CancelScope(shield=True):
            await self._finished.wait()

    def abandon(self) -> None:
        """`stop` without waiting, from any thread."""
        self._loop.call_soon(self._scope.cancel)

    def interrupt(self, reason: str) -> None:
        """End the source as if it had failed; from any thread. See `VerifiedStream.interrupt`."""
        self._interruption = self._interruption or StreamInterruptedError(reason)
        self._loop.call_soon(self._reading.cancel)

    def add_passages(self, passages: Sequence[Passage]) -> None:
        """Judge the sentences that close from now on against these too; safe from any thread.

        Raises:
            PassageError: an id is known already, with another text. Caller.
        """
        self._known = passages_from([*self._known, *passages])
        self._incoming.append(self._known)
        self._loop.call_soon(self._absorb_soon)

    def cite(self, markers: Sequence[Marker]) -> None:
        """Have these checked with the sentences they stand in; see `VerifiedStream.cite`."""
        self._handed += markers
        late = {s.index: s for m in markers if (s := self._session.closed_at(m.end)) is not None}
        if self._group is not None and not self._finished.is_set():
            for sentence in late.values():
                self._group.start_soon(self._recite, sentence)

    def _handed_to(self, sentence: Sentence) -> list[Marker]:
        return [m for m in self._handed if sentence.start < m.end <= sentence.end]

    async def _run(self) -> None:
        SINK.set(self)
        try:
            with self._scope:
                try:
                    async with anyio.create_task_group() as self._group:
                        if self._settings.passages is not None:
                            self._open()
                            self._prepare(self._settings.passages)
                        await self._read()
                except Exception as error:  # noqa: BLE001 - kept: told in StreamFailed, raised to the reader
                    self._error = _first(error)
                    self._code = "check_failed" if isinstance(self._error, ScoringError) else "internal_error"
        finally:
            try:
                self._conclude()
            finally:
                self._finished.set()
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
                await close_source(self._source, pieces)
        self._open()
        self._publish(self._session.end(self._now()))

    async def _take_all(self, pieces: AsyncIterator[str]) -> None:
        turns = Turns(pieces)
        while True:
            asked = time.perf_counter()
            try:
                if isinstance(pieces, Pipe):
                    await pieces.follow(self._take_now)
                piece = await turns.next()
            except StopAsyncIteration:
                return
            finally:
                self._waited_ms += (time.perf_counter() - asked) * 1000
            for part in slices(checked(piece, self._position)):
                self._take(part)
                await self._room()
                await turns.rest()
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
        self._absorbing = self._loop.spawn(self._absorb_now, "streamverify-absorb")

    async def _absorb_now(self) -> None:
        self._absorb()

    def _absorb(self) -> None:
        """Begin preparing what `add_passages` brought."""
        while self._incoming and self._group is not None and not self._finished.is_set():
            self._prepare(self._incoming.popleft())

    def _take(self, text: str) -> None:
        self._absorb()  # passages told before this piece are there, however the callbacks were ordered
        self._open()
        limit = self._settings.max_answer_chars
        if self._session.length + len(text) > limit:
            raise UsageError(f"the answer is longer than max_answer_chars={limit}; the source was stopped")
        self._publish(self._session.feed(text, self._now()))

    def _open(self) -> None:
        """Tell `StreamOpened`: at once where the passages are known, else with the first text."""
        if not self._is_open:
            self._is_open = True
            fingerprint = self._settings.basis.scorer.fingerprint
            self._publish(self._session.open(self._known, fingerprint, self._now()))

    @property
    def _crowded(self) -> bool:
        return self.events.full or self._pending >= PENDING

    async def _room(self) -> None:
        """Back-pressure: go on only when the reader and the judges have caught up."""
        while self._crowded:
            await self.events.moved()

    def _publish(self, events: Sequence[Event]) -> None:
        for event in events:
            self.events.put(event)
            if isinstance(event, SentenceClosed):
                self._begin(event.sentence)

    def _begin(self, sentence: Sentence) -> None:
        if self._preparation is None:
            self._prepare(())
        assert self._preparation is not None
        assert self._group is not None
        self._pending += 1
        previous = self._session.before(sentence.index, CONTEXT)
        self._group.start_soon(self._judge, sentence, previous, self._preparation)

    def _prepare(self, passages: tuple[Passage, ...]) -> None:
        assert self._group is not None
        preparation = self._preparation = Preparation(passages, self._settings.basis.citations.numbering)
        self._group.start_soon(self._assemble, preparation)

    async def _assemble(self, preparation: Preparation) -> None:
        settings = self._settings
        try:
            assessor = await settings.preparers.run(
                lambda: settings.basis.assessor(preparation.passages, settings.question, preparation.abort),
                preparation.abort,
            )
        except Exception as error:  # noqa: BLE001 - `on_failure` decides, for each sentence that waits
            preparation.finish(error)
            return
        self._work = added(self._work, assessor.work)
        self._prepare_ms = self._now()
        preparation.finish(assessor)

    async def _judge(
        self, sentence: Sentence, previous: Sequence[Sentence], preparation: Preparation
    ) -> None:
        closed_ms = self._now()
        failed: Exception | None = None
        replacement: Replacement | None = None
        handed = self._handed_to(sentence)
        try:
            verdict = await self._verdict(sentence, previous, preparation, handed)
        except Exception as error:
            if self._settings.on_failure == "raise":
                raise
            failed = error
            verdict = Verdict(
                index=sentence.index,
                label=Label.UNVERIFIED,
                reason=f"scorer_failed: {error}",
                citations=unchecked(sentence, handed, preparation.resolver),
            )
        latency_ms = self._now() - closed_ms
        policy = self._settings.policy
        if isinstance(policy, Repair) and policy.wants_repair(sentence, verdict):
            replacement = await repair(
                policy,
                sentence,
                verdict,
                previous=previous,
                passages=preparation.passages,
                question=self._settings.question,
                judge=lambda part, before: self._tried(part, before, preparation),
            )
        withhold = failed is not None and self._settings.on_failure == "withhold"
        settlement = Settlement(verdict, latency_ms, withhold=withhold, replacement=replacement)
        self._covered.setdefault(sentence.index, len(handed))
        self._publish(self._session.settle(sentence.index, settlement, self._now()))
        self._pending -= 1
        self.events.stir()
        if self._session.halted is not None:
            assert self._group is not None
            self._group.cancel_scope.cancel()

    async def _tried(self, part: Sentence, before: Sequence[Sentence], preparation: Preparation) -> Verdict:
        """The verdict on a sentence of a replacement; a check that failed makes the replacement fail."""
        try:
            return await self._verdict(part, before, preparation)
        except ScoringError as error:
            if self._settings.on_failure == "raise":
                raise
            return Verdict(index=part.index, label=Label.UNVERIFIED, reason=f"scorer_failed: {error}")

    async def _recite(self, sentence: Sentence) -> None:
        """Check the citations of a sentence once more, with those that came too late for its verdict."""
        assert self._preparation is not None
        previous = self._session.before(sentence.index, CONTEXT)
        handed = self._handed_to(sentence)
        try:
            verdict = await self._verdict(sentence, previous, self._preparation, handed)
        except ScoringError:
            if self._settings.on_failure == "raise":
                raise
            return  # the verdict stands as it was told; `_conclude` adds what no check covered
        # A check that began earlier may end later, and cover fewer.
        if len(handed) >= self._covered.get(sentence.index, 0):
            self._covered[sentence.index] = len(handed)
            self._session.recite(sentence.index, verdict.citations)

    def _unchecked(self, sentence: Sentence) -> tuple[Citation, ...]:
        """What is known, without a check, about the citations of a sentence that got none."""
        if self._preparation is None:  # no passages were ever told, so nothing is known to be fabricated
            return ()
        return unchecked(sentence, self._handed_to(sentence), self._preparation.resolver)

    def _admit_uncovered(self) -> None:
        """Put citations handed in late into the report though no check of them ended well."""
        cited = {s.index: s for m in self._handed if (s := self._session.closed_at(m.end)) is not None}
        for index, sentence in cited.items():
            told, rest = (
                self._session.citations(index),
                self._handed_to(sentence)[self._covered.get(index, 0) :],
            )
            if told is not None and rest:
                assert self._preparation is not None
                known = unchecked(sentence, rest, self._preparation.resolver, beside=told)
                self._session.recite(index, known)

    async def _verdict(
        self,
        sentence: Sentence,
        previous: Sequence[Sentence],
        preparation: Preparation,
        handed: Sequence[Marker] = (),
    ) -> Verdict:
        assessor = await preparation.assessor()
        abort = Abort()
        try:
            assessment = await self._settings.workers.run(
                lambda: assessor.assess(sentence, previous, abort, handed),
                abort,
                timeout=self._settings.verdict_timeout,
            )
        except ScoringError:
            raise
        except Exception as error:
            raise ScoringError(f"{type(error).__name__}: {error}") from error
        self._work = added(self._work, assessment.work)
        return assessment.verdict

    def _conclude(self) -> None:
        """Queue the last events and write the report; a cancelled stream has failed."""
        self._open()
        ending: Ending
        error: str | None
        if self._session.halted is not None:
            ending, error, self._error = "halted", self._session.halted, None
        elif self._error is not None:
            ending, error = "failed", f"{type(self._error).__name__}: {self._error}"
        elif self._scope.cancel_called or not self._session.settled:
            ending, error, self._code = "failed", "closed before its end", "closed"
        else:
            ending, error = "finished", None
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
            work=self._work,
            fingerprint=self._settings.basis.scorer.fingerprint,
            error=error,
            code=self._code,
            unchecked=self._unchecked,
        )
        self.report = terminal.report
        for event in (*events, terminal):
            self.events.put(event)

    def _now(self) -> float:
        return (time.perf_counter() - self._opened) * 1000


def _first(error: Exception) -> Exception:
    """The one error out of a task group's wrapping."""
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return error
