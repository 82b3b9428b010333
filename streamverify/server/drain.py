"""Ends the answers of a server in order when it is told to stop.

    begin      guard.py refuses new requests, readiness says so; answers in progress go on
    interrupt  those still running: what came is judged and told, then an error their client understands
    cut        those that even then do not end, because a check hangs or a client does not read

`process.py` takes these steps for `streamverify serve`; under another server its owner does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import anyio

from streamverify.errors import StreamStateError
from streamverify.server.errors import HTTPRefusal
from streamverify.stream import VerifiedStream

REASON = "the server is stopping"

LAST_WORDS = 5.0
"""Seconds that an interrupted answer has for its last verdicts and its end."""


def stopping() -> HTTPRefusal:
    """What a client is told; another server, or this one started again, may answer it."""
    headers = {"retry-after": "1", "connection": "close"}
    return HTTPRefusal(503, "server_stopping", f"{REASON}: ask again", headers)


class Answering:
    """One answer in progress."""

    def __init__(self) -> None:
        self.scope = anyio.CancelScope()
        """Around the work; whoever entered it tells the client when it was cancelled."""
        self.streams: set[VerifiedStream] = set()
        """Those of its texts; they end in order, and everything around them with them."""

    def interrupt(self) -> None:
        """End it: its streams where it has any, else whatever it waits for."""
        try:
            for stream in self.streams:
                stream.interrupt(REASON)
        except StreamStateError:  # one is not open yet, so nothing came of it
            self.cut()
        if not self.streams:
            self.cut()

    def cut(self) -> None:
        """End it at once."""
        self.scope.cancel()


class Drain:
    """Whether a server is stopping, and what still runs in it; to be used in the server's event loop."""

    def __init__(self) -> None:
        """Nothing runs, and nothing is stopping."""
        self._begun, self._changed = anyio.Event(), anyio.Event()
        self._answers: set[Answering] = set()
        self._others: list[Callable[[str], object]] = []
        self._requests = 0

    @property
    def begun(self) -> bool:
        """Whether the server is stopping."""
        return self._begun.is_set()

    @property
    def requests(self) -> int:
        """Requests in progress."""
        return self._requests

    def begin(self) -> None:
        """Let no new request in."""
        self._begun.set()

    async def beginning(self) -> None:
        """Wait until the server is stopping."""
        await self._begun.wait()

    async def empty(self) -> None:
        """Wait until no request is in progress."""
        while self._requests:
            self._changed = anyio.Event()
            await self._changed.wait()

    def also(self, interrupt: Callable[[str], object]) -> None:
        """Call this too, with the reason, when answers are interrupted."""
        self._others.append(interrupt)

    def interrupt(self) -> None:
        """End what still runs, in order."""
        for answer in list(self._answers):
            answer.interrupt()
        for interrupt in self._others:
            interrupt(REASON)

    def cut(self) -> None:
        """End what still runs at once."""
        for answer in list(self._answers):
            answer.cut()

    @contextmanager
    def request(self) -> Iterator[None]:
        """Count a request while it is answered."""
        self._requests += 1
        try:
            yield
        finally:
            self._requests -= 1
            self._changed.set()

    @contextmanager
    def answering(self) -> Iterator[Answering]:
        """Make an answer one that can be interrupted."""
        answer = Answering()
        self._answers.add(answer)
        try:
            yield answer
        finally:
            self._answers.discard(answer)
