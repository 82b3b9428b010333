"""What passes between a client and the upstream: queries, keys, choices, and how an upstream fails."""

from __future__ import annotations

import json

import pytest
from upstreams import SSE, events_in, proxied, told

from streamverify.errors import UsageError
from streamverify.server import Limits, ServeSettings

GOOD = "The mill was built in the town. "
OPEN = {"choices": [{"index": 0, "delta": {"content": GOOD}, "finish_reason": None}]}
PATHS = [("POST", "/embeddings"), ("GET", "/models"), ("POST", "/chat/completions"), ("POST", "/responses")]
EVERY_PATH = pytest.mark.parametrize(("method", "path"), PATHS, ids=[path[1:] for _, path in PATHS])


@pytest.fixture(scope="module")
def proxy():
    with proxied() as made:
        yield made


@pytest.fixture(scope="module")
def impatient():
    with proxied(limits=Limits(idle_seconds=1.0)) as made:
        yield made


def ask(proxy, method, path, **options):
    body = {"model": "m", "messages": [], "input": "q"} if method == "POST" else None
    return proxy.client.request(method, f"{proxy.url}/v1{path}", json=body, **options)


def code(got):
    return got.status_code, got.json()["error"]["code"]


@EVERY_PATH
@pytest.mark.parametrize(
    "query", ["api-version=2024-06-01", "limit=5&after=z", "a=b%2Fc%23&d=e+f&x=&%C3%BC='\"[]{}%"]
)
def test_a_requests_query_reaches_the_upstream_as_it_was_written(query, method, path, proxy):
    body = {"data": []} if method == "GET" else {"choices": [], "output": []}
    proxy.upstream.say(body)
    assert ask(proxy, method, f"{path}?{query}").status_code == 200
    # Which characters a client itself writes as %XX is its own affair.
    sent = str(proxy.client.build_request(method, f"{proxy.url}{path}?{query}").url.query, "ascii")
    assert proxy.upstream.queries[-1].decode() == sent
    assert proxy.upstream.asked[-1] == (method, f"/v1{path}")


def test_without_a_query_none_is_made(proxy):
    proxy.upstream.say({"data": []})
    ask(proxy, "GET", "/models")
    assert proxy.upstream.queries[-1] == b""


@EVERY_PATH
def test_an_upstream_that_dies_in_its_body_is_502_on_every_path(method, path, proxy):
    proxy.upstream.say(b'{"data": [')
    proxy.upstream.stops = "dies"
    assert code(ask(proxy, method, path)) == (502, "upstream_broke_off")


@EVERY_PATH
def test_an_upstream_that_falls_silent_in_its_body_is_504_on_every_path(method, path, impatient):
    impatient.upstream.say(b'{"data": [')
    impatient.upstream.stops = "falls silent"
    assert code(ask(impatient, method, path)) == (504, "upstream_timeout")


@EVERY_PATH
def test_a_body_that_is_not_packed_as_it_says_is_502_on_every_path(method, path, proxy):
    headers = {"content-encoding": "gzip", "content-type": "application/json"}
    proxy.upstream.say(b"no gzip", headers=headers)
    assert code(ask(proxy, method, path)) == (502, "upstream_broke_off")


def test_a_stream_that_falls_silent_ends_with_the_same_code(impatient):
    impatient.upstream.say(f"data: {json.dumps(OPEN)}\n\n".encode(), headers=SSE)
    impatient.upstream.stops = "falls silent"
    body = impatient.ask("/chat/completions", stream=True, policy="flag").text
    assert events_in(body)[-1]["error"]["code"] == "upstream_timeout"
    assert len(told(body, "stream_failed")) == 1


@EVERY_PATH
def test_a_clients_key_passes_byte_for_byte(method, path, proxy):
    proxy.upstream.say({"data": [], "choices": [], "output": []})
    key = "Bearer sk-ü".encode("latin-1")
    assert ask(proxy, method, path, headers={"authorization": key}).status_code == 200


@pytest.mark.parametrize("policy", ["flag", "redact"])
def test_choices_that_come_out_of_order_keep_their_numbers(policy, proxy):
    said = [(1, "The mill grinds barley."), (0, "The wrong wheel turns.")]
    choices = [{"index": at, "message": {"content": text}, "finish_reason": "stop"} for at, text in said]
    proxy.upstream.say({"choices": choices})
    got = proxy.ask("/chat/completions", stream=False, policy=policy, n=2).json()
    assert [choice["index"] for choice in got["choices"]] == [1, 0]
    assert [one["choice"] for one in got["streamverify"]["reports"]] == [1, 0]
    for choice in choices:
        del choice["index"]
    proxy.upstream.say({"choices": choices})
    got = proxy.ask("/chat/completions", stream=False, policy=policy, n=2).json()
    assert [one["choice"] for one in got["streamverify"]["reports"]] == [0, 1]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"upstream": "http://[::1/v1"}, "address cannot be used: Invalid IPv6 URL"),
        ({"upstream": "http://127.0.0.1:99999/v1"}, "address cannot be used: Port out of range"),
        ({"upstream": "http://127.0.0.1:0/v1"}, "names no host and port"),
        ({"upstream": "https:///v1"}, "names no host and port"),
        ({"upstream": "http://127.0.0.1/v1\n"}, "a blank or a line break"),
        ({"upstream": "http://127.0.0.1/v1?api-version=1"}, "a request brings its own query"),
        ({"upstream_key": "sk-abc\n"}, "the upstream's key begins or ends with a blank or a line break"),
        ({"upstream_key": " sk-abc"}, "the upstream's key begins or ends with a blank or a line break"),
        ({"upstream_key": "sk-ü"}, "no header can carry"),
        ({"upstream_key": "sk\r\nx: y"}, "no header can carry"),
        ({"token": "t" * 16 + "\n"}, "the token begins or ends with a blank or a line break"),
    ],
)
def test_what_no_request_could_be_sent_with_is_refused_at_the_start(settings, message):
    with pytest.raises(UsageError, match=message) as refused:
        ServeSettings(**{"upstream": "http://127.0.0.1/v1"} | settings)
    assert "\n" not in str(refused.value)
    assert "sk" not in str(refused.value)


@pytest.mark.parametrize("upstream", ["http://[::1]:80/v1", "https://user:word@host.example/v1/", "http://h"])
def test_other_addresses_are_taken(upstream):
    assert ServeSettings(upstream=upstream, upstream_key="sk abc").upstream == upstream
