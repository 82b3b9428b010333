"""An event loop in a thread of its own, for callers that have none."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from typing import TypeVar

import anyio
from anyio.from_thread import BlockingPortal

from streamverify.errors import StreamStateError

T = TypeVar("T")


class Portal:
    """Runs asynchronous code for synchronous callers, from any number of threads.

    The thread is started when first needed. It is a daemon, so that a process may end without having
    closed its verifier.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._portal: BlockingPortal | None = None
        self._thread: threading.Thread | None = None

    def run(self, call: Callable[[], Awaitable[T]]) -> T:
        """The result of `call`, awaited in the portal's loop while this thread waits.

        Raises:
            StreamStateError: called from the portal's own thread, which would wait for itself. Caller.
            BaseException: whatever `call` raised.
        """
        if threading.current_thread() is self._thread:
            raise StreamStateError("synchronous use inside of the verifier's own event loop; await instead")
        return self._start().call(call)

    def close(self) -> None:
        """Cancel what runs in the loop and end the thread; the portal can be started again."""
        with self._lock:
            portal, thread, self._portal = self._portal, self._thread, None
        if portal is not None and thread is not None:
            portal.call(portal.stop, True)
            thread.join()

    def _start(self) -> BlockingPortal:
        with self._lock:
            if self._portal is None:
                started: Future[BlockingPortal] = Future()
                self._thread = threading.Thread(
                    target=anyio.run, args=(_serve, started), name="streamverify-portal", daemon=True
                )
                self._thread.start()
                self._portal = started.result()
            return self._portal


async def _serve(started: Future[BlockingPortal]) -> None:
    async with BlockingPortal() as portal:
        started.set_result(portal)
        await portal.sleep_until_stopped()
