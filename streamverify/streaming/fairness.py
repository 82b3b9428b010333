"""Reading an iterator to its end without keeping the event loop to oneself."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Generator
from typing import Any, Generic, TypeVar

import anyio.lowlevel

T = TypeVar("T")

TURN = 0.002
"""Seconds of work after which other tasks get a turn."""


class Turns(Generic[T]):
    """An iterator's items for a task that works on each of them.

    While an iterator waits for its next item, other tasks run; one that always has the next item never
    waits. So `yield_if_due` between the items: it gives way where no wait came for a while, and costs nothing
    else.
    """

    def __init__(self, items: AsyncIterator[T], *, clock: Callable[[], float] = time.perf_counter) -> None:
        """Nothing is read yet.

        Args:
            items: read by this alone.
            clock: in seconds.
        """
        self._items, self._clock = items, clock
        self._turned = clock()

    async def next(self) -> T:
        """The next item; raises what the iterator raises."""
        step: _Step[T] = _Step(self._one())
        item = await step
        if step.waited:
            self._turned = self._clock()
        return item

    async def yield_if_due(self) -> None:
        """Let other tasks run, if none could for `TURN`."""
        if self._clock() - self._turned > TURN:
            await anyio.lowlevel.checkpoint()
            self._turned = self._clock()

    async def _one(self) -> T:
        return await anext(self._items)


class _Step(Generator[Any, Any, T]):
    """Awaits a coroutine, and knows whether it had to wait."""

    def __init__(self, coroutine: Any) -> None:
        self._coroutine = coroutine
        self.waited = False

    def __await__(self) -> Generator[Any, Any, T]:
        return self

    def send(self, value: Any) -> Any:
        signal = self._coroutine.send(value)  # a coroutine that has ended raises StopIteration here
        self.waited = True
        return signal

    def throw(self, *error: Any) -> Any:
        return self._coroutine.throw(*error)

    def close(self) -> None:
        self._coroutine.close()
