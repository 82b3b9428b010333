"""Being told to stop: the real process between a client and a slow upstream, all over loopback."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
import threading
from pathlib import Path

import anyio
import httpx2
import pytest
from loopback import loopback
from serving import Client, Source, frames
from starlette.applications import Starlette
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route

from streamverify.server import Limits, Runs, sse_response
from streamverify.server.drain import Drain
from streamverify.testing import ScriptedScorer
from streamverify.types import Passage
from streamverify.verifier import Verifier

FIRST, REST = "The mill was built in 1804. It grinds", " barley for the whole village."
PASSAGES = [{"id": "p1", "text": "The mill was built in 1804. It grinds barley for the whole village."}]
COMPLAINTS = ("Traceback", "ResourceWarning", "never awaited", "was destroyed", "ASGI callable")


class SlowUpstream:
    """Says the first words, waits until it may go on, says the rest; knows when its connection was closed."""

    def __init__(self):
        self.asked, self.asked_whole, self.may_go_on = (threading.Event() for _ in range(3))
        self.closed, self.closed_responses = threading.Event(), threading.Event()
        self.silent = False

    @property
    def app(self):
        routes = [
            Route("/v1/chat/completions", self.chat, methods=["POST"]),
            Route("/v1/responses", self.responses, methods=["POST"]),
        ]
        return Starlette(routes=routes)

    async def _wait(self):
        await anyio.to_thread.run_sync(self.may_go_on.wait, abandon_on_cancel=True)

    async def chat(self, request):
        self.asked.set()
        if (await request.json()).get("stream"):
            return StreamingResponse(self._chunks(), media_type="text/event-stream")
        self.asked_whole.set()
        await self._wait()
        message = {"role": "assistant", "content": FIRST + REST}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return JSONResponse({"id": "c", "object": "chat.completion", "choices": [choice]})

    async def _chunks(self):
        def chunk(delta, reason=None):
            choice = {"index": 0, "delta": delta, "finish_reason": reason}
            return f"data: {json.dumps({'id': 'c', 'choices': [choice]})}\n\n"

        try:
            if self.silent:
                await anyio.sleep_forever()
            yield chunk({"content": FIRST})
            await self._wait()
            yield chunk({"content": REST})
            yield chunk({}, "stop")
            yield "data: [DONE]\n\n"
        finally:
            self.closed.set()

    async def responses(self, _request):
        async def events():
            try:
                place = {"item_id": "m", "output_index": 0, "content_index": 0}
                yield f"data: {json.dumps({'type': 'response.created', 'response': {'id': 'r'}})}\n\n"
                delta = {"type": "response.output_text.delta", **place, "delta": FIRST}
                yield f"data: {json.dumps(delta)}\n\n"
                await anyio.sleep_forever()
            finally:
                self.closed_responses.set()

        return StreamingResponse(events(), media_type="text/event-stream")


class Served:
    """A real `streamverify serve`, or another program that says where it listens."""

    def __init__(self, arguments):
        command = [sys.executable, "-W", "always::ResourceWarning", *arguments]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, encoding="utf-8")
        line = self.process.stderr.readline()
        assert "http://" in line, line + self.process.stderr.read()
        self.address = line[line.index("http://") :].strip()

    def tell_to_stop(self, sig=signal.SIGTERM):
        self.process.send_signal(sig)

    def end(self):
        """The exit code, and what was complained about since it listens."""
        _, told = self.process.communicate(timeout=120)
        return self.process.returncode, [line for line in told.splitlines() if line.startswith(COMPLAINTS)]

    def until_stopping(self):
        while (got := httpx2.get(f"{self.address}/readyz", timeout=60)).status_code == 200:
            assert got.json()["stopping"] is False
        return got


@contextlib.contextmanager
def serving(*arguments):
    served = Served(arguments)
    try:
        yield served
    finally:
        served.process.kill()
        served.process.communicate()


@pytest.fixture
def upstream():
    made = SlowUpstream()
    yield made
    made.may_go_on.set()


@contextlib.contextmanager
def proxying(upstream, *options):
    with loopback(upstream.app) as behind:
        command = ("-m", "streamverify", "serve", "--upstream", f"{behind}/v1", "--port", "0", *options)
        with serving(*command) as served:
            yield served


def asking(served, path="chat/completions", **fields):
    body = {"model": "m", "messages": [], "stream": True, "streamverify": {"passages": PASSAGES}, **fields}
    return httpx2.stream("POST", f"{served.address}/v1/{path}", json=body, timeout=120)


def until(lines, part):
    for line in lines:
        if part in line:
            return
    raise AssertionError(f"{part} never came")


def read(lines):
    return [line.removeprefix("data: ") for line in lines if line.startswith("data: ")]


def verdicts(told):
    events = [json.loads(line).get("streamverify") for line in told if line.startswith("{")]
    return [event for event in events if event]


@contextlib.contextmanager
def asked_aside(served, **fields):
    """Ask in a thread, because the answer's status is not there yet; what comes of it in the end."""
    got, body = [], {"model": "m", "messages": [], "streamverify": {"passages": PASSAGES}, **fields}

    def ask():
        got.append(httpx2.post(f"{served.address}/v1/chat/completions", json=body, timeout=120))

    thread = threading.Thread(target=ask)
    thread.start()
    yield got
    thread.join()


@pytest.mark.slow
@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGINT])
def test_answers_in_progress_end_with_their_verdicts_and_new_requests_are_refused(upstream, sig):
    with proxying(upstream) as served, asked_aside(served) as whole, asking(served) as got:
        lines = got.iter_lines()
        until(lines, "sentence_judged")
        upstream.asked_whole.wait()
        served.tell_to_stop(sig)
        readiness = served.until_stopping().json()
        assert (readiness["ready"], readiness["stopping"], readiness["answers"]) == (False, True, 2)
        assert httpx2.get(f"{served.address}/healthz", timeout=60).status_code == 200
        with asking(served) as refused:
            assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
            assert json.loads(refused.read())["error"]["type"] == "server_stopping"
        assert served.process.poll() is None
        upstream.may_go_on.set()
        told = read(lines)
        assert told[-1] == "[DONE]"
        assert verdicts(told)[-1]["report"]["outcome"] == "finished"
        assert verdicts(told)[-1]["report"]["answer"] == FIRST + REST
        assert served.end() == (0, [])
    assert whole[0].json()["choices"][0]["message"]["content"] == FIRST + REST
    assert upstream.closed.is_set()


@pytest.mark.slow
def test_answers_that_do_not_end_are_judged_as_far_as_they_came_and_end_with_an_error(upstream):
    with (
        proxying(upstream, "--drain-seconds", "0.2") as served,
        asking(served) as chat,
        asking(served, "responses") as response,
    ):
        streams = [chat.iter_lines(), response.iter_lines()]
        for lines in streams:
            until(lines, "sentence_closed")
        served.tell_to_stop()
        both = [read(lines) for lines in streams]
        assert served.end() == (0, [])
    assert upstream.closed.wait(60)
    assert upstream.closed_responses.wait(60)
    for told in both:
        last = verdicts(told)[-1]
        assert (last["kind"], last["code"]) == ("stream_failed", "interrupted")
        assert last["report"]["answer"] == FIRST
        assert "unverified" not in [sentence["label"] for sentence in last["report"]["sentences"]]
        assert json.loads(told[-1])["error"]["type"] == "server_stopping"


@pytest.mark.slow
def test_an_upstream_that_says_nothing_is_given_up_with_503(upstream):
    upstream.silent = True
    with proxying(upstream, "--drain-seconds", "0") as served:
        with asked_aside(served, stream=True) as got:
            upstream.asked.wait()
            served.tell_to_stop()
        assert (got[0].status_code, got[0].json()["error"]["type"]) == (503, "server_stopping")
        assert served.end() == (0, [])
    assert upstream.closed.wait(60)


@pytest.mark.slow
def test_a_second_signal_stops_at_once(upstream):
    with proxying(upstream, "--drain-seconds", "600") as served, asking(served) as got:
        lines = got.iter_lines()
        until(lines, "sentence_judged")
        served.tell_to_stop()
        served.until_stopping()
        served.tell_to_stop()
        assert served.process.wait(120) == -signal.SIGTERM
    assert upstream.closed.wait(60)


@pytest.mark.slow
def test_the_demo_ends_its_streams_too():
    with serving("-m", "streamverify", "serve", "--demo", "--port", "0", "--drain-seconds", "0.2") as served:
        with httpx2.stream("GET", f"{served.address}/demo/stream?speed=2", timeout=120) as got:
            lines = got.iter_lines()
            until(lines, "text_released")
            served.tell_to_stop()
            last = json.loads(read(lines)[-1])
        assert (last["kind"], last["code"]) == ("stream_failed", "interrupted")
        assert served.end() == (0, [])


@pytest.mark.slow
@pytest.mark.parametrize(("shutdown", "ending"), [(30, "stream_finished"), (0, "stream_failed")])
def test_an_application_of_its_own_under_uvicorn_ends_its_streams_in_order(upstream, shutdown, ending):
    """The program says where it listens, then says the first words and waits until it may say the rest."""
    program = Path(__file__).parent / "own_application.py"
    with loopback(upstream.app) as behind, serving(str(program), behind, str(shutdown)) as served:
        with httpx2.stream("GET", served.address, timeout=120) as got:
            lines = got.iter_lines()
            until(lines, "sentence_closed")
            served.tell_to_stop()
            # uvicorn has stopped listening once a connection is refused.
            with contextlib.suppress(httpx2.TransportError):
                while True:
                    httpx2.get(f"{served.address}/none", timeout=60)
            if ending == "stream_finished":
                upstream.may_go_on.set()
            last = json.loads(read(lines)[-1])
        assert (last["kind"], served.end()[1]) == (ending, [])
        assert "unverified" not in [sentence["label"] for sentence in last["report"]["sentences"]]


@pytest.mark.anyio
async def test_interrupted_runs_end_in_order_for_readers_that_are_there_and_that_come_back():
    source = Source([FIRST], endless=True)
    verifier = Verifier(ScriptedScorer())
    async with Runs() as runs:
        stream = verifier.stream(source, [Passage("p1", "The mill was built in 1804.")])
        client = Client(sse_response(stream, runs=runs))
        async with anyio.create_task_group() as group:
            group.start_soon(client)
            await client.until("sentence_closed")
            runs.interrupt("the server is stopping")
        runs.interrupt("again")
    last = frames(client.body)[-1].json
    assert (last["kind"], last["code"]) == ("stream_failed", "interrupted")
    assert last["report"]["answer"] == FIRST
    assert source.closed.is_set()


@pytest.mark.anyio
async def test_a_drain_waits_for_what_runs_and_cuts_what_does_not_end():
    drain, told = Drain(), []
    drain.also(told.append)
    await drain.empty()

    async def hangs(begun):
        with drain.request(), drain.answering() as answering, answering.scope:
            begun.set()
            await anyio.sleep_forever()

    async with anyio.create_task_group() as group:
        begun = anyio.Event()
        group.start_soon(hangs, begun)
        await begun.wait()
        drain.begin()
        await drain.beginning()
        assert (drain.begun, drain.requests) == (True, 1)
        drain.interrupt()
        await drain.empty()
        begun = anyio.Event()
        group.start_soon(hangs, begun)
        await begun.wait()
        drain.cut()
        await drain.empty()
    assert told == ["the server is stopping"]


@pytest.mark.parametrize("seconds", [-1, float("inf"), float("nan")])
def test_a_time_to_drain_that_cannot_be_is_refused(seconds):
    with pytest.raises(ValueError, match="drain_seconds"):
        Limits(drain_seconds=seconds)
