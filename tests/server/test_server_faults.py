"""Server: a reader leaves, a request is cancelled, an error underneath; nothing stays open."""

from __future__ import annotations

import json
import threading

import anyio
import httpx2
import pytest
from loopback import loopback
from serving import Client, Source
from starlette.applications import Starlette
from starlette.routing import Route

from streamverify.policy import Flag, Redact
from streamverify.server import ServeSettings, create_app, sse_response
from streamverify.testing import ScriptedScorer
from streamverify.types import Passage
from streamverify.verifier import Verifier
from tests.integrations.provider_loopback import serving

PASSAGES = [Passage("p1", "The mill was built in the town.")]
SENTENCE = "The mill was built in the town. "
FAULTS = ["the reader leaves", "the request is cancelled", "an error underneath"]

PROTOCOLS = pytest.mark.parametrize("protocol", ["streamverify", "ai-sdk", "ag-ui"])
POLICIES = pytest.mark.parametrize("policy", [Flag(), Redact()], ids=["flag", "redact"])


def running() -> set[int]:
    return {task.id for task in anyio.get_running_tasks()}


async def no_task_left(before: set[int]) -> None:
    while running() - before:
        await anyio.lowlevel.checkpoint()


async def suffer(fault: str, client: Client, is_open) -> None:
    """One request, up to its text and then the fault."""
    async with anyio.create_task_group() as group:
        group.start_soon(client)
        await client.until("mill was built")
        if fault == "the reader leaves":
            assert is_open()
            client.disconnect()
        elif fault == "the request is cancelled":
            assert is_open()
            group.cancel_scope.cancel()


@POLICIES
@PROTOCOLS
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.anyio
async def test_a_response_leaves_nothing_open(fault, protocol, policy):
    error = RuntimeError("cable cut") if fault == FAULTS[2] else None
    source = Source([SENTENCE] * 4, endless=True, error=error)

    async def answer(_request):
        return sse_response(verifier.stream(source, PASSAGES, policy=policy), protocol)

    async with Verifier(ScriptedScorer()) as verifier:
        with anyio.fail_after(60):
            # The first response of a loop starts the task that sees the server stop, one for all of them.
            await Client(sse_response(verifier.stream([SENTENCE], PASSAGES), protocol))()
            before = running()
            client = Client(Starlette(routes=[Route("/", answer)]))
            await suffer(fault, client, lambda: not source.closed.is_set())
            await source.closed.wait()
            await no_task_left(before)
            while verifier.statistics() != (0, 0):
                await anyio.lowlevel.checkpoint()


@PROTOCOLS
def test_a_connection_that_is_closed_ends_the_source(protocol):
    closed = threading.Event()

    async def source():
        try:
            yield SENTENCE
            await anyio.sleep_forever()
        finally:
            closed.set()

    async def answer(_request):
        return sse_response(verifier.stream(source(), PASSAGES), protocol)

    verifier = Verifier(ScriptedScorer())
    with loopback(Starlette(routes=[Route("/", answer)]), lifespan="off") as address:
        with httpx2.stream("GET", address, timeout=60) as got:
            lines = got.iter_lines()
            next(lines)
            assert not closed.is_set()
        assert closed.wait(60)


@pytest.fixture(scope="module")
def provider():
    with serving() as made:
        yield made


def chat_chunk(delta):
    choice = {"index": 0, "delta": delta, "finish_reason": None}
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}


CHAT = [chat_chunk({"role": "assistant"}), *[chat_chunk({"content": SENTENCE})] * 4]
PLACE = {"item_id": "i", "output_index": 0, "content_index": 0}
RESPONSE = [
    {"type": "response.created", "response": {"id": "r", "object": "response", "output": []}},
    {"type": "response.output_item.added", "output_index": 0, "item": {"id": "i", "type": "message"}},
    {
        "type": "response.content_part.added",
        **PLACE,
        "part": {"type": "output_text", "text": "", "annotations": []},
    },
    *[{"type": "response.output_text.delta", **PLACE, "delta": SENTENCE}] * 4,
]


@pytest.mark.parametrize("policy", ["flag", "redact"])
@pytest.mark.parametrize(
    ("path", "frames"),
    [("/v1/chat/completions", CHAT), ("/v1/responses", RESPONSE)],
    ids=["chat", "responses"],
)
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # uvicorn has no other
@pytest.mark.anyio
async def test_the_proxy_leaves_nothing_open(fault, path, frames, policy, provider):
    error = [{"error": {"message": "overloaded", "type": "server_error"}}] if fault == FAULTS[2] else []
    provider.script([*frames, *error], endless=True)  # after an error too: the proxy has to hang up
    asked = {"policy": policy, "passages": [{"id": "p1", "text": SENTENCE}]}
    body = {"model": "m", "messages": [], "input": "q", "stream": True, "streamverify": asked}
    verifier = Verifier(ScriptedScorer())
    app = create_app(ServeSettings(upstream=f"{provider.url}/v1"), verifier)
    headers = {"content-type": "application/json"}
    async with app.router.lifespan_context(app):
        before = running()
        with anyio.fail_after(60):
            client = Client(app, path, method="POST", headers=headers, body=json.dumps(body).encode())
            await suffer(fault, client, lambda: provider.open > 0)
            assert await anyio.to_thread.run_sync(provider.hung_up.wait, 10)
            await no_task_left(before)
            while verifier.statistics() != (0, 0):
                await anyio.lowlevel.checkpoint()
