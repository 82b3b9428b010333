"""The law over all adapters: what was rejected, and what an error says, reaches no client by any way.

Every adapter runs its real framework, over loopback where there is a server, under `Redact`, and hands back
all that a client could be shown: texts, chunks, events, payloads, callbacks, metadata. One sentence of the
answer is rejected; the check of another fails with an error that quotes a key and an address.
"""

from __future__ import annotations

from typing import Any

import anthropic
import openai
import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage
from langchain_core.output_parsers import StrOutputParser
from langgraph.graph import START, MessagesState, StateGraph
from llama_index.core.chat_engine import CondenseQuestionChatEngine, ContextChatEngine
from llama_index.core.memory import ChatMemoryBuffer
from llama_index_instrumentation import get_dispatcher
from test_anthropic import QUESTION, message_frames
from test_openai_chat import answer_frames
from test_openai_client import completion
from test_openai_responses import response_frames
from workflows import Context, Workflow, step
from workflows.events import StartEvent, StopEvent

from streamverify import Label, Redact, ScoringError, Verifier
from streamverify.testing import ScriptedScorer
from streamverify_anthropic import verify_messages
from streamverify_anthropic import verify_stream as verify_anthropic
from streamverify_langchain import (
    GroundingCallbackHandler,
    ReportCollector,
    VerifiedChatModel,
    VerifiedRunnable,
)
from streamverify_langchain.experimental import GroundingMiddleware, GroundingTransformer
from streamverify_llamaindex import (
    GroundingEventHandler,
    VerifyingChatEngine,
    VerifyingQueryEngine,
    verdicts_to,
)
from streamverify_openai import verify_stream, wrap_client
from tests.integrations import langchain_fakes
from tests.integrations.langchain_fakes import DOCUMENTS, Listener
from tests.integrations.llamaindex_fakes import Nodes, query_engine, scripted

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.filterwarnings("ignore::langchain_core._api.beta_decorator.LangChainBetaWarning"),
]

REJECTED = "zanzibar"
SECRETS = ("sk-hush", "10.9.8.7")
ANSWER = f"Paris is the capital. It lies in {REJECTED} [7]. The river is the Seine. The tower fails there."
SHOWN = "Paris is the capital. ▮ The river is the Seine. The tower fails there."
PASSAGES = ["Paris is the capital of France.", "The Seine flows through Paris."]
ERROR = ScoringError("key sk-hush at http://10.9.8.7/judge")


@pytest.fixture(scope="module")
def verifier():
    scorer = ScriptedScorer({REJECTED: Label.UNSUPPORTED}, fail_on="fails", error=ERROR)
    policy = Redact(placeholder="▮")
    with Verifier(scorer, policy=policy, on_unverified="release") as made:
        yield made


def dumped(thing: Any) -> str:
    """All that a thing says, however it is looked at."""
    said = [repr(thing), str(thing)]
    if hasattr(thing, "model_dump_json"):
        said.append(thing.model_dump_json(warnings=False))
    return " ".join(said)


def clients(loopback: Any) -> tuple[openai.AsyncOpenAI, openai.OpenAI]:
    options = {"api_key": "none", "base_url": f"{loopback.url}/v1", "max_retries": 0}
    return openai.AsyncOpenAI(**options), openai.OpenAI(**options)


async def openai_chat(loopback, verifier):
    loopback.script(answer_frames([ANSWER], 3, logprobs=True), seed=3)
    loopback.whole = completion(ANSWER)
    asked = {"model": "m", "messages": []}
    later, now = clients(loopback)
    stream = await later.chat.completions.create(**asked, stream=True)
    async with verify_stream(stream, PASSAGES, verifier=verifier) as chunks:
        told = [chunk async for chunk in chunks]
    yield told, "".join(c.choices[0].delta.content or "" for c in told if c.choices)
    wrapped = wrap_client(now, passages=PASSAGES, verifier=verifier)
    with wrapped.chat.completions.create(**asked, stream=True) as chunks:
        told = list(chunks)
    yield told, "".join(c.choices[0].delta.content or "" for c in told if c.choices)
    answer = wrapped.with_options(timeout=9).chat.completions.create(**asked)
    yield [answer], answer.choices[0].message.content
    awrapped = wrap_client(later, passages=PASSAGES, verifier=verifier)
    answer = await awrapped.chat.completions.create(**asked)
    yield [answer], answer.choices[0].message.content
    async with awrapped.chat.completions.stream(**asked) as helper:
        told = [event async for event in helper]
        final = await helper.get_final_completion()
    yield [*told, final], final.choices[0].message.content
    now.close()
    await later.close()


async def openai_responses(loopback, verifier):
    frames = response_frames([ANSWER], 3)
    loopback.script(frames, seed=3)
    loopback.whole = frames[-1]["response"]
    asked = {"model": "m", "input": "q"}
    later, now = clients(loopback)
    with verify_stream(now.responses.create(**asked, stream=True), PASSAGES, verifier=verifier) as events:
        told = list(events)
    yield told, told[-1].response.output_text
    wrapped = wrap_client(later, passages=PASSAGES, verifier=verifier)
    async with wrapped.responses.stream(**asked) as helper:
        told = [event async for event in helper]
        final = await helper.get_final_response()
    yield [*told, final], final.output_text
    answer = await wrapped.responses.create(**asked)
    yield [answer], answer.output_text
    now.close()
    await later.close()


async def anthropic_messages(loopback, verifier):
    loopback.script(message_frames([ANSWER[:30], (ANSWER[30:], 0)], 3), seed=3)
    async with anthropic.AsyncAnthropic(api_key="none", base_url=loopback.url, max_retries=0) as later:
        stream = await later.messages.create(**QUESTION, stream=True)
        async with verify_anthropic(stream, PASSAGES, verifier=verifier) as events:
            told = [event async for event in events]
        yield told, "".join(getattr(getattr(e, "delta", None), "text", "") for e in told)
        async with later.messages.stream(**QUESTION) as raw:
            helper = verify_messages(raw, PASSAGES, verifier=verifier)
            told = [event async for event in helper]
            final = await helper.get_final_message()
        yield [*told, final], "".join(block.text for block in final.content)
    with (
        anthropic.Anthropic(api_key="none", base_url=loopback.url, max_retries=0) as now,
        now.messages.stream(**QUESTION) as raw,
        verify_messages(raw, PASSAGES, verifier=verifier) as helper,
    ):
        yield [], "".join(helper.text_stream)


async def langchain_runnable(_, verifier):
    said = langchain_fakes.text_chain(*[ANSWER] * 4)
    chain = VerifiedRunnable(said, verifier=verifier)
    collector = ReportCollector()
    config = {"callbacks": [collector]}
    yield [], chain.invoke("q", config=config)
    yield [], await chain.ainvoke("q", config=config)
    yield [], "".join(chain.stream("q", config=config))
    events = [e async for e in chain.astream_events("q", version="v2", include_names=["VerifiedRunnable"])]
    shown = [e["data"]["chunk"] for e in events if e["event"] == "on_chain_stream"]
    assert len(collector.reports) == 3
    yield [*events, *collector.reports], "".join(shown)


async def langchain_model(_, verifier):
    said = langchain_fakes.model(*[ANSWER] * 6)
    chat = VerifiedChatModel(inner=said, verifier=verifier, passages=DOCUMENTS)
    listener = Listener()
    config = {"callbacks": [listener]}
    message = chat.invoke("q", config=config)
    yield [message], message.text
    message = await chat.ainvoke("q", config=config)
    yield [message], message.text
    chunks = list(chat.stream("q", config=config))
    yield chunks, "".join(chunk.text for chunk in chunks)
    chain = langchain_fakes.prompt() | chat | StrOutputParser()
    events = [e async for e in chain.astream_events("q", version="v2", config=config)]
    yield events, events[-1]["data"]["output"]
    stream = await chat.astream_events("q", version="v3", config=config)
    events = [event async for event in stream]
    yield [*events, *listener.told], await stream.text


async def langchain_handler(_, verifier):
    listener = Listener()
    async with GroundingCallbackHandler(verifier=verifier, custom_events=True) as handler:
        config = {"callbacks": [handler, listener]}
        await langchain_fakes.text_chain(ANSWER).ainvoke("q", config=config)
    told = [one for one in listener.told if one[0].startswith("streamverify.")]
    assert told
    yield told, SHOWN  # it only observes: its own events are all it tells


async def langgraph_agent(_, verifier):
    class Agent(type(langchain_fakes.model())):
        def bind_tools(self, tools, **kwargs):
            return self.bind(tools=tools, **kwargs)

    agent = create_agent(
        Agent(messages=iter([AIMessage(ANSWER)] * 2)),
        [],
        middleware=[GroundingMiddleware(verifier=verifier, passages=lambda _: PASSAGES)],
    )
    asked = {"messages": [("user", "Which?")]}
    state = await agent.ainvoke(asked)
    yield [state], state["messages"][-1].text
    modes = ["messages", "values", "updates", "custom"]
    told = [part async for part in agent.astream(asked, stream_mode=modes)]
    yield told, "".join(part[0].text for mode, part in told if mode == "messages")


async def langgraph_transformer(_, verifier):
    chat = langchain_fakes.model(ANSWER)

    async def answer(state):
        return {"messages": [await chat.ainvoke(state["messages"])]}

    graph = StateGraph(MessagesState).add_node("answer", answer).add_edge(START, "answer").compile()
    run = await graph.astream_events(
        {"messages": [("user", "Which?")]},
        version="v3",
        transformers=[GroundingTransformer.using(verifier=verifier, passages=PASSAGES)],
    )
    shown = []
    async for message in run.messages:
        shown += [text async for text in message.text]
    yield [verdict async for verdict in run.extensions["verdicts"]], "".join(shown)


async def llamaindex_query(_, verifier):
    told: list[Any] = []
    handler = GroundingEventHandler(told.append)
    get_dispatcher().add_event_handler(handler)
    try:
        for streaming in (False, True):
            inner = query_engine(scripted(text=ANSWER), streaming=streaming)
            engine = VerifyingQueryEngine(inner, verifier=verifier)
            response = engine.query("Which?")
            shown = "".join(response.response_gen) if streaming else response.response
            yield [response.metadata, response.source_nodes, told], shown
            later = await engine.aquery("Which?")
            if streaming:
                shown = "".join([piece async for piece in later.async_response_gen()])
                yield [later.metadata], shown
            else:
                yield [later], str(later)
    finally:
        get_dispatcher().event_handlers.remove(handler)


async def llamaindex_chat(_, verifier):
    for kind in (ContextChatEngine, CondenseQuestionChatEngine):
        llm, memory = scripted(text=ANSWER), ChatMemoryBuffer.from_defaults(tokenizer_fn=str.split)
        inner = (
            ContextChatEngine(Nodes(), llm, memory, [])
            if kind is ContextChatEngine
            else CondenseQuestionChatEngine.from_defaults(
                query_engine(llm, streaming=False), memory=memory, llm=llm
            )
        )
        engine = VerifyingChatEngine(inner, verifier=verifier)
        response = engine.chat("Which?")
        yield [response, response.sources, engine.chat_history], response.response
        engine.reset()
        response = await engine.achat("Which?")
        yield [response, response.sources, engine.chat_history], response.response
        if kind is ContextChatEngine:
            engine.reset()
            stream = await engine.astream_chat("Which?")
            shown = "".join([piece async for piece in stream.async_response_gen()])
            yield [stream.sources, engine.chat_history], shown


async def llamaindex_workflow(_, verifier):
    class Answering(Workflow):
        @step
        async def answer(self, context: Context, event: StartEvent) -> StopEvent:
            inner = query_engine(scripted(text=ANSWER), streaming=True)
            engine = VerifyingQueryEngine(inner, verifier=verifier, on_event=verdicts_to(context))
            response = await engine.aquery("Which?")
            return StopEvent(result="".join([piece async for piece in response.async_response_gen()]))

    run = Answering().run()
    told = [event async for event in run.stream_events()]
    yield told, await run


ADAPTERS = [
    openai_chat,
    openai_responses,
    anthropic_messages,
    langchain_runnable,
    langchain_model,
    langchain_handler,
    langgraph_agent,
    langgraph_transformer,
    llamaindex_query,
    llamaindex_chat,
    llamaindex_workflow,
]


@pytest.mark.parametrize("adapter", ADAPTERS, ids=lambda adapter: adapter.__name__)
async def test_neither_what_was_rejected_nor_what_an_error_says_gets_out(loopback, verifier, adapter):
    async for told, shown in adapter(loopback, verifier):
        assert shown.strip() == SHOWN
        said = dumped(told) + "".join(map(dumped, told))
        assert REJECTED not in said
        for secret in SECRETS:
            assert secret not in said
