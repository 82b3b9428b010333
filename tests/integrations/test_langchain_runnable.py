"""`VerifiedRunnable` around real chains with a scripted model."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
from pathlib import Path

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.runnables import RunnableGenerator, RunnableLambda, RunnablePassthrough

from streamverify import (
    Cascade,
    Flag,
    Halt,
    Label,
    Observe,
    Passage,
    PassageError,
    Redact,
    UsageError,
    Verifier,
)
from streamverify.testing import ScriptedScorer, collect, pieces
from streamverify_langchain import REPORT, REVISION, VERDICT, VerifiedRunnable
from tests.integrations.langchain_fakes import (
    ANSWER,
    DOCUMENTS,
    SHOWN,
    Finder,
    Listener,
    dict_chain,
    model,
    no_task_left,
    prompt,
    text_chain,
    verifier,
)

pytestmark = pytest.mark.anyio

POLICIES = [(Flag(), ANSWER), (Observe(), ANSWER), (Redact(), SHOWN)]


@pytest.mark.slow
@settings(max_examples=25)
@given(st.lists(st.integers(0, len(ANSWER)), max_size=12))
def test_what_is_shown_does_not_depend_on_how_the_answer_was_cut(cuts):
    def generate(_):
        yield from pieces(ANSWER, cuts)

    with verifier() as used:
        for policy, shown in POLICIES:
            chain = VerifiedRunnable(
                RunnableGenerator(generate), verifier=used, policy=policy, passages=DOCUMENTS
            )
            assert "".join(chain.stream("q")) == shown


@pytest.mark.parametrize(("policy", "shown"), POLICIES)
async def test_text_streams_and_comes_whole(policy, shown):
    chain = VerifiedRunnable(text_chain(*[ANSWER] * 4), verifier=verifier(policy))
    assert "".join([chunk async for chunk in chain.astream("q")]) == shown
    assert "".join(chain.stream("q")) == shown
    assert await chain.ainvoke("q") == shown
    assert chain.invoke("q") == shown


async def test_flowing_chunks_are_the_very_chunks():
    made = [AIMessageChunk(content=word) for word in ANSWER.split(" ")]

    async def generate(_):
        for chunk in made:
            yield chunk

    chain = VerifiedRunnable(RunnableGenerator(generate), verifier=verifier(Flag()))
    got = [chunk async for chunk in chain.astream("q")]
    assert all(a is b for a, b in zip(got, made, strict=True))


@pytest.mark.parametrize(("policy", "shown"), POLICIES)
async def test_message_chunks_add_up_to_one_message(policy, shown):
    chain = VerifiedRunnable(prompt() | model(ANSWER, ANSWER), verifier=verifier(policy))
    whole = None
    async for chunk in chain.astream("q"):
        whole = chunk if whole is None else whole + chunk
    assert type(whole) is AIMessageChunk
    assert whole.text == shown
    assert whole.chunk_position == "last"
    message = await chain.ainvoke("q")
    assert type(message) is AIMessage
    assert message.text == shown


async def test_what_is_beside_the_text_is_kept_once_and_log_probabilities_are_not():
    usage = {"input_tokens": 3, "output_tokens": 5, "total_tokens": 8}
    call = {"type": "tool_call_chunk", "name": "look", "args": "{}", "id": "c1", "index": 0}
    made = [
        AIMessageChunk(
            content=ANSWER, id="m", response_metadata={"logprobs": ["900"], "model_provider": "x"}
        ),
        AIMessageChunk(content="", id="m", tool_call_chunks=[call]),
        AIMessageChunk(content=" Yes.", id="m", usage_metadata=usage, chunk_position="last"),
    ]

    async def generate(_):
        for chunk in made:
            yield chunk

    chain = VerifiedRunnable(RunnableGenerator(generate), verifier=verifier(Redact()), passages=DOCUMENTS)
    whole = None
    async for chunk in chain.astream("q"):
        whole = chunk if whole is None else whole + chunk
    assert whole.text == f"{SHOWN} Yes."
    assert whole.usage_metadata == usage
    assert [call["name"] for call in whole.tool_calls] == ["look"]
    assert whole.response_metadata == {"model_provider": "x"}
    assert whole.id == "m"
    assert "900" not in whole.model_dump_json()


async def test_content_blocks_keep_their_order_and_their_annotations_move_with_the_text():
    citation = {"type": "citation", "title": "p1", "start_index": 41, "end_index": 64}
    blocks = [
        {"type": "reasoning", "reasoning": "Hm.", "index": 0},
        {"type": "text", "text": ANSWER, "index": 1, "annotations": [citation]},
    ]

    async def generate(_):
        yield AIMessageChunk(content=blocks, id="m", chunk_position="last")

    chain = VerifiedRunnable(RunnableGenerator(generate), verifier=verifier(Redact()), passages=DOCUMENTS)
    whole = None
    async for chunk in chain.astream("q"):
        whole = chunk if whole is None else whole + chunk
    text = next(block for block in whole.content if block["type"] == "text")
    assert text["text"] == SHOWN
    [moved] = text["annotations"]
    assert SHOWN[moved["start_index"] : moved["end_index"]] == ANSWER[41:64]
    assert [block["type"] for block in whole.content] == ["text"]  # nobody has judged the reasoning


async def test_a_whole_message_in_a_stream_keeps_its_tool_calls():
    call = {"name": "look", "args": {"a": 1}, "id": "c1", "type": "tool_call"}
    given_message = AIMessage(ANSWER, tool_calls=[call], id="m")
    for policy, shown in POLICIES:
        chain = VerifiedRunnable(
            RunnableLambda(lambda _: given_message), verifier=verifier(policy), passages=DOCUMENTS
        )
        whole = None
        async for chunk in chain.astream("q"):
            whole = chunk if whole is None else whole + chunk
        assert whole.text == shown
        assert [(c["name"], c["args"]) for c in whole.tool_calls] == [("look", {"a": 1})]
        message = await chain.ainvoke("q")
        assert (message.text, message.tool_calls) == (shown, given_message.tool_calls)


@pytest.mark.parametrize(("policy", "shown"), POLICIES)
async def test_dicts_carry_the_documents_and_the_answer(policy, shown):
    scorer = ScriptedScorer({"900": Label.UNSUPPORTED})
    chain = VerifiedRunnable(dict_chain(ANSWER, ANSWER), verifier=Verifier(scorer, policy=policy))
    chunks = [chunk async for chunk in chain.astream("q")]
    assert "".join(chunk.get("answer", "") for chunk in chunks) == shown
    assert [chunk for chunk in chunks if "answer" not in chunk] == [{"question": "q"}, {"context": DOCUMENTS}]
    assert await chain.ainvoke("q") == {"question": "q", "context": DOCUMENTS, "answer": shown}
    assert set(scorer.prepared) == {tuple(document.page_content for document in DOCUMENTS)}


async def test_documents_come_from_retrievers_the_input_and_the_caller_in_that_they_come():
    scorer = ScriptedScorer()
    chain = VerifiedRunnable(
        RunnablePassthrough.assign(found=RunnableLambda(lambda _: "x") | Finder())
        | RunnableLambda(lambda _: AIMessage("Paris is the capital [1].")),
        verifier=Verifier(scorer),
        passages=[Passage("first", "First.")],
    )
    await chain.ainvoke({"context": [Document(id="in", page_content="Second.")]})
    assert scorer.prepared == [("First.", "Second.", *(document.page_content for document in DOCUMENTS))]


async def test_without_the_tap_only_what_is_passed_on_counts():
    scorer = ScriptedScorer()
    chosen = RunnableLambda(lambda _: "x") | Finder() | RunnableLambda(lambda found: found[1:])
    chain = VerifiedRunnable(
        RunnablePassthrough.assign(context=chosen)
        | RunnablePassthrough.assign(answer=lambda _: "The river."),
        verifier=Verifier(scorer),
        tap=False,
    )
    await chain.ainvoke({})
    assert scorer.prepared == [(DOCUMENTS[1].page_content,)]


async def test_documents_that_cannot_be_taken_fail_the_chain():
    clash = Document(id="p1", page_content="Another text.")
    chain = VerifiedRunnable(text_chain(), verifier=verifier(), passages=[clash])
    with pytest.raises(PassageError):
        [chunk async for chunk in chain.astream("q")]


async def test_it_composes():
    chain = (
        RunnableLambda(str.lower) | VerifiedRunnable(text_chain(), verifier=verifier(Redact())) | str.upper
    )
    assert await chain.ainvoke("Q") == SHOWN.upper()


@pytest.mark.parametrize(("policy", "shown"), [(Flag(), ANSWER), (Redact(), SHOWN)])
async def test_verdicts_and_report_are_custom_events(policy, shown):
    chain = VerifiedRunnable(text_chain(*[ANSWER] * 3), verifier=verifier(policy))
    events = [event async for event in chain.astream_events("q", version="v2")]
    custom = [event for event in events if event["event"] == "on_custom_event"]
    assert [event["name"] for event in custom] == [VERDICT, VERDICT, VERDICT, REPORT]
    assert [event["data"]["label"] for event in custom[:3]] == ["supported", "unsupported", "supported"]
    assert custom[3]["data"]["released"] == shown
    [root] = {event["run_id"] for event in events if event["name"] == "VerifiedRunnable"}
    assert {event["run_id"] for event in custom} == {root}
    assert ("people" in str([event["data"] for event in custom])) == (not policy.holds_text)
    listener = Listener()
    chain.invoke("q", config={"callbacks": [listener]})
    assert [name for name, _ in listener.told if name in (VERDICT, REPORT)] == [
        VERDICT,
        VERDICT,
        VERDICT,
        REPORT,
    ]


async def test_observers_of_the_inner_model_see_raw_tokens():
    """What a wrapper around a chain cannot prevent; `VerifiedChatModel` does."""
    chain = VerifiedRunnable(text_chain(), verifier=verifier(Redact()))
    events = [event async for event in chain.astream_events("q", version="v2")]
    raw = "".join(e["data"]["chunk"].text for e in events if e["event"] == "on_chat_model_stream")
    own = [e["data"]["chunk"] for e in events if e["event"] == "on_chain_stream" and not e["parent_ids"]]
    assert raw == ANSWER
    assert "".join(own) == SHOWN


async def test_halt_stops_the_chain():
    produced = []

    async def generate(_):
        for word in (ANSWER + " On and on." * 2000).split(" "):
            produced.append(word)
            yield f"{word} "
            await anyio.lowlevel.checkpoint()

    halt = Halt(labels=frozenset({Label.UNSUPPORTED}))
    listener, before = Listener(), asyncio.all_tasks()
    chain = VerifiedRunnable(RunnableGenerator(generate), verifier=verifier(halt), passages=DOCUMENTS)
    shown = [chunk async for chunk in chain.astream("q", config={"callbacks": [listener]})]
    assert "".join(shown).strip() == "Paris is the capital."
    assert len(produced) < 5000
    assert listener.named(REPORT)[0]["outcome"] == "halted"
    await no_task_left(before)


async def test_leaving_early_closes_the_chain():
    closed = anyio.Event()

    async def generate(_):
        try:
            while True:
                yield "Paris is the capital. "
                await anyio.lowlevel.checkpoint()
        finally:
            closed.set()

    before = asyncio.all_tasks()
    chain = VerifiedRunnable(RunnableGenerator(generate), verifier=verifier(Redact()), passages=DOCUMENTS)
    stream = chain.astream("q")
    async for _ in stream:
        break
    await stream.aclose()
    with anyio.fail_after(60):
        await closed.wait()
    await no_task_left(before)


async def test_a_stream_that_is_forgotten_ends_by_itself():
    before = asyncio.all_tasks()
    async for _ in VerifiedRunnable(text_chain(), verifier=verifier(Redact())).astream("q"):
        break
    gc.collect()
    await no_task_left(before)


async def test_cancelling_the_reader_leaves_no_task():
    before = asyncio.all_tasks()
    scorer = ScriptedScorer(hang_on="capital")
    chain = VerifiedRunnable(text_chain(), verifier=Verifier(scorer, policy=Redact()))
    async with anyio.create_task_group() as group:
        group.start_soon(collect, chain.astream("q"))
        while not scorer.claims:  # the first hangs
            await anyio.lowlevel.checkpoint()
        group.cancel_scope.cancel()
    await no_task_left(before)


@pytest.mark.parametrize("policy", [Flag(), Redact()])
async def test_an_error_of_the_chain_arrives_as_itself_after_its_report(policy):
    def generate(_):
        yield ANSWER
        raise RuntimeError("the model broke")

    async def agenerate(_):
        for chunk in generate(_):
            yield chunk

    listener, before = Listener(), asyncio.all_tasks()
    inner = RunnableGenerator(generate, agenerate)
    chain = VerifiedRunnable(inner, verifier=verifier(policy), passages=DOCUMENTS)
    with pytest.raises(RuntimeError, match="the model broke"):
        async for _ in chain.astream("q", config={"callbacks": [listener]}):
            pass
    assert listener.named(REPORT)[0]["outcome"] == "failed"
    with pytest.raises(RuntimeError, match="the model broke"):
        list(chain.stream("q"))
    await no_task_left(before)


@pytest.mark.parametrize("output", [{"result": "Yes."}, 5, ("Yes.", {})])
async def test_what_cannot_be_verified_is_refused(output):
    chain = VerifiedRunnable(RunnableLambda(lambda _: output), verifier=verifier(Redact()))
    with pytest.raises(UsageError):
        await chain.ainvoke("q")
    with pytest.raises(UsageError):
        [chunk async for chunk in chain.astream("q")]


async def test_the_question_is_known():
    asked = []

    def question(value):
        asked.append(value)
        return value["q"]

    chain = VerifiedRunnable(RunnableLambda(lambda _: "Yes."), verifier=verifier(), question=question)
    assert await chain.ainvoke({"q": "Is it?"}) == "Yes."
    assert [chunk async for chunk in chain.astream({"q": "Is it?"})] == ["Yes."]
    assert list(chain.stream({"q": "Is it?"})) == ["Yes."]
    assert asked == [{"q": "Is it?"}] * 3


def test_without_the_framework_the_pip_command_is_told():
    """A fresh interpreter in which `langchain_core` cannot be imported."""
    code = (
        "import sys; sys.modules['langchain_core'] = None\n"
        "try:\n import streamverify_langchain\n"
        "except ImportError as error:\n print(type(error).__name__, error)"
    )
    root = Path(__file__).parents[2]
    found = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=root,
        env={"PYTHONPATH": f"{root}:{root / 'integrations'}"},
    )
    assert found.stdout.startswith("MissingExtraError ")
    assert "pip install 'streamverify[langchain]'" in found.stdout


@pytest.mark.model
async def test_the_embedded_model_finds_the_wrong_number():
    tower = ["The Eiffel Tower was completed in 1889 and is 330 m tall."]
    said = RunnableLambda(lambda _: "The Eiffel Tower was completed in 1889. It is 450 m tall.")
    async with Verifier(policy=Redact()) as embedded:
        shown = await VerifiedRunnable(said, verifier=embedded, passages=tower).ainvoke("How tall?")
    assert shown.startswith("The Eiffel Tower was completed in 1889.")
    assert "450" not in shown


async def test_a_second_scorers_verdict_is_an_event_of_its_own():
    def unsure(claim, passages):
        return 0.4

    with Verifier(Cascade(unsure, ScriptedScorer(), band=(0, 1)), policy=Flag()) as used:
        chain = VerifiedRunnable(text_chain(), verifier=used)
        events = [event async for event in chain.astream_events("q", version="v2")]
    custom = [event for event in events if event["event"] == "on_custom_event"]
    for index in range(3):
        told = [(e["name"], e["data"]) for e in custom if e["data"].get("index") == index]
        assert [name for name, _ in told] == [VERDICT, REVISION]
        assert [data["label"] for _, data in told] == ["unsupported", "supported"]
        assert [data["provisional"] for _, data in told] == [True, False]
        assert told[0][1]["text"] == told[1][1]["text"]
    assert custom[-1]["name"] == REPORT
