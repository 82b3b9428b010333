"""An event loop in a thread of its own, for callers that have none; and what a forked child makes anew.

A fork copies the memory of a process, and of its threads only the one that forks. Whatever belongs to threads
(a loop's thread, a pool's slots, locks that somebody holds) is therefore kept `PerProcess`.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, wait
from contextlib import suppress
from typing import Generic, TypeVar

import anyio
from anyio.from_thread import BlockingPortal

from streamverify.errors import StreamStateError

T = TypeVar("T")

_SLICE_S = 0.25
"""How late an interruption may be seen."""


class PerProcess(Generic[T]):
    """A value that is made when this process first asks for it; a child asks anew."""

    def __init__(self, make: Callable[[], T]) -> None:
        """Nothing is made yet.

        Args:
            make: quick, and without effect where its result is dropped.
        """
        self._make = make
        self._made: dict[int, T] = {}

    @property
    def here(self) -> T:
        """This process's own; the same for all of its threads."""
        process = os.getpid()
        if process not in self._made:
            # No lock could guard this: a child may find it held for ever. `setdefault` lets one thread win.
            self._made.setdefault(process, self._make())
        return self._made[process]


class _Running:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.portal: BlockingPortal | None = None
        self.thread: threading.Thread | None = None


class Portal:
    """Runs asynchronous code for synchronous callers, from any number of threads.

    The thread is started when first needed. It is a daemon, so that a process may end without having
    closed its verifier. A forked child starts its own.
    """

    def __init__(self, name: str = "streamverify-portal") -> None:
        """Nothing runs yet.

        Args:
            name: of the thread.
        """
        self._name = name
        self._running = PerProcess(_Running)

    def run(self, call: Callable[[], Awaitable[T]]) -> T:
        """The result of `call`, awaited in the portal's loop while this thread waits.

        An interruption of this thread (Control-C) cancels `call` and is raised once it has ended.

        Raises:
            StreamStateError: called from the portal's own thread, which would wait for itself. Caller.
            BaseException: whatever `call` raised.
        """
        if threading.current_thread() is self._running.here.thread:
            raise StreamStateError("synchronous use inside of the verifier's own event loop; await instead")
        begun: list[anyio.CancelScope] = []
        given_up, ended = threading.Event(), threading.Event()

        async def ran() -> T:
            with anyio.CancelScope() as scope:
                begun.append(scope)
                try:
                    if not given_up.is_set():
                        return await call()
                finally:
                    ended.set()
            raise StreamStateError("interrupted")  # nobody hears it: the caller has gone

        portal = self.start()
        try:
            # Handing it over waits for the loop as well, so an interruption may come before there is a task.
            task = portal.start_task_soon(ran)
            # In slices: a wait without end sleeps through a signal that another thread was given.
            while not wait([task], timeout=_SLICE_S).done:
                pass
        except BaseException:
            given_up.set()  # what has not begun by now never calls `call`
            if begun:
                with suppress(RuntimeError):  # the loop itself is ending, which cancels all that runs in it
                    portal.start_task_soon(begun[0].cancel)
                while not ended.wait(_SLICE_S):
                    pass
            raise
        return task.result()

    def start(self) -> BlockingPortal:
        """The running loop's portal, for tasks that nobody waits for at once.

        Raises:
            OSError, RuntimeError: the system has no descriptors, or no thread, for a loop. Operator.
        """
        running = self._running.here
        with running.lock:
            if running.portal is None:
                started: Future[BlockingPortal] = Future()
                running.thread = threading.Thread(target=_loop, args=(started,), name=self._name, daemon=True)
                running.thread.start()
                running.portal = started.result()
            return running.portal

    def close(self) -> None:
        """Cancel what runs in the loop and end the thread; the portal can be started again."""
        running = self._running.here
        with running.lock:
            portal, thread, running.portal = running.portal, running.thread, None
        if portal is not None and thread is not None:
            portal.call(portal.stop, True)
            thread.join()


def _loop(started: Future[BlockingPortal]) -> None:
    """Run the loop; where there is none, whoever waits for it is told why and does not wait for ever."""
    try:
        anyio.run(_serve, started)
    except BaseException as error:
        if started.done():
            raise
        started.set_exception(error)


async def _serve(started: Future[BlockingPortal]) -> None:
    async with BlockingPortal() as portal:
        started.set_result(portal)
        await portal.sleep_until_stopped()
