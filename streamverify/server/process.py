"""The process of `streamverify serve`: uvicorn, stopped in order.

    first SIGTERM or SIGINT    drain.py: new requests are refused, answers may go on for a while
    answers ended              exit 0
    time is up                 answers end with an error their client understands; exit 0
    second signal              at once, as uvicorn does it

uvicorn itself closes the listening socket first, so that a load balancer sees a refused connection instead
of a readiness of 503, and ends by raising the signal again; some of its versions also tell streaming
responses that their client has gone. Hence its stopping begins here when there is nothing left to wait for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from socket import socket
from types import FrameType

import anyio
import uvicorn

from streamverify.server.drain import LAST_WORDS, Drain

BEAT_SECONDS = 1.0
_LEFT = 2
"""Seconds that uvicorn waits for connections of clients that read nothing any more."""


class Process(uvicorn.Server):
    """A server that drains before it stops."""

    def __init__(
        self,
        config: uvicorn.Config,
        drain: Drain,
        *,
        seconds: float,
        tell: Callable[[str], object],
        beat: Callable[[], object] | None = None,
    ) -> None:
        """Nothing runs yet.

        Args:
            config: its `timeout_graceful_shutdown` is set here.
            drain: of the application.
            seconds: that answers may go on once the server was told to stop; 0 interrupts them at once.
            tell: called with what the operator may want to know: where it listens, that it stops.
            beat: called by the event loop every second, so that somebody sees it turn; must not wait.
        """
        super().__init__(config)
        config.timeout_graceful_shutdown = _LEFT
        self._drain, self._seconds, self._tell, self._beat = drain, seconds, tell, beat
        self._loop: asyncio.AbstractEventLoop | None = None

    async def startup(self, sockets: list[socket] | None = None) -> None:
        """Begin to listen, and say where."""
        await super().startup(sockets)
        if self.started:
            host, port = self.servers[0].sockets[0].getsockname()[:2]
            self._tell(f"serves http://{f'[{host}]' if ':' in host else host}:{port}")

    async def main_loop(self) -> None:
        """Run until there is nothing left to wait for."""
        self._loop = asyncio.get_running_loop()
        async with anyio.create_task_group() as group:
            group.start_soon(self._stop)
            if self._beat is not None:
                group.start_soon(self._beats, self._beat)
            await super().main_loop()
            group.cancel_scope.cancel()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Take a signal."""
        if self._loop is None:  # nobody can have asked anything
            self.should_exit = True
        elif self._drain.begun:
            super().handle_exit(sig, frame)
        else:
            # The handler may have interrupted the very loop it wakes.
            self._loop.call_soon_threadsafe(self._drain.begin)

    async def _beats(self, beat: Callable[[], object]) -> None:
        while True:
            beat()
            await anyio.sleep(BEAT_SECONDS)

    async def _stop(self) -> None:
        await self._drain.beginning()
        running = self._drain.requests
        if running:
            self._tell(
                f"stopping: {running} in progress may go on for {self._seconds:g} s; again to stop now"
            )
        with anyio.move_on_after(self._seconds):
            await self._drain.empty()
        self._drain.interrupt()
        with anyio.move_on_after(LAST_WORDS):
            await self._drain.empty()
        self._drain.cut()
        self.should_exit = True
