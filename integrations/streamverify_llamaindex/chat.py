"""`VerifyingChatEngine`: a chat engine whose answers are verified."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import aclosing
from dataclasses import replace

from llama_index.core.base.llms.types import ChatMessage, ChatResponse, MessageRole
from llama_index.core.chat_engine.types import (
    AGENT_CHAT_RESPONSE_TYPE,
    BaseChatEngine,
    StreamingAgentChatResponse,
)

from streamverify import Policy, Verifier
from streamverify_llamaindex.verification import Checks, OnEvent, Verification


class VerifyingChatEngine(BaseChatEngine):
    """A chat engine, verified: use it as the engine itself.

    The engine's own memory, and so `chat_history`, keeps answers as generated; so do LlamaIndex's events.
    """

    def __init__(
        self,
        inner: BaseChatEngine,
        *,
        verifier: Verifier | None = None,
        policy: Policy | None = None,
        on_event: OnEvent | None = None,
    ) -> None:
        """Nothing is loaded yet.

        Args:
            inner: an engine whose responses name their source nodes.
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
        """The engine's, with answers as generated."""
        return self.inner.chat_history

    def chat(self, message: str, chat_history: list[ChatMessage] | None = None) -> AGENT_CHAT_RESPONSE_TYPE:
        """The engine's answer, verified."""
        response, found = self.inner.chat(message, chat_history), self._checks.begin()
        if isinstance(response, StreamingAgentChatResponse):
            return _streamed(response, message, found)
        shown = found.check(response.response, response.source_nodes, message)
        return found.on(replace(response, response=shown))

    async def achat(
        self, message: str, chat_history: list[ChatMessage] | None = None
    ) -> AGENT_CHAT_RESPONSE_TYPE:
        """The engine's answer, verified."""
        response, found = await self.inner.achat(message, chat_history), self._checks.begin()
        if isinstance(response, StreamingAgentChatResponse):
            return _astreamed(response, message, found)
        shown = await found.acheck(response.response, response.source_nodes, message)
        return found.on(replace(response, response=shown))

    def stream_chat(
        self, message: str, chat_history: list[ChatMessage] | None = None
    ) -> StreamingAgentChatResponse:
        """The engine's answer, verified while it streams."""
        return _streamed(self.inner.stream_chat(message, chat_history), message, self._checks.begin())

    async def astream_chat(
        self, message: str, chat_history: list[ChatMessage] | None = None
    ) -> StreamingAgentChatResponse:
        """The engine's answer, verified while it streams."""
        response = await self.inner.astream_chat(message, chat_history)
        return _astreamed(response, message, self._checks.begin())


def _streamed(
    response: StreamingAgentChatResponse, question: str, found: Verification
) -> StreamingAgentChatResponse:
    pieces = found.stream(response.response_gen, response.source_nodes, question)

    def deltas() -> Generator[ChatResponse, None, None]:
        try:
            for piece in pieces:
                yield _delta(piece)
        finally:
            pieces.close()

    return found.on(
        StreamingAgentChatResponse(
            chat_stream=deltas(),
            sources=response.sources,
            source_nodes=response.source_nodes,
            is_writing_to_memory=False,
        )
    )


def _astreamed(
    response: StreamingAgentChatResponse, question: str, found: Verification
) -> StreamingAgentChatResponse:
    pieces = found.astream(_tokens(response), response.source_nodes, question)

    async def deltas() -> AsyncGenerator[ChatResponse, None]:
        async with aclosing(pieces):
            async for piece in pieces:
                yield _delta(piece)

    return found.on(
        StreamingAgentChatResponse(
            achat_stream=deltas(),
            sources=response.sources,
            source_nodes=response.source_nodes,
            is_writing_to_memory=False,
        )
    )


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
