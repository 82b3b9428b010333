"""Threads for blocking scorers, shared by any number of event loops.

A thread lives as long as there is work, so an idle verifier has none. A call that is given up (its
deadline passed, its stream was cancelled) frees its slot at once, even if the scorer ignores the
abort and hangs: one hanging call never starves the calls behind it.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

import anyio

from streamverify._loop import Loop, current_loop
from streamverify.errors import ScoringTimeoutError
from streamverify.scorers.protocol import Abort

T = TypeVar("T")


class WorkersStatistics(NamedTuple):
    """What the workers are doing now."""

    running: int
    """Calls in a thread, those given up not counted."""
    waiting: int
    """Calls without a thread yet."""


@dataclass(eq=False, slots=True)
class _Job(Generic[T]):
    call: Callable[[], T]
    abort: Abort
    loop: Loop
    started: anyio.Event = field(default_factory=anyio.Event)
    done: anyio.Event = field(default_factory=anyio.Event)
    result: list[T] = field(default_factory=list)
    error: BaseException | None = None
    given_up: bool = False

    def execute(self) -> None:
        self.loop.call_soon(self.started.set)
        try:
            self.result.append(self.call())
        except BaseException as error:  # noqa: BLE001 - kept, and raised where the call is awaited
            self.error = error


class Workers:
    """At most `threads` calls at once, in the order they were asked for."""

    def __init__(self, threads: int, name: str) -> None:
        self._threads, self._name = threads, name
        self._lock = threading.Lock()
        self._waiting: deque[_Job[object]] = deque()
        self._running: set[_Job[object]] = set()

    def statistics(self) -> WorkersStatistics:
        """A snapshot; safe from any thread."""
        with self._lock:
            return WorkersStatistics(len(self._running), len(self._waiting))

    async def run(  # the deadline runs from the start in a thread, which no scope of the caller's can know
        self,
        call: Callable[[], T],
        abort: Abort,
        *,
        timeout: float | None = None,  # noqa: ASYNC109 - see above
    ) -> T:
        """Run `call` in a thread and wait for it; the event loop is free meanwhile.

        Args:
            call: must stop soon once `abort` is set.
            abort: set by this method when the wait is cancelled or `timeout` passes.
            timeout: seconds from the moment a thread takes the call up; None for no limit.

        Raises:
            ScoringTimeoutError: `timeout` passed.
            BaseException: whatever `call` raised, as it is.
        """
        job = _Job(call, abort, current_loop())
        self._submit(job)
        try:
            await job.started.wait()
            with anyio.move_on_after(timeout):
                await job.done.wait()
        finally:
            if not job.done.is_set():
                self._give_up(job)
        if not job.done.is_set():
            assert timeout is not None
            raise ScoringTimeoutError(timeout)
        if job.error is not None:
            raise job.error
        return job.result[0]

    def close(self) -> None:
        """Tell every running call to stop; threads end by themselves."""
        with self._lock:
            jobs = [*self._running, *self._waiting]
        for job in jobs:
            job.abort.set()

    def _submit(self, job: _Job[T]) -> None:
        with self._lock:
            self._waiting.append(job)  # type: ignore[arg-type] # the queue never looks at the result
            self._start_if_free()

    def _start_if_free(self) -> None:
        if self._waiting and len(self._running) < self._threads:
            job = self._waiting.popleft()
            self._running.add(job)
            threading.Thread(target=self._work, args=(job,), name=self._name, daemon=True).start()

    def _work(self, job: _Job[object] | None) -> None:
        while job is not None:
            job.execute()
            following: _Job[object] | None = None
            with self._lock:
                if not job.given_up:  # else its slot was handed on then
                    self._running.discard(job)
                    following = self._waiting.popleft() if self._waiting else None
                if following is not None:
                    self._running.add(following)
            job.loop.call_soon(job.done.set)
            job = following

    def _give_up(self, job: _Job[T]) -> None:
        with self._lock:
            if job in self._running:
                self._running.discard(job)
                job.given_up = True
                self._start_if_free()
            elif job in self._waiting:
                self._waiting.remove(job)  # type: ignore[arg-type] # as above
        job.abort.set()
