"""Chat engines of LlamaIndex, verified, with a scripted model."""

from __future__ import annotations

import asyncio

import anyio
import pytest
from llama_index.core.chat_engine import ContextChatEngine
from llama_index.core.chat_engine.types import AgentChatResponse, StreamingAgentChatResponse
from llama_index.core.memory import ChatMemoryBuffer

from streamverify import Flag, Label, Policy, Redact
from streamverify_llamaindex import VerifyingChatEngine, verification
from tests.integrations.llamaindex_fakes import ANSWER, SHOWN, Nodes, Scripted, scripted, verifier

pytestmark = pytest.mark.anyio

LONG = ANSWER + " And on it goes." * 5000


def chat_engine(llm: Scripted, policy: Policy, **options) -> VerifyingChatEngine:
    memory = ChatMemoryBuffer.from_defaults(token_limit=100_000, tokenizer_fn=str.split)
    inner = ContextChatEngine.from_defaults(retriever=Nodes(), llm=llm, memory=memory)
    return VerifyingChatEngine(inner, verifier=verifier(policy, **options))


async def only_this_task_is_left(before: set[asyncio.Task]) -> None:
    with anyio.fail_after(60):
        while asyncio.all_tasks() - before:
            await anyio.lowlevel.checkpoint()


@pytest.mark.parametrize(("policy", "shown"), [(Flag(), ANSWER), (Redact(), SHOWN)])
async def test_an_answer_keeps_its_type_and_its_nodes(policy, shown):
    for response in (
        chat_engine(scripted(), policy).chat("capital?"),
        await chat_engine(scripted(), policy).achat("capital?"),
    ):
        assert type(response) is AgentChatResponse
        assert response.response == shown
        assert [node.node.node_id for node in response.source_nodes] == ["n1", "n2"]
        assert verification(response).report.counts[Label.UNSUPPORTED] == 1


@pytest.mark.parametrize(("policy", "shown"), [(Flag(), ANSWER), (Redact(), SHOWN)])
def test_a_stream_is_verified_while_it_is_read(policy, shown):
    response = chat_engine(scripted(), policy).stream_chat("capital?")
    assert type(response) is StreamingAgentChatResponse
    assert "".join(response.response_gen) == shown
    assert response.response == shown
    assert [node.node.node_id for node in response.source_nodes] == ["n1", "n2"]
    assert verification(response).report.released == shown


@pytest.mark.parametrize(("policy", "shown"), [(Flag(), ANSWER), (Redact(), SHOWN)])
async def test_an_asynchronous_stream_is_verified_while_it_is_read(policy, shown):
    before = asyncio.all_tasks()
    response = await chat_engine(scripted(), policy).astream_chat("capital?")
    assert type(response) is StreamingAgentChatResponse
    assert "".join([piece async for piece in response.async_response_gen()]) == shown
    assert response.response == shown
    await only_this_task_is_left(before)


async def test_leaving_early_ends_the_model_and_every_task():
    llm, before = scripted(text=LONG), asyncio.all_tasks()
    response = await chat_engine(llm, Redact()).astream_chat("capital?")
    async for _ in response.achat_stream:
        break
    await response.achat_stream.aclose()
    await only_this_task_is_left(before)
    assert len(llm.said) < 10_000


async def test_cancelling_the_reader_leaves_no_task():
    before = asyncio.all_tasks()
    response = await chat_engine(scripted(), Redact(), hang_on="capital").astream_chat("capital?")
    with anyio.move_on_after(0.05) as scope:
        async for _ in response.async_response_gen():
            pass
    assert scope.cancelled_caught
    await only_this_task_is_left(before)


async def test_an_error_of_the_model_arrives_as_itself():
    before = asyncio.all_tasks()
    response = await chat_engine(scripted(error=True), Redact()).astream_chat("capital?")
    with pytest.raises(RuntimeError, match="the model broke"):
        async for _ in response.async_response_gen():
            pass
    assert verification(response).report.outcome == "failed"
    await only_this_task_is_left(before)
