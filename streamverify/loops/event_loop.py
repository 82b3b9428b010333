"""The one place that knows which event loop runs.

A verified stream must work in a bare `async for`, so its pump cannot live in a task group that is
held open across the reader's steps (PEP 789). It is a task of its own instead, with one owner (the
stream) that cancels and joins it. anyio offers no such task, so the two loops are told apart here.
"""

from __future__ import annotations

import contextvars
import sys
from collections.abc import Callable, Coroutine
from typing import Any, Protocol, cast


class Spawned(Protocol):
    """A task of its own."""

    def cancel(self) -> object:
        """Cancel it: on asyncio once, which lets what it runs clean up with waits of its own."""
        ...


class Loop(Protocol):
    """What is needed of a running event loop."""

    def spawn(self, run: Callable[[], Coroutine[Any, Any, None]], name: str) -> Spawned:
        """Start a task in a copy of the caller's context; it must not raise. Keep the result alive."""
        ...

    def call_soon(self, callback: Callable[[], object]) -> None:
        """Call from any thread: run `callback` in the loop's thread soon; nothing once the loop is closed."""
        ...


class _AsyncioLoop:
    def __init__(self) -> None:
        import asyncio  # noqa: PLC0415 - only the loop that runs is imported

        self._asyncio = asyncio
        self._loop = asyncio.get_running_loop()

    def spawn(self, run: Callable[[], Coroutine[Any, Any, None]], name: str) -> Spawned:
        return self._asyncio.create_task(run(), name=name)

    def call_soon(self, callback: Callable[[], object]) -> None:
        try:
            self._loop.call_soon_threadsafe(callback)
        except RuntimeError:
            if not self._loop.is_closed():  # it may close at any moment, so nobody can ask before
                raise


class _TrioLoop:
    def __init__(self) -> None:
        import trio  # noqa: PLC0415 - only the loop that runs is imported

        self._trio = trio
        self._token = trio.lowlevel.current_trio_token()

    def spawn(self, run: Callable[[], Coroutine[Any, Any, None]], name: str) -> Spawned:
        scope = self._trio.CancelScope()

        async def scoped() -> None:
            with scope:
                await run()

        self._trio.lowlevel.spawn_system_task(scoped, name=name, context=contextvars.copy_context())
        return cast("Spawned", scope)

    def call_soon(self, callback: Callable[[], object]) -> None:
        try:
            self._token.run_sync_soon(callback)
        except self._trio.RunFinishedError:
            return  # the loop is gone, and with it whoever waited


def cancel_requested() -> bool:
    """Whether somebody asked the current task to end; if not, code in it raised the cancellation itself.

    Only asyncio lets code do that.
    """
    if _in_trio():
        return True
    import asyncio  # noqa: PLC0415 - only the loop that runs is imported

    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


def current_loop() -> Loop:
    """The loop this code runs in.

    Raises:
        RuntimeError: no asyncio or trio loop runs here.
    """
    if _in_trio():
        return _TrioLoop()
    try:
        return _AsyncioLoop()
    except RuntimeError:
        raise RuntimeError("streamverify needs a running asyncio or trio event loop here") from None


def _in_trio() -> bool:
    # Another thread may be in the middle of importing trio: then none of its loops runs yet.
    found = getattr(sys.modules.get("trio.lowlevel"), "in_trio_run", None)
    return found is not None and bool(found())
