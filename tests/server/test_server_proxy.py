"""The proxy between OpenAI's own client and a scripted upstream, both over loopback."""

from __future__ import annotations

import json
from importlib import resources

import httpx2
import openai
import pytest
from loopback import loopback
from openai_upstream import END, GOOD, TEXT, Upstream
from upstreams import PASSAGES, SCRIPT

from streamverify.server import Limits, ServeSettings, create_app
from streamverify.testing import ScriptedScorer
from streamverify.verifier import Verifier

CONTEXT = '<passage id="p1" title="Mill">The mill was built in the town.</passage>\nWhat is there?'
PLACEHOLDER = "[statement removed]"


@pytest.fixture
def upstream():
    return Upstream()


@pytest.fixture
def address(upstream):
    """A proxy before the upstream; yields the proxy's address."""
    with loopback(upstream.app) as behind, loopback(proxy(behind)) as front:
        yield front


def proxy(behind, **settings):
    made = ServeSettings(**({"upstream": f"{behind}/v1"} | settings))
    return create_app(made, Verifier(ScriptedScorer(SCRIPT)))


def client(address, key="sk-client"):
    return openai.OpenAI(base_url=f"{address}/v1", api_key=key, max_retries=0)


def ask(address, *, policy="flag", stream=True, content="What is there?", passages=PASSAGES, **extra):
    fields = {"policy": policy, **extra}
    if passages is not None:
        fields["passages"] = passages
    with client(address) as made:
        got = made.chat.completions.create(
            model="m",
            messages=[{"role": "user", "content": content}],
            stream=stream,
            extra_body={"streamverify": fields},
        )
        return list(got) if stream else got


def text_of(chunks):
    return "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)


def verdicts(chunks):
    return [c.model_extra["streamverify"] for c in chunks if "streamverify" in (c.model_extra or {})]


def test_a_streamed_answer_arrives_whole_with_verdicts_beside_it(address, upstream):
    chunks = ask(address)
    assert text_of(chunks) == TEXT
    assert {c.id for c in chunks} == {"c1"}
    told = verdicts(chunks)
    assert [v["label"] for v in told if v["kind"] == "sentence_judged"] == [
        "supported",
        "contradicted",
        "supported",
    ]
    assert told[-1]["report"]["released"] == TEXT
    assert [c.choices[0].finish_reason for c in chunks if c.choices][-1] == "stop"
    assert any(c.usage and c.usage.total_tokens == 3 for c in chunks)
    assert any(c.choices and c.choices[0].delta.tool_calls for c in chunks)
    assert "streamverify" not in upstream.bodies[0]


def test_a_rejected_sentence_is_nowhere_in_a_redacted_stream(address):
    chunks = ask(address, policy="redact")
    assert text_of(chunks) == GOOD + PLACEHOLDER + " " + END
    assert "wrong" not in "".join(c.model_dump_json() for c in chunks)


def test_a_halted_stream_ends_the_upstream_and_says_content_filter(address, upstream):
    upstream.fault = "endless"
    chunks = ask(address, policy="halt")
    assert text_of(chunks) == GOOD
    assert [c.choices[0].finish_reason for c in chunks if c.choices][-1] == "content_filter"
    assert verdicts(chunks)[-1]["kind"] == "stream_halted"
    assert upstream.closed.wait(60)


def test_verdicts_can_be_left_out(address):
    chunks = ask(address, policy="redact", events=False)
    assert verdicts(chunks) == []
    assert PLACEHOLDER in text_of(chunks)


@pytest.mark.parametrize(
    ("policy", "text", "reason"), [("flag", TEXT, "stop"), ("halt", GOOD, "content_filter")]
)
def test_a_whole_answer_is_verified_too(address, policy, text, reason):
    got = ask(address, stream=False, policy=policy)
    assert (got.choices[0].message.content, got.choices[0].finish_reason) == (text, reason)
    assert (got.choices[0].logprobs is None) == (policy == "halt")  # they would spell out what is held
    report = got.model_extra["streamverify"]["report"]
    assert report["released"] == text
    assert ("wrong" in json.dumps(report)) == (policy == "flag")


def test_passages_may_stand_in_the_messages_and_in_tool_results(address):
    told = verdicts(ask(address, passages=None, content=CONTEXT))
    assert told[0]["passages"] == [{"id": "p1", "title": "Mill", "chars": 31}]
    with client(address) as made:
        messages = [
            {"role": "user", "content": "What is there?"},
            {"role": "tool", "tool_call_id": "t1", "content": json.dumps({"results": PASSAGES})},
            {"role": "tool", "tool_call_id": "t2", "content": "plain text"},
        ]
        chunks = list(made.chat.completions.create(model="m", messages=messages, stream=True))
    assert [p["id"] for p in verdicts(chunks)[0]["passages"]] == ["p1", "t2"]


def test_without_passages_every_claim_is_unverified(address):
    told = verdicts(ask(address, passages=None))
    assert {v["label"] for v in told if v["kind"] == "sentence_judged"} == {"unverified"}


def test_an_error_of_the_upstream_is_passed_on_as_it_is(address, upstream):
    upstream.fault = 429
    with pytest.raises(openai.RateLimitError, match="slow down") as error:
        ask(address)
    assert error.value.response.headers["retry-after"] == "7"


@pytest.mark.parametrize(("fault", "message"), [("break", "cut off"), ("error", "overloaded")])
def test_an_answer_that_breaks_off_is_an_error_and_never_looks_finished(address, upstream, fault, message):
    upstream.fault = fault
    with pytest.raises(openai.APIError, match=message):
        ask(address)


def test_a_client_that_goes_away_ends_the_upstream(address, upstream):
    upstream.fault = "endless"
    body = {"model": "m", "messages": [], "stream": True}
    with httpx2.stream("POST", f"{address}/v1/chat/completions", json=body, timeout=60) as got:
        next(got.iter_lines())
    assert upstream.closed.wait(60)


def test_an_upstream_that_is_not_there_is_502():
    with loopback(proxy("http://127.0.0.1:9")) as front, pytest.raises(openai.InternalServerError) as error:
        ask(front)
    assert error.value.status_code == 502


@pytest.mark.parametrize(
    ("policy", "text"), [("flag", TEXT), ("redact", GOOD + PLACEHOLDER + " " + END), ("halt", GOOD)]
)
def test_responses_tell_the_same_text_in_every_event(address, policy, text):
    extra = {"streamverify": {"passages": PASSAGES, "policy": policy}}
    with client(address) as made:
        events = list(made.responses.create(model="m", input="What?", stream=True, extra_body=extra))
        whole = made.responses.create(model="m", input="What?", extra_body=extra)
    by_type = {event.type: event for event in events}
    assert "".join(event.delta for event in events if event.type == "response.output_text.delta") == text
    assert by_type["response.output_text.done"].text == text
    assert by_type["response.content_part.done"].part.text == text
    assert by_type["response.output_item.done"].item.content[0].text == text
    assert events[-1].response.output[0].content[0].text == text
    assert events[-1].type == ("response.incomplete" if policy == "halt" else "response.completed")
    assert [event.sequence_number for event in events] == list(range(len(events)))
    labels = [e.streamverify["label"] for e in events if e.type == "streamverify.sentence_judged"]
    assert labels[:2] == ["supported", "contradicted"]
    assert whole.output_text == text
    assert whole.model_extra["streamverify"]["reports"][0]["released"] == text
    if policy != "flag":
        assert "wrong" not in "".join(event.to_json() for event in events) + whole.to_json()


def test_the_stream_helpers_of_the_client_understand_the_proxy(address):
    extra = {"streamverify": {"passages": PASSAGES, "policy": "redact"}}
    with client(address) as made:
        with made.chat.completions.stream(
            model="m", messages=[{"role": "user", "content": "?"}], extra_body=extra
        ) as stream:
            final = stream.get_final_completion()
        with made.responses.stream(model="m", input="?", extra_body=extra) as stream:
            answer = stream.get_final_response()
    assert final.choices[0].message.content == GOOD + PLACEHOLDER + " " + END == answer.output_text


def test_the_clients_key_is_passed_through_or_replaced(upstream):
    with loopback(upstream.app) as behind:
        with loopback(proxy(behind)) as front:
            ask(front)
        with loopback(proxy(behind, upstream_key="sk-server")) as front:
            ask(front)
    assert upstream.keys == ["Bearer sk-client", "Bearer sk-server"]
    assert "sk-server" not in repr(ServeSettings(upstream="http://x/v1", upstream_key="sk-server"))


def test_a_token_is_asked_for_and_the_clients_key_goes_on(upstream):
    token = "t" * 16
    with loopback(upstream.app) as behind, loopback(proxy(behind, token=token)) as front:
        with pytest.raises(openai.AuthenticationError):
            ask(front)
        headers = {"x-streamverify-token": token, "authorization": "Bearer sk-client"}
        body = {"model": "m", "messages": []}
        url = f"{front}/v1/chat/completions"
        assert httpx2.post(url, json=body, headers=headers, timeout=60).status_code == 200
        assert (
            httpx2.post(
                url, json=body, headers=headers | {"x-streamverify-token": b"\xe9"}, timeout=60
            ).status_code
            == 401
        )
    assert upstream.keys == ["Bearer sk-client"]


@pytest.mark.parametrize(
    ("send", "status"),
    [
        ({"content": b"{", "headers": {"content-type": "application/json"}}, 400),
        ({"json": []}, 400),
        ({"json": {"messages": [], "n": 17}}, 400),
        ({"json": {"messages": [], "n": "2"}}, 400),
        ({"json": {"messages": [], "streamverify": {"passage": []}}}, 400),
        ({"json": {"messages": [], "streamverify": {"policy": "burn"}}}, 400),
        ({"json": {"messages": [], "streamverify": {"passages": [{"id": "a"}]}}}, 400),
        ({"json": {"messages": [], "streamverify": {"policy": {"name": "halt", "max_share": 7}}}}, 400),
        ({"content": b"x" * 5000, "headers": {"content-type": "application/json"}}, 413),
        ({"content": b"{}", "headers": {"content-type": "text/plain"}}, 415),
        ({"json": {}, "headers": {"host": "evil.example"}}, 421),
    ],
)
def test_bad_requests_are_told_what_is_wrong(send, status, upstream):
    limits = Limits(body_bytes=4000)
    with loopback(upstream.app) as behind, loopback(proxy(behind, limits=limits)) as front:
        got = httpx2.post(f"{front}/v1/chat/completions", **send, timeout=60)
    assert got.status_code == status
    assert got.json()["error"]["message"]
    assert upstream.bodies == []


def test_one_answer_too_many_is_refused_with_429(upstream):
    upstream.fault = "endless"
    limits = Limits(concurrent=1)
    body = {"model": "m", "messages": [], "stream": True}
    with loopback(upstream.app) as behind, loopback(proxy(behind, limits=limits)) as front:
        url = f"{front}/v1/chat/completions"
        with httpx2.stream("POST", url, json=body, timeout=60) as got:
            lines = got.iter_lines()
            assert next(lines).startswith("data: ")
            second = httpx2.post(url, json=body, timeout=60)
            assert (second.status_code, second.headers["retry-after"]) == (429, "1")
            assert httpx2.get(f"{front}/healthz", timeout=60).status_code == 200
            assert httpx2.get(f"{front}/readyz", timeout=60).json()["ready"] is True


def test_an_answer_that_takes_too_long_is_ended(upstream):
    upstream.fault = "endless"
    limits = Limits(total_seconds=0.5)
    with loopback(upstream.app) as behind, loopback(proxy(behind, limits=limits)) as front:
        with pytest.raises(openai.APIError, match="no end within"):
            ask(front)
        assert upstream.closed.wait(60)


def test_the_models_are_the_upstreams(address):
    with client(address) as made:
        assert [model.id for model in made.models.list()] == ["m"]


def test_the_demo_page_and_its_streams(upstream):
    with loopback(create_app(ServeSettings(demo=True), Verifier(ScriptedScorer()))) as front:
        page = httpx2.get(front, timeout=60)
        assert "default-src 'none'" in page.headers["content-security-policy"]
        shipped = [entry.name for entry in (resources.files("streamverify") / "static").iterdir()]
        # Served by `streamverify label`, and by a server that holds records, alone.
        of_other_pages = {"label.html", "label.js", "label.css", "judge.html", "judge.js"}
        for name in set(shipped) - {"demo.html"} - of_other_pages:
            assert httpx2.get(f"{front}/static/{name}", timeout=60).status_code == 200
        assert httpx2.get(f"{front}/static/..%2fpy.typed", timeout=60).status_code == 404
        cases = httpx2.get(f"{front}/demo/cases", timeout=60).json()
        assert cases[0]["id"] == "docs"
        body = httpx2.get(f"{front}/demo/stream?case=docs&speed=0&policy=redact", timeout=60).text
        assert "event: stream_finished" in body
        for bad in ("case=none", "speed=-1", "speed=x", "policy=burn"):
            assert httpx2.get(f"{front}/demo/stream?{bad}", timeout=60).status_code == 400
        assert httpx2.get(f"{front}/v1/models", timeout=60).status_code == 404
