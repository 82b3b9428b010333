"""A task of its own with one owner: what moves a stream outlives single steps of its reader.

See `event_loop.py` for why this is no task group. `Pump` and `ChunkMultiplexer` each own one.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

import anyio

from streamverify.errors import StreamInterruptedError
from streamverify.loops.event_loop import cancel_requested, current_loop

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


def first_error(error: BaseException) -> BaseException:
    """The one error out of a task group's wrapping; a cancellation only where there is nothing else."""
    while isinstance(error, BaseExceptionGroup):
        _, others = error.split(anyio.get_cancelled_exc_class())
        error = (others or error).exceptions[0]
    return error


def is_ending(error: BaseException) -> bool:
    """Whether somebody asked this task or the process to end; if not, its own code raised the error."""
    if isinstance(error, anyio.get_cancelled_exc_class()):
        return cancel_requested()
    return isinstance(error, KeyboardInterrupt | SystemExit)


def telling(error: BaseException) -> Exception:
    """An error that code raised by itself, as others may be told it: one that ends tasks would end theirs."""
    if isinstance(error, Exception):
        return error
    if isinstance(error, KeyboardInterrupt | SystemExit):
        raise error
    name = type(error).__name__
    told = StreamInterruptedError(f"the stream was cancelled from within: its code raised {name}")
    told.__cause__ = error
    return told


@contextmanager
def cancelled_by_others() -> Iterator[None]:
    """A cancellation that nobody asked for is raised as an error; else it would end its task in silence."""
    try:
        yield
    except anyio.get_cancelled_exc_class() as error:
        if is_ending(error):
            raise
        raise telling(error) from error
