"""An application of somebody's own under plain uvicorn; started by test_server_shutdown.py.

python own_application.py UPSTREAM SHUTDOWN_SECONDS
"""

from __future__ import annotations

import contextlib
import json
import socket
import sys
from collections.abc import AsyncIterator

import httpx2
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from streamverify import Passage, Verifier
from streamverify.server import sse_response
from streamverify.testing import ScriptedScorer

UPSTREAM, SHUTDOWN = sys.argv[1], float(sys.argv[2])

verifier = Verifier(ScriptedScorer())


async def words() -> AsyncIterator[str]:
    async with (
        httpx2.AsyncClient(timeout=60) as client,
        client.stream("POST", f"{UPSTREAM}/v1/chat/completions", json={"stream": True}, timeout=60) as got,
    ):
        async for line in got.aiter_lines():
            if line.startswith("data: {"):
                choice = json.loads(line.removeprefix("data: "))["choices"][0]
                yield choice["delta"].get("content", "")


async def answer(_request: Request) -> Response:
    stream = verifier.stream(words(), [Passage("p1", "The mill was built in 1804.")])
    return sse_response(stream, shutdown=SHUTDOWN)


@contextlib.asynccontextmanager
async def lifespan(_app: Starlette) -> AsyncIterator[None]:
    async with verifier:
        sys.stderr.write(f"http://127.0.0.1:{listener.getsockname()[1]}/\n")
        sys.stderr.flush()
        yield


listener = socket.create_server(("127.0.0.1", 0))
app = Starlette(routes=[Route("/", answer)], lifespan=lifespan)
uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])
