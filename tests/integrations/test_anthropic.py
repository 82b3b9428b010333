"""Anthropic messages through the real SDK: cited blocks, tool calls, the helper's snapshots."""

from __future__ import annotations

import json
from itertools import pairwise

import anthropic
import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamverify import Flag, Halt, Label, Observe, Passage, Redact, UsageError
from streamverify.testing import pieces
from streamverify_anthropic import verification, verify_messages, verify_stream

PASSAGES = [
    Passage("mill", "The mill was built in 1804.", "The mill"),
    Passage("grain", "Barley is ground in the mill.", "Grain"),
]
SENTENCES = [
    "The mill was built in 1804. ",
    "The wrong wheel turns slowly.\n",
    "The yard has an unknown owner. ",
    "Naïve café 🌾 barley is ground. ",
    "水車は二つある。",
]
TEXT = "The mill was built in 1804. The wrong wheel turns slowly. Barley is ground there"


def location(document):
    return {
        "type": "char_location",
        "cited_text": PASSAGES[document].text if document < len(PASSAGES) else "?",
        "document_index": document,
        "document_title": None,
        "start_char_index": 0,
        "end_char_index": 10,
        "file_id": None,
    }


def message_frames(blocks, seed=0):
    """The events of one message; a block is a text, a text with the document it cites, or a tool's name."""
    message = {
        "id": "a1", "type": "message", "role": "assistant", "model": "claude", "content": [],
        "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1},
    }  # fmt: skip
    frames = [{"type": "message_start", "message": message}]
    for index, block in enumerate(blocks):
        where = {"index": index}
        if isinstance(block, dict):
            tool = {"type": "tool_use", "id": "t1", "name": block["tool"], "input": {}}
            frames.append({"type": "content_block_start", **where, "content_block": tool})
            delta = {"type": "input_json_delta", "partial_json": '{"q": 1}'}
            frames.append({"type": "content_block_delta", **where, "delta": delta})
        else:
            text, *documents = (block,) if isinstance(block, str) else block
            start = {"type": "text", "text": "", "citations": [] if documents else None}
            frames.append({"type": "content_block_start", **where, "content_block": start})
            for piece in filter(None, pieces(text, seed + index)):
                delta = {"type": "text_delta", "text": piece}
                frames.append({"type": "content_block_delta", **where, "delta": delta})
            for document in documents:
                delta = {"type": "citations_delta", "citation": location(document)}
                frames.append({"type": "content_block_delta", **where, "delta": delta})
        frames.append({"type": "content_block_stop", **where})
    end = {"stop_reason": "end_turn", "stop_sequence": None}
    frames.append({"type": "message_delta", "delta": end, "usage": {"output_tokens": 9}})
    return [*frames, {"type": "message_stop"}]


QUESTION = {"model": "claude", "max_tokens": 10, "messages": [{"role": "user", "content": "q"}]}


def client_of(loopback):
    return anthropic.AsyncAnthropic(api_key="none", base_url=loopback.url, max_retries=0)


async def events_of(loopback, verifier, policy):
    async with client_of(loopback) as client:
        stream = await client.messages.create(**QUESTION, stream=True)
        async with verify_stream(stream, PASSAGES, verifier=verifier, policy=policy) as verified:
            return [event async for event in verified], verified


def blocks_of(events):
    texts = {}
    for event in events:
        if event.type == "content_block_start" and event.content_block.type == "text":
            texts[event.index] = ""
        if event.type == "content_block_delta" and event.delta.type == "text_delta":
            texts[event.index] += event.delta.text
    return texts


@pytest.mark.slow
@settings(max_examples=25)
@given(
    st.tuples(
        st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=5).map("".join),
        st.lists(st.integers(0, 150), max_size=4),
    ),
    st.integers(0, 999),
    st.sampled_from([Observe(), Flag(), Redact()]),
)
def test_a_message_reads_as_its_check_however_it_is_cut_into_blocks(loopback, verifier, cut, seed, policy):
    text, cuts = cut
    blocks = pieces(text, cuts)
    frames = message_frames(blocks, seed)
    loopback.script(frames, seed=seed)
    events, verified = anyio.run(events_of, loopback, verifier, policy)
    whole = verifier.check_sync(text, PASSAGES, policy=policy)
    shown = blocks_of(events)
    assert "".join(shown.values()) == whole.released
    assert verified.reports[0].answer == text

    def shape(kinds):
        return [kind for kind in kinds if kind != "content_block_delta"]

    assert shape(event.type for event in events) == shape(frame["type"] for frame in frames)
    for event, after in pairwise(events):
        if event.type == "content_block_delta":
            assert after.index == event.index
    if policy.holds_text:
        for event in events:
            assert "wrong" not in event.model_dump_json()
            assert "unknown" not in event.model_dump_json()
        if whole.released == text:
            assert list(shown.values()) == blocks
    else:
        assert [json.loads(event.model_dump_json(exclude_unset=True)) for event in events] == frames


@pytest.mark.parametrize("policy", [Flag(), Redact()])
@pytest.mark.anyio
async def test_the_models_citations_are_checked_with_the_sentence_their_block_stands_in(
    loopback, verifier, policy
):
    blocks = [
        "According to the file, ",
        ("the mill was built in 1804", 0),
        ". ",
        ("Barley is ground there", 7),
        ".",
    ]
    loopback.script(message_frames(blocks, 2), seed=2)
    events, verified = await events_of(loopback, verifier, policy)
    report = verified.reports[0]
    assert [s.text for s in report.sentences] == [
        "According to the file, the mill was built in 1804. ",
        "Barley is ground there.",
    ]
    [first], [second] = [s.citations for s in report.sentences]
    assert (first.passages, first.finding) == (("mill",), "correct")
    assert (second.passages, second.finding) == ((), "fabricated")
    assert list(blocks_of(events).values()) == [
        block if isinstance(block, str) else block[0] for block in blocks
    ]
    cited = [e for e in events if e.type == "content_block_delta" and e.delta.type == "citations_delta"]
    assert [event.index for event in cited] == [1, 3]


@pytest.mark.anyio
async def test_a_tool_call_waits_for_the_text_before_it_and_for_no_more(loopback, verifier):
    blocks = ["I look. The wrong wheel", {"tool": "search"}, "The mill was built in 1804"]
    loopback.script(message_frames(blocks, 3), seed=3)
    events, verified = await events_of(loopback, verifier, Redact(placeholder="▮"))
    assert blocks_of(events) == {0: "I look. ▮", 2: "The mill was built in 1804"}
    assert [verified.reports[run].answer for run in (0, 1)] == [blocks[0], blocks[2]]
    calls = [e for e in events if e.type == "content_block_delta" and e.delta.type == "input_json_delta"]
    assert [call.delta.partial_json for call in calls] == ['{"q": 1}']


@pytest.mark.anyio
async def test_the_helper_says_what_was_released_everywhere(loopback, verifier):
    loopback.script(message_frames([(TEXT, 0)], 4), seed=4)
    policy = Redact(placeholder="▮")
    released = verifier.check_sync(TEXT, PASSAGES, policy=policy).released
    async with (
        client_of(loopback) as client,
        client.messages.stream(**QUESTION) as raw,
        verify_messages(raw, PASSAGES, verifier=verifier, policy=policy) as stream,
    ):
        assert type(stream) is type(raw)
        events = [event async for event in stream]
        assert await stream.get_final_text() == released
        message = await stream.get_final_message()
    assert message.content[0].citations[0].document_index == 0
    assert not [event for event in events if "wrong" in repr(event)]
    assert next(event.text for event in events if event.type == "text") == "The mill was built in 1804. "
    assert verification(stream).reports[0].counts[Label.CONTRADICTED] == 1
    with pytest.raises(UsageError, match="not verified"):
        verification(raw)


def test_a_synchronous_helper_likewise(loopback, verifier):
    loopback.script(message_frames([TEXT], 5), seed=5)
    policy = Redact(placeholder="▮")
    with (
        anthropic.Anthropic(api_key="none", base_url=loopback.url, max_retries=0) as client,
        client.messages.stream(**QUESTION) as raw,
        verify_messages(raw, PASSAGES, verifier=verifier, policy=policy) as stream,
    ):
        text = "".join(stream.text_stream)
    assert text == verifier.check_sync(TEXT, PASSAGES, policy=policy).released
    assert verification(stream).reports[0].answer == TEXT


@pytest.mark.parametrize("hold", [True, False])
@pytest.mark.anyio
async def test_a_halt_hangs_up_and_closes_the_message(loopback, verifier, hold):
    loopback.script(message_frames([TEXT], 2)[:-3], seed=2, endless=True)
    async with client_of(loopback) as client, client.messages.stream(**QUESTION) as raw:
        stream = verify_messages(raw, PASSAGES, verifier=verifier, policy=Halt(hold=hold))
        message = await stream.get_final_message()
    assert message.stop_reason == "refusal"
    assert ("wrong" in message.content[0].text) is not hold
    assert verification(stream).reports[0].outcome == "halted"
    assert await anyio.to_thread.run_sync(loopback.hung_up.wait, 10)


@pytest.mark.anyio
async def test_leaving_early_hangs_up(loopback, verifier):
    loopback.script(message_frames([TEXT])[:6], endless=True)
    async with client_of(loopback) as client:
        stream = await client.messages.create(**QUESTION, stream=True)
        async with verify_stream(stream, PASSAGES, verifier=verifier, policy=Redact()) as verified:
            await anext(verified)
        assert await anyio.to_thread.run_sync(loopback.hung_up.wait, 10)
    loopback.script(message_frames([TEXT])[:6], endless=True)
    async with client_of(loopback) as client, client.messages.stream(**QUESTION) as raw:
        async with verify_messages(raw, PASSAGES, verifier=verifier) as helper:
            await anext(helper)
        assert await anyio.to_thread.run_sync(loopback.hung_up.wait, 10)


@pytest.mark.anyio
async def test_a_broken_connection_arrives_as_itself(loopback, verifier):
    loopback.script(message_frames([TEXT])[:-2], breaks_off=True)
    async with client_of(loopback) as client:
        with pytest.raises(Exception) as expected:  # noqa: PT011 - which error is the SDK's affair
            [event async for event in await client.messages.create(**QUESTION, stream=True)]
        stream = await client.messages.create(**QUESTION, stream=True)
        verified = verify_stream(stream, PASSAGES, verifier=verifier, policy=Redact())
        with pytest.raises(expected.type):
            [event async for event in verified]
    assert verified.reports[0].outcome == "failed"


UNKNOWN = [
    (
        {"type": "thinking", "thinking": "", "signature": ""},
        {"type": "thinking_delta", "thinking": "A wrong idea."},
    ),
    (
        {"type": "thinking", "thinking": "A wrong idea.", "signature": ""},
        {"type": "signature_delta", "signature": "s"},
    ),
    ({"type": "news", "note": "A wrong note."}, {"type": "news_delta", "note": "A wrong note."}),
    ({"type": "text", "text": ""}, {"type": "news_delta", "text": "A wrong note."}),
]


@pytest.mark.parametrize(("block", "delta"), UNKNOWN)
@pytest.mark.anyio
async def test_what_is_not_text_and_not_known_stays_in_where_text_is_held(loopback, verifier, block, delta):
    frames = message_frames([TEXT])
    start = {"type": "content_block_start", "index": 0, "content_block": block}
    more = {"type": "content_block_delta", "index": 0, "delta": delta}
    moved = [{**one, "index": 1} if "index" in one else one for one in frames[1:]]
    first = {
        **frames[0],
        "message": {**frames[0]["message"], "content": [{"type": "text", "text": "A wrong word."}]},
    }
    news = {"type": "news", "text": "A wrong note."}
    loopback.script([first, start, more, {"type": "content_block_stop", "index": 0}, news, *moved], seed=1)
    policy = Redact(placeholder="▮")
    released = verifier.check_sync(TEXT, PASSAGES, policy=policy).released
    events, _ = await events_of(loopback, verifier, policy)
    assert blocks_of(events)[1] == released
    async with client_of(loopback) as client, client.messages.stream(**QUESTION) as raw:
        helper = verify_messages(raw, PASSAGES, verifier=verifier, policy=policy)
        told = [event async for event in helper]
        message = await helper.get_final_message()
    assert len(message.content) == 2
    assert message.content[1].text == released
    assert "wrong" not in "".join(map(repr, [*events, *told, message]))


@pytest.mark.anyio
async def test_citations_that_come_before_their_block_s_text_are_that_block_s(loopback, verifier):
    frames = message_frames([("The mill was built in 1804. ", 0), ("Barley is ground there.", 1)])
    order = {"content_block_start": 0, "citations_delta": 1, "text_delta": 2, "content_block_stop": 3}

    def place(frame):
        return (frame["index"], order[frame["delta"]["type"] if "delta" in frame else frame["type"]])

    blocks = sorted((frame for frame in frames if "index" in frame), key=place)
    loopback.script([frames[0], *blocks, *frames[-2:]])
    events, verified = await events_of(loopback, verifier, Redact())
    found = [
        (citation.passages, citation.finding)
        for sentence in verified.reports[0].sentences
        for citation in sentence.citations
    ]
    assert found == [(("mill",), "correct"), (("grain",), "correct")]
    kinds = [event.delta.type for event in events if event.type == "content_block_delta"]
    assert kinds.count("citations_delta") == 2
