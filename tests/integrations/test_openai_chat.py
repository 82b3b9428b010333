"""Chat completions through the real SDK, from a real server that cuts its bytes anywhere."""

from __future__ import annotations

import gc
import json

import anyio
import openai
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openai.types.chat import ChatCompletionChunk

from streamverify import (
    Flag,
    Halt,
    Label,
    Observe,
    Redact,
    ScoringError,
    SentenceJudged,
    UsageError,
    Verifier,
)
from streamverify.testing import ScriptedScorer, pieces
from streamverify_openai import verify_stream, wrap_client

PASSAGES = ["The mill was built in 1804 and has two wheels. It grinds barley."]
TEXT = (
    "The mill was built in 1804. The wrong wheel turns slowly. The yard has an unknown owner. "
    "Barley is ground there"
)
SENTENCES = [
    "The mill was built in 1804. ",
    "The wrong wheel turns slowly.\n",
    "The yard has an unknown owner. ",
    "Naïve café 🌾 barley is ground [1]. ",
    "- a wrong item\n- a good item\n",
    "水車は二つある。",
]
BASE = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
USAGE = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}


def frame(delta, index=0, finish=None, **more):
    return {**BASE, "choices": [{"index": index, "delta": delta, "finish_reason": finish, **more}]}


def spelled_out(text):
    return {"content": [{"token": text, "logprob": -0.1, "bytes": None, "top_logprobs": []}], "refusal": None}


def answer_frames(texts, seed=0, *, logprobs=False):
    """The chunks of one answer with as many choices as there are texts, interleaved."""
    frames = [frame({"role": "assistant", "content": ""}, index) for index in range(len(texts))]
    cut = [[part for part in pieces(text, seed + index) if part] for index, text in enumerate(texts)]
    for step in range(max(map(len, cut), default=0)):
        for index, parts in enumerate(cut):
            if step < len(parts):
                more = {"logprobs": spelled_out(parts[step])} if logprobs else {}
                frames.append(frame({"content": parts[step]}, index, **more))
    frames += [frame({}, index, "stop") for index in range(len(texts))]
    return [*frames, {**BASE, "choices": [], "usage": USAGE}]


def client_of(loopback):
    return openai.AsyncOpenAI(api_key="none", base_url=f"{loopback.url}/v1", max_retries=0)


def sync_client_of(loopback):
    return openai.OpenAI(api_key="none", base_url=f"{loopback.url}/v1", max_retries=0)


async def chunks_of(loopback, verifier, policy):
    async with client_of(loopback) as client:
        stream = await client.chat.completions.create(model="m", messages=[], stream=True)
        async with verify_stream(stream, PASSAGES, verifier=verifier, policy=policy) as verified:
            return [chunk async for chunk in verified], verified


def sync_chunks_of(loopback, verifier, policy):
    with sync_client_of(loopback) as client:
        stream = client.chat.completions.create(model="m", messages=[], stream=True)
        with verify_stream(stream, PASSAGES, verifier=verifier, policy=policy) as verified:
            return list(verified), verified


def contents(chunks):
    texts = {}
    for chunk in chunks:
        for choice in chunk.choices:
            texts[choice.index] = texts.get(choice.index, "") + (choice.delta.content or "")
    return texts


answers = st.lists(
    st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=4).map("".join), min_size=1, max_size=3
)


@pytest.mark.slow
@settings(max_examples=25)
@given(answers, st.integers(0, 999), st.sampled_from([Observe(), Flag(), Redact()]))
def test_every_choice_reads_as_its_check_and_nothing_rejected_leaves(loopback, verifier, texts, seed, policy):
    loopback.script(answer_frames(texts, seed, logprobs=True), seed=seed)
    if seed % 2:
        chunks, verified = sync_chunks_of(loopback, verifier, policy)
    else:
        chunks, verified = anyio.run(chunks_of, loopback, verifier, policy)
    assert {type(chunk) for chunk in chunks} == {ChatCompletionChunk}
    for index, text in enumerate(texts):
        whole = verifier.check_sync(text, PASSAGES, policy=policy)
        assert contents(chunks)[index] == whole.released
        report = verified.reports[index]
        assert report.answer == text
        assert [(s.text, s.label, s.action) for s in report.sentences] == [
            (s.text, s.label, s.action) for s in whole.sentences
        ]
        own = [chunk.choices[0] for chunk in chunks if chunk.choices and chunk.choices[0].index == index]
        assert own[0].delta.role == "assistant"
        assert [choice.finish_reason for choice in own] == [None] * (len(own) - 1) + ["stop"]
    assert chunks[-1].usage.total_tokens == 3
    if policy.holds_text:
        for chunk in chunks:
            assert "wrong" not in chunk.model_dump_json()
            assert "unknown" not in chunk.model_dump_json()


@pytest.mark.parametrize("policy", [Observe(), Flag()])
@pytest.mark.anyio
async def test_where_text_flows_the_chunks_are_those_that_came(loopback, verifier, policy):
    frames = answer_frames([TEXT, TEXT], 5, logprobs=True)
    loopback.script(frames, seed=5)
    chunks, _ = await chunks_of(loopback, verifier, policy)
    assert [json.loads(chunk.model_dump_json(exclude_unset=True)) for chunk in chunks] == frames


@pytest.mark.anyio
async def test_the_trace_of_a_redacted_answer_is_short_and_in_order(loopback, verifier):
    loopback.script(answer_frames([TEXT], 1), seed=1)
    chunks, _ = await chunks_of(loopback, verifier, Redact(placeholder="▮"))
    assert [chunk.choices[0].delta.content for chunk in chunks if chunk.choices] == [
        "", "The mill was built in 1804. ", "▮", " ", "Barley is ground there", None,
    ]  # fmt: skip


@pytest.mark.filterwarnings("ignore:Async generator '(openai|http).*garbage collected:ResourceWarning")
def test_trio_reads_the_same(loopback, verifier):
    loopback.script(answer_frames([TEXT], 1), seed=1)
    runs = [
        anyio.run(chunks_of, loopback, verifier, Redact(), backend=loop)[0] for loop in ("asyncio", "trio")
    ]
    gc.collect()  # while the warning is ignored
    assert runs[0] == runs[1]


@pytest.mark.parametrize("policy", [Flag(), Redact()])
@pytest.mark.anyio
async def test_tool_calls_and_refusals_keep_their_place(loopback, verifier, policy):
    call = {"index": 0, "id": "t1", "type": "function", "function": {"name": "search", "arguments": "{}"}}
    frames = [
        frame({"role": "assistant", "content": "The mill "}),
        frame({"content": "has a wrong"}),
        frame({"content": " wheel.", "tool_calls": [call]}),
        frame({"tool_calls": [{"index": 0, "function": {"arguments": "!"}}]}),
        frame({}, finish="tool_calls"),
        frame({"refusal": "I cannot."}, 1),
        frame({}, 1, "stop"),
    ]
    loopback.script(frames, seed=3)
    chunks, verified = await chunks_of(loopback, verifier, policy)
    own = [chunk.choices[0] for chunk in chunks if chunk.choices[0].index == 0]
    arguments = [choice.delta.tool_calls[0].function.arguments for choice in own if choice.delta.tool_calls]
    assert arguments == ["{}", "!"]
    assert own[0].delta.role == "assistant"
    assert own[-1].finish_reason == "tool_calls"
    if policy.holds_text:
        assert [choice.delta.content for choice in own[:2]] == [Redact().placeholder, None]
    assert [c.choices[0].delta.refusal for c in chunks if c.choices[0].index == 1] == ["I cannot.", None]
    assert verified.reports[0].counts[Label.CONTRADICTED] == 1


@pytest.mark.parametrize("hold", [True, False])
@pytest.mark.anyio
async def test_a_halt_stops_the_provider_and_closes_the_choice(loopback, verifier, hold):
    loopback.script(answer_frames([TEXT], 2)[:-2], seed=2, endless=True)
    chunks, verified = await chunks_of(loopback, verifier, Halt(hold=hold))
    assert chunks[-1].choices[0].finish_reason == "content_filter"
    assert verified.reports[0].outcome == "halted"
    assert ("wrong" in contents(chunks)[0]) is not hold
    assert await anyio.to_thread.run_sync(loopback.hung_up.wait, 10)


@pytest.mark.parametrize("policy", [Flag(), Redact()])
@pytest.mark.anyio
async def test_leaving_early_hangs_up(loopback, verifier, policy):
    loopback.script([*answer_frames([TEXT])[:-2], frame({"content": " More barley."})], endless=True)
    async with client_of(loopback) as client:
        stream = await client.chat.completions.create(model="m", messages=[], stream=True)
        async with verify_stream(stream, PASSAGES, verifier=verifier, policy=policy) as verified:
            async for chunk in verified:
                if chunk.choices[0].delta.content:
                    break
        assert await anyio.to_thread.run_sync(loopback.hung_up.wait, 10)
        with pytest.raises(StopAsyncIteration):
            await anext(verified)
    assert verifier.statistics() == (0, 0)


@pytest.mark.anyio
async def test_a_forgotten_stream_hangs_up_when_it_is_collected(loopback, verifier):
    loopback.script([*answer_frames([TEXT])[:-2], frame({"content": " More barley."})], endless=True)
    async with client_of(loopback) as client:
        stream = await client.chat.completions.create(model="m", messages=[], stream=True)
        verified = verify_stream(stream, PASSAGES, verifier=verifier)
        async for _ in verified:
            break
        del verified
        gc.collect()
        assert await anyio.to_thread.run_sync(loopback.hung_up.wait, 10)


@pytest.mark.anyio
async def test_an_outer_cancel_hangs_up_and_leaves_no_task(loopback, verifier):
    loopback.script([frame({"content": "The mill"})], endless=True)
    async with client_of(loopback) as client, anyio.create_task_group() as group:
        stream = await client.chat.completions.create(model="m", messages=[], stream=True)
        verified = verify_stream(stream, PASSAGES, verifier=verifier, policy=Redact())

        async def read():
            async with verified:
                async for _ in verified:
                    raise AssertionError("a sentence without an end was shown")

        group.start_soon(read)
        while not verified.events:
            await anyio.lowlevel.checkpoint()
        group.cancel_scope.cancel()
    assert await anyio.to_thread.run_sync(loopback.hung_up.wait, 10)
    assert verified.reports[0].outcome == "failed"


def test_leaving_a_synchronous_stream_hangs_up(loopback, verifier):
    loopback.script([*answer_frames([TEXT])[:-2], frame({"content": " More barley."})], endless=True)
    with sync_client_of(loopback) as client:
        stream = client.chat.completions.create(model="m", messages=[], stream=True)
        with verify_stream(stream, PASSAGES, verifier=verifier) as verified:
            next(verified)
        assert loopback.hung_up.wait(60)


def test_a_stream_that_is_closed_unread_hangs_up(loopback, verifier):
    async def close():
        async with client_of(loopback) as client:
            stream = await client.chat.completions.create(model="m", messages=[], stream=True)
            await verify_stream(stream, PASSAGES, verifier=verifier).aclose()
            assert await anyio.to_thread.run_sync(loopback.hung_up.wait, 10)

    loopback.script([frame({"content": "The mill "})], endless=True)
    anyio.run(close)
    loopback.script([frame({"content": "The mill "})], endless=True)
    with sync_client_of(loopback) as client:
        verify_stream(client.chat.completions.create(model="m", messages=[], stream=True), PASSAGES).close()
        assert loopback.hung_up.wait(60)


@pytest.mark.parametrize("policy", [Flag(), Redact()])
@pytest.mark.anyio
async def test_a_broken_connection_arrives_as_itself_after_the_text_before_it(loopback, verifier, policy):
    loopback.script(answer_frames([TEXT])[:-2], breaks_off=True)
    async with client_of(loopback) as client:
        bare = await client.chat.completions.create(model="m", messages=[], stream=True)
        with pytest.raises(Exception) as expected:  # noqa: PT011 - which error is the SDK's affair
            [chunk async for chunk in bare]
        stream = await client.chat.completions.create(model="m", messages=[], stream=True)
        verified = verify_stream(stream, PASSAGES, verifier=verifier, policy=policy)
        seen = []
        with pytest.raises(expected.type):
            async for chunk in verified:
                seen.append(chunk)
    assert contents(seen)[0].startswith("The mill was built in 1804. ")
    assert verified.reports[0].outcome == "failed"


@pytest.mark.anyio
async def test_a_failing_check_ends_the_stream_where_that_is_asked_for(loopback):
    loopback.script([frame({"content": TEXT + ". "}), frame({"content": " More."})], endless=True)
    async with (
        Verifier(ScriptedScorer(fail_on="1804"), on_failure="raise") as strict,
        client_of(loopback) as client,
    ):
        stream = await client.chat.completions.create(model="m", messages=[], stream=True)
        with pytest.raises(ScoringError):
            async for _ in verify_stream(stream, PASSAGES, verifier=strict, policy=Redact()):
                pass
        assert await anyio.to_thread.run_sync(loopback.hung_up.wait, 10)


@pytest.mark.anyio
async def test_events_are_told_as_they_happen(loopback, verifier):
    loopback.script(answer_frames([TEXT, TEXT], 4), seed=4)
    told = []
    async with client_of(loopback) as client:
        stream = await client.chat.completions.create(model="m", messages=[], stream=True)
        async with verify_stream(
            stream, PASSAGES, verifier=verifier, on_event=lambda key, event: told.append((key, event))
        ) as verified:
            async for _ in verified:
                pass
    assert told == list(verified.events)
    for index in (0, 1):
        own = [event for key, event in told if key == index]
        assert [event.seq for event in own] == list(range(len(own)))
        assert [e.label for e in own if isinstance(e, SentenceJudged)] == [
            s.label for s in verified.reports[index].sentences
        ]


@pytest.mark.anyio
async def test_what_cannot_be_read_as_text_is_refused(verifier):
    class Choice:
        index, delta, finish_reason = 0, None, None

    class Chunk:
        choices = (Choice(),)

    async def stream(item):
        yield item

    for item, words in ((Chunk(), "delta.content"), (object(), "neither")):
        with pytest.raises(UsageError, match=words):
            await anext(verify_stream(stream(item), PASSAGES, verifier=verifier, policy=Redact()))


@pytest.mark.parametrize("policy", [Observe(), Redact()])
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.anyio
async def test_a_reason_to_finish_in_every_chunk_ends_no_text(loopback, verifier, policy, seed):
    loopback.script([frame({"content": part}, finish="stop") for part in pieces(TEXT, seed) if part])
    chunks, verified = await chunks_of(loopback, verifier, policy)
    whole = await verifier.check(TEXT, PASSAGES, policy=policy)
    assert verified.reports[0].answer == TEXT
    assert contents(chunks)[0] == whole.released


@pytest.mark.anyio
async def test_a_halt_before_anything_was_shown_still_ends_the_choice(loopback, verifier):
    text = "The wrong wheel turns slowly. The mill was built in 1804."
    parts = [part for part in pieces(text, 1) if part]
    loopback.script([frame({"role": "assistant", "content": part}) for part in parts])
    chunks, _ = await chunks_of(loopback, verifier, Halt())
    (choice,) = [choice for chunk in chunks for choice in chunk.choices]
    assert (choice.delta.role, choice.delta.content, choice.finish_reason) == (
        "assistant",
        None,
        "content_filter",
    )


def test_passages_given_as_an_iterator_serve_every_call(loopback, verifier):
    loopback.script(answer_frames([TEXT]))
    with sync_client_of(loopback) as client:
        wrapped = wrap_client(client, passages=iter(PASSAGES), verifier=verifier, policy=Redact())
        told = []
        for _ in range(2):
            chunks = list(wrapped.chat.completions.create(model="m", messages=[], stream=True))
            told.append(contents(chunks)[0])
    assert told[0] == told[1] == verifier.check_sync(TEXT, PASSAGES, policy=Redact()).released
