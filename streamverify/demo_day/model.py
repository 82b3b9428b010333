"""An OpenAI-compatible server that says what the visits plan, a few tokens at a time.

Before: the proxy asks, with the visit's number in `metadata`. After: the proxy verifies.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Any

import anyio.lowlevel
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from streamverify.demo import tokens
from streamverify.demo_day.visits import Visit
from streamverify.files.jsonl import json_text

_AT_ONCE = 4
"""Tokens in one chunk, as busy servers send them."""
_CUT = 2 / 3
"""Share of its tokens that come of an answer that breaks off."""
_BROKEN = {"error": {"message": "the model ran out of memory", "type": "server_error"}}


def model_app(visits: Sequence[Visit]) -> Starlette:
    """The server, for any ASGI server."""

    async def chat(request: Request) -> Response:
        body = await request.json()
        visit = visits[int(body["metadata"]["visit"])]
        return StreamingResponse(_frames(visit, body["model"]), media_type="text/event-stream")

    return Starlette(routes=[Route("/v1/chat/completions", chat, methods=["POST"])])


async def _frames(visit: Visit, model: str) -> AsyncGenerator[str, None]:
    said = tokens(visit.answer)
    if visit.breaks_off:
        said = said[: int(len(said) * _CUT)]
    for start in range(0, len(said), _AT_ONCE):
        await anyio.lowlevel.checkpoint()
        text = "".join(said[start : start + _AT_ONCE])
        yield _frame(_chunk(visit, model, {"content": text}, None))
    if visit.breaks_off:
        yield _frame(_BROKEN)
        return
    yield _frame(_chunk(visit, model, {}, "stop"))
    yield "data: [DONE]\n\n"


def _chunk(visit: Visit, model: str, delta: dict[str, str], finish: str | None) -> dict[str, Any]:
    return {
        "id": f"visit-{visit.number}",
        "object": "chat.completion.chunk",
        "created": int(visit.at.timestamp()),
        "model": model,
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }


def _frame(value: dict[str, Any]) -> str:
    return f"data: {json_text(value)}\n\n"
