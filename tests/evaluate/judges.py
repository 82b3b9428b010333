"""An OpenAI-compatible server on loopback that judges by rule, and keeps what it was asked."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from typing import Any

from loopback import loopback
from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from streamverify.evaluate import Judge

Behaviour = Callable[[dict[str, Any], int], Response]


def completion(content: str, usage: bool = True) -> JSONResponse:
    message = {"role": "assistant", "content": content}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    body = {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
    if usage:
        body["usage"] = {"prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 107}
    return JSONResponse(body)


def ruled(instructions: str, data: dict[str, Any]) -> dict[str, Any]:
    """An honest answer to each kind of question, by words that the texts share."""
    told = next(answer for words, answer in _RULES if words in instructions)
    return told(data)


def _labels(data: dict[str, Any]) -> dict[str, Any]:
    told = " ".join(passage["text"] for passage in data["passages"])
    return {"labels": ["supported" if one in told else "unsupported" for one in data["sentences"]]}


def _about_mills(rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {"numbers": [row["number"] for row in rows if "mill" in row["text"]]}


def _written(data: dict[str, Any]) -> dict[str, Any]:
    first = data["passages"][0]["text"]
    unanswerable = data["type"] == "unanswerable"
    return {"question": f"{data['type']} of {first[:20]}?", "answer": "" if unanswerable else first}


def _questions(data: dict[str, Any]) -> dict[str, Any]:
    return {"questions": [data["answer"]] * data["count"], "declines": "cannot" in data["answer"]}


_RULES: tuple[tuple[str, Callable[[dict[str, Any]], dict[str, Any]]], ...] = (
    ("Label each sentence", _labels),
    ("numbers of the passages", lambda data: _about_mills(data["passages"])),
    ("numbers of the sentences", lambda data: _about_mills(data["sentences"])),
    ("Write that many different questions", _questions),
    ("You write one question", _written),
    ("none; minor", lambda _: {"reason": "r", "level": "minor"}),
    ("grade", lambda _: {"reason": "r", "score": 4}),
    ("", lambda _: {"reason": "r", "score": 0.75}),
)
"""Words of the instructions, and what answers them; the first that fits."""


class Server:
    def __init__(self, behave: Behaviour | None = None):
        self.requests: list[dict[str, Any]] = []
        self.behave = behave

    async def complete(self, request):
        body = await request.json()
        self.requests.append(body)
        if self.behave is not None:
            return self.behave(body, len(self.requests))
        return answered(body)

    @property
    def app(self):
        return Starlette(routes=[Route("/v1/chat/completions", self.complete, methods=["POST"])])


def answered(body: dict[str, Any]) -> Response:
    system, user = body["messages"]
    return completion(json.dumps(ruled(system["content"], json.loads(user["content"]))))


@contextlib.contextmanager
def judging(behave: Behaviour | None = None, **options: Any) -> Iterator[tuple[Judge, Server]]:
    server = Server(behave)
    given = {"api_key": "k", "backoff": 0, **options}
    with loopback(server.app) as address, Judge(f"{address}/v1", "m", **given) as judge:
        yield judge, server
