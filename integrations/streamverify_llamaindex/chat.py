"""`VerifyingChatEngine`: a chat engine whose answers are verified."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import AsyncGenerator, Generator
from contextlib import aclosing
from dataclasses import replace

from llama_index.core.base.llms.types import ChatMessage, ChatResponse, MessageRole
from llama_index.core.base.response.schema import StreamingResponse
from llama_index.core.chat_engine.types import (
    AGENT_CHAT_RESPONSE_TYPE,
    BaseChatEngine,
    StreamingAgentChatResponse,
)
from llama_index.core.memory import BaseMemory
from llama_index.core.schema import NodeWithScore

from streamverify import Verifier
from streamverify.adapters import PolicyLike
from streamverify_llamaindex.memory import Held
from streamverify_llamaindex.verification import Checks, OnEvent, Verification


class VerifyingChatEngine(BaseChatEngine):
    """A chat engine, verified: use it as the engine itself.

    The engine's memory, and so `chat_history` and what the model is shown of it, gets answers as far as they
    were released. LlamaIndex's events carry them as generated.
    """

    def __init__(
        self,
        inner: BaseChatEngine,
        *,
        verifier: Verifier | None = None,
        policy: PolicyLike | None = None,
        on_event: OnEvent | None = None,
    ) -> None:
        """Nothing is loaded yet.

        Args:
            inner: an engine whose responses name their source nodes. Each call runs on a copy of it with
                a memory of its own, so an engine that counts something in its attributes does so in vain.
            verifier: one for the whole process by default.
            policy: in place of the verifier's.
            on_event: told every event of every answer, in order, where the answer is read.
        """
        self.inner = inner
        self._checks = Checks(verifier, policy, on_event)

    def reset(self) -> None:
        """Forget the conversation."""
        self.inner.reset()

    @property
    def chat_history(self) -> list[ChatMessage]:
        """The engine's, with answers as far as they were released."""
        return self.inner.chat_history

    def chat(self, message: str, chat_history: list[ChatMessage] | None = None) -> AGENT_CHAT_RESPONSE_TYPE:
        """The engine's answer, verified."""
        engine, held = self._lent()
        response, found = engine.chat(message, chat_history), self._checks.begin()
        if isinstance(response, StreamingAgentChatResponse):
            return _streamed(response, message, found, held)
        shown = found.check(response.response, _nodes(response), message)
        held.settle(shown)
        return found.on(replace(response, response=shown, sources=found.sources(response.sources)))

    async def achat(
        self, message: str, chat_history: list[ChatMessage] | None = None
    ) -> AGENT_CHAT_RESPONSE_TYPE:
        """The engine's answer, verified."""
        engine, held = self._lent()
        response, found = await engine.achat(message, chat_history), self._checks.begin()
        if isinstance(response, StreamingAgentChatResponse):
            return _astreamed(response, message, found, held)
        shown = await found.acheck(response.response, _nodes(response), message)
        await held.asettle(shown)
        return found.on(replace(response, response=shown, sources=found.sources(response.sources)))

    def stream_chat(
        self, message: str, chat_history: list[ChatMessage] | None = None
    ) -> StreamingAgentChatResponse:
        """The engine's answer, verified while it streams."""
        engine, held = self._lent()
        return _streamed(engine.stream_chat(message, chat_history), message, self._checks.begin(), held)

    async def astream_chat(
        self, message: str, chat_history: list[ChatMessage] | None = None
    ) -> StreamingAgentChatResponse:
        """The engine's answer, verified while it streams."""
        engine, held = self._lent()
        response = await engine.astream_chat(message, chat_history)
        return _astreamed(response, message, self._checks.begin(), held)

    def _lent(self) -> tuple[BaseChatEngine, Held]:
        """The engine for one call, and the memory that call writes to."""
        memory = vars(self.inner).get("_memory")
        if not isinstance(memory, BaseMemory):
            return self.inner, Held(None)
        engine, held = copy.copy(self.inner), Held(memory)
        # Every engine of LlamaIndex keeps its memory there, and hands it to threads and tasks of its own.
        vars(engine)["_memory"] = held
        return engine, held


def _streamed(
    response: StreamingAgentChatResponse, question: str, found: Verification, held: Held
) -> StreamingAgentChatResponse:
    pieces = found.stream(_words(response), nodes := _nodes(response), question)

    def deltas() -> Generator[ChatResponse, None, None]:
        shown: list[str] = []
        try:
            for piece in pieces:
                shown.append(piece)
                yield _delta(piece)
        finally:
            pieces.close()
            held.settle("".join(shown))

    return found.on(
        StreamingAgentChatResponse(
            chat_stream=deltas(),
            sources=found.sources(response.sources),
            source_nodes=nodes,
            is_writing_to_memory=False,
        )
    )


def _astreamed(
    response: StreamingAgentChatResponse, question: str, found: Verification, held: Held
) -> StreamingAgentChatResponse:
    pieces = found.astream(_tokens(response), nodes := _nodes(response), question)

    async def deltas() -> AsyncGenerator[ChatResponse, None]:
        shown: list[str] = []
        try:
            async with aclosing(pieces):
                async for piece in pieces:
                    shown.append(piece)
                    yield _delta(piece)
        finally:
            await held.asettle("".join(shown))

    return found.on(
        StreamingAgentChatResponse(
            achat_stream=deltas(),
            sources=found.sources(response.sources),
            source_nodes=nodes,
            is_writing_to_memory=False,
        )
    )


def _nodes(response: AGENT_CHAT_RESPONSE_TYPE) -> list[NodeWithScore]:
    """What the answer was made from, which some engines tell of their tools' results alone."""
    if response.source_nodes:
        return response.source_nodes
    outputs = [tool.raw_output for tool in response.sources]
    return [node for output in outputs for node in getattr(output, "source_nodes", None) or ()]


def _words(response: StreamingAgentChatResponse) -> Generator[str, None, None]:
    """The engine's tokens; closing this ends the engine's thread, which would read the model to its end."""
    tokens = response.response_gen
    try:
        for token in tokens:  # noqa: UP028 - `yield from` would wait for the thread before it is told
            yield token
    finally:
        # Its one call that can be replaced from outside; it makes it for every token.
        vars(response)["put_in_queue"] = _leave
        tokens.close()
        outputs = [tool.raw_output for tool in response.sources]
        inner = [output.response_gen for output in outputs if isinstance(output, StreamingResponse)]
        for stream in (response.chat_stream, *inner):
            if stream is not None:
                stream.close()


def _leave(_token: str | None) -> None:
    """End the thread that calls this, silently."""
    raise SystemExit


async def _tokens(response: StreamingAgentChatResponse) -> AsyncGenerator[str, None]:
    """The engine's tokens; closing this ends the engine's task, which would read the model to its end."""
    async with aclosing(response.async_response_gen()) as tokens:
        try:
            async for token in tokens:
                yield token
        finally:
            task = response.awrite_response_to_history_task
            if task is not None and not task.done():
                task.cancel()
                await asyncio.wait([task])
                response.awrite_response_to_history_task = None


def _delta(text: str) -> ChatResponse:
    return ChatResponse(message=ChatMessage(role=MessageRole.ASSISTANT, content=text), delta=text)
