"""The proxy before upstreams that stop early, talk nonsense, interleave, or answer more than once."""

from __future__ import annotations

import json

import pytest
from upstreams import SSE, events_in, proxied, told

GOOD, BAD = "The mill was built in the town. ", "The wrong wheel turns. "
HEAD = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
PLACEHOLDER = "[statement removed] "


@pytest.fixture(scope="module")
def proxy():
    with proxied() as made:
        yield made


def chunk(delta=None, finish=None, index=0):
    return {**HEAD, "choices": [{"index": index, "delta": delta or {}, "finish_reason": finish}]}


def event(kind, output=0, content=0, **fields):
    return {"type": kind, "item_id": f"i{output}", "output_index": output, "content_index": content, **fields}


def delta(text, output=0):
    return event("response.output_text.delta", output, delta=text)


def completed(*texts):
    items = [
        {
            "id": f"i{at}",
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": text}],
        }
        for at, text in enumerate(texts)
    ]
    return {"type": "response.completed", "response": {"id": "r", "object": "response", "output": items}}


CUT = [
    ("/chat/completions", [chunk({"content": GOOD})]),
    ("/chat/completions", [chunk({"content": GOOD}), chunk({"content": GOOD}, "stop", 1)]),
    ("/responses", [{"type": "response.created", "response": {}}, delta(GOOD)]),
]


@pytest.mark.parametrize("policy", ["flag", "redact"])
@pytest.mark.parametrize(("path", "events"), CUT, ids=["chat", "one choice of two", "responses"])
def test_an_answer_that_stops_before_its_end_has_failed(path, events, policy, proxy):
    proxy.upstream.stream(events, done=False)
    body = proxy.ask(path, stream=True, policy=policy, n=2).text
    assert [event["code"] for event in told(body, "stream_failed")]
    assert told(body, "stream_finished") == []
    last = events_in(body)[-1]
    assert last["error"]["code"] == "upstream_incomplete"


@pytest.mark.parametrize("path", ["/chat/completions", "/responses"])
@pytest.mark.parametrize(
    ("said", "code"),
    [
        ((b"", 200, SSE), "upstream_incomplete"),
        ((b"", 302, {"location": "http://127.0.0.1:9/"}), "upstream_status"),
        (({"choices": []}, 200, {}), "upstream_no_stream"),
        ((b"<html>busy</html>", 200, {"content-type": "text/html"}), "upstream_no_stream"),
        ((b"data: nothing\n\n", 200, SSE), "upstream_no_json"),
        ((b"data: " + b"[" * 50_000 + b"\n\n", 200, SSE), "upstream_no_json"),
    ],
    ids=["empty", "redirected", "json", "html", "no json", "deep"],
)
def test_what_is_no_stream_of_answers_is_502_with_a_code(path, said, code, proxy):
    proxy.upstream.say(*said)
    got = proxy.ask(path, stream=True)
    assert (got.status_code, got.json()["error"]["code"]) == (502, code)


@pytest.mark.parametrize("policy", ["flag", "redact"])
@pytest.mark.parametrize(
    ("path", "said", "code"),
    [
        ("/chat/completions", {"choices": [None]}, "upstream_shape"),
        ("/chat/completions", {"choices": ["text"]}, "upstream_shape"),
        ("/chat/completions", {"choices": "text"}, "upstream_shape"),
        ("/chat/completions", {"choices": [{"message": "text"}]}, "upstream_shape"),
        ("/chat/completions", {"choices": [{"index": 7, "message": {}}]}, "upstream_choices"),
        ("/chat/completions", b"[" * 100_000, "upstream_no_json"),
        ("/chat/completions", b'{"choices": [{"message": {"content": "\\ud800"}}]}', "upstream_text"),
        ("/responses", {"output": "text"}, "upstream_shape"),
        ("/responses", b"[1]", "upstream_no_json"),
    ],
)
def test_whole_answers_that_are_none_are_502_with_a_code(path, said, code, policy, proxy):
    proxy.upstream.say(said)
    got = proxy.ask(path, stream=False, policy=policy)
    assert (got.status_code, got.json()["error"]["code"]) == (502, code)


def test_a_lone_surrogate_in_a_stream_is_an_error_with_a_code(proxy):
    proxy.upstream.stream([chunk({"content": GOOD}), chunk({"content": "\ud800"}), chunk(finish="stop")])
    body = proxy.ask("/chat/completions", stream=True, policy="flag").text
    assert events_in(body)[-1]["error"]["code"] == "upstream_text"
    assert told(body, "stream_failed")[0]["code"] == "usage_error"


def test_an_error_tells_what_it_is_and_nothing_that_it_quotes(proxy):
    error = {"message": "no", "type": "invalid_request_error", "code": "bad", "failed_generation": BAD}
    proxy.upstream.say({"error": error}, 400)
    got = proxy.ask("/chat/completions", stream=True)
    assert got.status_code == 400
    assert got.json()["error"] == {
        "message": "no",
        "type": "invalid_request_error",
        "code": "bad",
        "param": None,
    }
    proxy.upstream.stream([chunk({"content": GOOD}), {"error": error}])
    last = events_in(proxy.ask("/chat/completions", stream=True).text)[-1]
    assert last == got.json()


@pytest.mark.parametrize("separator", ["\u2028", "\u0085", "\x0b", "\u2029"])
def test_only_line_feeds_and_carriage_returns_end_a_line(separator, proxy):
    text = f"The mill was{separator}built in the town. "
    data = json.dumps(chunk({"content": text}), ensure_ascii=False)
    end = json.dumps(chunk(finish="stop"), indent=1).replace("\n", "\r\ndata: ")
    proxy.upstream.say(f"data:{data}\r\n\r\ndata: {end}\r\n\r\ndata: [DONE]\n\n".encode(), headers=SSE)
    events = events_in(proxy.ask("/chat/completions", stream=True, policy="flag").text)
    assert any(
        e != "[DONE]" and e["choices"] and e["choices"][0]["delta"].get("content") == text for e in events
    )
    assert events[-1] == "[DONE]"


def test_tool_calls_do_not_overtake_the_text_before_them(proxy):
    call = {"index": 0, "id": "t", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    proxy.upstream.stream(
        [chunk({"content": GOOD}), chunk({"tool_calls": [call]}), chunk(finish="tool_calls")]
    )
    events = events_in(proxy.ask("/chat/completions", stream=True).text)
    deltas = [e["choices"][0]["delta"] for e in events if e != "[DONE]" and e["choices"]]
    assert [sorted(delta) for delta in deltas] == [["content"], ["tool_calls"], []]


@pytest.mark.parametrize("policy", ["flag", "redact"])
def test_every_choice_is_verified_by_itself(policy, proxy):
    texts = [GOOD + BAD + GOOD, BAD + GOOD]
    said = [
        chunk({"content": text[at : at + 5]}, index=index)
        for at in range(0, 90, 5)
        for index, text in enumerate(texts)
        if text[at : at + 5]
    ]
    proxy.upstream.stream([*said, chunk(finish="stop"), chunk(finish="length", index=1)])
    body = proxy.ask("/chat/completions", stream=True, policy=policy, n=2).text
    chunks = [e for e in events_in(body) if e != "[DONE]" and e["choices"]]
    wanted = [text if policy == "flag" else text.replace(BAD, PLACEHOLDER) for text in texts]
    for index in (0, 1):
        own = [c["choices"][0] for c in chunks if c["choices"][0]["index"] == index]
        assert "".join(c["delta"].get("content", "") for c in own) == wanted[index]
        assert own[-1]["finish_reason"] == ["stop", "length"][index]
        labels = [
            e["streamverify"]["label"]
            for e in events_in(body)
            if e != "[DONE]"
            and e.get("streamverify_choice") == index
            and e["streamverify"]["kind"] == "sentence_judged"
        ]
        assert labels == [["supported", "contradicted", "supported"], ["contradicted", "supported"]][index]
    choices = [{"index": i, "message": {"content": t}, "finish_reason": "stop"} for i, t in enumerate(texts)]
    proxy.upstream.say({"choices": choices})
    whole = proxy.ask("/chat/completions", stream=False, policy=policy, n=2).json()
    assert [c["message"]["content"] for c in whole["choices"]] == wanted
    assert [one["choice"] for one in whole["streamverify"]["reports"]] == [0, 1]


def test_more_choices_than_were_asked_for_are_refused(proxy):
    proxy.upstream.stream([chunk({"content": GOOD}, index=1), chunk(finish="stop", index=1)])
    got = proxy.ask("/chat/completions", stream=True)
    assert (got.status_code, got.json()["error"]["code"]) == (502, "upstream_choices")


@pytest.mark.parametrize("policy", ["flag", "redact"])
def test_a_text_that_others_interrupt_stays_one_text(policy, proxy):
    added = {"type": "response.output_item.added", "output_index": 1, "item": {"id": "i1", "type": "message"}}
    first, second = "The mill was built in the town. ", "The wrong wheel is in it. "
    proxy.upstream.stream(
        [
            delta(first[:9]),
            added,
            delta(second[:4], 1),
            delta(first[9:]),
            delta(second[4:], 1),
            event("response.output_text.done", 1, text=second),
            event("response.output_text.done", text=first),
            completed(first, second),
        ]
    )
    body = proxy.ask("/responses", stream=True, policy=policy).text
    closed = {
        e["output_index"]: e["streamverify"]["sentence"]["text"]
        for e in events_in(body)
        if e["type"] == "streamverify.sentence_closed"
    }
    assert [len(closed[0]), len(closed[1])] == [len(first), len(second)]
    assert len(told(body, "stream_finished")) == 2
    wanted = second if policy == "flag" else PLACEHOLDER
    output = events_in(body)[-1]["response"]["output"]
    assert [item["content"][0]["text"] for item in output] == [first, wanted]
    for index, text in enumerate((first, wanted)):
        deltas = [e for e in events_in(body) if e["type"] == "response.output_text.delta"]
        assert "".join(e["delta"] for e in deltas if e["output_index"] == index) == text


def test_a_released_sentences_citation_is_told_as_written(proxy):
    text = "The mill was built in the town [p1]. "
    proxy.upstream.stream([chunk({"content": text + BAD}), chunk(finish="stop")])
    body = proxy.ask("/chat/completions", stream=True).text
    assert told(body, "sentence_judged")[0]["citations"][0]["marker"] == "[p1]"


def test_paths_without_answers_pass_and_no_others(proxy):
    proxy.upstream.say({"data": [1]})
    asked = len(proxy.upstream.asked)
    url = f"{proxy.url}/v1"
    assert proxy.client.get(f"{url}/models/org/m:7b").json() == {"data": [1]}
    assert proxy.client.post(f"{url}/embeddings", json={"input": "x"}).json() == {"data": [1]}
    assert proxy.upstream.asked[asked:] == [("GET", "/v1/models/org/m:7b"), ("POST", "/v1/embeddings")]
    for method, path in [
        ("GET", "/responses/r1"),
        ("POST", "/completions"),
        ("POST", "/audio/speech"),
        ("DELETE", "/models/m"),
        ("GET", "/chat/completions/c1"),
        ("GET", "/models/../responses/r1"),
        ("GET", "/models/..%2fresponses"),
        ("POST", "/embeddings/../completions"),
    ]:
        got = proxy.client.request(method, f"{url}{path}", json={} if method == "POST" else None)
        assert got.status_code in (404, 405), path
    assert len(proxy.upstream.asked) == asked + 2
