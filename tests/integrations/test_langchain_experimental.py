"""LangGraph graphs and agents, verified, with a scripted model."""

from __future__ import annotations

import asyncio
import copy
import json
from typing import Annotated, TypedDict

import anyio
import pytest
from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, AnyMessage, HumanMessage, ToolMessage
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGenerationChunk
from langchain_core.tools import tool
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages

from streamverify import Flag, Redact, ScoringError, SentenceJudged, Verifier
from streamverify.testing import ScriptedScorer, pieces
from streamverify_langchain import REPORT, VERDICT
from streamverify_langchain.experimental import GroundingMiddleware, GroundingTransformer, tool_results
from streamverify_langchain.passing import without_unknown
from tests.integrations.langchain_fakes import ANSWER, DOCUMENTS, SHOWN, Listener, model, verifier

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.filterwarnings("ignore::langchain_core._api.beta_decorator.LangChainBetaWarning"),
]

POLICIES = [(Flag(), ANSWER), (Redact(), SHOWN)]


class State(TypedDict):
    messages: Annotated[list[AnyMessage], add_messages]
    context: list[Document]


def graph(chat):
    async def retrieve(state: State):
        return {"context": DOCUMENTS}

    async def answer(state: State):
        return {"messages": [await chat.ainvoke(state["messages"])]}

    built = StateGraph(State)
    built.add_node("retrieve", retrieve)
    built.add_node("answer", answer)
    built.add_edge(START, "retrieve")
    built.add_edge("retrieve", "answer")
    built.add_edge("answer", END)
    return built.compile()


async def read(run):
    """The text of the first message, and the verdicts, read at the same time."""
    texts, verdicts = [], []

    async def read_texts() -> None:
        async for message in run.messages:
            texts.append("".join([piece async for piece in message.text]))

    async def read_verdicts() -> None:
        async for verdict in run.extensions["verdicts"]:
            verdicts.append(verdict)

    async with anyio.create_task_group() as group:
        group.start_soon(read_texts)
        group.start_soon(read_verdicts)
    return texts, verdicts


@pytest.mark.parametrize(("policy", "shown"), POLICIES)
async def test_a_graph_streams_released_text_and_keeps_its_state(policy, shown):
    before = asyncio.all_tasks()
    run = await graph(model()).astream_events(
        {"messages": [("user", "hi")]},
        version="v3",
        transformers=[GroundingTransformer.using(verifier=verifier(), policy=policy)],
    )
    texts, verdicts = await read(run)
    assert texts == [shown]
    assert [verdict["name"] for verdict in verdicts] == [VERDICT, VERDICT, VERDICT, REPORT]
    assert [verdict["label"] for verdict in verdicts[:3]] == ["supported", "unsupported", "supported"]
    assert (await run.output())["messages"][-1].text == ANSWER
    with anyio.fail_after(60):
        while asyncio.all_tasks() - before:
            await anyio.lowlevel.checkpoint()


async def test_a_graph_that_fails_ends_its_checks():
    class Breaking(GenericFakeChatModel):
        async def _astream(self, *args, **kwargs):
            async for chunk in super()._astream(*args, **kwargs):
                yield chunk
            raise RuntimeError("the model broke")

    before = asyncio.all_tasks()
    run = await graph(Breaking(messages=iter([AIMessage(ANSWER)]))).astream_events(
        {"messages": [("user", "hi")]},
        version="v3",
        transformers=[GroundingTransformer.using(verifier=verifier(), policy=Redact())],
    )
    with pytest.raises(RuntimeError, match="the model broke"):
        await run.output()
    with anyio.fail_after(60):
        while asyncio.all_tasks() - before:
            await anyio.lowlevel.checkpoint()


@pytest.mark.parametrize("policy", [Flag(), Redact()])
async def test_a_reader_that_leaves_a_run_early_ends_its_model_and_its_checks(policy):
    closed = anyio.Event()

    class Endless(GenericFakeChatModel):
        async def _astream(self, *args, **kwargs):
            try:
                while True:
                    yield ChatGenerationChunk(message=AIMessageChunk(content="Paris is the capital. "))
                    await anyio.lowlevel.checkpoint()
            finally:
                closed.set()

    before = asyncio.all_tasks()
    with anyio.fail_after(60):
        run = await graph(Endless(messages=iter([]))).astream_events(
            {"messages": [("user", "hi")]},
            version="v3",
            transformers=[GroundingTransformer.using(verifier=verifier(), policy=policy)],
        )
        async with run:
            async for message in run.messages:
                async for _ in message.text:
                    break
                break
        await closed.wait()
        while asyncio.all_tasks() - before:
            await anyio.lowlevel.checkpoint()


async def test_a_check_that_fails_fails_the_run_where_that_is_asked_for():
    strict = Verifier(ScriptedScorer(fail_on="900"), on_failure="raise")
    run = await graph(model()).astream_events(
        {"messages": [("user", "hi")]},
        version="v3",
        transformers=[GroundingTransformer.using(verifier=strict)],
    )
    with pytest.raises(ScoringError):
        await run.output()


class WithTools(GenericFakeChatModel):
    def bind_tools(self, tools, *, tool_choice=None, **kwargs):
        return self.bind(tools=[t.name for t in tools], **kwargs)

    def _stream(self, *args, **kwargs):
        message = next(self.messages)
        for word in pieces(message.text, 3):
            yield ChatGenerationChunk(message=AIMessageChunk(content=word))
        calls = [
            tool_call_chunk(name=c["name"], args=json.dumps(c["args"]), id=c["id"])
            for c in message.tool_calls
        ]
        yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=calls))


def agent(middleware: GroundingMiddleware):
    @tool(response_format="content_and_artifact")
    def find(query: str):
        """Finds documents."""
        return "found", DOCUMENTS

    call = {"name": "find", "args": {"query": "Paris"}, "id": "c", "type": "tool_call"}
    chat = WithTools(messages=iter([AIMessage("", tool_calls=[call]), AIMessage(ANSWER)]))
    return create_agent(chat, tools=[find], middleware=[middleware])


@pytest.mark.parametrize(("policy", "shown"), POLICIES)
async def test_an_agent_s_stream_and_state_are_both_verified(policy, shown):
    told, listener = [], Listener()
    middleware = GroundingMiddleware(
        verifier=verifier(), policy=policy, on_event=lambda key, event: told.append(event)
    )
    run = await agent(middleware).astream_events(
        {"messages": [("user", "hi")]}, version="v3", config={"callbacks": [listener]}
    )
    texts = []
    async for message in run.messages:
        texts.append("".join([piece async for piece in message.text]))
    state = await run.output()
    assert texts[-1] == shown
    assert state["messages"][-1].text == shown
    assert [call["name"] for call in state["messages"][1].tool_calls] == ["find"]
    assert [event.label.value for event in told if isinstance(event, SentenceJudged)] == [
        "supported",
        "unsupported",
        "supported",
    ]
    assert ("people" in str(listener.told)) == (not policy.holds_text)


@pytest.mark.parametrize("run", ["invoke", "ainvoke"])
async def test_an_agent_that_does_not_stream_is_verified_too(run):
    built = agent(GroundingMiddleware(verifier=verifier(), policy=Redact()))
    asked = {"messages": [("user", "hi")]}
    state = built.invoke(asked) if run == "invoke" else await built.ainvoke(asked)
    assert state["messages"][-1].text == SHOWN


def test_tool_results_are_documents_or_text():
    messages = [
        HumanMessage("hi"),
        ToolMessage("found", tool_call_id="a", artifact=DOCUMENTS),
        ToolMessage("It rains.", tool_call_id="b"),
    ]
    assert tool_results(messages) == [*DOCUMENTS, {"id": "b", "text": "It rains."}]


class Thinking(GenericFakeChatModel):
    """Thinks, and says what it thinks beside its answer."""

    def _stream(self, *args, **kwargs):
        blocks = [
            {"type": "reasoning", "reasoning": "It has 900 people.", "index": 0},
            {"type": "text", "text": ANSWER, "index": 1},
        ]
        for block in blocks:
            yield ChatGenerationChunk(message=AIMessageChunk(content=[block]))
        yield ChatGenerationChunk(message=AIMessageChunk(content="", chunk_position="last"))


async def test_reasoning_stays_in_where_text_is_held():
    async def answer(state: State):
        return {"messages": [await Thinking(messages=iter([])).ainvoke(state["messages"])]}

    built = StateGraph(State).add_node("answer", answer).add_edge(START, "answer").compile()
    transformers = [GroundingTransformer.using(verifier=verifier(), policy="redact", passages=DOCUMENTS)]
    asked = {"messages": [HumanMessage("q")]}
    run = await built.astream_events(asked, version="v3", transformers=transformers)
    events = [event async for event in run if event["method"] == "messages"]
    assert "people" not in repr(events)
    assert "statement removed" in repr(events)


@pytest.mark.parametrize(
    "part",
    [
        {"event": "content-block-delta", "delta": {"type": "reasoning-delta", "reasoning": "RAW"}},
        {"event": "content-block-delta", "delta": {"type": "data-delta", "data": "RAW"}},
        {
            "event": "content-block-delta",
            "delta": {"type": "block-delta", "fields": {"a": "RAW"}},
        },
        {"event": "content-block-start", "content": {"type": "non_standard", "value": {"a": "RAW"}}},
        {"event": "content-block-finish", "content": {"type": "audio", "transcript": "RAW"}},
        {"event": "error", "message": "RAW"},
    ],
)
def test_parts_of_a_message_that_nobody_has_judged_stay_in(part):
    without_unknown(part)
    assert "RAW" not in repr(part)


def test_calls_of_tools_pass():
    for part in (
        {"event": "content-block-delta", "delta": {"type": "tool-call-delta", "args": "{}"}},
        {"event": "content-block-finish", "content": {"type": "tool_call", "name": "x", "args": {}}},
    ):
        kept = copy.deepcopy(part)
        without_unknown(part)
        assert part == kept
