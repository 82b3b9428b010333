"""Keeps an answer out of a chat engine's memory until it is known what of it was released.

Before: `chat.py` lends one to the engine for one call.
After: the engine's own memory gets what the reader got.

An engine writes its answer to its memory by itself, in a thread or a task, and does not say when: the message
may come before the reader has read the last of it, or after he has left.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import anyio
from llama_index.core.base.llms.types import ChatMessage, MessageRole, TextBlock
from llama_index.core.memory import BaseMemory

SECONDS = 5.0
"""How long a memory may take to write an answer whose reader was cancelled."""


class Held:
    """A memory for one call of an engine; everything but the answer reaches the engine's own at once."""

    def __init__(self, memory: BaseMemory | None) -> None:
        """Nothing is held; without a memory nothing ever is."""
        self._memory = memory
        self._lock = threading.Lock()
        self._answer: ChatMessage | None = None
        self._released: str | None = None

    def __getattr__(self, name: str) -> Any:
        """Whatever else an engine wants of its memory."""
        return getattr(self._memory, name)

    def put(self, message: ChatMessage) -> None:
        """Write a message, or hold it."""
        if (kept := self._taken(message)) is not None and self._memory is not None:
            self._memory.put(kept)

    async def aput(self, message: ChatMessage) -> None:
        """Write a message, or hold it."""
        if (kept := self._taken(message)) is not None and self._memory is not None:
            await self._memory.aput(kept)

    def put_messages(self, messages: Sequence[ChatMessage]) -> None:
        """Write messages, or hold them."""
        for message in messages:
            self.put(message)

    async def aput_messages(self, messages: Sequence[ChatMessage]) -> None:
        """Write messages, or hold them."""
        for message in messages:
            await self.aput(message)

    def settle(self, released: str) -> None:
        """Write the answer as far as it was released; nothing where that is blank."""
        if (kept := self._settled(released)) is not None and self._memory is not None:
            self._memory.put(kept)

    async def asettle(self, released: str) -> None:
        """Write the answer as far as it was released, even when the reader was cancelled."""
        if (kept := self._settled(released)) is not None and self._memory is not None:
            with anyio.move_on_after(SECONDS, shield=True):
                await self._memory.aput(kept)

    def _taken(self, message: ChatMessage) -> ChatMessage | None:
        if message.role != MessageRole.ASSISTANT or not message.content:
            return message
        with self._lock:
            if self._released is None:
                self._answer = message
                return None
            return _saying(message, self._released)

    def _settled(self, released: str) -> ChatMessage | None:
        with self._lock:
            self._released = released
            answer, self._answer = self._answer, None
        return _saying(answer, released) if answer is not None else None


def _saying(message: ChatMessage, text: str) -> ChatMessage | None:
    """The message with this text in place of its own; None where there is none."""
    said = text.strip()
    if message.content is not None and message.content.strip() == said:
        return message
    if not said:
        return None
    others = [block for block in message.blocks if not isinstance(block, TextBlock)]
    return message.model_copy(update={"blocks": [TextBlock(text=said), *others]})
