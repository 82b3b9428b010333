"""Runs: streams on their way to readers who may lose the connection and come back.

Before: `stream.py` gives events. After: `sse.py` sends the frames.

    Run   pulls its stream only when a reader asks for a frame it has not got, so a slow reader slows
          the source; frames already sent stay in a ring, oldest out first
    Runs  the runs that may be asked for again, by id; ends those nobody came back for

A run has one reader at a time. One that comes back takes over from the old one, whose connection may
be dead without anybody having noticed.
"""

from __future__ import annotations

import logging
import secrets
from collections import OrderedDict, deque
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import NamedTuple, Self

import anyio
from anyio.abc import TaskGroup

from streamverify.errors import StreamInterruptedError, StreamStateError, UsageError
from streamverify.events import (
    Event,
    SentenceJudged,
    SentenceRevised,
    StreamFailed,
    StreamFinished,
    StreamHalted,
    TextReleased,
)
from streamverify.server.encoding import Encoding, frame
from streamverify.showing.redaction import Redactor
from streamverify.stream import VerifiedStream
from streamverify.types import Passage

_LOG = logging.getLogger("streamverify.server")


def log_failed_check(event: Event, run: str) -> None:
    """Tell the operator why a check failed, since the reader is not told."""
    if isinstance(event, SentenceJudged | SentenceRevised) and event.reason == "scorer_failed":
        _LOG.warning("run %s, sentence %d: %s", run, event.index, event.why)


class Frame(NamedTuple):
    """What one event is on the wire."""

    seq: int
    """Of the event."""
    data: bytes


class Run:
    """One stream and the frames it gave lately."""

    def __init__(
        self,
        stream: VerifiedStream,
        encoding: Encoding,
        passages: Sequence[Passage] | None,
        *,
        reveal: bool = False,
        error_details: bool = False,
    ) -> None:
        """Nothing runs before `open`."""
        self.id = secrets.token_urlsafe(12)
        """Cannot be guessed: whoever knows it may read the run."""
        self.error: Exception | None = None
        """What the stream raised after its last event."""
        self.shown = False
        """Whether text was released."""
        self.ended = False
        """Whether the last frame is there."""
        self._stream, self._opened = stream, False
        self._encoding = encoding
        self._encoder = encoding.encoder(self.id, passages)
        self._redact = Redactor(reveal=reveal, error_details=error_details)
        self._ring: deque[Frame] = deque()
        self._size = 0
        self._capacity = 0
        self._next = 0
        self._delivered = -1
        self._reader = 0
        self._pulling = anyio.Lock(fast_acquire=True)  # without a step of the loop for every event

    @property
    def headers(self) -> Mapping[str, str]:
        """Response headers of the protocol it speaks."""
        return self._encoding.headers

    def keep(self, capacity: int) -> None:
        """Keep up to this many bytes of frames for readers that come back."""
        self._capacity = capacity

    async def open(self) -> None:
        """Open the stream; raises as opening it does."""
        await self._stream.__aenter__()
        self._opened = True

    def interrupt(self, reason: str) -> None:
        """End the source, and let the run end in order: what came is judged, the last frame says why."""
        if self._opened and not self.ended:
            self._stream.interrupt(reason)

    async def close(self) -> None:
        """End the source and every check at once, and wait for that."""
        with anyio.CancelScope(shield=True):
            await self._stream.aclose()

    def take(self) -> int:
        """Become the reader; the one before gets no more frames."""
        self._reader += 1
        return self._reader

    def has_reader(self, reader: int) -> bool:
        """Whether this one is still the reader."""
        return reader == self._reader

    def reaches(self, seq: int) -> bool:
        """Whether every frame after this one can still be given."""
        oldest = self._ring[0].seq if self._ring else self._next
        return oldest - 1 <= seq < self._next

    async def after(self, seq: int, reader: int) -> Frame | None:
        """The frame that follows; None after the last one, and for a reader that was taken over from.

        Asking for it says that everything up to `seq` was delivered. Cancelling it loses nothing: an event
        is taken from the stream and put into the ring in one step.
        """
        while self.has_reader(reader):
            self._delivered = seq
            if seq + 1 < self._next:
                # A reader that was taken over from may have made the ring forget a frame meanwhile.
                return self._ring[seq + 1 - self._ring[0].seq] if self.reaches(seq) else None
            if self.ended:
                return None
            await self._pull(seq + 1)
        return None

    async def first_text(self, reader: int) -> None:
        """Wait until text was released or the run has ended; delivers nothing."""
        while not self.shown and not self.ended and self.has_reader(reader):
            await self._pull(self._next)

    async def _pull(self, seq: int) -> None:
        """Take events from the stream up to `seq`, unless another reader does so first."""
        async with self._pulling:
            while self._next <= seq and not self.ended:
                event = await anext(self._stream)
                log_failed_check(event, self.id)
                for seen in self._redact(event):
                    self._put(seen)
                if isinstance(event, StreamFailed):
                    await self._settle()

    def _put(self, event: Event) -> None:
        self.shown = self.shown or isinstance(event, TextReleased)
        self.ended = isinstance(event, StreamFinished | StreamHalted | StreamFailed)
        messages = self._encoder.encode(event)
        data = frame(messages, f"{self.id}:{event.seq}") if messages else b""
        self._ring.append(Frame(event.seq, data))
        self._size += len(data)
        self._next = event.seq + 1
        while self._size > self._capacity and self._ring[0].seq <= self._delivered:
            self._size -= len(self._ring.popleft().data)

    async def _settle(self) -> None:
        """Take the error that a failed stream raises after its last event."""
        try:
            await anext(self._stream)
        except StopAsyncIteration:
            return
        except StreamInterruptedError as error:
            self.error = error
        except Exception as error:  # noqa: BLE001 - the source's own: told in StreamFailed, kept for HTTP
            self.error = error
            _LOG.warning("run %s failed", self.id, exc_info=error)


class Runs:
    """The runs readers may come back to; open it where the application starts (`async with Runs()`)."""

    def __init__(
        self, *, grace: float = 15.0, keep: float = 30.0, capacity: int = 1_000_000, limit: int = 200
    ) -> None:
        """Nothing runs before it is opened.

        Args:
            grace: seconds that a run goes on without a reader before its source is ended; what it says
                in that time waits in the stream's own queue, and when that is full the source waits.
            keep: seconds that a run's frames are kept after it has ended.
            capacity: bytes of frames kept of each run; a reader that is further behind cannot come back.
            limit: runs kept at once; beyond it the one that ended first, or else the oldest without a
                reader, is dropped.

        Raises:
            UsageError: a value is out of range. Caller.
        """
        if min(grace, keep) < 0 or min(capacity, limit) < 1:
            raise UsageError("Runs: grace and keep must be 0 or more, capacity and limit 1 or more")
        self._grace, self._keep = grace, keep
        self._capacity, self._limit = capacity, limit
        self._runs: OrderedDict[str, Run] = OrderedDict()
        self._group: TaskGroup | None = None

    async def __aenter__(self) -> Self:
        """Begin to watch over runs."""
        self._group = await anyio.create_task_group().__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End every run."""
        assert self._group is not None
        group, self._group = self._group, None
        group.cancel_scope.cancel()
        await group.__aexit__(None, None, None)
        while self._runs:
            await self._runs.popitem()[1].close()

    async def add(self, run: Run) -> None:
        """Let readers of this run come back.

        Raises:
            StreamStateError: outside of its `async with` block. Caller.
        """
        if self._group is None:
            raise StreamStateError("open the runs where the application starts: async with Runs() as runs")
        run.keep(self._capacity)
        self._runs[run.id] = run
        while len(self._runs) > self._limit:
            ended = next((known for known in self._runs.values() if known.ended), None)
            oldest = ended or next(iter(self._runs.values()))
            oldest.take()
            await self.drop(oldest)

    def find(self, event_id: str) -> tuple[Run, int] | None:
        """The run and sequence number an event id stands for, if all that followed can still be told."""
        name, _, number = event_id.rpartition(":")
        run = self._runs.get(name)
        if run is None or not number.isdecimal() or not number.isascii() or len(number) > 12:
            return None
        return (run, int(number)) if run.reaches(int(number)) else None

    def left(self, run: Run, reader: int) -> None:
        """A reader's connection ended; see whether it comes back."""
        if self._group is not None:
            self._group.start_soon(self._expire, run, reader)

    def interrupt(self, reason: str) -> None:
        """End every run in order, where the application stops; a reader gets the reason as the last frame."""
        for run in self._runs.values():
            run.interrupt(reason)

    async def drop(self, run: Run) -> None:
        """End a run and forget it."""
        self._runs.pop(run.id, None)
        await run.close()

    async def _expire(self, run: Run, reader: int) -> None:
        await anyio.sleep(self._keep if run.ended else self._grace)
        if run.has_reader(reader):
            await self.drop(run)
