"""Traces say what the events say, carry no text unless asked, and reach a real collector."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openinference.semconv.trace import EvaluationAttributes, SpanAttributes
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import (
    BatchLogRecordProcessor,
    InMemoryLogRecordExporter,
    SimpleLogRecordProcessor,
)
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from streamverify import Label, Observer, Passage, Redact, Verifier
from streamverify.monitor import OpenTelemetryObserver, conventions
from streamverify.testing import ScriptedScorer, stream_of

PASSAGES = [Passage("leave", "Zebras have 30 days of leave.")]
SENTENCES = {
    "Zebras have 30 days of leave. ": Label.SUPPORTED,
    "The wrong zebra has 40 days of leave. ": Label.CONTRADICTED,
    "A silent zebra founded the company in Wales. ": Label.UNSUPPORTED,
    "The broken zebra left the office in May. ": Label.UNVERIFIED,
    "Hello zebra! ": Label.NO_CLAIM,
}
SECRETS = ("zebra", "wales", "ann@example.org", "leave")
"""What stands in texts and names here, and must not stand in a trace."""


class Seen:
    """What was exported, by exporters in memory."""

    def __init__(self, **options):
        self.spans_out, self.logs_out = InMemorySpanExporter(), InMemoryLogRecordExporter()
        self.tracers, self.loggers = (
            TracerProvider(shutdown_on_exit=False),
            LoggerProvider(shutdown_on_exit=False),
        )
        self.tracers.add_span_processor(SimpleSpanProcessor(self.spans_out))
        self.loggers.add_log_record_processor(SimpleLogRecordProcessor(self.logs_out))
        self.observer = OpenTelemetryObserver(self.tracers, self.loggers, **options)

    def spans(self, name):
        return [span for span in self.spans_out.get_finished_spans() if span.name == f"streamverify.{name}"]

    @property
    def events(self):
        return [one.log_record for one in self.logs_out.get_finished_logs()]

    def said(self):
        """Every value of every attribute, as one text."""
        held = [one.attributes for one in (*self.spans_out.get_finished_spans(), *self.events)]
        words = [str(value) for attributes in held for value in attributes.values()]
        statuses = [str(span.status.description) for span in self.spans_out.get_finished_spans()]
        return " ".join([*words, *statuses]).lower()


def scorer():
    script = {"wrong": Label.CONTRADICTED, "silent": Label.UNSUPPORTED}
    return ScriptedScorer(script, fail_on="broken")


def check(observers, source, **options):
    given = {"question": "How much leave has a zebra?", "context": {"user": "ann@example.org"}, **options}
    with Verifier(scorer(), observers=observers) as verifier:

        async def read():
            async with verifier.stream(source, PASSAGES, **given) as stream:
                try:
                    return [event async for event in stream]
                except LookupError:
                    return []

        events = verifier.portal.run(read)
        assert verifier.drain_observers(50)
    return events


@settings(max_examples=20)
@given(st.lists(st.sampled_from(sorted(SENTENCES)), max_size=5), st.booleans())
def test_every_sentence_is_told_and_what_was_not_verified_has_neither_score_nor_label(parts, redact):
    seen = Seen(sentence_events=True, openinference=True)
    check([seen.observer], "".join(parts), policy=Redact() if redact else None)
    (stream,) = seen.spans("stream")
    spans = seen.spans("sentence")
    assert [span.attributes["streamverify.sentence"] for span in spans] == list(range(len(parts)))
    told = [event for event in seen.events if "streamverify.sentence" in event.attributes]
    assert len(told) == len(parts)
    for text, span, event in zip(parts, spans, told, strict=True):
        label, attributes = SENTENCES[text], event.attributes
        assert event.event_name == "gen_ai.evaluation.result"
        assert attributes["gen_ai.evaluation.name"] == "groundedness"
        assert event.span_id == span.context.span_id
        assert span.parent.span_id == stream.context.span_id
        assert stream.start_time <= span.start_time <= span.end_time <= stream.end_time
        score = attributes.get("gen_ai.evaluation.score.value")
        if label is Label.UNVERIFIED:
            assert attributes["error.type"] == span.attributes["error.type"] == "scorer_failed"
            assert not [name for name in attributes if "score" in name]
            assert "evaluations.0.evaluation.score" not in span.attributes
            assert span.status.status_code is StatusCode.ERROR
        else:
            assert attributes["gen_ai.evaluation.score.label"] == label.value
            assert "error.type" not in attributes
            assert (score is None) == (label is Label.NO_CLAIM)
            assert score is None or 0 <= score <= 1
        assert span.attributes["evaluations.0.evaluation.label"] == label.value
    counted = {label: stream.attributes[f"streamverify.sentences.{label.value}"] for label in Label}
    assert counted == {label: [SENTENCES[text] for text in parts].count(label) for label in Label}
    (answer,) = [event for event in seen.events if "streamverify.sentence" not in event.attributes] or [None]
    assert (answer is None) == (not parts)
    if answer is not None and SENTENCES.keys() & set(parts):
        labels = {SENTENCES[text] for text in parts}
        bad = labels & {Label.CONTRADICTED, Label.UNSUPPORTED}
        assert ("error.type" in answer.attributes) == (Label.UNVERIFIED in labels and not bad)
        assert answer.span_id == stream.context.span_id
    assert [secret for secret in SECRETS if secret in seen.said()] == []


def test_text_is_told_where_it_is_asked_for():
    seen = Seen(text=True, openinference=True, sentence_events=True)
    check([seen.observer], "Zebras have 30 days of leave. The wrong zebra has 40 days of leave.")
    (stream,) = seen.spans("stream")
    assert stream.attributes["gen_ai.retrieval.query.text"] == "How much leave has a zebra?"
    assert stream.attributes["input.value"] == "How much leave has a zebra?"
    assert "wrong zebra" in stream.attributes["output.value"]
    assert seen.spans("sentence")[1].attributes["streamverify.sentence.text"].startswith("The wrong zebra")
    assert "Zebras have 30 days" in seen.events[0].attributes["gen_ai.evaluation.explanation"]
    assert "ann@example.org" not in seen.said()  # nobody's name, even so


def test_a_stream_that_fails_is_an_error_and_none_that_looks_verified():
    seen = Seen()
    check([seen.observer], stream_of(["Zebras have 30 days of leave. "], error=LookupError("zebra")))
    (stream,) = seen.spans("stream")
    assert stream.status.status_code is StatusCode.ERROR
    assert stream.attributes["error.type"] == "source_failed"
    (event,) = seen.events
    assert dict(event.attributes) == {
        "gen_ai.evaluation.name": "groundedness",
        "error.type": "source_failed",
    }
    assert "zebra" not in seen.said()


def test_the_spans_of_preparation_say_what_was_encoded():
    seen = Seen(sentences=False)
    events = check([seen.observer], "Zebras have 30 days of leave.")
    (stream,), (prepared,) = seen.spans("stream"), seen.spans("prepare")
    assert seen.spans("sentence") == []
    assert prepared.parent.span_id == stream.context.span_id
    assert prepared.start_time == stream.start_time
    took = events[-1].report.timings.prepare_ms
    assert prepared.end_time - prepared.start_time == round(took * 1e6)
    assert prepared.attributes["streamverify.windows"] == 1


def test_a_stream_whose_end_was_never_told_ends_as_an_error():
    openings = []

    class Remembers(Observer):
        def opened(self, opening):
            openings.append(opening)

    check([Remembers()], "Zebras have 30 days of leave.")
    seen = Seen()
    with seen.observer as observer:
        observer.opened(openings[0])
        assert seen.spans("stream") == []
    (stream,) = seen.spans("stream")
    assert stream.attributes["error.type"] == "end_not_told"
    assert stream.status.status_code is StatusCode.ERROR


def test_names_are_those_of_openinference():
    told = conventions.Evaluation(score=0.5, label="supported", explanation="so").flattened(2, text=True)
    start = f"{SpanAttributes.EVALUATIONS}.2."
    names = ("NAME", "SCORE", "LABEL", "EXPLANATION", "ANNOTATOR_KIND")
    assert set(told) == {start + getattr(EvaluationAttributes, f"EVALUATION_{name}") for name in names}
    assert conventions.SPAN_KIND == SpanAttributes.OPENINFERENCE_SPAN_KIND


class Collector(BaseHTTPRequestHandler):
    """Takes OTLP over HTTP and decodes it."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        kind = {"/v1/traces": ExportTraceServiceRequest, "/v1/logs": ExportLogsServiceRequest}[self.path]
        self.server.taken.append(kind.FromString(body))
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *args):
        pass


@contextmanager
def collector():
    with ThreadingHTTPServer(("127.0.0.1", 0), Collector) as server:
        server.taken = []
        thread = threading.Thread(target=server.serve_forever, name="collector")
        thread.start()
        try:
            yield server, f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def test_a_collector_gets_spans_and_events_over_otlp():
    resource = Resource.create({"service.name": "desk"})
    with collector() as (server, url):
        tracers = TracerProvider(resource=resource, shutdown_on_exit=False)
        loggers = LoggerProvider(resource=resource, shutdown_on_exit=False)
        tracers.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(f"{url}/v1/traces")))
        loggers.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter(f"{url}/v1/logs")))
        observer = OpenTelemetryObserver(tracers, loggers, sentence_events=True)
        with tracers.get_tracer("desk").start_as_current_span("request") as request:
            check([observer], "Zebras have 30 days of leave. The broken zebra left the office in May.")
        for provider in (tracers, loggers):
            assert provider.force_flush(50_000)
            provider.shutdown()
    spans = [
        span
        for taken in server.taken
        if isinstance(taken, ExportTraceServiceRequest)
        for resources in taken.resource_spans
        for scope in resources.scope_spans
        if scope.scope.name == "streamverify"
        for span in scope.spans
    ]
    by_name = {}
    for span in spans:
        by_name.setdefault(span.name, []).append(span)
    (stream,) = by_name["streamverify.stream"]
    assert int.from_bytes(stream.parent_span_id) == request.get_span_context().span_id
    assert {len(by_name["streamverify.sentence"]), len(by_name["streamverify.prepare"])} == {2, 1}
    assert all(span.trace_id == stream.trace_id for span in spans)
    records = [
        record
        for taken in server.taken
        if isinstance(taken, ExportLogsServiceRequest)
        for resources in taken.resource_logs
        for scope in resources.scope_logs
        for record in scope.log_records
    ]
    assert [record.event_name for record in records] == ["gen_ai.evaluation.result"] * 3
    said = [{one.key: one.value for one in record.attributes} for record in records]
    good, broken, answer = said
    assert good["gen_ai.evaluation.score.value"].double_value > 0.5
    assert good["gen_ai.evaluation.score.label"].string_value == "supported"
    for unverified in (broken, answer):
        assert unverified["error.type"].string_value == "scorer_failed"
        assert not [name for name in unverified if "score" in name]
    assert {record.span_id for record in records[:2]} == {s.span_id for s in by_name["streamverify.sentence"]}


@pytest.mark.anyio
async def test_a_collector_that_never_answers_holds_no_stream_up():
    let_go, asked = threading.Event(), threading.Event()

    class Hangs(InMemorySpanExporter):
        def export(self, spans):
            asked.set()
            let_go.wait()
            return super().export(spans)

    tracers = TracerProvider(shutdown_on_exit=False)
    exporter = Hangs()
    tracers.add_span_processor(SimpleSpanProcessor(exporter))
    async with Verifier(scorer(), observers=[OpenTelemetryObserver(tracers)]) as verifier:
        async with verifier.stream("Zebras have 30 days of leave.", PASSAGES) as stream:
            events = [event async for event in stream]
        assert events[-1].kind == "stream_finished"
        assert await anyio.to_thread.run_sync(asked.wait, 50)
        assert exporter.get_finished_spans() == ()
        let_go.set()
        assert await anyio.to_thread.run_sync(verifier.drain_observers, 50)
    assert len(exporter.get_finished_spans()) == 3
