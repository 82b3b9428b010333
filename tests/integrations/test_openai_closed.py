"""Where text is held a wrapped client has no way out that is not verified, and unknown shapes stay in."""

from __future__ import annotations

import json
from typing import Any

import openai
import pytest
from pydantic import BaseModel
from test_openai_chat import TEXT, answer_frames, contents, frame
from test_openai_responses import response_frames

from streamverify import Flag, Redact, UsageError
from streamverify_openai import verification, verify_stream, wrap_client
from streamverify_openai.allowed import CHAT, CLIENT, COMPLETIONS, RESPONSES

PASSAGES = ["The mill was built in 1804 and has two wheels. It grinds barley."]
RELEASED = "The mill was built in 1804. ▮ Barley is ground there"
HELD = Redact(placeholder="▮")
SECRET = "wrong"


@pytest.fixture
def bare(loopback):
    with openai.OpenAI(api_key="none", base_url=f"{loopback.url}/v1", max_retries=0) as made:
        yield made


@pytest.fixture
def held(bare, verifier):
    return wrap_client(bare, passages=PASSAGES, verifier=verifier, policy=HELD)


def names_of(thing: Any) -> list[str]:
    kinds = {name: getattr(type(thing), name, None) for name in dir(type(thing)) if not name.startswith("_")}
    return [name for name, kind in kinds.items() if not isinstance(kind, property)]


SETTINGS = {"base_url", "auth_headers", "custom_auth", "default_headers", "default_query", "qs", "user_agent"}


@pytest.mark.parametrize(
    ("path", "allowed"),
    [((), CLIENT), (("chat",), CHAT), (("chat", "completions"), COMPLETIONS), (("responses",), RESPONSES)],
)
def test_whatever_the_list_does_not_name_is_refused(held, path, allowed):
    thing: Any = held
    for name in path:
        thing = getattr(thing, name)
    for name in names_of(thing):
        if name not in allowed:
            with pytest.raises(UsageError, match="not verified"):
                getattr(thing, name)()
            with pytest.raises(UsageError, match="not verified"):
                getattr(thing, name).create  # noqa: B018 - the use is the test
    properties = {
        n for n in dir(type(thing)) if isinstance(getattr(type(thing), n), property) and n[0] != "_"
    }
    assert properties <= SETTINGS


def test_parse_raw_responses_and_other_endpoints_make_no_request(loopback, held):
    class Form(BaseModel):
        answer: str

    before, asked = len(loopback.requests), {"model": "m", "messages": []}
    schema = {"type": "json_schema", "json_schema": {"name": "form", "schema": {}}}
    for call in (
        lambda: held.chat.completions.parse(**asked, response_format=Form),
        lambda: held.chat.completions.create(**asked, response_format=schema),
        lambda: held.chat.completions.create(**asked, response_format={"type": "json_object"}),
        lambda: held.chat.completions.stream(**asked, response_format=Form).__enter__(),
        lambda: held.responses.create(model="m", input="q", text={"format": {"type": "json_object"}}),
        lambda: held.responses.stream(model="m", input="q", text_format=Form).__enter__(),
        lambda: held.responses.stream(response_id="r1").__enter__(),
        lambda: held.responses.parse(model="m", input="q", text_format=Form),
        lambda: held.beta.chat.completions.parse(**asked, response_format=Form),
        lambda: held.completions.create(model="m", prompt="q"),
        lambda: held.with_raw_response.chat.completions.create(**asked),
        lambda: held.with_streaming_response.chat.completions.create(**asked).__enter__(),
        lambda: held.chat.completions.with_streaming_response.create(**asked).__enter__(),
        lambda: held.post("/chat/completions", cast_to=object, body=asked),
        lambda: held.with_options(timeout=3).post("/chat/completions", cast_to=object, body=asked),
    ):
        with pytest.raises(UsageError):
            call()
    assert len(loopback.requests) == before


@pytest.mark.parametrize("way", ["copy", "with_options"])
def test_copies_of_a_wrapped_client_are_wrapped(loopback, held, way):
    loopback.script(answer_frames([TEXT], 1), seed=1)
    another = getattr(getattr(held, way)(timeout=9), way)(max_retries=1)
    assert another.timeout == 9
    assert another.max_retries == 1
    with another.chat.completions.create(model="m", messages=[], stream=True) as stream:
        assert contents(stream) == {0: RELEASED}


def test_text_that_flows_may_go_other_ways_but_copies_are_verified(loopback, bare, verifier):
    flows = wrap_client(bare, passages=PASSAGES, verifier=verifier, policy=Flag())
    loopback.whole = whole({"role": "assistant", "content": TEXT})
    answer = flows.with_options(timeout=9).chat.completions.create(model="m", messages=[])
    assert verification(answer).reports[0].answer == TEXT
    answer = flows.chat.completions.parse(model="m", messages=[])
    with pytest.raises(UsageError, match="not verified"):
        verification(answer)


def whole(message, **more):
    choice = {"index": 0, "message": message, "finish_reason": "stop", **more}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


def test_the_report_of_a_whole_answer_is_found_and_never_dumped(loopback, held):
    loopback.whole = whole({"role": "assistant", "content": TEXT})
    answer = held.chat.completions.create(model="m", messages=[])
    found = verification(answer)
    assert found.reports[0].released == answer.choices[0].message.content == RELEASED
    assert found.events[-1][1].report == found.reports[0]
    assert SECRET not in answer.model_dump_json() + repr(answer) + json.dumps(answer.to_dict())
    loopback.whole = response_frames([TEXT])[-1]["response"]
    answer = held.responses.create(model="m", input="q")
    assert verification(answer).reports[0, 0].released == RELEASED
    assert SECRET not in answer.model_dump_json() + repr(answer)


UNREAD = [
    {"reasoning_content": f"The {SECRET} thought."},
    {"reasoning": f"The {SECRET} thought.", "content": ""},
    {"audio": {"id": "a", "transcript": f"The {SECRET} voice."}},
    {"content": "The mill was built in 1804. ", "something_new": {"text": f"The {SECRET} wheel."}},
    {"refusal": f"The {SECRET} wheel turns. "},
]


@pytest.mark.parametrize("delta", UNREAD)
def test_what_a_chunk_says_beside_its_text_stays_in(loopback, bare, verifier, delta):
    more = {"message": {"content": f"The {SECRET} wheel."}, "text": f"The {SECRET} wheel."}
    odd = {**frame(delta), "search_note": f"The {SECRET} note."}
    loopback.script([*answer_frames(["The mill. "])[:-2], odd, frame(delta, **more), frame({}, 0, "stop")])
    stream = bare.chat.completions.create(model="m", messages=[], stream=True)
    with verify_stream(stream, PASSAGES, verifier=verifier, policy=HELD) as chunks:
        told = [chunk.model_dump_json() for chunk in chunks]
    assert SECRET not in "".join(told)
    assert json.loads(told[-1])["choices"][0]["finish_reason"] == "stop"
    assert ("▮" in "".join(told)) == ("refusal" in delta)


@pytest.mark.parametrize("content", [[{"type": "text", "text": f"The {SECRET} wheel."}], {"parts": [SECRET]}])
def test_text_in_a_shape_that_cannot_be_read_is_refused(loopback, bare, held, verifier, content):
    loopback.script([frame({"role": "assistant", "content": content})])
    stream = bare.chat.completions.create(model="m", messages=[], stream=True)
    told = []
    with (
        verify_stream(stream, PASSAGES, verifier=verifier, policy=HELD) as chunks,
        pytest.raises(UsageError, match=r"delta\.content"),
    ):
        told += [chunk.model_dump_json() for chunk in chunks]
    assert SECRET not in "".join(told)
    loopback.whole = whole({"role": "assistant", "content": content})
    with pytest.raises(UsageError, match="content is text"):
        held.chat.completions.create(model="m", messages=[])


def test_what_a_whole_answer_says_beside_its_text_stays_in(loopback, held):
    beside = {"reasoning_content": f"The {SECRET} thought.", "audio": {"transcript": f"The {SECRET} voice."}}
    loopback.whole = whole({"role": "assistant", "content": TEXT, "refusal": f"A {SECRET} wheel.", **beside})
    loopback.whole["search_note"] = f"The {SECRET} note."
    answer = held.chat.completions.create(model="m", messages=[])
    assert SECRET not in answer.model_dump_json()
    assert answer.choices[0].message.refusal == "▮"


THOUGHT = {
    "id": "t1", "type": "reasoning", "status": "completed",
    "summary": [{"type": "summary_text", "text": f"The {SECRET} thought."}],
}  # fmt: skip
NEW = {"id": "n1", "type": "something_new", "text": f"The {SECRET} thing."}


def test_responses_say_nothing_but_released_text(loopback, bare, held, verifier):
    frames = response_frames([TEXT], 3, call=False)
    response = frames[-1]["response"]
    refused = {"type": "refusal", "refusal": f"The {SECRET} wheel."}
    unknown = {"type": "something_new", "text": f"The {SECRET} wheel."}
    response["output"][0]["content"] += [refused, unknown]
    response["output"] += [THOUGHT, NEW]
    where = {"item_id": "m1", "output_index": 0, "content_index": 1}
    added = [
        {"type": "response.content_part.added", **where, "part": {"type": "refusal", "refusal": ""}},
        {"type": "response.refusal.delta", **where, "delta": refused["refusal"]},
        {"type": "response.refusal.done", **where, "refusal": refused["refusal"]},
        {"type": "response.content_part.done", **where, "part": refused},
        {"type": "response.content_part.added", **where, "content_index": 2, "part": unknown},
        {"type": "response.reasoning_summary_text.delta", "item_id": "t1", "output_index": 1,
         "summary_index": 0, "delta": f"The {SECRET} thought."},
        {"type": "response.audio.transcript.delta", "delta": f"The {SECRET} voice."},
        {"type": "response.something_new.delta", "delta": f"The {SECRET} news."},
        {"type": "response.output_item.added", "output_index": 1, "item": THOUGHT},
        {"type": "response.output_item.done", "output_index": 2, "item": NEW},
    ]  # fmt: skip
    at = next(place for place, one in enumerate(frames) if one["type"] == "response.output_item.done")
    ordered = [*frames[:at], *added, *frames[at:]]
    loopback.script([{**one, "sequence_number": number} for number, one in enumerate(ordered)], seed=3)
    stream = bare.responses.create(model="m", input="q", stream=True)
    with verify_stream(stream, PASSAGES, verifier=verifier, policy=HELD) as events:
        told = list(events)
    assert SECRET not in "".join(event.model_dump_json(warnings=False) for event in told)
    assert [event.delta for event in told if event.type == "response.refusal.delta"] == ["▮"]
    assert told[-1].response.output_text == RELEASED
    loopback.whole = response
    answer = held.responses.create(model="m", input="q")
    assert SECRET not in answer.model_dump_json(warnings=False)
    assert answer.output_text == RELEASED
