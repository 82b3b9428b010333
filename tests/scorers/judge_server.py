"""An OpenAI-compatible endpoint in the test's own hand: how it answers, and what it was asked."""

from __future__ import annotations

import json
import threading

from starlette.responses import JSONResponse, Response


class Judge:
    """An OpenAI-compatible server: `behave` says how to answer; what was asked is kept."""

    def __init__(self):
        self.requests: list[dict] = []
        self.behave = good
        self.under_way = self.most = 0
        self.gone, self.arrived = threading.Event(), threading.Event()

    async def complete(self, request):
        body = await request.json()
        self.requests.append(body)
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        self.arrived.set()
        try:
            return await self.behave(self, request, body)
        finally:
            self.under_way -= 1

    def asked(self, number=-1):
        return json.loads(self.requests[number]["messages"][1]["content"])


def completion(content):
    message = {"role": "assistant", "content": content}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    whole = {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
    return JSONResponse(whole)


def judgement(data, **changes):
    """Entailment is 0.9 where the passage holds the claim, 0.1 else."""
    passages = [
        {
            "number": p["number"],
            "entailment": 0.9 if data["claim"] in p["text"] else 0.1,
            "contradiction": 0.05,
        }
        for p in data["passages"]
    ]
    return {
        "passages": passages,
        "together": {"entailment": 0.8, "contradiction": 0.0},
        "unsupported": [],
        **changes,
    }


async def good(judge, request, body):
    return completion(json.dumps(judgement(json.loads(body["messages"][1]["content"]))))


async def silent(judge, request, body):
    """Never answers; notices when the caller hangs up."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
    judge.gone.set()
    return Response()


def saying(content):
    async def behave(judge, request, body):
        return completion(content)

    return behave


def refusing(status, times, *, then=good, only=lambda body: True):
    left = [times]

    async def behave(judge, request, body):
        if left[0] and only(body):
            left[0] -= 1
            error = {"error": {"message": "not now", "type": "x"}}
            return JSONResponse(error, status, headers={"retry-after-ms": "1"})
        return await then(judge, request, body)

    return behave
