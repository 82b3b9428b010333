"""A provider's chunks go in, the same kind of chunks come out, every text in them verified.

For those who adapt another library's stream: an adapter says what a chunk means (`Translator`), this keeps
the order. Each text of the stream (a choice, a content part) is a channel with a `VerifiedStream` of its own.

    provider ─► read ─┬─ TextDelta ─► channel ─► VerifiedStream ─► released text ─┐
                      └─ PassThrough ─────────────────────────────────────────────┴─► chunks, in order

Under a policy that lets text flow a chunk passes as the object that came, at once. Under one that holds text
only chunks made anew pass: released text in a chunk made by `TextDelta.make`, everything else once all text
before it was decided.
"""

from __future__ import annotations

import contextlib
import math
import threading
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Sequence
from functools import partial
from typing import Generic, TypeVar, cast

import anyio
import anyio.lowlevel
from anyio.abc import TaskGroup

from streamverify.adapters.channel import Channel
from streamverify.adapters.chunk_queue import ChunkQueue
from streamverify.adapters.translator import (
    ChannelKey,
    CitationDelta,
    PassThrough,
    Shown,
    TextDelta,
    TextEnd,
    Translator,
)
from streamverify.citations import native
from streamverify.errors import StreamStateError, UsageError
from streamverify.events import Event, StreamFailed, StreamFinished, StreamHalted, TextReleased
from streamverify.stream import VerifiedStream
from streamverify.streaming.fairness import Turns
from streamverify.streaming.pipe import Pipe
from streamverify.streaming.sources import CLOSE_SECONDS, close_source, pieces_of
from streamverify.streaming.task import (
    CAPACITY,
    OwnedTask,
    cancelled_by_others,
    first_error,
    is_ending,
    telling,
)
from streamverify.types import Passage, Report, Span

T = TypeVar("T")

WAITING = 50_000
"""Chunks that may wait for text before them. To read no further would not end the sentence they wait for."""


class ChunkMultiplexer(Generic[T]):
    """Moves one provider stream; `start` once, read `chunks`, `stop` to end it."""

    def __init__(
        self,
        source: AsyncIterable[T] | Iterable[T],
        translator: Translator[T],
        open_stream: Callable[[AsyncIterable[str]], VerifiedStream],
        *,
        holds: bool,
        on_event: Callable[[ChannelKey, Event], object] | None,
    ) -> None:
        """Nothing runs yet.

        Args:
            source: the provider's stream; closed on every way out.
            translator: says what its chunks mean.
            open_stream: makes the verified stream of a channel.
            holds: whether the policy holds text.
            on_event: told every event, with the key of its channel, as it happens.
        """
        self._source, self._translator = source, translator
        self._open_stream, self._holds, self._on_event = open_stream, holds, on_event
        self._task, self._thread = OwnedTask("streamverify-multiplexer"), threading.get_ident()
        self._drained = anyio.Event()
        self._wanted, self._reads = True, False
        self._queue: ChunkQueue[T] = ChunkQueue()
        self._channels: dict[ChannelKey, Channel[T]] = {}
        self._spare: Channel[T] | None = None
        self._group: TaskGroup | None = None
        self._failure: Exception | None = None
        self._halted = False
        self._passages: list[Passage] = []
        self.chunks: Pipe[T] = Pipe(CAPACITY)
        self.events: list[tuple[ChannelKey, Event]] = []
        self._reports: dict[ChannelKey, Report] = {}

    def start(self) -> None:
        """Begin reading."""
        self._task.start(self._run)

    async def stop(self) -> None:
        """Cancel what still runs and wait for its end."""
        await self._task.stop()
        self.chunks.close()  # a closed stream shows nothing more

    def abandoned_with(self, reader: object) -> None:
        """`stop`, without waiting, once `reader` has been collected."""
        self._task.abandoned_with(reader)

    @property
    def reports(self) -> dict[ChannelKey, Report]:
        """Of the channels that have ended, in the order in which they began."""
        return {key: self._reports[key] for key in self._channels if key in self._reports}

    def add_passages(self, passages: Sequence[Passage]) -> None:
        """Judge what closes from now on, in every channel, against these too; from any thread.

        A chunk that is read afterwards, in the same thread, is judged against them.
        """
        if threading.get_ident() == self._thread:
            self._absorb(passages)
        else:
            self._task.loop.call_soon(lambda: self._absorb(passages))

    def _absorb(self, passages: Sequence[Passage]) -> None:
        self._passages += passages
        for channel in filter(None, [self._spare, *self._channels.values()]):
            if channel.opened:
                channel.stream.add_passages(passages)

    def released(self, key: ChannelKey) -> Shown:
        """What a reader may see of a channel's text so far."""
        return Shown(self._channels[key].releases) if key in self._channels else Shown()

    async def _run(self) -> None:
        ended: Exception | None = None
        try:
            with self._task.scope:
                try:
                    async with anyio.create_task_group() as self._group:
                        # Opened before any text comes, so that the passages are encoded meanwhile.
                        self._spare = self._new()
                        await self._read()
                        for channel in (*self._channels.values(), *filter(None, [self._spare])):
                            channel.end(self._failure)
                    if self._halted:
                        self._emit(list(self._translator.halted(self.released)))
                    ended = self._failure
                except BaseException as raised:
                    error = first_error(raised)
                    if is_ending(error):
                        raise
                    ended = telling(error)  # kept: raised to the reader
        finally:
            self.chunks.end(ended)

    async def _read(self) -> None:
        """Have the source read in a task of its own, and wait until it was closed.

        A cancel scope cancels again whatever still waits, and some generators (LangChain's) wait while they
        clean up; interrupted in that, they would stay open until the garbage collector comes by.
        """
        self._reading = self._task.loop.spawn(self._drain, "streamverify-source")
        try:
            await self._drained.wait()
        finally:
            self._end_reading()
            with anyio.move_on_after(CLOSE_SECONDS, shield=True):
                await self._drained.wait()

    def _end_reading(self) -> None:
        self._wanted = False
        if self._reads:
            self._reads = False
            self._reading.cancel()

    async def _drain(self) -> None:
        # What the source yields is the translator's affair; this and what it calls never look at it.
        source = cast("AsyncIterable[str]", self._source)
        items = pieces_of(source)
        try:
            await self._take_all(items)
            # Closed when no error is being handled: the source's generators would be kept alive by it.
            await close_source(source, items)
        except Exception as error:  # noqa: BLE001 - the source's own, in closing itself: raised to the reader
            self._failure = self._failure or error
        except GeneratorExit:
            self._failure = self._failure or RuntimeError("the source was closed from within")
        finally:
            self._drained.set()

    async def _take_all(self, items: AsyncIterator[str]) -> None:
        turns = Turns(items)
        try:
            self._reads = True
            while self._wanted:
                self._take(cast("T", await turns.next()))
                await self._room()
                await turns.yield_if_due()
            # Ended from within `_take`: the cancellation that waits must not hit the source's closing.
            await anyio.lowlevel.checkpoint()
        except StopAsyncIteration:
            return
        except anyio.get_cancelled_exc_class():
            if self._wanted:  # not by us: the source ended itself so
                self._failure = RuntimeError("the source was cancelled from within")
        except Exception as error:  # noqa: BLE001 - the provider's own: raised to the reader as it is
            self._failure = error
        finally:
            self._reads = False

    async def _room(self) -> None:
        if self.chunks.full:
            await self.chunks.room()
        for channel in tuple(self._channels.values()):
            if channel.pieces.full:
                await channel.pieces.room()

    def _take(self, chunk: T) -> None:
        if not self._holds:
            self._emit([chunk])
        for move in self._translator.read(chunk, self.released):
            if isinstance(move, TextDelta):
                self._feed(move)
            elif isinstance(move, CitationDelta):
                self._cite(move)
            elif isinstance(move, TextEnd):
                if (channel := self._channels.get(move.key)) is not None:
                    channel.end()
            elif self._holds:
                self._keep(move)

    def _feed(self, words: TextDelta[T]) -> None:
        if not words.text:
            return
        channel = self._channel(words.key)
        if self._holds:
            channel.parts.append((channel.length, words))
        channel.length += len(words.text)
        channel.answer.append(words.text)
        channel.pieces.put(words.text)  # a stream that ended by itself reads no more; `_follow` tells why

    def _cite(self, move: CitationDelta) -> None:
        channel = self._channels.get(move.key)
        if channel is not None:
            block = Span(move.start, channel.length) if move.start is not None else None
            channel.cite(native(move.citations, text="".join(channel.answer), block=block))

    def _keep(self, move: PassThrough[T]) -> None:
        if len(self._queue) >= WAITING:
            raise UsageError(f"more than {WAITING:,} chunks wait behind a sentence; the source was stopped")
        if move.key is None:
            needs = {key: channel.length for key, channel in self._channels.items()}
            self._queue.add_barrier(needs, move.make)
        else:
            channel = self._channels.get(move.key)
            self._queue.add(move.key, channel.length if channel is not None else 0, move.make)
        self._advance(move.key)

    def _channel(self, key: ChannelKey) -> Channel[T]:
        channel = self._channels.get(key)
        if channel is not None and channel.ended:
            raise UsageError(f"a chunk brings text for channel {key}, whose end was told before")
        if channel is None:
            channel, self._spare = self._spare or self._new(), None
            channel.key = key
            self._channels[key] = channel
            for event in channel.early:
                self._tell(channel, event)
        return channel

    def _new(self) -> Channel[T]:
        assert self._group is not None
        channel: Channel[T] = Channel(self._open_stream)
        self._group.start_soon(self._follow, channel)
        return channel

    async def _follow(self, channel: Channel[T]) -> None:
        try:
            with cancelled_by_others():
                async with channel.stream as stream:
                    channel.opened = True
                    if self._passages:
                        stream.add_passages(self._passages)
                    if channel.markers:
                        stream.cite(channel.markers)
                    await stream.run_callback(partial(self._tell, channel))
        except Exception as error:
            if error is not self._failure:
                raise
        finally:
            channel.pieces.close()
            # Not there where the stream was cancelled before it had opened.
            with contextlib.suppress(StreamStateError):
                if channel.key is not None:
                    self._reports[channel.key] = channel.stream.report

    def _tell(self, channel: Channel[T], event: Event) -> None:
        key = channel.key
        if key is None:  # opened ahead, and still without text
            channel.early.append(event)
            return
        self.events.append((key, event))
        if self._on_event is not None:
            self._on_event(key, event)
        if isinstance(event, TextReleased):
            channel.releases.append(event)
            if self._holds:
                for place, chunk in channel.cut(event):
                    self._queue.insert(key, place, chunk)
                channel.told = event.span.end
                channel.shown = event.span.end - 0.5
        elif isinstance(event, StreamHalted):
            self._halted = True
            self._queue.forget(key)
            self._end_reading()
        elif isinstance(event, StreamFinished | StreamFailed):
            channel.shown = math.inf
        if not self._queue:
            channel.shown = max(channel.shown, channel.told)
            return
        self._advance(key if not isinstance(event, StreamHalted) else None)
        if channel.shown < channel.told and not channel.passing:
            assert self._group is not None
            channel.passing = True
            self._group.start_soon(self._pass, channel)

    async def _pass(self, channel: Channel[T]) -> None:
        """Let pass what stands behind released text, once all that is told of it at once was told.

        A policy may write a marker behind the last word, which a reason to finish must not overtake.
        """
        channel.passing = False
        channel.shown = max(channel.shown, channel.told)
        self._advance(channel.key)

    def _advance(self, key: ChannelKey | None) -> None:
        if self._queue:
            self._emit(self._queue.ready(self._shown, key))

    def _shown(self, key: ChannelKey) -> float:
        channel = self._channels.get(key)
        return channel.shown if channel is not None else 0

    def _emit(self, chunks: Iterable[T]) -> None:
        for chunk in chunks:
            self._translator.sent(chunk)
            self.chunks.put(chunk)
