"""Clients that mean no good, or are broken: what they can make the server do is bounded."""

from __future__ import annotations

import json
import socket

import anyio
import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopback import loopback
from serving import Client
from starlette.applications import Starlette
from starlette.responses import StreamingResponse
from starlette.routing import Route
from upstreams import SSE, events_in, proxied

from streamverify.policy import Flag
from streamverify.server import Limits, ServeSettings, create_app
from streamverify.server.errors import HTTPRefusal
from streamverify.server.guard import is_loopback
from streamverify.server.request import read_request
from streamverify.testing import ScriptedScorer
from streamverify.types import Passage
from streamverify.verifier import Verifier

ANSWER = {"choices": [{"index": 0, "delta": {"content": "The mill was built. "}, "finish_reason": "stop"}]}
JSON = {"content-type": "application/json"}


@pytest.mark.parametrize(
    "part",
    [
        "<passage>",
        "<passage ",
        "<passage",
        "</passage>",
        "<passage id='",
        "<passage></passage>",
        "<",
        "id=",
        " ",
    ],
)
def test_reading_a_request_takes_time_in_line_with_its_length(part):
    """A parser that goes back would not be done with a megabyte before the test's time is up."""
    text = part * (1_000_000 // len(part))
    asked = read_request(json.dumps({"messages": [{"role": "user", "content": text}]}).encode(), Flag())
    assert len(asked.passages) == (text.count("></") if "></" in part else 0)


pieces = st.sampled_from(
    [
        "<passage>",
        "<passage id=\"a\" title='t'>",
        "<passage id=b>",
        "</passage>",
        "<passages>",
        "text ",
        "<",
        ">",
        "\n",
    ]
)


@given(st.lists(pieces, max_size=12).map("".join))
def test_blocks_end_at_the_first_closing_mark_and_the_question_is_what_stands_around_them(text):
    body = json.dumps({"messages": [{"role": "user", "content": text}]}).encode()
    try:
        asked = read_request(body, Flag())
    except HTTPRefusal:
        asked = None
    if asked is None:  # refused only where one id stands for two texts
        assert max(text.count("id=b"), text.count('id="a"')) > 1
        return
    for passage in asked.passages:
        assert passage.text in text
        assert "</passage>" not in passage.text
    assert len(asked.passages) <= text.count("</passage>")
    if "<passage" not in text:
        assert (asked.question or "") == text.strip()


@pytest.mark.parametrize("policy", ["zap", {"name": "zap"}])
def test_a_policy_that_is_none_is_told_the_choices(policy):
    body = {"messages": [], "streamverify": {"policy": policy}}
    with pytest.raises(HTTPRefusal, match=r"(?s)observe.*flag.*redact.*halt") as refused:
        read_request(json.dumps(body).encode(), Flag())
    assert refused.value.status == 400


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.0.0.1:8377", "localhost", "LOCALHOST:1", "[::1]", "[::1]:8377"]
)
def test_names_of_this_machine_are_let_in(host):
    assert is_loopback(host)


@pytest.mark.parametrize(
    "host",
    [
        "",
        "[::1].evil.com",
        "[::1]evil",
        "evil@127.0.0.1",
        "127.0.0.1@evil",
        "127.0.0.1.evil.com",
        "localhost.",
        "127.0.0.1:80:80",
        "[::1",
        "::1",
        "127.0.0.1:",
        "127.0.0.1:x",
        "127.0.0.1/evil",
        " 127.0.0.1",
        "127.0.0.1\n",
        "[127.0.0.1]x",
        "evil.com",
        "[evil]",
    ],
)
def test_no_other_name_is(host):
    assert not is_loopback(host)


@given(st.text(st.sampled_from("127.0localhost:[]@/evil 8"), max_size=20))
def test_a_host_that_is_let_in_is_a_name_and_at_most_a_port(host):
    if is_loopback(host):
        assert host.lower().rpartition(":")[0] in ("127.0.0.1", "[::1]", "localhost") or host.lower() in (
            "127.0.0.1",
            "[::1]",
            "localhost",
        )


@pytest.fixture(scope="module")
def proxy():
    with proxied(demo=True, limits=Limits(body_seconds=0.5)) as made:
        yield made


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "http://127.0.0.1"},
    ],
)
@pytest.mark.parametrize("path", ["/demo/stream?case=docs&speed=0", "/demo/cases", "/v1/models"])
def test_pages_of_other_origins_may_not_ask(headers, path, proxy):
    assert proxy.client.get(proxy.url + path, headers=headers).status_code == 403


def test_the_page_itself_may(proxy):
    headers = {"origin": proxy.url, "sec-fetch-site": "same-origin"}
    assert proxy.client.get(f"{proxy.url}/demo/cases", headers=headers).status_code == 200


@pytest.mark.parametrize("speed", ["1e-9", "0.5", "nan", "inf", "-1", "1e9"])
def test_a_replay_has_an_end_in_sight(speed, proxy):
    got = proxy.client.get(f"{proxy.url}/demo/stream?case=docs&speed={speed}")
    assert got.status_code == 400
    assert "tokens a second" in got.json()["error"]["message"]


def test_a_body_that_does_not_come_gives_its_place_back(proxy):
    address = httpx2.URL(proxy.url)
    head = "POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
    with socket.create_connection((address.host, address.port), timeout=20) as client:
        client.sendall(f"{head}content-length: 100\r\n\r\n{{".encode())
        answer = b""
        while part := client.recv(65_536):
            answer += part
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert proxy.client.get(f"{proxy.url}/readyz").json()["answers"] == 0


@pytest.mark.parametrize("policy", ["flag", "redact"])
@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_client_that_reads_nothing_gives_its_place_back(policy, anyio_backend):
    """At the deadline, though it does not take the error that tells of it either."""
    said = {"id": "c", "choices": [{"index": 0, "delta": {"content": "The mill was built in the town. "}}]}
    frames = f"data: {json.dumps(said)}\n\n" * 50

    async def endless():
        while True:
            yield frames
            await anyio.lowlevel.checkpoint()

    async def upstream(_request):
        return StreamingResponse(endless(), headers=SSE)

    asked = {"policy": policy, "passages": ["The mill was built in the town."]}
    body = json.dumps({"messages": [], "stream": True, "streamverify": asked}).encode()
    routes = [Route("/v1/chat/completions", upstream, methods=["POST"])]
    with loopback(Starlette(routes=routes)) as behind:
        settings = ServeSettings(upstream=f"{behind}/v1", limits=Limits(total_seconds=0.5))
        app = create_app(settings, Verifier(ScriptedScorer()))
        async with app.router.lifespan_context(app):
            with anyio.fail_after(60):
                client = Client(
                    app, "/v1/chat/completions", method="POST", headers=JSON, body=body, read=False
                )
                await client()
            ready = await Client(app, "/readyz")()
            assert json.loads(ready.body)["answers"] == 0


@pytest.mark.parametrize(
    ("own", "ids"), [({"passages": [{"id": "sent", "text": "x"}]}, ["sent"]), ({}, ["own"])]
)
def test_default_passages_are_used_where_a_request_holds_none(own, ids):
    with proxied(passages=(Passage("own", "The mill was built."),)) as proxy:
        proxy.upstream.stream([ANSWER])
        got = proxy.ask("/chat/completions", stream=True, streamverify=own)
        opened = next(e["streamverify"] for e in events_in(got.text) if "streamverify" in e)
        assert [passage["id"] for passage in opened["passages"]] == ids
        assert "x-streamverify-warning" not in got.headers


@pytest.mark.parametrize("stream", [False, True])
def test_an_answer_that_nothing_can_verify_says_so(stream, proxy):
    choice = {"index": 0, "message": {"content": "The mill was built. "}, "finish_reason": "stop"}
    if stream:
        proxy.upstream.stream([ANSWER])
    else:
        proxy.upstream.say({"choices": [choice]})
    for said, shown in (
        ({}, True),
        ({"policy": "redact"}, False),
        ({"policy": "redact", "on_unverified": "release"}, True),
    ):
        got = proxy.ask("/chat/completions", stream=stream, streamverify={"events": False} | said)
        assert got.headers["x-streamverify-warning"] == "no_passages"
        assert ("The mill was built." in got.text) == shown
