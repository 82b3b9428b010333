"""Threads for blocking scorers, shared by any number of event loops.

A thread lives as long as there is work and a moment longer, so an idle verifier has none. A call that is
given up (its deadline passed, its stream was cancelled) frees its slot at once, even if the scorer ignores
the abort and hangs: one hanging call never starves the calls behind it.

Threads are daemons, so that a call which hangs does not keep a process from ending. One that comes back from
a model's runtime into an interpreter that is gone would break the process off: at its end calls are told to
stop, and waited for a moment.
"""

from __future__ import annotations

import atexit
import heapq
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Generic, NamedTuple, TypeVar

import anyio

from streamverify.errors import OverloadedError, ScoringError, ScoringTimeoutError
from streamverify.loops.event_loop import Loop, current_loop
from streamverify.loops.portal import PerProcess
from streamverify.scorers.protocol import Abort

T = TypeVar("T")

_DROPPED = 64
"""Calls that nobody waits for any more which the queue may keep until their turn."""
LINGER = 1.0
"""Seconds that a thread waits for more work: starting one keeps the event loop until the new thread has run,
which takes long where the cores are busy, and sentences come every second or so."""

LAST_WORD = 2.0
"""Seconds that the end of the process waits for calls that were told to stop."""


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
    taken: bool = False
    """By a thread."""
    told: bool = False
    """`started` was set where it was handed in, in its own loop: there was a thread for it at once."""

    def execute(self) -> None:
        if not self.told:
            self.loop.call_soon(self.started.set)
        try:
            self.result.append(self.call())
        except BaseException as error:  # noqa: BLE001 - kept, and raised where the call is awaited
            self.error = error

    def fail(self, error: Exception) -> None:
        """It never ran."""
        self.error = error
        self.loop.call_soon(self.started.set)
        self.loop.call_soon(self.done.set)


class _Resting:
    """A thread without work, what it is given, and what wakes it."""

    def __init__(self, job: _Job[object] | None = None) -> None:
        self._job = job
        self._wake = threading.Semaphore(0)

    def give(self, job: _Job[object] | None) -> None:
        """Wake it; without a call it ends."""
        self._job = job
        self._wake.release()

    def wait(self, seconds: float) -> bool:
        """Whether it was woken."""
        return self._wake.acquire(timeout=seconds)

    def take(self) -> _Job[object] | None:
        """The call, which it lets go of: it is to be kept by nobody once it is done."""
        job, self._job = self._job, None
        return job


class _Slots:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.resting: list[_Resting] = []
        """The one that came last is woken first, so that as few as are needed stay."""
        self.threads: set[threading.Thread] = set()
        """All that were started and have not ended, busy with a call that was given up included."""
        self.closed = False
        self._queue: list[tuple[float, int, _Job[object]]] = []
        self._number = count()
        self.waiting = 0
        self.running: set[_Job[object]] = set()

    def push(self, job: _Job[object], since: float) -> None:
        heapq.heappush(self._queue, (since, next(self._number), job))
        self.waiting += 1

    def drop(self, job: _Job[object]) -> None:
        """It stays in the queue until its turn comes, and is passed over then."""
        job.given_up = True
        self.waiting -= 1
        if len(self._queue) > 2 * self.waiting + _DROPPED:
            self._queue = [entry for entry in self._queue if not entry[2].given_up]
            heapq.heapify(self._queue)

    def oldest(self) -> _Job[object] | None:
        """Taken off the queue."""
        while self._queue:
            _, _, job = heapq.heappop(self._queue)
            if not job.given_up:
                job.taken = True
                self.waiting -= 1
                return job
        return None

    def all_waiting(self) -> list[_Job[object]]:
        return [job for _, _, job in self._queue if not job.given_up]

    def begun(self, thread: threading.Thread) -> None:
        """It is to be waited for at the end of the process."""
        if not self.threads:
            atexit.register(self.end, os.getpid())
        self.threads.add(thread)

    def ended(self, thread: threading.Thread) -> None:
        self.threads.discard(thread)
        if not self.threads:
            atexit.unregister(self.end)

    def close(self) -> None:
        """Tell every call to stop, and threads that rest to end."""
        with self.lock:
            jobs = [*self.running, *self.all_waiting()]
            resting, self.resting, self.closed = self.resting, [], True
        for one in resting:
            one.give(None)
        for job in jobs:
            job.abort.set()

    def end(self, process: int) -> None:
        """Close as the process ends, and wait until no thread is inside a call, or `LAST_WORD` has passed."""
        if process != os.getpid():  # a child inherits what was to be done, and none of the threads
            return
        self.close()
        until = time.monotonic() + LAST_WORD
        with self.lock:
            threads = [*self.threads]
        for thread in threads:
            thread.join(max(until - time.monotonic(), 0))


class Workers:
    """At most `threads` calls at once, those that concern the oldest first."""

    def __init__(self, threads: int, name: str) -> None:
        self._threads, self._name = threads, name
        self._slots = PerProcess(_Slots)

    def statistics(self) -> WorkersStatistics:
        """A snapshot; safe from any thread."""
        slots = self._slots.here
        with slots.lock:
            return WorkersStatistics(len(slots.running), slots.waiting)

    async def run(  # the deadline runs from the start in a thread, which no scope of the caller's can know
        self,
        call: Callable[[], T],
        abort: Abort,
        *,
        timeout: float | None = None,  # noqa: ASYNC109 - see above
        since: float | None = None,
        patience: float | None = None,
    ) -> T:
        """Run `call` in a thread and wait for it; the event loop is free meanwhile.

        Args:
            call: must stop soon once `abort` is set.
            abort: set by this method when the wait is cancelled or `timeout` passes.
            timeout: seconds from the moment a thread takes the call up; None for no limit.
            since: `time.perf_counter` when what it is about came up; None for now. The oldest goes first,
                of equals the one asked for first.
            patience: seconds to wait for a thread; None for as long as it takes.

        Raises:
            OverloadedError: no thread took it up within `patience`; it never runs.
            ScoringError: the system has no thread for it; it never runs. Or `call` raised what ends a task.
            ScoringTimeoutError: `timeout` passed.
            BaseException: whatever else `call` raised, as it is.
        """
        job = _Job(call, abort, current_loop())
        self._submit(job, time.perf_counter() if since is None else since)
        try:
            if patience is not None:
                with anyio.move_on_after(patience):
                    await job.started.wait()
                if not job.started.is_set() and not self._taken(job):
                    raise OverloadedError(patience)
            if not job.started.is_set():
                await job.started.wait()
            with anyio.move_on_after(timeout):
                await job.done.wait()
        finally:
            if not job.done.is_set():
                self._give_up(job)
        if not job.done.is_set():
            assert timeout is not None
            raise ScoringTimeoutError(timeout)
        if isinstance(job.error, Exception | KeyboardInterrupt | SystemExit):
            raise job.error
        if job.error is not None:
            # A cancellation, say, of a client that the call has: raised on, it would end who waits here.
            raise ScoringError(f"the call was ended from within: {type(job.error).__name__}") from job.error
        return job.result[0]

    def close(self) -> None:
        """Tell every running call to stop; threads end by themselves, and none rests any more."""
        self._slots.here.close()

    def _submit(self, job: _Job[T], since: float) -> None:
        slots = self._slots.here
        with slots.lock:
            slots.push(job, since)  # type: ignore[arg-type] # the queue never looks at the result
            self._start_if_free(slots, here=job)

    def _taken(self, job: _Job[T]) -> bool:
        with self._slots.here.lock:
            return job.taken

    def _start_if_free(self, slots: _Slots, here: object = None) -> None:
        while len(slots.running) < self._threads and (job := slots.oldest()) is not None:
            slots.running.add(job)
            if job is here:  # waking the loop from a thread costs more than telling it now
                job.told = True
                job.started.set()
            if slots.resting:
                slots.resting.pop().give(job)
                return
            given = _Resting(job)
            thread = threading.Thread(target=self._work, args=(slots, given), name=self._name, daemon=True)
            slots.begun(thread)
            try:
                thread.start()
            except RuntimeError as error:  # the system gives no more of them
                slots.ended(thread)
                slots.running.discard(job)
                job.fail(ScoringError(f"no thread for a check: {error}"))
                if slots.running:  # whose threads take up what waits; else nobody ever would
                    return
            else:
                return

    def _work(self, slots: _Slots, given: _Resting) -> None:
        try:
            self._work_off(slots, given.take())
        finally:
            with slots.lock:
                slots.ended(threading.current_thread())

    def _work_off(self, slots: _Slots, job: _Job[object] | None) -> None:
        while job is not None:
            job.execute()
            resting: _Resting | None = None
            following: _Job[object] | None = None
            with slots.lock:
                if not job.given_up:  # else its slot was handed on then
                    slots.running.discard(job)
                    following = slots.oldest()
                    if following is not None:
                        slots.running.add(following)
                    elif not slots.closed:
                        resting = _Resting()
                        slots.resting.append(resting)
            job.loop.call_soon(job.done.set)
            job = following  # what was done is let go of before the thread rests
            if resting is not None:
                job = self._rested(slots, resting)

    def _rested(self, slots: _Slots, resting: _Resting) -> _Job[object] | None:
        """The call that a resting thread is woken for; None where it should end."""
        if not resting.wait(LINGER):
            with slots.lock:
                if resting in slots.resting:
                    slots.resting.remove(resting)
        return resting.take()  # given while it is still among the resting, if at all

    def _give_up(self, job: _Job[T]) -> None:
        slots = self._slots.here
        with slots.lock:
            if job in slots.running:
                slots.running.discard(job)
                job.given_up = True
                self._start_if_free(slots)
            elif not job.taken:
                slots.drop(job)  # type: ignore[arg-type] # as above
        job.abort.set()
