"""A way to call an ASGI application in tests, in this process and on any event loop."""

from __future__ import annotations

import json
from typing import NamedTuple

import anyio


class Frame(NamedTuple):
    id: str | None
    event: str | None
    data: str

    @property
    def json(self):
        return json.loads(self.data)


def frames(body: bytes) -> list[Frame]:
    """The server-sent events of a body; comments are left out."""
    found = []
    for block in body.decode().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.split("\n") if line and not line.startswith(":"))
        if "data" in fields:
            found.append(Frame(fields.get("id"), fields.get("event"), fields["data"]))
    return found


class Client:
    """One request to an application, in this event loop; `disconnect` is the reader's going away."""

    def __init__(self, app, path="/", *, method="GET", headers=None, body=b"", read=True):
        self.app, self.read = app, read
        self.scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": method,
            "path": path.partition("?")[0],
            "raw_path": path.partition("?")[0].encode(),
            "query_string": path.partition("?")[2].encode(),
            "root_path": "",
            "scheme": "http",
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 80),
            "headers": [
                (name.lower().encode(), value.encode())
                for name, value in {"host": "127.0.0.1", **(headers or {})}.items()
            ],
        }
        self._incoming = [{"type": "http.request", "body": body, "more_body": False}]
        self._gone = anyio.Event()
        self.started = anyio.Event()
        self.status = 0
        self.headers: dict[str, str] = {}
        self.body = b""
        self.sends = 0
        self._wanted: list[tuple[bytes, anyio.Event]] = []

    def disconnect(self):
        self._gone.set()

    async def until(self, part: str) -> None:
        """Wait until this text has arrived."""
        event = anyio.Event()
        self._wanted.append((part.encode(), event))
        self._look()
        await event.wait()

    async def __call__(self) -> Client:
        await self.app(self.scope, self._receive, self._send)
        return self

    async def _receive(self):
        if self._incoming:
            return self._incoming.pop()
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message):
        self.sends += 1
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {name.decode(): value.decode() for name, value in message["headers"]}
            self.started.set()
        else:
            self.body += message.get("body", b"")
            self._look()
            if not self.read:
                await anyio.sleep_forever()

    def _look(self):
        for part, event in self._wanted:
            if part in self.body:
                event.set()


class Source:
    """Yields parts, remembers how many and whether it was closed; waits at the end, or fails, if asked to."""

    def __init__(self, parts, *, endless=False, error=None, gate=None):
        """With a gate, an event, nothing but the first part comes before it is set."""
        self.parts, self.endless, self.error, self.gate = parts, endless, error, gate
        self.begun, self.closed = anyio.Event(), anyio.Event()
        self.given = 0

    async def __aiter__(self):
        try:
            self.begun.set()
            for part in self.parts:
                await anyio.lowlevel.checkpoint()
                if self.gate is not None and self.given:
                    await self.gate.wait()
                self.given += 1
                yield part
            if self.error is not None:
                raise self.error
            if self.endless:
                await anyio.sleep_forever()
        finally:
            self.closed.set()
