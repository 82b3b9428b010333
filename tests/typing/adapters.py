"""Checked by mypy and pyright, never run: an adapter's user gets the provider's own types back."""

from collections.abc import AsyncIterator, Iterable
from typing import Any, assert_type

from anthropic import AsyncStream as AsyncMessages
from anthropic.lib.streaming import AsyncMessageStream, MessageStream
from anthropic.types import RawMessageStreamEvent
from openai import AsyncOpenAI, AsyncStream, OpenAI, Stream
from openai.types.chat import ChatCompletionChunk
from openai.types.responses import ResponseStreamEvent

import streamverify_anthropic
import streamverify_openai
from streamverify import Redact
from streamverify.adapters import Translator, VerifiedChunks, VerifiedSyncChunks, stream_verifier


async def chat(stream: AsyncStream[ChatCompletionChunk], whole: Stream[ChatCompletionChunk]) -> None:
    chunks = streamverify_openai.verify_stream(stream, ["text"], policy=Redact(), question="q")
    assert_type(chunks, VerifiedChunks[ChatCompletionChunk])
    async for chunk in chunks:
        assert_type(chunk, ChatCompletionChunk)
    assert_type(streamverify_openai.verify_stream(whole, []), VerifiedSyncChunks[ChatCompletionChunk])


def responses(stream: AsyncStream[ResponseStreamEvent], whole: Stream[ResponseStreamEvent]) -> None:
    assert_type(streamverify_openai.verify_stream(stream, []), VerifiedChunks[ResponseStreamEvent])
    assert_type(streamverify_openai.verify_stream(whole, []), VerifiedSyncChunks[ResponseStreamEvent])


def clients(client: AsyncOpenAI, other: OpenAI) -> None:
    assert_type(streamverify_openai.wrap_client(client, passages=[]), AsyncOpenAI)
    assert_type(streamverify_openai.wrap_client(other, passages=[]), OpenAI)


def messages(
    raw: AsyncMessages[RawMessageStreamEvent], helper: AsyncMessageStream[None], other: MessageStream[None]
) -> None:
    assert_type(streamverify_anthropic.verify_stream(raw, []), VerifiedChunks[RawMessageStreamEvent])
    verified = streamverify_anthropic.verify_messages(helper, [], policy=Redact())
    assert_type(verified, AsyncMessageStream[Any])
    assert_type(verified.text_stream, AsyncIterator[str])
    assert_type(streamverify_anthropic.verify_messages(other, []), MessageStream[Any])
    streamverify_anthropic.verification(verified).reports[0].released.upper()


def own(translator: type[Translator[bytes]], stream: Iterable[bytes]) -> None:
    verify_stream = stream_verifier(translator)
    assert_type(verify_stream(stream, []), VerifiedSyncChunks[bytes])
