"""A model that says a little and then falls silent or fails, in each framework's own clothes."""

from __future__ import annotations

import threading
from collections.abc import AsyncGenerator, Generator
from contextlib import aclosing, closing
from typing import Any

import anyio
from langchain_core.language_models import BaseChatModel
from langchain_core.language_models.chat_models import generate_from_stream
from langchain_core.messages import AIMessageChunk
from langchain_core.outputs import ChatGenerationChunk
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, CompletionResponse, LLMMetadata
from llama_index.core.llms import CustomLLM
from llama_index.core.llms.callbacks import llm_chat_callback, llm_completion_callback

SENTENCE = "The mill was built in 1804. "
SAID = 6
"""Sentences before the model falls silent or fails."""


class ModelBroke(Exception):  # noqa: N818 - what happened
    """The model's own error."""


class Talk:
    """What one model says, and whether anybody still listens."""

    def __init__(self, *, fails: bool, talks_on: bool = False) -> None:
        self.fails, self.talks_on = fails, talks_on
        self.open = False
        self.closed = threading.Event()
        self.go_on = threading.Event()
        """Set, a synchronous model goes on: nothing can interrupt the step it is in."""

    def texts(self) -> Generator[str, None, None]:
        """Sentences for a reader that is no coroutine."""
        self.open = True
        try:
            for _ in range(SAID):
                yield SENTENCE
            self._fail()
            self.go_on.wait(20)
            for _ in range(1000):
                self.closed.wait(0.001)  # a model takes its time, in which whoever reads it gets a turn
                yield SENTENCE
        except (GeneratorExit, ModelBroke):  # not at its own end
            self.closed.set()
            raise
        finally:
            self.open = False

    async def atexts(self) -> AsyncGenerator[str, None]:
        """Sentences for a coroutine."""
        self.open = True
        try:
            for _ in range(SAID):
                await anyio.lowlevel.checkpoint()
                yield SENTENCE
            self._fail()
            while self.talks_on:
                await anyio.lowlevel.checkpoint()
                yield SENTENCE
            await anyio.sleep_forever()
        finally:
            self.open = False
            self.closed.set()

    def _fail(self) -> None:
        if self.fails:
            raise ModelBroke


class LangChainModel(BaseChatModel):
    """Says it to LangChain."""

    talk: Any

    @property
    def _llm_type(self) -> str:
        return "talk"

    def _generate(self, *args: Any, **kwargs: Any) -> Any:
        return generate_from_stream(self._stream(*args, **kwargs))

    def _stream(self, *args: Any, **kwargs: Any) -> Generator[ChatGenerationChunk, None, None]:
        with closing(self.talk.texts()) as texts:
            for text in texts:
                yield ChatGenerationChunk(message=AIMessageChunk(content=text))

    async def _astream(self, *args: Any, **kwargs: Any) -> AsyncGenerator[ChatGenerationChunk, None]:
        async with aclosing(self.talk.atexts()) as texts:
            async for text in texts:
                yield ChatGenerationChunk(message=AIMessageChunk(content=text))


class LlamaIndexModel(CustomLLM):
    """Says it to LlamaIndex."""

    talk: Any

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata()

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **_: Any) -> CompletionResponse:
        return CompletionResponse(text="Which mill?")  # the engines that put the question anew ask this

    @llm_completion_callback()
    def stream_complete(self, prompt: str, formatted: bool = False, **_: Any) -> Any:
        return (CompletionResponse(text=text, delta=text) for text in self.talk.texts())

    @llm_completion_callback()
    async def astream_complete(self, prompt: str, formatted: bool = False, **_: Any) -> Any:
        return (CompletionResponse(text=text, delta=text) async for text in self.talk.atexts())

    @llm_chat_callback()
    async def astream_chat(self, messages: Any, **_: Any) -> Any:
        return (
            ChatResponse(message=ChatMessage(text, role="assistant"), delta=text)
            async for text in self.talk.atexts()
        )
