"""A task of its own with one owner: what moves a stream outlives single steps of its reader.

See `event_loop.py` for why this is no task group. `Pump` and `ChunkMultiplexer` each own one.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Coroutine
from typing import Any

import anyio

from streamverify.streaming.event_loop import current_loop

CAPACITY = 256
"""Items that may wait for the reader before the source is made to wait."""


class OwnedTask:
    """Runs one coroutine beside its reader: `start` once, then `stop`, or `abandoned_with` the reader."""

    def __init__(self, name: str) -> None:
        """Nothing runs yet; made in the event loop that will run it."""
        self._name = name
        self.loop = current_loop()
        self.scope = anyio.CancelScope()
        """What runs must be inside of it, except for what it must still do when it is stopped."""
        self._finished = anyio.Event()

    def start(self, run: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Begin; `run` must not raise."""

        async def whole() -> None:
            try:
                await run()
            finally:
                self._finished.set()

        self._task = self.loop.spawn(whole, self._name)

    @property
    def finished(self) -> bool:
        """Whether it has come to its end."""
        return self._finished.is_set()

    async def stop(self) -> None:
        """Cancel what still runs and wait for its end."""
        self.scope.cancel()
        with anyio.CancelScope(shield=True):
            await self._finished.wait()

    def abandoned_with(self, reader: object) -> None:
        """`stop`, without waiting, once `reader` has been collected."""
        # Loop and scope alone: what a finaliser holds is never collected. A task knows its context, that the
        # stream, that the error it ended with, and that the frame of the reader to whom it was raised.
        weakref.finalize(reader, self.loop.call_soon, self.scope.cancel).atexit = False


def first_error(error: Exception) -> Exception:
    """The one error out of a task group's wrapping."""
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return error
