"""A real HTTP server on 127.0.0.1 that streams what it is given, cut anywhere, and remembers who hung up."""

from __future__ import annotations

import contextlib
import json
import random
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field

import anyio
from loopback import loopback
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route

from streamverify import Label

SCRIPT = {"wrong": Label.CONTRADICTED, "unknown": Label.UNSUPPORTED}
"""How the scripted scorer judges what the providers say."""


@dataclass
class Provider:
    """What the next answers are, and what became of the requests."""

    frames: Sequence[dict] = ()
    """The objects of the SSE stream, in order; one with `type` is sent as an event of that name."""
    whole: dict | None = None
    """The answer where none is streamed."""
    seed: int = 0
    """Chooses where the bytes are cut."""
    endless: bool = False
    """Repeat the last frame until the client hangs up."""
    breaks_off: bool = False
    """End the connection in the middle of an event."""
    url: str = ""
    requests: list[dict] = field(default_factory=list)
    open: int = 0
    hung_up: threading.Event = field(default_factory=threading.Event)

    def script(
        self, frames: Sequence[dict], *, seed: int = 0, endless: bool = False, breaks_off: bool = False
    ) -> None:
        self.frames, self.seed, self.endless, self.breaks_off = frames, seed, endless, breaks_off
        self.hung_up.clear()

    async def answer(self, request: Request) -> StreamingResponse | JSONResponse:
        self.requests.append(await request.json())
        if not self.requests[-1].get("stream"):
            return JSONResponse(self.whole)
        headers = {"request-id": "loop"}
        return StreamingResponse(self._body(), media_type="text/event-stream", headers=headers)

    async def _body(self) -> AsyncIterator[bytes]:
        self.open += 1
        generator = random.Random(self.seed)
        finished = False
        try:
            body = b"".join(map(_frame, self.frames))
            if self.breaks_off:
                body = body[:-7]
            elif not self.endless and not any("type" in frame for frame in self.frames):
                body += b"data: [DONE]\n\n"
            at = 0
            while at < len(body):
                size = generator.randrange(1, 60)
                yield body[at : at + size]
                at += size
                await anyio.lowlevel.checkpoint()
            while self.endless:
                yield _frame(self.frames[-1])
                await anyio.sleep(0.001)
            if self.breaks_off:
                raise ConnectionAbortedError
            finished = True
        finally:
            self.open -= 1
            if not finished:
                self.hung_up.set()


def _frame(frame: dict) -> bytes:
    name = f"event: {frame['type']}\n" if "type" in frame else ""
    return f"{name}data: {json.dumps(frame, ensure_ascii=False)}\n\n".encode()


@contextlib.contextmanager
def serving() -> Iterator[Provider]:
    """The provider, until the block is left."""
    provider = Provider()
    paths = ("/v1/chat/completions", "/v1/responses", "/v1/messages")
    app = Starlette(routes=[Route(path, provider.answer, methods=["POST"]) for path in paths])
    with loopback(app, log_level="critical", lifespan="off", ws="none") as provider.url:
        yield provider
