"""Who asks reaches observers through every adapter, from `stream_context` around the call.

So does the span that is current there, which becomes the parent of the stream's own.
"""

from __future__ import annotations

from contextlib import contextmanager

import anthropic
import anyio
import openai
import pytest
from langchain_core.documents import Document
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnablePassthrough
from llama_index.core.chat_engine import ContextChatEngine
from llama_index.core.memory import ChatMemoryBuffer
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from test_anthropic import QUESTION, message_frames
from test_openai_chat import TEXT, answer_frames

from streamverify import Observer, UsageError, Verifier, retrieved, stream_context, verified
from streamverify.monitor import OpenTelemetryObserver
from streamverify.provenance import provenance_of
from streamverify.testing import ScriptedScorer
from streamverify_anthropic import verify_messages
from streamverify_langchain import VerifiedChatModel, VerifiedRunnable
from streamverify_llamaindex import VerifyingChatEngine, VerifyingQueryEngine
from streamverify_openai import wrap_client
from tests.integrations import langchain_fakes, llamaindex_fakes

ASKED = {"user": "ann", "roles": ["hr"], "domain": "company_expert"}


class Remembers(Observer):
    def __init__(self):
        self.users, self.scores = [], {}
        self.exporter, self.provider = InMemorySpanExporter(), TracerProvider()
        self.provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.parents = []

    def retrieved(self, stream, passages):
        self.scores |= {passage.id: provenance_of(passage).score for passage in passages}

    def opened(self, opening):
        self.retrieved(opening.stream, opening.passages)
        self.users.append((opening.context.user, *opening.context.roles, opening.context.domain))

    @contextmanager
    def asking(self):
        """A request of the application, with its span."""
        with (
            self.provider.get_tracer("application").start_as_current_span("request") as span,
            stream_context(ASKED),
        ):
            yield
        self.parents.append(span.get_span_context().span_id)


@pytest.fixture
def observer():
    return Remembers()


@pytest.fixture
def observed(observer):
    traces = OpenTelemetryObserver(observer.provider)
    with Verifier(ScriptedScorer(), observers=[observer, traces]) as made:
        yield made


def seen(verifier, observer):
    assert verifier.drain_observers(50)
    spans = observer.exporter.get_finished_spans()
    streams = [span for span in spans if span.name == "streamverify.stream"]
    calls = len(observer.users) // len(observer.parents)  # of each request
    expected = [parent for parent in observer.parents for _ in range(calls)]
    assert [span.parent.span_id for span in streams] == expected
    return observer.users


EXPECTED = ("ann", "hr", "company_expert")


@pytest.mark.anyio
async def test_through_decorated_functions(observed, observer):
    @verified(verifier=observed)
    async def pieces():
        retrieved(["The mill grinds."])
        yield "The mill grinds."

    @verified(verifier=observed)
    def whole():
        retrieved(["The mill grinds."])
        return "The mill grinds."

    with observer.asking():
        assert [piece async for piece in pieces()] == ["The mill grinds."]
    with observer.asking():
        await anyio.to_thread.run_sync(whole)
    assert await anyio.to_thread.run_sync(seen, observed, observer) == [EXPECTED] * 2


@pytest.mark.anyio
async def test_through_an_asynchronous_openai_client(loopback, observed, observer):
    async with openai.AsyncOpenAI(api_key="none", base_url=f"{loopback.url}/v1", max_retries=0) as client:
        wrapped = wrap_client(client, passages=["The mill grinds."], verifier=observed)
        loopback.script(answer_frames([TEXT], 1), seed=1)
        with observer.asking():
            async with await wrapped.chat.completions.create(model="m", messages=[], stream=True) as stream:
                async for _ in stream:
                    pass
    assert await anyio.to_thread.run_sync(seen, observed, observer) == [EXPECTED]


def test_through_a_synchronous_openai_client(loopback, observed, observer):
    with openai.OpenAI(api_key="none", base_url=f"{loopback.url}/v1", max_retries=0) as client:
        wrapped = wrap_client(client, passages=["The mill grinds."], verifier=observed)
        loopback.script(answer_frames([TEXT], 1), seed=1)
        with (
            observer.asking(),
            wrapped.chat.completions.create(model="m", messages=[], stream=True) as stream,
        ):
            list(stream)
    assert seen(observed, observer) == [EXPECTED]


def test_through_a_synchronous_chain_of_langchain(observed, observer):
    answers = [langchain_fakes.ANSWER] * 2
    chat = VerifiedChatModel(
        inner=langchain_fakes.model(*answers), passages=langchain_fakes.DOCUMENTS, verifier=observed
    )
    with observer.asking():
        chat.invoke("q")
        list(chat.stream("q"))
    assert seen(observed, observer) == [EXPECTED] * 2


@pytest.mark.anyio
async def test_through_an_asynchronous_chain_of_langchain(observed, observer):
    answers = [langchain_fakes.ANSWER] * 2
    chat = VerifiedChatModel(
        inner=langchain_fakes.model(*answers), passages=langchain_fakes.DOCUMENTS, verifier=observed
    )
    with observer.asking():
        await chat.ainvoke("q")
        async for _ in chat.astream("q"):
            pass
    assert await anyio.to_thread.run_sync(seen, observed, observer) == [EXPECTED] * 2


@pytest.mark.parametrize("streaming", [False, True])
def test_through_a_query_engine_of_llamaindex(observed, observer, streaming):
    inner = llamaindex_fakes.query_engine(llamaindex_fakes.scripted(), streaming=streaming)
    with observer.asking():
        response = VerifyingQueryEngine(inner, verifier=observed).query("q")
        "".join(response.response_gen if streaming else ())
    assert seen(observed, observer) == [EXPECTED]


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # LlamaIndex knows no other loop
@pytest.mark.parametrize("streaming", [False, True])
async def test_through_an_asynchronous_query_engine_of_llamaindex(observed, observer, streaming):
    inner = llamaindex_fakes.query_engine(llamaindex_fakes.scripted(), streaming=streaming)
    with observer.asking():
        response = await VerifyingQueryEngine(inner, verifier=observed).aquery("q")
        if streaming:
            assert [piece async for piece in response.async_response_gen()]
    assert await anyio.to_thread.run_sync(seen, observed, observer) == [EXPECTED]
    assert observer.scores == {"n1": 0.9, "n2": 0.9}


def chat_engine(observed):
    memory = ChatMemoryBuffer.from_defaults(token_limit=100_000, tokenizer_fn=str.split)
    inner = ContextChatEngine.from_defaults(
        retriever=llamaindex_fakes.Nodes(),
        llm=llamaindex_fakes.scripted(),
        memory=memory,
    )
    return VerifyingChatEngine(inner, verifier=observed)


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_through_a_chat_engine_of_llamaindex(observed, observer):
    with observer.asking():
        chat_engine(observed).chat("q")  # here, since outside of a loop it leaves one of its own unclosed
    with observer.asking():
        await chat_engine(observed).achat("q")
    with observer.asking():
        response = await chat_engine(observed).astream_chat("q")
        assert [piece async for piece in response.async_response_gen()]
    assert await anyio.to_thread.run_sync(seen, observed, observer) == [EXPECTED] * 3
    assert observer.scores == {"n1": 0.9, "n2": 0.9}


SCORED = [
    Document(id="p1", page_content="Paris is the capital of France.", metadata={"score": 0.7}),
    Document(id="p2", page_content="The Seine flows through Paris.", metadata={"relevance_score": 0.2}),
]


class Scoring(langchain_fakes.Finder):
    def _get_relevant_documents(self, query, *, run_manager):
        return SCORED


def runnable(observed):
    asked = ChatPromptTemplate.from_template("{context}\n{question}")
    chain = (
        {"context": Scoring(), "question": RunnablePassthrough()} | asked | langchain_fakes.model(*ANSWERS)
    )
    return VerifiedRunnable(chain | StrOutputParser(), verifier=observed)


ANSWERS = [langchain_fakes.ANSWER] * 2


def test_through_a_chain_with_a_retriever(observed, observer):
    with observer.asking():
        runnable(observed).invoke("q")
        list(runnable(observed).stream("q"))
    assert seen(observed, observer) == [EXPECTED] * 2
    assert observer.scores == {"p1": 0.7, "p2": 0.2}


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_through_an_asynchronous_chain_with_a_retriever(observed, observer):
    with observer.asking():
        await runnable(observed).ainvoke("q")
        assert [piece async for piece in runnable(observed).astream("q")]
    assert await anyio.to_thread.run_sync(seen, observed, observer) == [EXPECTED] * 2
    assert observer.scores == {"p1": 0.7, "p2": 0.2}


@pytest.mark.anyio
async def test_through_the_asynchronous_helper_of_anthropic(loopback, observed, observer):
    loopback.script(message_frames([TEXT], 1), seed=1)
    client = anthropic.AsyncAnthropic(api_key="none", base_url=loopback.url, max_retries=0)
    with observer.asking():
        async with (
            client,
            client.messages.stream(**QUESTION) as raw,
            verify_messages(raw, SCORED, verifier=observed) as stream,
        ):
            assert await stream.get_final_text()
    assert await anyio.to_thread.run_sync(seen, observed, observer) == [EXPECTED]
    assert observer.scores == {"p1": 0.7, "p2": 0.2}


def test_through_the_synchronous_helper_of_anthropic(loopback, observed, observer):
    loopback.script(message_frames([TEXT], 1), seed=1)
    with (
        observer.asking(),
        anthropic.Anthropic(api_key="none", base_url=loopback.url, max_retries=0) as client,
        client.messages.stream(**QUESTION) as raw,
        verify_messages(raw, SCORED, verifier=observed) as stream,
    ):
        assert "".join(stream.text_stream)
    assert seen(observed, observer) == [EXPECTED]
    assert observer.scores == {"p1": 0.7, "p2": 0.2}


def test_through_openai_with_scores_of_the_retriever(loopback, observed, observer):
    passages = [{"id": "p1", "text": "The mill grinds.", "score": 0.4}]
    with openai.OpenAI(api_key="none", base_url=f"{loopback.url}/v1", max_retries=0) as client:
        wrapped = wrap_client(client, passages=passages, verifier=observed)
        loopback.script(answer_frames([TEXT], 1), seed=1)
        with (
            observer.asking(),
            wrapped.chat.completions.create(model="m", messages=[], stream=True) as stream,
        ):
            list(stream)
    assert seen(observed, observer) == [EXPECTED]
    assert observer.scores == {"p1": 0.4}


def test_a_context_ends_with_its_block_and_gives_way_to_a_nearer_one(observed, observer):
    with stream_context(ASKED):
        observed.check_sync("So.", ["So."], context={"user": "ben"})
        with stream_context({"user": "cem"}):
            observed.check_sync("So.", ["So."])
        observed.check_sync("So.", ["So."])
    observed.check_sync("So.", ["So."])
    assert observed.drain_observers(50)
    assert [user for user, *_ in observer.users] == ["ben", "cem", "ann", None]
    with pytest.raises(UsageError, match="usr"), stream_context({"usr": "x"}):
        pass
