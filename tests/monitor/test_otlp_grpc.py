"""Spans and events reach a collector over gRPC: a real server on loopback that decodes what it is sent."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import grpc
import pytest
from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2 as logs
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2_grpc as logs_service
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as traces
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2_grpc as trace_service
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from streamverify import Label, Passage, Verifier
from streamverify.monitor import OpenTelemetryObserver
from streamverify.testing import ScriptedScorer

TEXT = "Zebras have 30 days of leave. The wrong zebra has 40 days. The broken zebra left the office in May."


class Collector(trace_service.TraceServiceServicer, logs_service.LogsServiceServicer):
    """Takes OTLP over gRPC; the two services share their method's name and not its request."""

    def __init__(self):
        self.taken = []

    def Export(self, request, context):  # noqa: N802 - the protocol's name
        self.taken.append(request)
        asked = isinstance(request, traces.ExportTraceServiceRequest)
        return traces.ExportTraceServiceResponse() if asked else logs.ExportLogsServiceResponse()


@contextmanager
def collector():
    made = Collector()
    server = grpc.server(ThreadPoolExecutor(2))
    trace_service.add_TraceServiceServicer_to_server(made, server)
    logs_service.add_LogsServiceServicer_to_server(made, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield made, f"127.0.0.1:{port}"
    finally:
        assert server.stop(grace=None).wait(60)


@pytest.mark.slow
def test_a_collector_gets_spans_and_events_over_grpc():
    script = ScriptedScorer({"wrong": Label.CONTRADICTED}, fail_on="broken")
    tracers, loggers = TracerProvider(shutdown_on_exit=False), LoggerProvider(shutdown_on_exit=False)
    with collector() as (made, address):
        given = {"endpoint": address, "insecure": True, "timeout": 60}
        tracers.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(**given)))
        loggers.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter(**given)))
        observer = OpenTelemetryObserver(tracers, loggers, sentence_events=True)
        with Verifier(script, observers=[observer]) as verifier:
            verifier.check_sync(TEXT, [Passage("leave", "Zebras have 30 days of leave.")])
            assert verifier.drain_observers(50)
        for provider in (tracers, loggers):
            assert provider.force_flush(60_000)
            provider.shutdown()
    spans = [
        span
        for taken in made.taken
        if isinstance(taken, traces.ExportTraceServiceRequest)
        for resource in taken.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]
    names = [span.name for span in spans]
    assert sorted(names) == ["streamverify.prepare", *["streamverify.sentence"] * 3, "streamverify.stream"]
    (stream,) = [span for span in spans if span.name == "streamverify.stream"]
    assert all(span.parent_span_id == stream.span_id for span in spans if span is not stream)
    records = [
        record
        for taken in made.taken
        if isinstance(taken, logs.ExportLogsServiceRequest)
        for resource in taken.resource_logs
        for scope in resource.scope_logs
        for record in scope.log_records
    ]
    assert {record.event_name for record in records} == {"gen_ai.evaluation.result"}
    said = [{one.key: one.value for one in record.attributes} for record in records]
    labels = [one["gen_ai.evaluation.score.label"].string_value for one in said if "error.type" not in one]
    assert labels == ["supported", "contradicted", "contradicted"]
    (unverified,) = [one for one in said if "error.type" in one]
    assert unverified["error.type"].string_value == "scorer_failed"
    assert not [name for name in unverified if "score" in name]
    assert all(record.trace_id == stream.trace_id for record in records)
