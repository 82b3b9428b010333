"""One answer through each adapter, and the same by hand: the framework's own stream read into the bare core.

A way is made ready outside the clock (chunks built, engines put together) and gives the run to be timed.
Frameworks are the real ones; what stands in for a model yields prepared pieces at a given pace.
"""

from __future__ import annotations

import threading
import time
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import anyio.to_thread

from streamverify import Passage, Policy, VerifiedSyncPieces, Verifier
from workloads import paced

QUESTION = "What do the sources say?"


@dataclass(frozen=True, slots=True)
class Setting:
    """What is to be verified, and how."""

    verifier: Verifier
    pieces: Sequence[str]
    sources: Sequence[Passage]
    policy: Policy
    rate: float | None
    """Pieces a second; None for as fast as they are taken."""


Run = Callable[[], Awaitable[None]]
Way = Callable[[Setting], Run]


class Adapter(NamedTuple):
    """The two ways that are compared."""

    name: str
    by_hand: Way
    adapted: Way


async def read(items: AsyncIterable[object]) -> None:
    """To the end."""
    async for _ in items:
        pass


async def into_core(setting: Setting, texts: AsyncIterable[str]) -> None:
    """What somebody without the adapter would write."""
    async with setting.verifier.stream(texts, setting.sources, policy=setting.policy) as stream:
        await read(stream.text())


async def in_step(chunks: Sequence[Any], setting: Setting) -> AsyncIterator[Any]:
    """The chunks at the pace their pieces would have."""
    remaining = iter(chunks)
    async for _ in paced(setting.pieces, setting.rate):
        yield next(remaining)


def in_step_sync(items: Sequence[Any], setting: Setting) -> Iterator[Any]:
    """Likewise, for code without an event loop."""
    wait, start = threading.Event().wait, time.perf_counter()
    for index, item in enumerate(items):
        if setting.rate is not None:
            wait(max(start + (index + 1) / setting.rate - time.perf_counter(), 0))
        yield item


def core(setting: Setting) -> Run:
    """The bare core on the bare pieces."""
    return lambda: into_core(setting, paced(setting.pieces, setting.rate))


def core_sync(setting: Setting, texts: Iterable[str]) -> Run:
    """The bare core's synchronous handle."""

    def run() -> None:
        stream = setting.verifier.stream(texts, setting.sources, policy=setting.policy)
        for _ in VerifiedSyncPieces(stream, setting.verifier):
            pass

    return lambda: anyio.to_thread.run_sync(run)


def chat_chunks(setting: Setting) -> list[Any]:
    from openai.types.chat import ChatCompletionChunk

    def made(piece: str) -> ChatCompletionChunk:
        choice = {"index": 0, "delta": {"content": piece}, "finish_reason": None}
        base = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "m"}
        return ChatCompletionChunk.model_validate({**base, "choices": [choice]})

    return [made(piece) for piece in setting.pieces]


def chat_by_hand(setting: Setting) -> Run:
    chunks = chat_chunks(setting)
    return lambda: into_core(
        setting, (chunk.choices[0].delta.content async for chunk in in_step(chunks, setting))
    )


def chat_adapted(setting: Setting) -> Run:
    from streamverify_openai import verify_stream

    chunks = chat_chunks(setting)
    verifier, policy = setting.verifier, setting.policy

    async def run() -> None:
        source = in_step(chunks, setting)
        async with verify_stream(source, setting.sources, verifier=verifier, policy=policy) as stream:
            await read(stream)

    return run


def chat_sync_by_hand(setting: Setting) -> Run:
    chunks = chat_chunks(setting)
    return core_sync(setting, (chunk.choices[0].delta.content for chunk in in_step_sync(chunks, setting)))


def chat_sync_adapted(setting: Setting) -> Run:
    from streamverify_openai import verify_stream

    chunks = chat_chunks(setting)
    verifier, policy = setting.verifier, setting.policy

    def run() -> None:
        source = in_step_sync(chunks, setting)
        with verify_stream(source, setting.sources, verifier=verifier, policy=policy) as stream:
            for _ in stream:
                pass

    return lambda: anyio.to_thread.run_sync(run)


def response_events(setting: Setting) -> list[Any]:
    from openai.types.responses import ResponseTextDeltaEvent

    place: dict[str, Any] = {"item_id": "i", "output_index": 0, "content_index": 0, "logprobs": []}
    return [
        ResponseTextDeltaEvent(
            type="response.output_text.delta", delta=piece, sequence_number=number, **place
        )
        for number, piece in enumerate(setting.pieces)
    ]


def responses_by_hand(setting: Setting) -> Run:
    events = response_events(setting)
    return lambda: into_core(setting, (event.delta async for event in in_step(events, setting)))


def responses_adapted(setting: Setting) -> Run:
    from streamverify_openai import verify_stream

    events = response_events(setting)
    verifier, policy = setting.verifier, setting.policy

    async def run() -> None:
        source = in_step(events, setting)
        async with verify_stream(source, setting.sources, verifier=verifier, policy=policy) as stream:
            await read(stream)

    return run


def message_events(setting: Setting) -> list[Any]:
    from anthropic.types import RawContentBlockDeltaEvent, TextDelta

    deltas = [TextDelta(type="text_delta", text=piece) for piece in setting.pieces]
    return [RawContentBlockDeltaEvent(type="content_block_delta", index=0, delta=delta) for delta in deltas]


def messages_by_hand(setting: Setting) -> Run:
    events = message_events(setting)
    return lambda: into_core(setting, (event.delta.text async for event in in_step(events, setting)))


def messages_adapted(setting: Setting) -> Run:
    from streamverify_anthropic import verify_stream

    events = message_events(setting)
    verifier, policy = setting.verifier, setting.policy

    async def run() -> None:
        source = in_step(events, setting)
        async with verify_stream(source, setting.sources, verifier=verifier, policy=policy) as stream:
            await read(stream)

    return run


def langchain_model(setting: Setting) -> Any:
    from langchain_core.language_models import GenericFakeChatModel
    from langchain_core.messages import AIMessageChunk
    from langchain_core.outputs import ChatGenerationChunk

    class Paced(GenericFakeChatModel):
        """The framework's fake, saying the pieces in step."""

        async def _astream(self, *_: Any, **__: Any) -> AsyncIterator[ChatGenerationChunk]:
            async for piece in paced(setting.pieces, setting.rate):
                yield ChatGenerationChunk(message=AIMessageChunk(content=piece))

    return Paced(messages=iter(()))


def langchain_chain(setting: Setting) -> Any:
    from langchain_core.output_parsers import StrOutputParser

    return langchain_model(setting) | StrOutputParser()


def chain_by_hand(setting: Setting) -> Run:
    chain = langchain_chain(setting)
    return lambda: into_core(setting, chain.astream(QUESTION))


def runnable_by_hand(setting: Setting) -> Run:
    """A step of the chain, as the adapter is one: what it costs to be a step is LangChain's."""
    from langchain_core.runnables import RunnableGenerator

    async def checked(texts: AsyncIterator[str]) -> AsyncIterator[str]:
        async with setting.verifier.stream(texts, setting.sources, policy=setting.policy) as stream:
            async for text in stream.text():
                yield text

    chain = langchain_chain(setting) | RunnableGenerator(checked)
    return lambda: read(chain.astream(QUESTION))


def runnable_adapted(setting: Setting) -> Run:
    from streamverify_langchain import VerifiedRunnable

    chain = VerifiedRunnable(
        langchain_chain(setting), verifier=setting.verifier, policy=setting.policy, passages=setting.sources
    )
    return lambda: read(chain.astream(QUESTION))


def chat_model_by_hand(setting: Setting) -> Run:
    model = langchain_model(setting)
    return lambda: into_core(setting, (chunk.text async for chunk in model.astream(QUESTION)))


def chat_model_adapted(setting: Setting) -> Run:
    from streamverify_langchain import VerifiedChatModel

    model = VerifiedChatModel(
        inner=langchain_model(setting),
        verifier=setting.verifier,
        policy=setting.policy,
        passages=setting.sources,
    )
    return lambda: read(model.astream(QUESTION))


def handler_adapted(setting: Setting) -> Run:
    from streamverify_langchain import GroundingCallbackHandler

    chain = langchain_chain(setting)

    async def run() -> None:
        handler = GroundingCallbackHandler(
            verifier=setting.verifier, policy=setting.policy, passages=setting.sources
        )
        async with handler:
            await read(chain.astream(QUESTION, {"callbacks": [handler]}))

    return run


def llamaindex_engine(setting: Setting) -> Any:
    from llama_index.core import get_response_synthesizer
    from llama_index.core.base.llms.types import CompletionResponse
    from llama_index.core.llms import MockLLM
    from llama_index.core.query_engine import RetrieverQueryEngine
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

    class Paced(MockLLM):
        """The framework's mock, saying the pieces in step."""

        async def astream_complete(self, *_: Any, **__: Any) -> Any:
            async def deltas() -> AsyncIterator[CompletionResponse]:
                whole = ""
                async for piece in paced(setting.pieces, setting.rate):
                    whole += piece
                    yield CompletionResponse(text=whole, delta=piece)

            return deltas()

        def stream_complete(self, *_: Any, **__: Any) -> Any:
            def deltas() -> Iterator[CompletionResponse]:
                whole = ""
                for piece in in_step_sync(setting.pieces, setting):
                    whole += piece
                    yield CompletionResponse(text=whole, delta=piece)

            return deltas()

    class Sources(BaseRetriever):
        def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:  # noqa: ARG002 - the base's signature
            nodes = (TextNode(id_=source.id, text=source.text) for source in setting.sources)
            return [NodeWithScore(node=node) for node in nodes]

    synthesizer = get_response_synthesizer(llm=Paced(), streaming=True, use_async=True)
    return RetrieverQueryEngine(retriever=Sources(), response_synthesizer=synthesizer)


def query_by_hand(setting: Setting) -> Run:
    engine = llamaindex_engine(setting)

    async def run() -> None:
        response = await engine.aquery(QUESTION)
        await into_core(setting, response.async_response_gen())

    return run


def query_adapted(setting: Setting) -> Run:
    from streamverify_llamaindex import VerifyingQueryEngine

    engine = VerifyingQueryEngine(
        llamaindex_engine(setting), verifier=setting.verifier, policy=setting.policy
    )

    async def run() -> None:
        response = await engine.aquery(QUESTION)
        await read(response.async_response_gen())

    return run


async def answered(app: Any) -> None:
    """One request to an application, whose frames are dropped."""
    scope: dict[str, Any] = {"type": "http", "method": "GET", "path": "/", "headers": []}

    async def send(message: object) -> None:
        """A reader that is never behind."""

    async def receive() -> Any:
        await anyio.sleep_forever()

    await app(scope, receive, send)


def sse_by_hand(setting: Setting) -> Run:
    from sse_starlette import EventSourceResponse, ServerSentEvent

    async def frames() -> AsyncIterator[ServerSentEvent]:
        source = paced(setting.pieces, setting.rate)
        async with setting.verifier.stream(source, setting.sources, policy=setting.policy) as stream:
            async for event in stream:
                yield ServerSentEvent(event.model_dump_json(), event=event.kind, id=str(event.seq))

    return lambda: answered(EventSourceResponse(frames()))


def sse_adapted(setting: Setting) -> Run:
    from streamverify.server import sse_response

    async def run() -> None:
        source = paced(setting.pieces, setting.rate)
        stream = setting.verifier.stream(source, setting.sources, policy=setting.policy)
        await answered(sse_response(stream, "streamverify"))

    return run


ADAPTERS = (
    Adapter("OpenAI chat", chat_by_hand, chat_adapted),
    Adapter("OpenAI chat, synchronous", chat_sync_by_hand, chat_sync_adapted),
    Adapter("OpenAI Responses", responses_by_hand, responses_adapted),
    Adapter("Anthropic messages", messages_by_hand, messages_adapted),
    Adapter("LangChain VerifiedRunnable", runnable_by_hand, runnable_adapted),
    Adapter("LangChain VerifiedChatModel", chat_model_by_hand, chat_model_adapted),
    Adapter("LangChain GroundingCallbackHandler", chain_by_hand, handler_adapted),
    Adapter("LlamaIndex query engine", query_by_hand, query_adapted),
    Adapter("SSE, streamverify protocol", sse_by_hand, sse_adapted),
)
