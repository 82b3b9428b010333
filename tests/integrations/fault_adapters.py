"""Every adapter, read the way its users read it: the table of `test_faults.py`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, Awaitable, Callable, Iterable
from contextlib import aclosing, closing
from dataclasses import dataclass
from typing import Annotated, Any, TypedDict

import anthropic
import anyio
import openai
from fault_models import SENTENCE, LangChainModel, LlamaIndexModel, ModelBroke, Talk
from langchain.agents import create_agent
from langchain_core.output_parsers import StrOutputParser
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from llama_index.core.chat_engine import (
    CondensePlusContextChatEngine,
    CondenseQuestionChatEngine,
    ContextChatEngine,
    SimpleChatEngine,
)
from llama_index.core.memory import ChatMemoryBuffer
from provider_loopback import Provider
from test_anthropic import QUESTION, message_frames
from test_openai_chat import frame
from test_openai_responses import response_frames
from workflows import Context, Workflow, step
from workflows.events import StartEvent, StopEvent

from streamverify import Policy, Verifier
from streamverify_anthropic import verify_messages
from streamverify_anthropic import verify_stream as verify_anthropic
from streamverify_langchain import GroundingCallbackHandler, VerifiedChatModel, VerifiedRunnable
from streamverify_langchain.experimental import GroundingMiddleware, GroundingTransformer
from streamverify_llamaindex import VerifyingChatEngine, VerifyingQueryEngine, verdicts_to
from streamverify_openai import verify_stream as verify_openai
from streamverify_openai import wrap_client
from tests.integrations.llamaindex_fakes import Nodes, query_engine

PASSAGES = [{"id": "mill", "text": "The mill was built in 1804."}]
READ = 3
"""Chunks a reader takes before anything happens to it."""

Read = Callable[[AsyncIterable[Any]], Awaitable[None]]
SyncRead = Callable[[Iterable[Any]], None]


@dataclass
class Here:
    """What an adapter is read with."""

    verifier: Verifier
    policy: Policy
    provider: Provider
    talk: Talk
    stack: Any
    """Keeps the clients open: one that is closed hangs up by itself."""

    @property
    def options(self) -> dict[str, Any]:
        return {"verifier": self.verifier, "policy": self.policy}


# Over HTTP


def chat_frames(here: Here, *, fails: bool) -> None:
    error = {"error": {"message": "overloaded", "type": "server_error"}}
    here.provider.script(
        [frame({"role": "assistant"}), *[frame({"content": SENTENCE})] * 6, *[error] * fails], endless=True
    )


def response_events(here: Here, *, fails: bool) -> None:
    error = {"type": "error", "error": {"message": "overloaded", "type": "server_error"}}
    begin = response_frames([SENTENCE])
    last = next(at for at, event in enumerate(begin) if event["type"].endswith(".delta"))
    delta = {**begin[last], "delta": SENTENCE}
    here.provider.script([*begin[:last], *[delta] * 6, *[error] * fails], endless=True)


def message_events(here: Here, *, fails: bool) -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "overloaded"}}
    begin = message_frames([SENTENCE])
    last = next(at for at, event in enumerate(begin) if event["type"] == "content_block_delta")
    delta = {**begin[last], "delta": {"type": "text_delta", "text": SENTENCE}}
    here.provider.script([*begin[:last], *[delta] * 6, *[error] * fails], endless=True)


def openai_options(here: Here) -> dict[str, Any]:
    return {"api_key": "none", "base_url": f"{here.provider.url}/v1", "max_retries": 0}


def anthropic_options(here: Here) -> dict[str, Any]:
    return {"api_key": "none", "base_url": here.provider.url, "max_retries": 0}


async def openai_chat(here: Here, read: Read) -> None:
    client = await here.stack.enter_async_context(openai.AsyncOpenAI(**openai_options(here)))
    stream = await client.chat.completions.create(model="m", messages=[], stream=True)
    async with verify_openai(stream, PASSAGES, **here.options) as chunks:
        await read(chunks)


async def openai_wrapped(here: Here, read: Read) -> None:
    client = await here.stack.enter_async_context(openai.AsyncOpenAI(**openai_options(here)))
    wrapped = wrap_client(client, passages=PASSAGES, **here.options)
    async with await wrapped.chat.completions.create(model="m", messages=[], stream=True) as chunks:
        await read(chunks)


async def openai_responses(here: Here, read: Read) -> None:
    client = await here.stack.enter_async_context(openai.AsyncOpenAI(**openai_options(here)))
    stream = await client.responses.create(model="m", input="q", stream=True)
    async with verify_openai(stream, PASSAGES, **here.options) as events:
        await read(events)


async def anthropic_events(here: Here, read: Read) -> None:
    client = await here.stack.enter_async_context(anthropic.AsyncAnthropic(**anthropic_options(here)))
    stream = await client.messages.create(**QUESTION, stream=True)
    async with verify_anthropic(stream, PASSAGES, **here.options) as events:
        await read(events)


async def anthropic_helper(here: Here, read: Read) -> None:
    client = await here.stack.enter_async_context(anthropic.AsyncAnthropic(**anthropic_options(here)))
    # The SDK's own block would close what ours did not: it ends with the test.
    raw = await here.stack.enter_async_context(client.messages.stream(**QUESTION))
    async with verify_messages(raw, PASSAGES, **here.options) as helper:
        await read(helper)


def openai_chat_sync(here: Here, read: SyncRead) -> None:
    client = here.stack.enter_context(openai.OpenAI(**openai_options(here)))
    stream = client.chat.completions.create(model="m", messages=[], stream=True)
    with verify_openai(stream, PASSAGES, **here.options) as chunks:
        read(chunks)


def openai_wrapped_sync(here: Here, read: SyncRead) -> None:
    client = here.stack.enter_context(openai.OpenAI(**openai_options(here)))
    wrapped = wrap_client(client, passages=PASSAGES, **here.options)
    with wrapped.chat.completions.create(model="m", messages=[], stream=True) as chunks:
        read(chunks)


def openai_responses_sync(here: Here, read: SyncRead) -> None:
    client = here.stack.enter_context(openai.OpenAI(**openai_options(here)))
    with verify_openai(
        client.responses.create(model="m", input="q", stream=True), PASSAGES, **here.options
    ) as events:
        read(events)


def anthropic_events_sync(here: Here, read: SyncRead) -> None:
    client = here.stack.enter_context(anthropic.Anthropic(**anthropic_options(here)))
    stream = client.messages.create(**QUESTION, stream=True)
    with verify_anthropic(stream, PASSAGES, **here.options) as events:
        read(events)


def anthropic_helper_sync(here: Here, read: SyncRead) -> None:
    client = here.stack.enter_context(anthropic.Anthropic(**anthropic_options(here)))
    raw = here.stack.enter_context(client.messages.stream(**QUESTION))
    with verify_messages(raw, PASSAGES, **here.options) as helper:
        read(helper)


# LangChain and LangGraph


async def runnable(here: Here, read: Read) -> None:
    chain = VerifiedRunnable(
        LangChainModel(talk=here.talk) | StrOutputParser(), passages=PASSAGES, **here.options
    )
    async with aclosing(chain.astream("q")) as chunks:
        await read(chunks)


def runnable_sync(here: Here, read: SyncRead) -> None:
    # Without a parser: closed early, LangChain's own synchronous chains read their model to its end.
    chain = VerifiedRunnable(LangChainModel(talk=here.talk), passages=PASSAGES, **here.options)
    with closing(chain.stream("q")) as chunks:
        read(chunks)


async def chat_model(here: Here, read: Read) -> None:
    model = VerifiedChatModel(inner=LangChainModel(talk=here.talk), passages=PASSAGES, **here.options)
    async with aclosing(model.astream("q")) as chunks:
        await read(chunks)


def chat_model_sync(here: Here, read: SyncRead) -> None:
    model = VerifiedChatModel(inner=LangChainModel(talk=here.talk), passages=PASSAGES, **here.options)
    with closing(model.stream("q")) as chunks:
        read(chunks)


async def handler(here: Here, read: Read) -> None:
    async with GroundingCallbackHandler(passages=PASSAGES, **here.options) as observer:
        model = LangChainModel(talk=here.talk)
        async with aclosing(model.astream("q", config={"callbacks": [observer]})) as chunks:
            await read(chunks)


class State(TypedDict):
    messages: Annotated[list[Any], add_messages]


ASKED = {"messages": [("user", "q")]}


async def transformer(here: Here, read: Read) -> None:
    async def answer(state: State) -> dict[str, Any]:
        return {"messages": [await LangChainModel(talk=here.talk).ainvoke(state["messages"])]}

    graph = StateGraph(State)
    graph.add_node("answer", answer)
    graph.add_edge(START, "answer")
    graph.add_edge("answer", END)
    grounding = GroundingTransformer.using(passages=PASSAGES, **here.options)
    run = await graph.compile().astream_events(ASKED, version="v3", transformers=[grounding])
    async with run:
        async for message in run.messages:
            await read(message.text)
            break
        else:
            raise AssertionError("no message")


async def middleware(here: Here, read: Read) -> None:
    grounding = GroundingMiddleware(passages=lambda _: PASSAGES, **here.options)
    agent = create_agent(LangChainModel(talk=here.talk), tools=[], middleware=[grounding])
    async with aclosing(agent.astream(ASKED, stream_mode="messages")) as chunks:
        await read(chunks)


def middleware_sync(here: Here, read: SyncRead) -> None:
    grounding = GroundingMiddleware(passages=lambda _: PASSAGES, **here.options)
    agent = create_agent(LangChainModel(talk=here.talk), tools=[], middleware=[grounding])
    read(agent.stream(ASKED, stream_mode="messages"))


# LlamaIndex


def verified_query(here: Here) -> VerifyingQueryEngine:
    return VerifyingQueryEngine(query_engine(LlamaIndexModel(talk=here.talk), streaming=True), **here.options)


async def query(here: Here, read: Read) -> None:
    response = await verified_query(here).aquery("q")
    async with aclosing(response.response_gen) as pieces:
        await read(pieces)


def query_sync(here: Here, read: SyncRead) -> None:
    with closing(verified_query(here).query("q").response_gen) as pieces:
        read(pieces)


async def workflow(here: Here, read: Read) -> None:
    class Answering(Workflow):
        @step
        async def answer(self, context: Context, _event: StartEvent) -> StopEvent:
            inner = query_engine(LlamaIndexModel(talk=here.talk), streaming=True)
            engine = VerifyingQueryEngine(inner, **here.options, on_event=verdicts_to(context))
            try:
                async with aclosing((await engine.aquery("q")).response_gen) as pieces:
                    await read(pieces)
            finally:
                ended.set()
            return StopEvent()

    ended, run = anyio.Event(), Answering(timeout=None).run()
    try:
        await ended.wait()
    except asyncio.CancelledError:
        with anyio.CancelScope(shield=True):
            await run.cancel_run()  # it goes on without whoever waits for it, unless told
        raise
    await run


def engine_of(kind: str, here: Here) -> VerifyingChatEngine:
    model = LlamaIndexModel(talk=here.talk)
    given = {"llm": model, "memory": ChatMemoryBuffer.from_defaults(tokenizer_fn=str.split)}
    match kind:
        case "context":
            inner: Any = ContextChatEngine.from_defaults(retriever=Nodes(), **given)
        case "condense plus context":
            inner = CondensePlusContextChatEngine.from_defaults(retriever=Nodes(), **given)
        case "condense question":
            inner = CondenseQuestionChatEngine.from_defaults(
                query_engine=query_engine(model, streaming=True), **given
            )
        case _:
            inner = SimpleChatEngine.from_defaults(**given)
    return VerifyingChatEngine(inner, **here.options)


def chat(kind: str) -> Callable[[Here, Read], Awaitable[None]]:
    async def chat(here: Here, read: Read) -> None:
        response = await engine_of(kind, here).astream_chat("q")
        async with aclosing(response.achat_stream):
            await read(response.async_response_gen())

    return chat


def chat_sync(kind: str) -> Callable[[Here, SyncRead], None]:
    def chat(here: Here, read: SyncRead) -> None:
        response = engine_of(kind, here).stream_chat("q")
        with closing(response.chat_stream):
            read(response.response_gen)

    return chat


CHAT_ENGINES = ["context", "condense plus context", "condense question", "simple"]


@dataclass
class Adapter:
    """One row of the table."""

    name: str
    run: Callable[[Here, Any], Any]
    script: Callable[..., None] | None = None
    """Sets what the provider says; None for a model in this process."""
    error: type[Exception] = ModelBroke
    """What its reader gets for an error of the provider."""
    talks_on: bool = False
    """Whether its reader gets released text with the model's next words alone."""
    leaves: bool = True
    """Whether its reader can leave early: LangGraph's synchronous streams wait for the node they are in."""
    drops: bool = False
    """Whether an error overtakes the text before it."""
    scopes: bool = True
    """Whether what it stands in bears a cancel scope, which cancels again and again: LangGraph does not."""


ADAPTERS = [
    Adapter("OpenAI chat", openai_chat, chat_frames, openai.APIError),
    Adapter("OpenAI chat, wrapped client", openai_wrapped, chat_frames, openai.APIError),
    Adapter("OpenAI Responses", openai_responses, response_events, openai.APIError),
    Adapter("Anthropic events", anthropic_events, message_events, anthropic.APIStatusError),
    Adapter("Anthropic helper", anthropic_helper, message_events, anthropic.APIStatusError),
    Adapter("LangChain VerifiedRunnable", runnable),
    Adapter("LangChain VerifiedChatModel", chat_model),
    Adapter("LangChain GroundingCallbackHandler", handler),
    Adapter("LangGraph GroundingTransformer", transformer, talks_on=True, drops=True, scopes=False),
    Adapter("LangGraph GroundingMiddleware", middleware, scopes=False),
    Adapter("LlamaIndex query engine", query),
    Adapter("LlamaIndex workflow", workflow),
    *[Adapter(f"LlamaIndex {kind} chat engine", chat(kind), drops=True) for kind in CHAT_ENGINES],
]

SYNC_ADAPTERS = [
    Adapter("OpenAI chat", openai_chat_sync, chat_frames, openai.APIError),
    Adapter("OpenAI chat, wrapped client", openai_wrapped_sync, chat_frames, openai.APIError),
    Adapter("OpenAI Responses", openai_responses_sync, response_events, openai.APIError),
    Adapter("Anthropic events", anthropic_events_sync, message_events, anthropic.APIStatusError),
    Adapter("Anthropic helper", anthropic_helper_sync, message_events, anthropic.APIStatusError),
    Adapter("LangChain VerifiedRunnable", runnable_sync),
    Adapter("LangChain VerifiedChatModel", chat_model_sync),
    Adapter("LangGraph GroundingMiddleware", middleware_sync, leaves=False),
    Adapter("LlamaIndex query engine", query_sync),
    *[Adapter(f"LlamaIndex {kind} chat engine", chat_sync(kind), drops=True) for kind in CHAT_ENGINES],
]
