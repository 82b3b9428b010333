"""Structured output, unknown content and reports: what LangChain's wrappers refuse, keep in and hand back."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.output_parsers import JsonOutputParser, PydanticOutputParser
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import RunnableGenerator, RunnableLambda, RunnablePassthrough
from langchain_core.runnables.utils import AddableDict
from pydantic import BaseModel

from streamverify import Flag, Label, Redact, Report, StreamFinished, UsageError
from streamverify.testing import pieces
from streamverify_langchain import ReportCollector, VerifiedChatModel, VerifiedRunnable
from streamverify_langchain.passing import StructureGuard
from tests.integrations.langchain_fakes import (
    ANSWER,
    DOCUMENTS,
    SHOWN,
    Listener,
    model,
    text_chain,
    verifier,
)

pytestmark = pytest.mark.anyio

AS_JSON = json.dumps({"answer": ANSWER})
SECRET = "people"


class Form(BaseModel):
    answer: str


async def parts_of(chain) -> list:
    """What a reader got before the stream ended, one way or the other."""
    got = []
    with pytest.raises(UsageError):
        async for part in chain.astream("q"):
            got.append(part)
    return got


@pytest.mark.parametrize("policy", [Redact(), Flag()])
async def test_dicts_that_replace_each_other_are_no_stream(policy):
    chain = VerifiedRunnable(
        model(AS_JSON, AS_JSON) | JsonOutputParser(), verifier=verifier(policy), passages=DOCUMENTS
    )
    assert SECRET not in str(await parts_of(chain))
    shown = SHOWN if policy.holds_text else ANSWER
    assert await chain.ainvoke("q") == {"answer": shown}


async def test_pieces_of_a_dict_are_a_stream():
    async def generate(_):
        for piece in pieces(ANSWER, 3):
            yield AddableDict(answer=piece)

    chain = VerifiedRunnable(RunnableGenerator(generate), verifier=verifier(Redact()), passages=DOCUMENTS)
    assert "".join([part["answer"] async for part in chain.astream("q")]) == SHOWN


@pytest.mark.parametrize("parser", [JsonOutputParser(), PydanticOutputParser(pydantic_object=Form)])
async def test_a_model_that_answers_in_json_is_refused_where_text_is_held(parser):
    made = VerifiedChatModel(
        inner=model(*[AS_JSON] * 4), verifier=verifier(), policy="redact", passages=DOCUMENTS
    )
    for ask in (made.invoke, (made | parser).invoke):
        with pytest.raises(UsageError, match="prose"):
            ask("q")
    assert await parts_of(made | parser) == []
    assert await parts_of(made) == []


async def test_text_that_flows_may_be_json():
    made = VerifiedChatModel(inner=model(AS_JSON), verifier=verifier(Flag()), passages=DOCUMENTS)
    assert await (made | JsonOutputParser()).ainvoke("q") == {"answer": ANSWER}


def test_structured_output_of_a_model_is_refused_where_text_is_held():
    made = VerifiedChatModel(inner=model(), verifier=verifier(), policy="redact")
    with pytest.raises(UsageError, match="prose"):
        made.with_structured_output(Form)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)


@given(
    st.dictionaries(st.text(max_size=5), json_values, max_size=3) | st.lists(st.just({"a": 1}), min_size=1),
    st.sampled_from([None, 2]),
    st.integers(0, 999),
    st.sampled_from(["", "\n ", "```json\n"]),
)
def test_json_is_known_by_its_first_characters_however_it_is_cut(value, indent, seed, before):
    guard = StructureGuard()
    with pytest.raises(UsageError):
        for piece in pieces(before + json.dumps(value, indent=indent), seed):
            guard(piece)


@pytest.mark.parametrize(
    "text", [ANSWER, "[1] says so.", "[[1]] says so.", "{name} is it.", "[Paris](x) is it.", "``x``"]
)
def test_prose_is_not_taken_for_json(text):
    guard = StructureGuard()
    for character in text:
        guard(character)


@pytest.mark.parametrize("way", ["stream", "invoke"])
async def test_a_key_that_nobody_verifies_is_refused(way):
    inner = RunnablePassthrough.assign(answer=lambda _: ANSWER, draft=lambda _: ANSWER)
    chain = VerifiedRunnable(inner, verifier=verifier(Redact()), passages=DOCUMENTS)
    got = []
    with pytest.raises(UsageError, match="'draft'"):
        if way == "invoke":
            got.append(await chain.ainvoke({"question": "q"}))
        else:
            got.extend(chain.stream({"question": "q"}))
    assert SECRET not in str(got)
    named = VerifiedRunnable(
        inner, verifier=verifier(Redact()), passages=DOCUMENTS, other_keys=["question", "draft"]
    )
    assert (await named.ainvoke({"question": "q"})) == {"question": "q", "draft": ANSWER, "answer": SHOWN}


RAW = f"It has 900 {SECRET}."
BESIDE = {
    "content": [
        {"type": "reasoning", "reasoning": RAW, "index": 0},
        {"type": "thinking", "thinking": RAW, "index": 1},
        {"type": "text", "text": "Paris is the capital.", "index": 2, "extras": {"raw": RAW}, "annotations": [
            {"type": "citation", "title": "p1", "start_index": 0, "end_index": 5, "extras": {"raw": RAW}},
            {"type": "non_standard_annotation", "value": {"raw": RAW}},
        ]},
        {"type": "refusal", "refusal": RAW, "index": 3},
        {"type": "audio", "transcript": RAW, "index": 4},
        {"type": "non_standard", "value": {"raw": RAW}, "index": 5},
        {"type": "tool_call_chunk", "name": "look", "args": "{}", "id": "c", "index": 6},
    ],
    "additional_kwargs": {"reasoning_content": RAW, "refusal": RAW, "tool_calls": []},
    "response_metadata": {"model_name": "m", "raw": RAW, "logprobs": [RAW], "total_duration": 3},
}  # fmt: skip


@pytest.mark.parametrize("text", ["Paris is the capital.", ""])
async def test_what_a_message_says_beside_its_text_stays_in(text):
    content = [block if block["type"] != "text" else {**block, "text": text} for block in BESIDE["content"]]
    beside = {**BESIDE, "content": content}

    async def generate(_):
        yield AIMessageChunk(**beside, id="m")
        yield AIMessageChunk(**beside, id="m", chunk_position="last")

    class Saying(type(model())):
        def _generate(self, *args, **kwargs):
            info = {"raw": RAW, "finish_reason": "stop"}
            said = ChatGeneration(message=AIMessage(**beside), generation_info=info)
            return ChatResult(generations=[said], llm_output={"raw": RAW, "model_name": "m"})

        def _stream(self, *args, **kwargs):
            info = {"raw": RAW, "finish_reason": "stop"}
            yield ChatGenerationChunk(message=AIMessageChunk(**beside), generation_info=info)

    options = {"verifier": verifier(Redact()), "passages": DOCUMENTS}
    listener = Listener()
    config = {"callbacks": [listener]}
    chain = VerifiedRunnable(RunnableGenerator(generate), **options)
    told = [part async for part in chain.astream("q", config=config)]
    told.append(await VerifiedRunnable(RunnableLambda(lambda _: AIMessage(**beside)), **options).ainvoke("q"))
    chat = VerifiedChatModel(inner=Saying(messages=iter([])), **options)
    told.append(await chat.ainvoke("q", config=config))
    told += list(chat.stream("q", config=config))
    assert SECRET not in repr(told) + repr(listener.told)
    assert "look" in repr(told)
    assert "'model_name': 'm'" in repr(told)


async def test_reports_are_reachable_from_invoke():
    heard = []
    chain = VerifiedRunnable(
        text_chain(*[ANSWER] * 4),
        verifier=verifier(Redact()),
        on_event=lambda key, event: heard.append(event),
    )
    collector = ReportCollector()
    config = {"callbacks": [collector]}
    assert chain.invoke("q", config=config) == await chain.ainvoke("q", config=config) == SHOWN
    "".join(chain.stream("q", config=config))
    assert "".join([part async for part in chain.astream("q", config=config)]) == SHOWN
    assert len(collector.reports) == 4
    for report in collector.reports:
        assert isinstance(report, Report)
        assert report.released == SHOWN
        assert report.counts[Label.UNSUPPORTED] == 1
        assert SECRET not in report.model_dump_json()
    own = [event.report for event in heard if isinstance(event, StreamFinished)]
    assert [report.answer for report in own] == [ANSWER] * 4
    model_collector = ReportCollector()
    made = VerifiedChatModel(inner=model(), verifier=verifier(Redact()), passages=DOCUMENTS)
    made.invoke("q", config={"callbacks": [model_collector]})
    assert [report.released for report in model_collector.reports] == [SHOWN]


@pytest.mark.parametrize("way", ["invoke", "stream"])
def test_foreign_annotations_alone_stay_in_too(way):
    note = {"type": "non_standard_annotation", "value": {"raw": RAW}}
    said = AIMessage([{"type": "text", "text": "Paris is the capital.", "annotations": [note]}])
    chain = VerifiedRunnable(RunnableLambda(lambda _: said), verifier=verifier(Redact()), passages=DOCUMENTS)
    told = chain.invoke("q") if way == "invoke" else list(chain.stream("q"))
    assert SECRET not in repr(told)
    assert "Paris" in repr(told)


@pytest.mark.parametrize("more", [{}, {"text": ""}, {"text": None}])
async def test_a_citation_in_a_chunk_of_its_own_points_into_what_is_shown(more):
    start = ANSWER.index("The river")
    note = {"type": "citation", "title": "p1", "start_index": start, "end_index": start + 9}

    async def generate(_):
        yield AIMessageChunk([{"type": "text", "text": ANSWER, "index": 0}], id="m")
        yield AIMessageChunk([{"type": "text", **more, "annotations": [note], "index": 0}], id="m")

    chain = VerifiedRunnable(RunnableGenerator(generate), verifier=verifier(Redact()), passages=DOCUMENTS)
    blocks = [block for part in [p async for p in chain.astream("q")] for block in part.content]
    shown = "".join(block.get("text") or "" for block in blocks)
    ((cited,),) = [block["annotations"] for block in blocks if block.get("annotations")]
    assert shown == SHOWN
    assert shown[cited["start_index"] : cited["end_index"]] == "The river"
