"""An upstream that answers as OpenAI does, in whatever way a test says, over loopback."""

from __future__ import annotations

import json
import threading

import anyio
from starlette.applications import Starlette
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route

from streamverify.testing import pieces

GOOD, BAD, END = "The mill was built in the town. ", "The wrong 🛞 wheel turns. ", "Barley is ground here."
TEXT = GOOD + BAD + END


class Upstream:
    """An OpenAI-compatible server that answers `text`, and remembers what it was asked."""

    def __init__(self, text=TEXT):
        self.text = text
        self.bodies, self.keys = [], []
        self.fault = None
        self.closed = threading.Event()
        self.gate = None

    @property
    def app(self):
        return Starlette(
            routes=[
                Route("/v1/chat/completions", self.chat, methods=["POST"]),
                Route("/v1/responses", self.responses, methods=["POST"]),
                Route(
                    "/v1/models",
                    lambda _: JSONResponse({"object": "list", "data": [{"id": "m", "object": "model"}]}),
                ),
            ]
        )

    async def _asked(self, request):
        self.keys.append(request.headers.get("authorization"))
        self.bodies.append(await request.json())
        return self.bodies[-1]

    async def chat(self, request):
        body = await self._asked(request)
        if self.fault == 429:
            error = {"error": {"message": "slow down", "type": "rate_limit"}}
            return JSONResponse(error, 429, {"retry-after": "7"})
        if body.get("stream"):
            return StreamingResponse(self._chunks(), media_type="text/event-stream")
        message = {"role": "assistant", "content": self.text}
        choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": {"content": []}}
        return JSONResponse(chat_fields("chat.completion", choices=[choice]))

    async def _chunks(self):
        try:
            yield chunk([choice({"role": "assistant", "content": ""})])
            yield chunk(
                [
                    choice(
                        {
                            "tool_calls": [
                                {"index": 0, "id": "t", "function": {"name": "f", "arguments": "{}"}}
                            ]
                        }
                    )
                ]
            )
            for number, piece in enumerate(pieces(self.text, 11)):
                if piece:
                    yield chunk([choice({"content": piece}, logprobs={"content": [{"token": piece}]})])
                if number == 8 and self.fault == "break":
                    raise RuntimeError("cable cut")
                if number == 8 and self.fault == "error":
                    yield 'data: {"error": {"message": "overloaded", "type": "server_error"}}\n\n'
                    return
            if self.fault == "endless":
                await anyio.sleep_forever()
            yield chunk([choice({}, finish_reason="stop")])
            yield chunk([], usage={"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3})
            yield "data: [DONE]\n\n"
        finally:
            self.closed.set()

    async def responses(self, request):
        body = await self._asked(request)
        if not body.get("stream"):
            return JSONResponse(response("completed", [item("completed", self.text)]))
        return StreamingResponse(self._events(), media_type="text/event-stream")

    async def _events(self):
        number = 0

        def event(kind, **fields):
            nonlocal number
            number += 1
            data = {"type": kind, "sequence_number": number - 1, **fields}
            return f"event: {kind}\ndata: {json.dumps(data)}\n\n"

        where = {"item_id": "msg", "output_index": 0, "content_index": 0}
        done = item("completed", self.text)
        yield event("response.created", response=response("in_progress", []))
        yield event("response.output_item.added", output_index=0, item=item("in_progress"))
        yield event("response.content_part.added", **where, part=part(""))
        for piece in pieces(self.text, 5):
            if piece:
                yield event("response.output_text.delta", **where, delta=piece, logprobs=[])
        yield event("response.output_text.done", **where, text=self.text, logprobs=[])
        yield event("response.content_part.done", **where, part=part(self.text))
        yield event("response.output_item.done", output_index=0, item=done)
        yield event("response.completed", response=response("completed", [done]))


def chat_fields(kind, **fields):
    return {"id": "c1", "object": kind, "created": 1, "model": "m", **fields}


def chunk(choices, **fields):
    return f"data: {json.dumps(chat_fields('chat.completion.chunk', choices=choices, **fields))}\n\n"


def choice(delta, **fields):
    return {"index": 0, "delta": delta, "finish_reason": None, **fields}


def part(text):
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def item(status, text=None):
    content = [] if text is None else [part(text)]
    return {"id": "msg", "type": "message", "role": "assistant", "status": status, "content": content}


def response(status, output):
    return {
        "id": "r1",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "status": status,
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }
