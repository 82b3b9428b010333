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
from streamverify.loops.event_loop import current_loop

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


class _Loop:
    """One event loop in a thread of its own."""

    def __init__(self) -> None:
        self.thread: threading.Thread | None = None
        self.over = False
        """Nothing can be handed over any more: it has ended, or never came to be."""
        self._claimed = threading.Lock()
        self._ready: Future[tuple[BlockingPortal, Callable[[], object]]] = Future()

    def portal(self, name: str) -> BlockingPortal:
        """Where tasks are handed over, once the loop runs; asked by one thread at a time.

        An interruption leaves nothing behind that asking again, or `end`, would not find.
        """
        if not self._ready.done():
            # Whoever asked before may have been interrupted with a thread or without: of two, one runs.
            threading.Thread(target=self._run, name=name, daemon=True).start()
        return self._ready.result()[0]

    def end(self) -> None:
        """Cancel what runs in the loop and wait until its thread has ended; again does nothing."""
        if self._ready.cancel() or self._ready.exception() is not None:
            return  # no thread has begun, and none will: or it told why it could not
        self._ready.result()[1]()
        if self.thread is not None:
            self.thread.join()

    def _run(self) -> None:
        """Run the loop; where there is none, whoever waits for it is told why and does not wait for ever."""
        if not self._claimed.acquire(blocking=False) or not self._ready.set_running_or_notify_cancel():
            return
        self.thread = threading.current_thread()
        try:
            anyio.run(self._serve)
        except BaseException as error:
            self.over = True
            if self._ready.done():
                raise
            self._ready.set_exception(error)
        finally:
            self.over = True

    async def _serve(self) -> None:
        loop, stopped = current_loop(), anyio.Event()
        async with BlockingPortal() as portal:
            # Unlike the portal's own `call`, asking the loop itself waits for nothing and may be repeated.
            self._ready.set_result((portal, lambda: loop.call_soon(stopped.set)))
            await stopped.wait()
            await portal.stop(cancel_remaining=True)


class _Running:
    """A process's share of a portal."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.loop: _Loop | None = None
        self.handing_over: set[object] = set()
        """Callers that have the loop's portal and wait for the loop to take their task."""
        self.handed_over = threading.Condition(self.lock)


class Portal:
    """Runs asynchronous code for synchronous callers, from any number of threads, until it is closed.

    The thread is started when first needed. It is a daemon, so that a process may end without having
    closed its verifier. A forked child starts its own.
    """

    def __init__(self, name: str = "streamverify-portal", *, owner: str = "verifier") -> None:
        """Nothing runs yet.

        Args:
            name: of the thread.
            owner: what is closed with this portal, as errors call it.
        """
        self._name, self._owner = name, owner
        self._running = PerProcess(_Running)
        self._closed = False

    def run(self, call: Callable[[], Awaitable[T]]) -> T:
        """The result of `call`, awaited in the portal's loop while this thread waits.

        An interruption of this thread (Control-C) cancels `call` and is raised once it has ended.

        Raises:
            StreamStateError: called from the portal's own thread, which would wait for itself; or the portal
                was closed before `call` had ended. Caller.
            BaseException: whatever `call` raised.
        """
        self._refuse_own_thread()
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

        async def call_off() -> None:
            begun[0].cancel()

        try:
            # Handing it over waits for the loop as well, so an interruption may come before there is a task.
            task = self.begin(ran)
            # In slices: a wait without end sleeps through a signal that another thread was given.
            while not wait([task], timeout=_SLICE_S).done:
                pass
        except BaseException:
            given_up.set()  # what has not begun by now never calls `call`
            if begun:
                with suppress(RuntimeError):  # the loop itself is ending, which cancels all that runs in it
                    self.begin(call_off)
                while not ended.wait(_SLICE_S):
                    pass
            raise
        if task.cancelled() and self._closed:
            raise self._closed_meanwhile()
        return task.result()

    def finish(self, call: Callable[[], Awaitable[object]]) -> None:
        """As `run` of what only ends something: nothing is left to end once the portal is closed."""
        try:
            self.run(call)
        except StreamStateError:
            if not self._closed:
                raise

    def begin(self, call: Callable[[], Awaitable[T]]) -> Future[T]:
        """`call` as a task that nobody waits for at once; cancelled when the portal is closed.

        Raises:
            StreamStateError: the portal is closed. Caller.
            OSError, RuntimeError: the system has no descriptors, or no thread, for a loop. Operator.
        """
        running, this = self._running.here, object()
        try:
            with running.lock:
                portal = self._started(running)
                running.handing_over.add(this)
            return portal.start_task_soon(call)
        finally:
            # First, and in one step that no interruption divides: `close` waits for as long as it is there.
            running.handing_over.discard(this)
            with running.lock:
                running.handed_over.notify_all()

    def start(self) -> None:
        """Have the loop run; does nothing where it does.

        Raises:
            StreamStateError: the portal is closed. Caller.
            OSError, RuntimeError: the system has no descriptors, or no thread, for a loop. Operator.
        """
        running = self._running.here
        with running.lock:
            self._started(running)

    def close(self) -> None:
        """Cancel what runs in the loop and end the thread, for good; again does nothing.

        Raises:
            StreamStateError: called from the portal's own thread, which would wait for itself. Caller.
        """
        self._refuse_own_thread()
        running = self._running.here
        with running.lock:
            self._closed = True  # nobody else starts a loop, or hands over, from here on
            while running.handing_over:
                # A loop that has stopped takes nothing: whoever hands over to it would wait for ever. In
                # slices, because an interruption may keep a caller from notifying.
                running.handed_over.wait(_SLICE_S)
            loop = running.loop
        if loop is not None:
            loop.end()

    def _started(self, running: _Running) -> BlockingPortal:
        """The running loop's portal; only under the lock."""
        if self._closed:
            raise self._closed_meanwhile()
        if running.loop is None or running.loop.over:
            # Kept before it runs: whoever is interrupted while it starts leaves it for the next.
            running.loop = _Loop()
        return running.loop.portal(self._name)

    def _refuse_own_thread(self) -> None:
        loop = self._running.here.loop
        if loop is not None and loop.thread is threading.current_thread():
            raise StreamStateError("synchronous use inside of the verifier's own event loop; await instead")

    def _closed_meanwhile(self) -> StreamStateError:
        return StreamStateError(f"the {self._owner} was closed meanwhile")
