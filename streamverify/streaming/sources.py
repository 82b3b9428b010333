"""Any source of text as one asynchronous iterator that can be closed."""

from __future__ import annotations

import contextvars
import functools
import threading
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Iterable, Iterator
from typing import Any, NamedTuple, TypeAlias

import anyio

from streamverify.errors import PieceError, UsageError
from streamverify.loops.event_loop import current_loop

Source: TypeAlias = AsyncIterable[str] | Iterable[str] | str
"""What can be verified: pieces of text of any length, or the whole text."""

CLOSE_SECONDS = 5.0
"""How long a source may take to close itself before it is abandoned."""

_AHEAD = 4
"""Pieces a synchronous source may be ahead of the stream."""

SLICE = 2048
"""Longest stretch of a piece that is segmented without letting other tasks run, in characters."""


def checked(piece: object, position: int) -> str:
    """The piece, if it is text.

    Raises:
        PieceError: it is not a string, or cannot be encoded (a lone surrogate).
    """
    if not isinstance(piece, str):
        hint = (
            "decode bytes with an incremental decoder"
            if isinstance(piece, bytes | bytearray)
            else "yield only str"
        )
        raise PieceError(f"piece {position} of the source is {type(piece).__name__}, not str: {hint}")
    if not piece.isascii() and any("\ud800" <= char <= "\udfff" for char in piece):
        raise PieceError(
            f"piece {position} of the source holds a lone surrogate: decode it with errors='replace'"
        )
    return piece


def slices(piece: str) -> Iterator[str]:
    """The piece in stretches short enough not to hold up the event loop."""
    if len(piece) <= SLICE:
        yield piece
        return
    for start in range(0, len(piece), SLICE):
        yield piece[start : start + SLICE]


def pieces_of(source: Source) -> AsyncIterator[str]:
    """An asynchronous iterator over any source; close it with `close_source`.

    A synchronous iterator runs from beginning to end in one thread of its own, so that it neither
    blocks the event loop nor loses its thread's context variables between two pieces.

    Raises:
        UsageError: `source` is nothing that can be iterated as text.
    """
    if isinstance(source, str):
        return _from_items([source])
    if isinstance(source, list | tuple):
        return _from_items(source)
    if isinstance(source, AsyncIterable):
        return aiter(source)
    if isinstance(source, Iterable) and not isinstance(source, bytes | bytearray):
        return _ThreadPieces(source)
    raise UsageError(
        f"the source must be str or a sync or async iterable of str, not {type(source).__name__}"
    )


async def close_source(source: Source, pieces: AsyncIterator[str]) -> None:
    """End a source at once, even when the surrounding scope is cancelled; waits `CLOSE_SECONDS` at most."""
    with anyio.move_on_after(CLOSE_SECONDS, shield=True):
        for owner in (pieces, source):
            close: Any = getattr(owner, "aclose", None)
            if close is None and isinstance(owner, AsyncIterable):
                close = getattr(owner, "close", None)  # provider streams name it so
            if close is not None:
                result = close()
                if hasattr(result, "__await__"):
                    await result
            if owner is source:
                break


async def _from_items(items: Iterable[str]) -> AsyncGenerator[str, None]:
    for item in items:
        yield item


class _ThreadPieces:
    """The pieces of a synchronous iterable, which runs whole in one thread, a few pieces ahead."""

    def __init__(self, source: Iterable[str]) -> None:
        self._source = source
        self._loop = current_loop()
        self._arrived: deque[str | _End] = deque()
        self._news = anyio.Event()
        self._room = threading.Semaphore(_AHEAD)
        self._stopped = False
        self._thread = threading.Thread(
            target=contextvars.copy_context().run,
            args=(self._drain,),
            name="streamverify-source",
            daemon=True,
        )
        self._thread.start()

    def __aiter__(self) -> AsyncIterator[str]:
        return self

    async def __anext__(self) -> str:
        while not self._arrived:
            self._news = anyio.Event()
            await self._news.wait()
        item = self._arrived[0]
        if isinstance(item, _End):  # stays, so that the end is told however often it is asked for
            raise item.error or StopAsyncIteration
        self._arrived.popleft()
        self._room.release()
        return item

    async def aclose(self) -> None:
        """Let the thread close its iterator after the step it is in; nothing can interrupt that step."""
        self._stopped = True
        self._room.release()

    def _drain(self) -> None:
        error: BaseException | None = None
        iterator: Iterator[str] = iter(())
        try:
            iterator = iter(self._source)
            for piece in iterator:
                self._room.acquire()
                if self._stopped:
                    break
                self._loop.call_soon(functools.partial(self._arrive, piece))
        except BaseException as raised:  # noqa: BLE001 - kept, and raised where the pieces are read
            error = raised
        # Whatever closing does, the end is told: nothing else wakes the reader.
        try:
            if callable(close := getattr(iterator, "close", None)):
                close()
        except BaseException as raised:  # noqa: BLE001 - as above
            error = error or raised
        finally:
            self._loop.call_soon(functools.partial(self._arrive, _End(error)))

    def _arrive(self, item: str | _End) -> None:
        self._arrived.append(item)
        self._news.set()


class _End(NamedTuple):
    error: BaseException | None
