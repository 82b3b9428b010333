"""The reader's handles on a verified provider stream: asynchronous and synchronous.

Before: an adapter chose a `Translator`. After: `multiplexer.py` moves the stream.
"""

from __future__ import annotations

import threading
from collections.abc import (
    AsyncIterable,
    AsyncIterator,
    Callable,
    Generator,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from types import TracebackType
from typing import Any, Generic, Self, TypeVar, cast

from streamverify.adapters.multiplexer import ChunkMultiplexer
from streamverify.adapters.translator import ChannelKey, Translator
from streamverify.decorator import shared_verifier
from streamverify.events import Event
from streamverify.passages import passages_from
from streamverify.policy import PolicyLike, policy_from
from streamverify.stream import VerifiedStream
from streamverify.streaming.pipe import SecondReaderError
from streamverify.streaming.sources import close_source
from streamverify.types import Report
from streamverify.verifier import Verifier

T = TypeVar("T")
OnEvent = Callable[[ChannelKey, Event], object]


class VerifiedChunks(AsyncIterator[T], Generic[T]):
    """A provider's stream, verified: iterate it as the original, close it the same way.

    A bare `async for` works; `async with` also closes the provider's stream on every way out at once, where
    otherwise a forgotten stream is closed when it is collected.
    """

    def __init__(
        self,
        source: AsyncIterable[T] | Iterable[T],
        translator: Translator[T],
        passages: Iterable[object] | None,
        *,
        verifier: Verifier | None = None,
        policy: PolicyLike | None = None,
        question: str | None = None,
        on_event: OnEvent | None = None,
    ) -> None:
        """Nothing is read yet.

        Args:
            source: the provider's stream.
            translator: what its chunks mean; made for this stream.
            passages: as for `Verifier.stream`; None when they come through `add_passages` alone.
            verifier: one for the whole process by default.
            policy: in place of the verifier's.
            question: what was asked.
            on_event: told every event as it happens, with the key of its channel.

        Raises:
            PassageError: a passage cannot be read. Caller.
        """
        used = verifier if verifier is not None else shared_verifier()
        chosen = policy_from(policy) if policy is not None else used.policy
        known = passages_from(passages) if passages is not None else None

        def open_stream(pieces: AsyncIterable[str]) -> VerifiedStream:
            return used.stream(pieces, known, policy=chosen, question=question)

        self._source, self._known, self._lock = source, known or (), threading.Lock()
        self._make: Callable[[], ChunkMultiplexer[T]] = lambda: ChunkMultiplexer(
            source, translator, open_stream, holds=chosen.holds_text, on_event=on_event
        )
        self._multiplexer: ChunkMultiplexer[T] | None = None
        self._closed = False

    async def __aenter__(self) -> Self:
        """Begin reading and encoding the passages."""
        if self._multiplexer is None and not self._closed:
            self._multiplexer = self._make()
            self._multiplexer.start()
            self._multiplexer.abandoned_with(self)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        await self.aclose()

    async def __anext__(self) -> T:
        """The next chunk; stays ended once it has ended.

        Raises:
            StreamStateError: another task waits for it already. Caller.
            Exception: the provider's own error, or a ScoringError under `on_failure="raise"`.
        """
        if self._multiplexer is None:
            await self.__aenter__()
        if self._multiplexer is None:
            raise StopAsyncIteration
        try:
            return await anext(self._multiplexer.chunks)
        except SecondReaderError:
            raise
        except BaseException:
            await self._multiplexer.stop()
            raise

    async def aclose(self) -> None:
        """Close the provider's stream and stop every check; again does nothing."""
        if self._multiplexer is not None:
            await self._multiplexer.stop()
        elif not self._closed and isinstance(self._source, AsyncIterable):
            source = cast("AsyncIterator[str]", self._source)
            await close_source(source, source)
        self._closed = True

    def add_passages(self, passages: Iterable[object]) -> None:
        """Judge the sentences that close from now on against these too; safe from any thread.

        To be called while the stream is read. What is known already is skipped.

        Raises:
            PassageError: a passage cannot be read, or an id is known with another text. Caller.
        """
        with self._lock:
            before = len(self._known)
            self._known = passages_from([*self._known, *passages])
            new = self._known[before:]
            if new and self._multiplexer is not None:
                self._multiplexer.add_passages(new)

    async def close(self) -> None:
        """`aclose`, under the name provider streams give it."""
        await self.aclose()

    @property
    def events(self) -> Sequence[tuple[ChannelKey, Event]]:
        """Every event so far, with the key of its channel; they hold the answer as generated."""
        return tuple(self._multiplexer.events) if self._multiplexer is not None else ()

    @property
    def reports(self) -> Mapping[ChannelKey, Report]:
        """The report of each channel that has ended, in the order in which they began."""
        return self._multiplexer.reports if self._multiplexer is not None else {}

    @property
    def response(self) -> Any:
        """The provider's HTTP response, where its stream has one."""
        return getattr(self._source, "response", None)


class VerifiedSyncChunks(Iterator[T], Generic[T]):
    """`VerifiedChunks` for code without an event loop; the stream runs in the verifier's own.

    The provider's stream is read in a thread, a few chunks ahead, and closed after the chunk it waits for.
    """

    def __init__(
        self,
        source: Iterable[T],
        translator: Translator[T],
        passages: Iterable[object] | None,
        *,
        verifier: Verifier | None = None,
        policy: PolicyLike | None = None,
        question: str | None = None,
        on_event: OnEvent | None = None,
    ) -> None:
        """As `VerifiedChunks`."""
        used = verifier if verifier is not None else shared_verifier()
        self._source, self._started = source, False
        self._portal = used.portal
        self._chunks: VerifiedChunks[T] = VerifiedChunks(
            _closing(source),
            translator,
            passages,
            verifier=used,
            policy=policy,
            question=question,
            on_event=on_event,
        )

    def __enter__(self) -> Self:
        """Begin reading and encoding the passages."""
        self._started = True
        self._portal.run(self._chunks.__aenter__)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        self.close()

    def __next__(self) -> T:
        """The next chunk."""
        self._started = True
        try:
            return self._portal.run(self._chunks.__anext__)
        except StopAsyncIteration:
            raise StopIteration from None

    def close(self) -> None:
        """Close the provider's stream and stop every check; again does nothing."""
        self._portal.finish(self._chunks.aclose)
        if not self._started:
            _close(self._source)

    def add_passages(self, passages: Iterable[object]) -> None:
        """As `VerifiedChunks.add_passages`."""
        self._chunks.add_passages(passages)

    @property
    def events(self) -> Sequence[tuple[ChannelKey, Event]]:
        """As `VerifiedChunks.events`."""
        return self._chunks.events

    @property
    def reports(self) -> Mapping[ChannelKey, Report]:
        """As `VerifiedChunks.reports`."""
        return self._chunks.reports

    @property
    def response(self) -> Any:
        """The provider's HTTP response, where its stream has one."""
        return getattr(self._source, "response", None)


def _closing(source: Iterable[T]) -> Generator[T, None, None]:
    """The source's items; closing this closes the source, in the thread that reads it."""
    try:
        yield from source
    finally:
        _close(source)


def _close(source: object) -> None:
    close = getattr(source, "close", None)
    if close is not None:
        close()
