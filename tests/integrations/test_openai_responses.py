"""The Responses API through the real SDK: a text stands in its deltas and in four closing events."""

from __future__ import annotations

import json

import anyio
import openai
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openai.types.responses import ResponseErrorEvent

from streamverify import Flag, Halt, Observe, Redact
from streamverify.testing import pieces
from streamverify_openai import verify_stream

PASSAGES = [
    {"id": "mill", "text": "The mill was built in 1804.", "metadata": {"url": "https://mill.example"}},
    {"id": "geo.txt", "text": "Barley is ground in the mill."},
]
SENTENCES = [
    "The mill was built in 1804. ",
    "The wrong wheel turns slowly.\n",
    "The yard has an unknown owner. ",
    "Naïve café 🌾 barley is ground [1]. ",
    "水車は二つある。",
]
TEXT = "The mill was built in 1804. The wrong wheel turns slowly. Barley is ground there"


def response_frames(texts, seed=0, *, notes=(), call=True, deltas=True):
    """The events of one response: a message with a part for each text, then a function call."""
    frames = []

    def add(kind, **fields):
        frames.append({"type": kind, "sequence_number": len(frames), **fields})

    response = {
        "id": "r1", "object": "response", "created_at": 1, "model": "m", "output": [], "tools": [],
        "status": "in_progress", "parallel_tool_calls": True, "tool_choice": "auto",
    }  # fmt: skip
    message = {"id": "m1", "type": "message", "role": "assistant", "status": "in_progress", "content": []}
    add("response.created", response=response)
    add("response.output_item.added", output_index=0, item=message)
    parts = []
    for index, text in enumerate(texts):
        where = {"item_id": "m1", "output_index": 0, "content_index": index}
        empty = {"type": "output_text", "text": "", "annotations": []}
        add("response.content_part.added", **where, part=empty)
        for piece in filter(None, pieces(text, seed + index)) if deltas else ():
            add(
                "response.output_text.delta",
                **where,
                delta=piece,
                logprobs=[{"token": piece, "logprob": -0.1}],
            )
        for number, note in enumerate(notes):
            kind = "response.output_text.annotation.added"
            add(kind, **where, annotation_index=number, annotation=note)
        logprobs = [{"token": text, "logprob": -0.1, "bytes": [], "top_logprobs": []}]
        part = {"type": "output_text", "text": text, "annotations": list(notes), "logprobs": logprobs}
        add("response.output_text.done", **where, text=text, logprobs=[{"token": text, "logprob": -0.1}])
        add("response.content_part.done", **where, part=part)
        parts.append(part)
    message = {**message, "status": "completed", "content": parts}
    add("response.output_item.done", output_index=0, item=message)
    output = [message]
    if call:
        tool = {
            "id": "f1",
            "type": "function_call",
            "call_id": "c1",
            "name": "search",
            "arguments": "",
            "status": "in_progress",
        }
        add("response.output_item.added", output_index=1, item=tool)
        add("response.function_call_arguments.delta", item_id="f1", output_index=1, delta="{}")
        tool = {**tool, "arguments": "{}", "status": "completed"}
        add("response.output_item.done", output_index=1, item=tool)
        output.append(tool)
    add("response.completed", response={**response, "status": "completed", "output": output})
    return frames


async def events_of(loopback, verifier, policy, passages=PASSAGES):
    async with openai.AsyncOpenAI(api_key="none", base_url=f"{loopback.url}/v1", max_retries=0) as client:
        stream = await client.responses.create(model="m", input="q", stream=True)
        async with verify_stream(stream, passages, verifier=verifier, policy=policy) as verified:
            return [event async for event in verified], verified


def told(events, index):
    """A part's text as the deltas and as each of the four closing events tell it."""
    of_part = [e for e in events if getattr(e, "content_index", None) == index]
    yield "".join(e.delta for e in of_part if e.type == "response.output_text.delta")
    yield from (e.text for e in of_part if e.type == "response.output_text.done")
    yield from (e.part.text for e in of_part if e.type == "response.content_part.done")
    yield from (
        e.item.content[index].text
        for e in events
        if e.type == "response.output_item.done" and e.output_index == 0
    )
    yield from (e.response.output[0].content[index].text for e in events if e.type == "response.completed")


answers = st.lists(
    st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=4).map("".join), min_size=1, max_size=2
)


@pytest.mark.slow
@settings(max_examples=25)
@given(answers, st.integers(0, 999), st.sampled_from([Observe(), Flag(), Redact()]))
def test_all_five_tellings_of_a_text_agree_and_nothing_rejected_leaves(
    loopback, verifier, texts, seed, policy
):
    frames = response_frames(texts, seed)
    loopback.script(frames, seed=seed)
    events, verified = anyio.run(events_of, loopback, verifier, policy)
    for index, text in enumerate(texts):
        whole = verifier.check_sync(text, PASSAGES, policy=policy)
        assert list(told(events, index)) == [whole.released] * 5
        assert verified.reports[0, index].answer == text
    kinds = [event.type for event in events if event.type != "response.output_text.delta"]
    assert kinds == [frame["type"] for frame in frames if frame["type"] != "response.output_text.delta"]
    assert [e.sequence_number for e in events] == sorted(e.sequence_number for e in events)
    first = {frame["type"]: type(event) for frame, event in zip(frames[:3], events, strict=False)}
    assert len(set(first.values())) == 3
    if policy.holds_text:
        for event in events:
            assert "wrong" not in event.model_dump_json()
            assert "unknown" not in event.model_dump_json()
    else:
        assert [json.loads(event.model_dump_json(exclude_unset=True)) for event in events] == frames


@pytest.mark.anyio
async def test_a_text_without_deltas_is_checked_all_the_same(loopback, verifier):
    loopback.script(response_frames([TEXT], deltas=False))
    events, verified = await events_of(loopback, verifier, Redact())
    assert verified.reports[0, 0].answer == TEXT
    assert not [event for event in events if "wrong" in event.model_dump_json()]
    assert list(told(events, 0))[1:] == [verified.reports[0, 0].released] * 4


@pytest.mark.parametrize("policy", [Flag(), Redact()])
@pytest.mark.anyio
async def test_annotations_are_checked_and_follow_the_text(loopback, verifier, policy):
    notes = [
        {
            "type": "url_citation",
            "url": "https://mill.example",
            "title": "Mill",
            "start_index": 0,
            "end_index": 27,
        },
        {
            "type": "url_citation",
            "url": "https://no.example",
            "title": "?",
            "start_index": 58,
            "end_index": 80,
        },
        {"type": "file_citation", "file_id": "f1", "filename": "geo.txt", "index": 80},
    ]
    loopback.script(response_frames([TEXT], 6, notes=notes), seed=6)
    events, verified = await events_of(loopback, verifier, policy)
    report = verified.reports[0, 0]
    first, second, third = report.sentences
    assert [(c.passages, c.finding) for c in first.citations] == [(("mill",), "correct")]
    assert second.citations == ()
    assert [(c.passages, c.finding) for c in third.citations] == [
        ((), "fabricated"),
        (("geo.txt",), "correct"),
    ]
    added = [dict(e.annotation) for e in events if e.type == "response.output_text.annotation.added"]
    closing = [dict(a) for a in events[-1].response.output[0].content[0].annotations]
    for handed in (added, closing):
        spans = [(note["start_index"], note["end_index"]) for note in handed[:2]]
        covered = [report.released[start:end] for start, end in spans]
        assert covered == ["The mill was built in 1804.", "Barley is ground there"]


@pytest.mark.anyio
async def test_a_halt_ends_in_an_incomplete_response(loopback, verifier):
    loopback.script(response_frames([TEXT], 2)[:-8], seed=2, endless=True)
    events, verified = await events_of(loopback, verifier, Halt())
    assert verified.reports[0, 0].outcome == "halted"
    last = events[-1]
    assert last.type == "response.incomplete"
    assert last.response.incomplete_details.reason == "content_filter"
    assert last.response.output_text == "The mill was built in 1804. "
    assert await anyio.to_thread.run_sync(loopback.hung_up.wait, 10)


@pytest.mark.anyio
async def test_leaving_early_hangs_up(loopback, verifier):
    loopback.script(response_frames([TEXT])[:6], endless=True)
    async with openai.AsyncOpenAI(api_key="none", base_url=f"{loopback.url}/v1", max_retries=0) as client:
        stream = await client.responses.create(model="m", input="q", stream=True)
        async with verify_stream(stream, PASSAGES, verifier=verifier, policy=Redact()) as verified:
            await anext(verified)
        assert await anyio.to_thread.run_sync(loopback.hung_up.wait, 10)


@pytest.mark.parametrize("policy", [Flag(), Redact()])
@pytest.mark.anyio
async def test_an_error_may_be_all_that_comes(verifier, policy):
    failed = ResponseErrorEvent(
        type="error", code="rate_limit_exceeded", message="Slow down.", param=None, sequence_number=0
    )

    async def source():
        yield failed

    async with verify_stream(source(), PASSAGES, verifier=verifier, policy=policy) as events:
        assert [event async for event in events] == [failed]
