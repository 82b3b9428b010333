"""Streams that only look like OpenAI's, as LiteLLM's do: other classes, the same attributes."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict

from streamverify import Flag, Label, Redact, Verifier
from streamverify.testing import ScriptedScorer, pieces
from streamverify_openai import verify_stream

pytestmark = pytest.mark.anyio

PASSAGES = ["The mill was built in 1804."]
TEXT = "The mill was built in 1804. The wrong wheel turns. Barley is ground"


class Open(BaseModel):
    """LiteLLM's base: pydantic, open to any field."""

    model_config = ConfigDict(extra="allow", protected_namespaces=())


class Delta(Open):
    content: str | None = None
    role: str | None = None
    tool_calls: list[Any] | None = None
    provider_specific_fields: dict[str, Any] | None = None


class StreamingChoices(Open):
    finish_reason: str | None = None
    index: int = 0
    delta: Delta
    logprobs: Any = None


class ModelResponseStream(Open):
    id: str = "chatcmpl-1"
    choices: list[StreamingChoices]
    usage: Any = None


class CustomStreamWrapper:
    """Iterates both ways and closes in neither of the SDK's ways."""

    def __init__(self, chunks):
        self._chunks = iter(chunks)
        self.closed = False

    def __aiter__(self):
        return self

    async def __anext__(self):
        try:
            return next(self._chunks)
        except StopIteration:
            raise StopAsyncIteration from None

    async def aclose(self):
        self.closed = True


def chunk(finish=None, **delta):
    return ModelResponseStream(choices=[StreamingChoices(delta=Delta(**delta), finish_reason=finish)])


def chunks():
    parts = [part for part in pieces(TEXT, 3) if part]
    first, last = chunk(role="assistant", content=parts[0]), chunk("stop")
    thought = chunk(reasoning_content="Let me see.")
    return [first, thought, *(chunk(content=part) for part in parts[1:]), last]


async def test_a_redacted_stream_keeps_its_classes_and_its_other_fields():
    source = CustomStreamWrapper(chunks())
    async with Verifier(ScriptedScorer({"wrong": Label.CONTRADICTED})) as verifier:
        stream = verify_stream(source, PASSAGES, verifier=verifier, policy=Redact(placeholder="▮"))
        got = [chunk async for chunk in stream]
    assert {type(one) for one in got} == {ModelResponseStream}
    assert (
        "".join(one.choices[0].delta.content or "" for one in got)
        == "The mill was built in 1804. ▮ Barley is ground"
    )
    assert got[0].choices[0].delta.role == "assistant"
    thoughts = [getattr(one.choices[0].delta, "reasoning_content", None) for one in got]
    assert not any(thoughts)  # nobody has judged them
    assert got[-1].choices[0].finish_reason == "stop"
    assert source.closed


async def test_a_flagged_stream_passes_the_very_chunks():
    came = chunks()
    async with Verifier(ScriptedScorer({"wrong": Label.CONTRADICTED})) as verifier:
        stream = verify_stream(CustomStreamWrapper(came), PASSAGES, verifier=verifier, policy=Flag())
        got = [chunk async for chunk in stream]
    assert len(got) == len(came)
    assert all(one is other for one, other in zip(got, came, strict=True))
    assert stream.reports[0].counts[Label.CONTRADICTED] == 1
