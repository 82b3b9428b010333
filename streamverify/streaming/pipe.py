"""What one task hands to another in the same loop: a bounded queue with one reader.

Iterating it wakes the reader for what has come since; `run_callback` calls the reader for every item where it
is put, without a step of the event loop between.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Generic, Self, TypeVar

import anyio

from streamverify.errors import StreamStateError

T = TypeVar("T")


class SecondReaderError(StreamStateError):
    """Somebody waits for the next item already. Apart, because the first reader's stream goes on."""

    def __init__(self) -> None:
        """Only one of the two would ever be woken."""
        super().__init__("somebody is reading this stream already; it has one reader at a time")


class Pipe(Generic[T]):
    """Items in order, then the end. Putting never waits; who fills it asks for room."""

    def __init__(self, capacity: float) -> None:
        """Empty.

        Args:
            capacity: how many items may wait before it is `full`; `math.inf` for any number.
        """
        self._capacity = capacity
        self._items: deque[T] = deque()
        self._news, self._moved = anyio.Event(), anyio.Event()
        self._tell: Callable[[T], object] | None = None
        self._error: Exception | None = None
        self._ended = self._closed = self._awaited = False

    @property
    def full(self) -> bool:
        """Whether whoever fills it should wait."""
        return len(self._items) >= self._capacity

    def put(self, item: T) -> None:
        """Add an item, unless the reader wants no more."""
        if not self._closed and not self._told(item):
            self._items.append(item)
            self._news.set()

    def end(self, error: Exception | None = None) -> None:
        """Nothing more comes.

        Args:
            error: raised to the reader, once, after the last item.
        """
        self._ended, self._error = True, error
        self._news.set()

    def close(self) -> None:
        """The reader wants no more: drop what waits and what still comes, and hold up nobody."""
        self._closed = self._ended = True
        self._items.clear()
        self._news.set()
        self._moved.set()

    async def aclose(self) -> None:
        """`close`, as sources are closed."""
        self.close()

    async def moved(self) -> None:
        """Wait until the reader took something, or `notify` was called."""
        if self._moved.is_set():  # else somebody waits for it already
            self._moved = anyio.Event()
        await self._moved.wait()

    def notify(self) -> None:
        """Let whoever waits for room look again."""
        self._moved.set()

    async def room(self) -> None:
        """Wait until it is not full."""
        while self.full:
            await self.moved()

    def __aiter__(self) -> Self:
        """The pipe is its own iterator."""
        return self

    async def __anext__(self) -> T:
        """The next item; stays ended once it has ended.

        Raises:
            SecondReaderError: somebody waits for it already. Caller.
        """
        self._refuse_second()
        while not self._items:
            if self._ended:
                error, self._error = self._error, None
                raise error or StopAsyncIteration
            await self._wait()
        item = self._items.popleft()
        self._moved.set()
        return item

    def add_listener(self, tell: Callable[[T], object]) -> None:
        """Hand every item to `tell` where it is put, from now on; what reads the pipe then waits for its end.

        An item for which `tell` returns False stays the next one, and nothing more is handed over. What
        `tell` raises is raised to the reader, in place of the rest.
        """
        while self._items:
            if tell(self._items[0]) is False:
                return
            self._items.popleft()
        self._moved.set()
        self._tell = tell

    async def run_callback(self, tell: Callable[[T], object]) -> None:
        """Listen until the end, or until `tell` returned False.

        Raises:
            SecondReaderError: somebody reads it already. Caller.
            Exception: what the pipe ended with, or what `tell` raised.
        """
        self._refuse_second()
        self.add_listener(tell)
        try:
            while self._tell is not None and not self._ended:
                await self._wait()
        finally:
            self._tell = None
        if self._error is not None and not self._items:
            error, self._error = self._error, None
            raise error

    def _refuse_second(self) -> None:
        if self._awaited:
            raise SecondReaderError

    async def _wait(self) -> None:
        self._news, self._awaited = anyio.Event(), True
        try:
            await self._news.wait()
        finally:
            self._awaited = False

    def _told(self, item: T) -> bool:
        if self._tell is None:
            return False
        try:
            if self._tell(item) is not False:
                return True
            self._tell = None
        except Exception as error:  # noqa: BLE001 - kept: raised to the reader
            self.end(error)
            self.close()
        return self._closed
