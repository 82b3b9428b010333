"""Answers written straight to the ASGI server: the proxy forwards from more than one task."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
from starlette.types import Message, Receive, Send

from streamverify.errors import StreamInterruptedError
from streamverify.files.jsonl import json_text
from streamverify.server.drain import LAST_WORDS, Answering, stopping
from streamverify.server.encoding import server_sent
from streamverify.server.errors import HTTPRefusal

_LOG = logging.getLogger("streamverify.server")

HEARTBEAT = 15.0
"""Seconds between comments that keep the connection open while a sentence is held."""

SEND_SECONDS = 60.0
"""How long one write may wait for a client that does not read."""

_STREAM = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
]


class ClientStalledError(Exception):
    """The client reads nothing: there is nobody to tell it."""


class ResponseWriter:
    """One response; every write waits until the client has room for it."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._lock = anyio.Lock(fast_acquire=True)  # without a step of the loop for every write
        self._warnings: list[tuple[bytes, bytes]] = []
        self.started = False
        """Whether the status went out, after which an error can only be told inside the stream."""

    def warn(self, code: str) -> None:
        """Say something about the answer in a header, before it begins."""
        self._warnings.append((b"x-streamverify-warning", code.encode()))

    async def event(self, data: dict[str, Any] | str, name: str | None = None) -> None:
        """One server-sent event; the first begins the response."""
        await self._write(server_sent(data if isinstance(data, str) else json_text(data), name))

    async def heartbeat(self) -> None:
        """Comments, for ever, once the response has begun."""
        while True:
            await anyio.sleep(HEARTBEAT)
            if self.started:
                await self._write(b": still here\n\n")

    async def end(self) -> None:
        """The end of a stream."""
        async with self._lock:
            await self._sent({"type": "http.response.body", "body": b"", "more_body": False})

    async def whole(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        """A response in one piece."""
        raw = [(name.encode(), value.encode("latin-1", "replace")) for name, value in headers.items()]
        raw.append((b"content-length", str(len(body)).encode()))
        self.started = True
        await self._sent({"type": "http.response.start", "status": status, "headers": raw + self._warnings})
        await self._sent({"type": "http.response.body", "body": body, "more_body": False})

    async def json(self, value: object, status: int = 200, headers: dict[str, str] | None = None) -> None:
        """A response of JSON."""
        kind = {"content-type": "application/json"}
        await self.whole(status, json_text(value).encode(), kind | (headers or {}))

    async def _write(self, data: bytes) -> None:
        async with self._lock:
            if not self.started:
                self.started = True
                headers = _STREAM + self._warnings
                await self._sent({"type": "http.response.start", "status": 200, "headers": headers})
            await self._sent({"type": "http.response.body", "body": data, "more_body": True})

    async def _sent(self, message: Message) -> None:
        with anyio.move_on_after(SEND_SECONDS) as waited:
            await self._send(message)
        if waited.cancelled_caught:
            raise ClientStalledError


async def answer(
    receive: Receive,
    send: Send,
    work: Callable[[ResponseWriter], Awaitable[None]],
    answering: Answering,
    total_seconds: float,
) -> None:
    """Do the work of one response; the client's going away, or the deadline, ends it at once.

    A client that reads nothing holds it no longer than `LAST_WORDS` past the deadline.
    """
    writer = ResponseWriter(send)

    async def watch(scope: anyio.CancelScope) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        scope.cancel()

    async with anyio.create_task_group() as group:
        group.start_soon(watch, group.cancel_scope)
        try:
            async with anyio.create_task_group() as working:
                working.start_soon(writer.heartbeat)
                refused = await _worked(lambda: work(writer), answering, total_seconds)
                working.cancel_scope.cancel()
            if refused is not None:
                with anyio.move_on_after(LAST_WORDS):
                    await _tell(writer, refused)
        except* ClientStalledError:
            _LOG.info("a client read nothing for %g s: its answer was ended", SEND_SECONDS)
        group.cancel_scope.cancel()


async def _worked(
    work: Callable[[], Awaitable[None]], answering: Answering, total_seconds: float
) -> HTTPRefusal | None:
    """Do the work; what the client has still to be told of its end."""
    try:
        with anyio.fail_after(total_seconds), answering.scope:
            await work()
        return stopping() if answering.scope.cancelled_caught else None
    except HTTPRefusal as refused:
        return refused
    except StreamInterruptedError:
        return stopping()
    except TimeoutError:
        return HTTPRefusal(504, "timeout", f"no end within {total_seconds:g} s", code="timeout")


async def _tell(writer: ResponseWriter, refused: HTTPRefusal) -> None:
    if writer.started:
        await writer.event(refused.body)
        await writer.end()
    else:
        await writer.json(refused.body, refused.status, dict(refused.headers))
