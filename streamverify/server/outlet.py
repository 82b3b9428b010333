"""Answers written straight to the ASGI server: the proxy forwards from more than one task."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
from starlette.types import Receive, Send

from streamverify.errors import StreamInterruptedError
from streamverify.server.drain import Answering, stopping
from streamverify.server.refusal import RefusedError

HEARTBEAT = 15.0
"""Seconds between comments that keep the connection open while a sentence is held."""

_STREAM = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
]


class Outlet:
    """One response; every write waits until the client has room for it."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._lock = anyio.Lock(fast_acquire=True)  # without a step of the loop for every write
        self.started = False
        """Whether the status went out, after which an error can only be told inside the stream."""

    async def event(self, data: dict[str, Any] | str, name: str | None = None) -> None:
        """One server-sent event; the first begins the response."""
        text = data if isinstance(data, str) else json.dumps(data)
        head = f"event: {name}\n" if name is not None else ""
        await self._write(f"{head}data: {text}\n\n".encode())

    async def beat(self) -> None:
        """Comments, for ever, once the response has begun."""
        while True:
            await anyio.sleep(HEARTBEAT)
            if self.started:
                await self._write(b": still here\n\n")

    async def end(self) -> None:
        """The end of a stream."""
        async with self._lock:
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def whole(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        """A response in one piece."""
        raw = [(name.encode(), value.encode("latin-1", "replace")) for name, value in headers.items()]
        raw.append((b"content-length", str(len(body)).encode()))
        self.started = True
        await self._send({"type": "http.response.start", "status": status, "headers": raw})
        await self._send({"type": "http.response.body", "body": body, "more_body": False})

    async def json(self, value: object, status: int = 200, headers: dict[str, str] | None = None) -> None:
        """A response of JSON."""
        kind = {"content-type": "application/json"}
        await self.whole(status, json.dumps(value).encode(), kind | (headers or {}))

    async def _write(self, data: bytes) -> None:
        async with self._lock:
            if not self.started:
                self.started = True
                await self._send({"type": "http.response.start", "status": 200, "headers": _STREAM})
            await self._send({"type": "http.response.body", "body": data, "more_body": True})


async def answer(
    receive: Receive,
    send: Send,
    work: Callable[[Outlet], Awaitable[None]],
    answering: Answering,
    total_seconds: float,
) -> None:
    """Do the work of one response; the client's going away, or the deadline, ends it at once."""
    outlet = Outlet(send)

    async def watch(scope: anyio.CancelScope) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        scope.cancel()

    async with anyio.create_task_group() as group:
        group.start_soon(watch, group.cancel_scope)
        group.start_soon(outlet.beat)
        try:
            with anyio.fail_after(total_seconds), answering.scope:
                await work(outlet)
            if answering.scope.cancelled_caught:
                await _tell(outlet, stopping())
        except RefusedError as refused:
            await _tell(outlet, refused)
        except StreamInterruptedError:
            await _tell(outlet, stopping())
        except TimeoutError:
            await _tell(outlet, RefusedError(504, "timeout", f"no end within {total_seconds:g} s"))
        group.cancel_scope.cancel()


async def _tell(outlet: Outlet, refused: RefusedError) -> None:
    if outlet.started:
        await outlet.event(refused.body)
        await outlet.end()
    else:
        await outlet.json(refused.body, refused.status, dict(refused.headers))
