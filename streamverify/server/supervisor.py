"""The parent of `streamverify serve --workers N`: one listening socket, and N processes that accept from it.

    start      the socket is bound here; each worker is given it, and told what to do, on its standard input
    a worker hangs    its event loop says nothing for a minute: told, killed, and so ended
    a worker ended    told, and another is started; sooner each time it had lived, later where it dies at once
    SIGTERM or SIGINT    every worker drains as `process.py` does; again: all stop at once
    this process killed    its workers see their standard input end, and drain

The supervisor accepts no connection and loads no model.
"""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from socket import socket

import anyio
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

from streamverify.server.launch import SERVES, Tell

STARTED, TOLD, ALIVE = "started", "told", "alive"
"""What a line of a worker's says: that it accepts, a word for the operator, that its event loop turns."""
HANG_SECONDS = 60.0
"""That a worker may say nothing once it accepts: a loop that is only busy turns long before."""

_SHORT_LIFE, _LONGEST_PAUSE = 5.0, 30.0
"""Seconds a worker must live to be started again at once, and the longest wait of one that does not."""
_AT_ONCE = 10.0
"""Seconds that workers have to stop once they were told a second time."""
_LONGEST_LINE = 1_000_000


class Supervisor:
    """Keeps a number of worker processes running until it is told to stop."""

    def __init__(
        self,
        listener: socket,
        orders: Callable[[int], str],
        count: int,
        *,
        stop_seconds: float,
        tell: Tell,
        ended: Callable[[int], object] = lambda _: None,
    ) -> None:
        """Nothing runs yet.

        Args:
            listener: bound and listening; stays the caller's to close.
            orders: what worker 1 … `count` is told when it starts: one line.
            count: workers, 1 or more.
            stop_seconds: that workers have to stop before they are killed.
            tell: called with what the operator may want to know.
            ended: called with the process id of every worker that ended.
        """
        self._listener, self._orders, self._count = listener, orders, count
        self._stop_seconds, self._tell, self._ended = stop_seconds, tell, ended
        self._running: dict[int, Process] = {}
        self._accepting: set[int] = set()
        """Process ids of those that accept."""
        self._proven: set[int] = set()
        """Numbers of which one has accepted."""
        self._stopping = anyio.Event()
        self._code = 0

    def run(self) -> int:
        """Run the workers until told to stop.

        Returns:
            What to exit with: 0 where all stopped in order; a worker's own code where the first ones could
            not start; 1 where one had to be killed, or ended with an error while stopping.
        """
        return anyio.run(self._run)

    async def _run(self) -> int:
        async with anyio.create_task_group() as group:
            await group.start(self._obey)
            async with anyio.create_task_group() as workers:
                for number in range(1, self._count + 1):
                    workers.start_soon(self._keep, number)
            group.cancel_scope.cancel()
        return self._code

    async def _obey(self, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        """Take signals."""
        with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
            task_status.started()
            async with anyio.create_task_group() as group:
                async for _ in signals:
                    again = self._stopping.is_set()
                    if not again:
                        self._tell("stopping: every worker ends what it answers; again to stop now")
                    self._stopping.set()
                    self._terminate()
                    group.start_soon(self._kill_later, _AT_ONCE if again else self._stop_seconds)

    def _terminate(self) -> None:
        for worker in self._running.values():
            with suppress(ProcessLookupError):  # it ended a moment ago
                worker.terminate()

    async def _kill_later(self, seconds: float) -> None:
        await anyio.sleep(seconds)
        for number, worker in self._running.items():
            self._tell(f"worker {number} (process {worker.pid}) did not stop: killed")
            self._code = 1
            with suppress(ProcessLookupError):
                worker.kill()

    async def _keep(self, number: int) -> None:
        """Run one worker after the other."""
        pause = 0.0
        while not self._stopping.is_set():
            began = time.monotonic()
            worker = await self._one(number)
            code, accepted = worker.returncode, worker.pid in self._accepting
            self._accepting.discard(worker.pid)
            assert code is not None
            if self._stopping.is_set():
                # One that had not begun to accept knows no other way to stop than the signal's own.
                if code and (code != -signal.SIGTERM or accepted):
                    self._code = 1
                return
            how = f"(process {worker.pid}) {_in_words(code)}"
            if number not in self._proven:
                self._tell(f"worker {number} {how} before it served anything: giving up")
                self._code = code if code > 0 else 1
                self._stopping.set()
                self._terminate()
                return
            lived = time.monotonic() - began
            pause = 0.0 if lived >= _SHORT_LIFE else min(max(1.0, 2 * pause), _LONGEST_PAUSE)
            self._tell(f"worker {number} {how}; another is started {f'in {pause:g} s' if pause else 'now'}")
            with anyio.move_on_after(pause):
                await self._stopping.wait()

    async def _one(self, number: int) -> Process:
        """Run one process until it ends."""
        descriptor = self._listener.fileno()
        command = [sys.executable, "-m", "streamverify.server.worker", str(descriptor)]
        # In a session of its own: Ctrl-C in a terminal is the supervisor's to pass on, once.
        worker = await anyio.open_process(command, stderr=None, pass_fds=[descriptor], start_new_session=True)
        assert worker.stdin is not None
        assert worker.stdout is not None
        self._running[number] = worker
        try:
            if self._stopping.is_set():
                worker.terminate()
            with suppress(anyio.BrokenResourceError):  # it has ended already; its code tells
                await worker.stdin.send(f"{self._orders(number)}\n".encode())
            await self._listen(number, worker, BufferedByteReceiveStream(worker.stdout))
            await worker.wait()
        finally:
            del self._running[number]
            with anyio.CancelScope(shield=True):
                await worker.aclose()
        self._ended(worker.pid)
        return worker

    async def _listen(self, number: int, worker: Process, lines: BufferedByteReceiveStream) -> None:
        """Take what a worker says until it ends, or has hung."""
        silent = 0
        with suppress(anyio.EndOfStream, anyio.IncompleteRead, anyio.BrokenResourceError):
            while True:
                line = None
                watched = worker.pid in self._accepting and not self._stopping.is_set()
                with anyio.move_on_after(HANG_SECONDS / 2 if watched else None):
                    line = await lines.receive_until(b"\n", _LONGEST_LINE)
                if line is None:
                    # Twice, for this process may have been the one that was stopped: then there is something
                    # to read the second time.
                    silent += 1
                    if silent == 2 and not self._stopping.is_set():
                        self._tell(
                            f"worker {number} (process {worker.pid}) hung for {HANG_SECONDS:g} s: killed"
                        )
                        with suppress(ProcessLookupError):
                            worker.kill()
                        return
                    continue
                silent = 0
                kind, text = json.loads(line)
                if kind == STARTED:
                    self._accepts(number, worker)
                elif kind == TOLD:
                    self._tell(f"worker {number}: {text}")

    def _accepts(self, number: int, worker: Process) -> None:
        again = number in self._proven
        self._proven.add(number)
        self._accepting.add(worker.pid)
        if again:
            self._tell(f"worker {number} is process {worker.pid}")
        elif len(self._proven) == self._count:
            host, port = self._listener.getsockname()[:2]
            self._tell(f"{SERVES}http://{f'[{host}]' if ':' in host else host}:{port}")
            for known, running in sorted(self._running.items()):
                self._tell(f"worker {known} is process {running.pid}")


def _in_words(code: int) -> str:
    if code >= 0:
        return f"ended with {code}"
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"was ended by signal {-code}"
