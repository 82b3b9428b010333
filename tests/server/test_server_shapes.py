"""The law of the proxy under a holding policy: no rejected word reaches the client, in no shape.

A marker is put at every place of every event that holds a string, and at places that OpenAI's API does not
know; then every byte that the client got is searched for it. Excepted are the arguments of tool calls,
which are input of a program, and what an upstream says of an error.
"""

from __future__ import annotations

import copy
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from upstreams import events_in, proxied

from streamverify.server.response_fields import ResponseFields

MARKER = "The wrong zebra sings. "
GOOD = "The mill was built in the town. "
ARGUMENTS = {"arguments", "input"}
"""Keys whose string is input of a program."""

HEAD = {"id": "c1", "created": 1, "model": "m", "system_fingerprint": "fp", "service_tier": "default"}
LOGPROBS = {"content": [{"token": GOOD, "logprob": -0.1, "bytes": [], "top_logprobs": [{"token": "x"}]}]}
CALL = {"index": 0, "id": "t1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
ANNOTATION = {"type": "url_citation", "url_citation": {"url": "http://x", "title": "t", "start_index": 0}}
SAID = {
    "role": "assistant",
    "content": GOOD,
    "refusal": "No. ",
    "tool_calls": [CALL],
    "function_call": {"name": "f", "arguments": "{}"},
    "reasoning_content": "thinking",
    "reasoning": "thinking",
    "reasoning_details": [{"type": "reasoning.text", "text": "thinking"}],
    "audio": {"id": "a", "transcript": "said", "data": "AAAA"},
    "annotations": [ANNOTATION],
    "images": [{"type": "image_url", "image_url": {"url": "data:"}}],
    "provider_specific_fields": {"citation": "c"},
}
USAGE = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3, "details": {"note": "n", "tokens": 1}}


def parts(text):
    return [{"type": "text", "text": text}, {"type": "thinking", "thinking": "hm"}, {"type": "image"}, text]


def chat_events():
    choice = {"index": 0, "delta": SAID, "logprobs": LOGPROBS, "finish_reason": None}
    listed = {"index": 0, "delta": {"content": parts(GOOD)}, "finish_reason": None}
    odd = {"index": 0, "message": SAID, "text": GOOD, "delta": {}, "content_filter_results": {"hate": "safe"}}
    end = {"index": 0, "delta": {"content": GOOD}, "finish_reason": "stop", "stop_reason": "eos"}
    head = {**HEAD, "object": "chat.completion.chunk"}
    return [
        {**head, "choices": [choice], "x_groq": {"id": "g"}, "provider": "p"},
        {**head, "choices": [listed], "citations": ["http://x"], "search_results": [{"title": "t"}]},
        {**head, "choices": [odd]},
        {**head, "choices": [end], "usage": USAGE},
        {**head, "choices": [], "usage": USAGE, "prompt_filter_results": [{"note": "n"}]},
    ]


def chat_whole(content):
    choice = {"index": 0, "message": {**SAID, "content": content}, "logprobs": LOGPROBS, "text": GOOD}
    body = {**HEAD, "object": "chat.completion", "choices": [{**choice, "finish_reason": "stop"}]}
    return {**body, "usage": USAGE, "citations": ["http://x"], "output": "o"}


TEXT_PART = {"type": "output_text", "text": GOOD, "annotations": [ANNOTATION], "logprobs": [LOGPROBS]}
OUTPUT = [
    {
        "id": "rs",
        "type": "reasoning",
        "summary": [{"type": "summary_text", "text": "s"}],
        "status": "completed",
    },
    {
        "id": "msg",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [TEXT_PART, {"type": "refusal", "refusal": "No. "}, {"type": "other", "text": "t"}],
    },
    {
        "id": "fc",
        "type": "function_call",
        "call_id": "c",
        "name": "f",
        "arguments": "{}",
        "status": "completed",
    },
    {
        "id": "ws",
        "type": "web_search_call",
        "status": "completed",
        "action": {"type": "search", "query": "q"},
    },
    {"id": "ci", "type": "code_interpreter_call", "code": "c", "outputs": [{"type": "logs", "logs": "l"}]},
    {"id": "zz", "type": "unheard_of", "text": "t"},
]


def response(status, output):
    return {
        "id": "r1",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "status": status,
        "output": output,
        "output_text": GOOD,
        "instructions": "i",
        "metadata": {"key": "value"},
        "text": {"format": {"type": "text"}},
        "tools": [{"type": "function", "name": "f", "description": "d"}],
        "tool_choice": "auto",
        "parallel_tool_calls": True,
        "reasoning": {"effort": "low", "summary": "s"},
        "usage": USAGE,
        "incomplete_details": {"reason": "max_output_tokens"},
    }


def response_events():
    where = {"item_id": "msg", "output_index": 1, "content_index": 0}
    call = {"item_id": "fc", "output_index": 2}
    think = {"item_id": "rs", "output_index": 0, "summary_index": 0}
    opened = {"id": "msg", "type": "message", "role": "assistant", "status": "in_progress"}
    return [
        {"type": "response.created", "response": response("in_progress", OUTPUT[:2])},
        {"type": "response.in_progress", "response": {"id": "r1", "object": "response", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": OUTPUT[0]},
        {
            "type": "response.reasoning_summary_part.added",
            **think,
            "part": {"type": "summary_text", "text": "t"},
        },
        {"type": "response.reasoning_summary_text.delta", **think, "delta": "thinking"},
        {"type": "response.reasoning_summary_text.done", **think, "text": "thinking"},
        {"type": "response.reasoning_text.delta", **think, "content_index": 0, "delta": "thinking"},
        {"type": "response.output_item.added", "output_index": 1, "item": {**opened, "content": [TEXT_PART]}},
        {"type": "response.content_part.added", **where, "part": TEXT_PART},
        {"type": "response.output_text.delta", **where, "delta": GOOD, "logprobs": [LOGPROBS]},
        {"type": "response.output_text.annotation.added", **where, "annotation": ANNOTATION},
        {"type": "response.output_item.added", "output_index": 2, "item": OUTPUT[2]},
        {"type": "response.function_call_arguments.delta", **call, "delta": "{}"},
        {"type": "response.function_call_arguments.done", **call, "arguments": "{}"},
        {"type": "response.output_text.delta", **where, "delta": GOOD},
        {"type": "response.refusal.delta", **where, "content_index": 1, "delta": "No. "},
        {"type": "response.refusal.done", **where, "content_index": 1, "refusal": "No. "},
        {"type": "response.output_text.done", **where, "text": GOOD + GOOD, "logprobs": [LOGPROBS]},
        {"type": "response.content_part.done", **where, "part": {**TEXT_PART, "text": GOOD + GOOD}},
        {"type": "response.audio.transcript.delta", "delta": "said"},
        {"type": "response.web_search_call.searching", "item_id": "ws", "output_index": 3, "query": "q"},
        {"type": "response.output_item.done", "output_index": 1, "item": OUTPUT[1]},
        {"type": "response.unheard_of", "text": "t", "delta": "d"},
        {"type": "response.completed", "response": response("completed", OUTPUT)},
    ]


def places(value, path=()):
    """The paths of the strings in a JSON value, but for arguments."""
    if isinstance(value, str):
        yield path
    elif isinstance(value, dict):
        for name, one in value.items():
            argument = name in ARGUMENTS or ("arguments" in str(value.get("type")) and name == "delta")
            if not (argument and isinstance(one, str)):
                yield from places(one, (*path, name))
    elif isinstance(value, list):
        for position, one in enumerate(value):
            yield from places(one, (*path, position))


def placed(value, path, text):
    """The value with another text at one place."""
    made = copy.deepcopy(value)
    holder = made
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = text
    return made


SHAPES = [
    ("chat, streamed", "/chat/completions", True, chat_events()),
    ("responses, streamed", "/responses", True, response_events()),
    ("chat, whole", "/chat/completions", False, chat_whole(GOOD)),
    ("chat, whole, in parts", "/chat/completions", False, chat_whole(parts(GOOD))),
    ("responses, whole", "/responses", False, response("completed", OUTPUT)),
]


@pytest.fixture(scope="module")
def proxy():
    with proxied() as made:
        yield made


def ask(proxy, path, stream, said, **body):
    if stream:
        proxy.upstream.stream(said)
    else:
        proxy.upstream.say(said)
    return proxy.ask(path, stream=stream, **body).text


@pytest.mark.parametrize(("name", "path", "stream", "said"), SHAPES, ids=[shape[0] for shape in SHAPES])
@pytest.mark.parametrize(
    "every", [9, pytest.param(1, marks=[pytest.mark.slow, pytest.mark.timeout(600)])], ids=["some", "all"]
)
def test_a_rejected_word_at_any_place_reaches_no_client(name, path, stream, said, every, proxy):  # noqa: PLR0917
    found = list(places(said))
    assert len(found) > 15
    for place in found[::every]:
        assert "zebra" not in ask(proxy, path, stream, placed(said, place, MARKER)), place
    assert GOOD.strip() in ask(proxy, path, stream, said)


LEAVES = st.none() | st.booleans() | st.integers() | st.sampled_from([MARKER, GOOD, "id"])
JSON = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["text", "content", "type", "index", "delta", MARKER]), inner)
    ),
    max_leaves=6,
)


@pytest.mark.slow
@given(data=st.data())
@settings(deadline=None)
def test_nor_in_any_other_shape(data, proxy):
    """Any JSON at any place, and a field that nobody knows beside it; some are refused, none leaks."""
    _, path, stream, said = data.draw(st.sampled_from(SHAPES))
    place = data.draw(st.sampled_from(list(places(said))))
    body = ask(proxy, path, stream, placed(said, place, data.draw(JSON)))
    assert "zebra" not in body
    parent = placed(said, (*place[:-1], "unheard_of"), MARKER) if isinstance(place[-1], str) else said
    assert "zebra" not in ask(proxy, path, stream, parent)


def test_what_was_kept_back_is_told_by_name(proxy):
    body = ask(proxy, "/chat/completions", True, chat_events())
    named = next(e["streamverify_withheld"] for e in events_in(body) if "streamverify_withheld" in e)
    assert "choices[].delta.reasoning_content" in named
    whole = json.loads(ask(proxy, "/responses", False, response("completed", OUTPUT)))
    assert "reasoning.summary" in whole["streamverify"]["withheld"]


def test_what_may_pass_does(proxy):
    """Ids, usage, tool calls with their arguments; and the stream ends as the API's streams do."""
    body = ask(proxy, "/chat/completions", True, chat_events())
    chunks = [event for event in events_in(body) if event != "[DONE]"]
    assert chunks[0]["id"] == "c1"
    assert any(c["choices"] and c["choices"][0]["delta"].get("tool_calls") == [CALL] for c in chunks)
    assert chunks[-1]["usage"]["details"] == {"tokens": 1}
    answer = json.loads(ask(proxy, "/responses", False, response("completed", OUTPUT)))
    assert answer["output"][2] == OUTPUT[2]
    assert answer["output"][1]["content"][0]["text"] == GOOD
    assert answer["status"] == "completed"


@pytest.mark.parametrize(("name", "path", "stream", "said"), SHAPES, ids=[shape[0] for shape in SHAPES])
def test_where_text_flows_everything_passes(name, path, stream, said, proxy):
    for place in list(places(said))[::7]:
        assert "zebra" in ask(
            proxy, path, stream, placed(said, place, MARKER), streamverify={"policy": "flag"}
        )


@pytest.mark.parametrize("place", [MARKER, [MARKER], {"x": MARKER}, True, -1, 10**9, 0.5])
def test_a_place_that_is_no_number_does_not_pass(place):
    event = {"output_index": place, "content_index": 3, "response": {"id": "r"}}
    made = ResponseFields({}).event("response.created", event, None)
    assert "output_index" not in made
    assert made["content_index"] == 3
