"""A trace goes through the proxy: from the caller, over a span of ours, to the upstream."""

from __future__ import annotations

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loopback import loopback
from openai_upstream import Upstream as OpenAiUpstream
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from starlette.applications import Starlette
from starlette.middleware import Middleware
from upstreams import PASSAGES, SCRIPT

from streamverify.monitor import OpenTelemetryObserver
from streamverify.program import main
from streamverify.server import ServeSettings, create_app
from streamverify.server.traces import traced
from streamverify.testing import ScriptedScorer
from streamverify.verifier import Verifier
from tests.console.command_line import started

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
SENT = {"traceparent": f"00-{TRACE}-{SPAN}-01", "tracestate": "desk=1", "baggage": "user=ann"}
PATHS = ["/chat/completions", "/responses"]


def parts(traceparent):
    version, trace_id, span_id, flags = traceparent.split("-")
    assert (version, len(flags)) == ("00", 2)
    return int(trace_id, 16), int(span_id, 16)


class Proxy:
    """A proxy with or without traces, and what its upstream was sent."""

    def __init__(self, *, traces):
        self.exported, self.provider = InMemorySpanExporter(), TracerProvider(shutdown_on_exit=False)
        self.provider.add_span_processor(SimpleSpanProcessor(self.exported))
        self.headers = []
        observers = (OpenTelemetryObserver(self.provider),) if traces else ()
        self.verifier = Verifier(ScriptedScorer(SCRIPT), observers=observers)
        self.observers = observers

    def app(self, behind):
        return create_app(ServeSettings(upstream=f"{behind}/v1", observers=self.observers), self.verifier)

    def remembers(self, app):
        async def call(scope, receive, send):
            if scope["type"] == "http":
                self.headers.append({name.decode(): value.decode() for name, value in scope["headers"]})
            await app(scope, receive, send)

        return call

    def ask(self, path, headers, *, stream):
        upstream = OpenAiUpstream().app
        behind = Starlette(routes=upstream.routes, middleware=[Middleware(self.remembers)])
        with (
            loopback(behind) as back,
            loopback(self.app(back)) as front,
            httpx2.Client(timeout=120) as client,
        ):
            if path == "/models":
                answer = client.get(f"{front}/v1/models", headers=headers)
            else:
                body = {"model": "m", "messages": [], "input": "q", "stream": stream}
                body["streamverify"] = {"passages": PASSAGES}
                answer = client.post(f"{front}/v1{path}", json=body, headers=headers)
            assert answer.status_code == 200
        return self.headers[-1]

    def spans(self, name):
        return [one for one in self.exported.get_finished_spans() if one.name == f"streamverify.{name}"]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("stream", [True, False])
def test_the_callers_span_is_our_parent_and_ours_is_the_upstreams(path, stream):
    proxy = Proxy(traces=True)
    told = proxy.ask(path, SENT, stream=stream)
    (request,), (answer,) = proxy.spans("request"), proxy.spans("stream")
    assert request.context.trace_id == int(TRACE, 16)
    assert request.parent.span_id == int(SPAN, 16)
    assert request.parent.is_remote
    assert request.kind is trace.SpanKind.SERVER
    assert answer.parent.span_id == request.context.span_id
    assert {span.context.trace_id for span in proxy.exported.get_finished_spans()} == {int(TRACE, 16)}
    assert parts(told["traceparent"]) == (int(TRACE, 16), request.context.span_id)
    assert told["tracestate"] == "desk=1"
    assert "baggage" not in told
    assert len(proxy.spans("sentence")) >= 2


def test_other_paths_keep_the_trace_too_and_a_request_without_one_begins_one():
    proxy = Proxy(traces=True)
    told = proxy.ask("/models", {}, stream=False)
    (request,) = proxy.spans("request")
    assert request.parent is None
    assert parts(told["traceparent"]) == (request.context.trace_id, request.context.span_id)


def test_without_spans_of_its_own_the_proxy_passes_the_trace_on_as_it_came():
    told = Proxy(traces=False).ask("/chat/completions", SENT, stream=True)
    assert (told["traceparent"], told["tracestate"]) == (SENT["traceparent"], SENT["tracestate"])
    assert "baggage" not in told
    assert "traceparent" not in Proxy(traces=False).ask("/chat/completions", {}, stream=True)


@settings(max_examples=30)
@given(st.text(st.characters(codec="ascii", exclude_categories=["Cc"]), max_size=80), st.text(max_size=20))
def test_headers_that_are_no_trace_begin_a_new_one_and_leave_nothing_behind(parent, state):
    provider = TracerProvider(shutdown_on_exit=False)
    observer = OpenTelemetryObserver(provider)
    given_headers = {"traceparent": parent, "tracestate": state, "authorization": "Bearer k"}
    before = trace.get_current_span()
    with traced([observer], given_headers) as told:
        current = trace.get_current_span().get_span_context()
        assert parts(told["traceparent"]) == (current.trace_id, current.span_id)
        assert told["authorization"] == "Bearer k"
    assert trace.get_current_span() is before


def test_a_span_that_is_current_already_goes_before_the_headers():
    provider = TracerProvider(shutdown_on_exit=False)
    observer = OpenTelemetryObserver(provider)
    with provider.get_tracer("desk").start_as_current_span("server") as around:
        with traced([observer], SENT) as told:
            assert parts(told["traceparent"])[0] == around.get_span_context().trace_id
        assert trace.get_current_span() is around


def test_a_request_that_fails_is_an_error_without_its_words():
    proxy = Proxy(traces=True)
    with pytest.raises(LookupError), traced(proxy.observers, SENT):
        raise LookupError("ann's zebra")
    (request,) = proxy.spans("request")
    assert request.attributes["error.type"] == "LookupError"
    assert request.status.description is None
    assert not request.events


def test_serve_refuses_traces_that_would_go_nowhere(capsys):
    assert main(["serve", "--upstream", "http://127.0.0.1:1/v1", "--traces", "--port", "0"]) == 2
    assert "opentelemetry-instrument" in capsys.readouterr().err


@pytest.mark.slow
def test_serve_makes_spans_for_the_provider_that_the_process_has(monkeypatch):
    """As under `opentelemetry-instrument`, which sets a provider up before the program begins."""
    monkeypatch.setenv("OTEL_PYTHON_TRACER_PROVIDER", "sdk_tracer_provider")
    proxy = Proxy(traces=False)
    behind = Starlette(routes=OpenAiUpstream().app.routes, middleware=[Middleware(proxy.remembers)])
    with (
        loopback(behind) as back,
        started("serve", "--upstream", f"{back}/v1", "--traces", "--port", "0") as process,
    ):
        said = process.stderr.readline().decode()
        address = said.split("serves ")[1].strip()
        answer = httpx2.get(f"{address}/v1/models", headers=SENT, timeout=250)
    assert answer.status_code == 200
    trace_id, span_id = parts(proxy.headers[-1]["traceparent"])
    assert trace_id == int(TRACE, 16)
    assert span_id != int(SPAN, 16)
