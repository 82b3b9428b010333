"""An upstream that sends exactly what a test says, over loopback, and a way to ask the proxy before it."""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass, field
from typing import Any

import anyio
import httpx2
from loopback import loopback
from starlette.applications import Starlette
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from streamverify.server import ServeSettings, create_app
from streamverify.testing import ScriptedScorer
from streamverify.types import Label
from streamverify.verifier import Verifier

SCRIPT = {"wrong": Label.CONTRADICTED, "unknown": Label.UNSUPPORTED}
PASSAGES = [{"id": "p1", "text": "The mill was built in the town. It grinds barley."}]
SSE = {"content-type": "text/event-stream"}


@dataclass
class Upstream:
    """The next answer, whatever is asked."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    asked: list[Any] = field(default_factory=list)
    queries: list[bytes] = field(default_factory=list)
    stops: str = ""
    """`"dies"` or `"falls silent"`, behind the body."""

    async def answer(self, request):
        self.asked.append((request.method, request.url.path))
        self.queries.append(request.scope["query_string"])
        if self.stops:
            return StreamingResponse(self._stopping(), self.status, self.headers)
        if self.headers == SSE:
            return StreamingResponse(iter([self.body]), self.status, self.headers)
        return Response(self.body, self.status, self.headers or {"content-type": "application/json"})

    async def _stopping(self):
        yield self.body
        if self.stops == "falls silent":
            await anyio.sleep_forever()
        raise OSError("the upstream dies")

    def say(self, body, status=200, headers=None):
        self.body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.status, self.headers, self.stops = status, headers or {}, ""

    def stream(self, events, *, done=True):
        frames = [f"data: {json.dumps(event)}\n\n" for event in events]
        self.say("".join([*frames, "data: [DONE]\n\n" if done else ""]).encode(), headers=SSE)


@dataclass
class Proxied:
    """An upstream, and the proxy before it."""

    upstream: Upstream
    url: str
    client: httpx2.Client

    def ask(self, path, *, stream, policy="redact", **body):
        asked = {"passages": PASSAGES, "policy": policy}
        body = {"model": "m", "messages": [], "input": "q", "stream": stream, "streamverify": asked} | body
        return self.client.post(f"{self.url}/v1{path}", json=body)


@contextlib.contextmanager
def proxied(**settings):
    upstream = Upstream()
    routes = [Route("/v1/{path:path}", upstream.answer, methods=["GET", "POST", "DELETE"])]
    verifier = Verifier(ScriptedScorer(SCRIPT))
    with loopback(Starlette(routes=routes)) as behind:
        app = create_app(ServeSettings(**{"upstream": f"{behind}/v1"} | settings), verifier)
        with loopback(app) as front, httpx2.Client(timeout=120) as client:
            yield Proxied(upstream, front, client)


def events_in(body: str) -> list[Any]:
    """The JSON of the events, `[DONE]` as it is."""
    found = [line.removeprefix("data: ") for line in body.split("\n") if line.startswith("data: ")]
    return [data if data == "[DONE]" else json.loads(data) for data in found]


def told(body: str, kind: str) -> list[Any]:
    """The native events of a kind."""
    events = [event.get("streamverify") for event in events_in(body) if isinstance(event, dict)]
    return [event for event in events if event and event["kind"] == kind]
