"""Spans of several workers reach one collector, each once; a collector that is dead costs spans only.

The program finds its provider by an entry point (`OTEL_PYTHON_TRACER_PROVIDER`) and exports with OTLP's own
exporter; `opentelemetry-instrument` would set up the same in each process.
"""

from __future__ import annotations

import contextlib
import gzip
import os
import signal
import socket
import threading
from pathlib import Path

import pytest
from loopback import loopback
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as traces
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route
from worker_program import FIRST, REST, programs, upstream_that_answers

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

PROVIDER = """
import os
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

def made():
    provider = TracerProvider(resource=Resource.create({"process.pid": os.getpid()}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider
"""


class Collector:
    """Takes OTLP over HTTP once it may."""

    def __init__(self):
        self.may_answer, self.asked = threading.Event(), threading.Event()
        self.spans = []
        """Process, and span."""
        self.app = Starlette(routes=[Route("/v1/traces", self.take, methods=["POST"])])

    async def take(self, request):
        from anyio import to_thread

        body = await request.body()
        self.asked.set()
        await to_thread.run_sync(self.may_answer.wait, abandon_on_cancel=True)
        told = traces.ExportTraceServiceRequest()
        packed = request.headers.get("content-encoding") == "gzip"
        told.ParseFromString(gzip.decompress(body) if packed else body)
        for resource in told.resource_spans:
            of = {one.key: one.value for one in resource.resource.attributes}
            for scope in resource.scope_spans:
                self.spans += [(of["process.pid"].int_value, span) for span in scope.spans]
        return Response(traces.ExportTraceServiceResponse().SerializeToString())


@pytest.fixture
def collector():
    made = Collector()
    made.may_answer.set()
    with loopback(made.app) as made.address:
        yield made
        made.may_answer.set()


@pytest.fixture
def serve(tmp_path, monkeypatch):
    """The program, which exports to an address."""
    told = tmp_path / "told"
    described = told / "told_provider-1.dist-info"
    described.mkdir(parents=True)
    (told / "told_provider.py").write_text(PROVIDER)
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: told-provider\nVersion: 1\n")
    (described / "entry_points.txt").write_text(
        "[opentelemetry_tracer_provider]\ntold = told_provider:made\n"
    )
    paths = [str(told), *filter(None, [os.environ.get("PYTHONPATH")])]
    with upstream_that_answers() as upstream, programs(upstream, tmp_path) as started:

        def start(endpoint, **more):
            monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
            monkeypatch.setenv("OTEL_PYTHON_TRACER_PROVIDER", "told")
            monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
            monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "50")
            for name, value in more.items():
                monkeypatch.setenv(name, value)
            return started("--traces")

        yield start


# What is late is sent again, and would arrive twice: nothing is late here.
PATIENT = {"OTEL_EXPORTER_OTLP_TIMEOUT": "600"}


@contextlib.contextmanager
def stopped(process):
    """A process that does nothing meanwhile."""
    os.kill(process, signal.SIGSTOP)
    try:
        while Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "T":
            pass
        yield
    finally:
        os.kill(process, signal.SIGCONT)


def test_spans_of_every_worker_arrive_and_none_twice(serve, collector):
    served = serve(collector.address, **PATIENT)
    for worker in served.workers:
        with stopped(worker):  # so that the other one answers
            assert served.answer()["outcome"] == "finished"
    served.process.send_signal(signal.SIGTERM)
    assert served.end() == 0
    assert len({span.span_id for _, span in collector.spans}) == len(collector.spans)
    for worker in served.workers:
        own = [span for process, span in collector.spans if process == worker]
        names = sorted(span.name.removeprefix("streamverify.") for span in own)
        assert names == ["prepare", "request", "sentence", "sentence", "stream"]
        ids = {span.name.removeprefix("streamverify."): span.span_id for span in own}
        assert len({span.trace_id for span in own}) == 1
        for span in own:
            kind = span.name.removeprefix("streamverify.")
            above = {"request": b"", "stream": ids["request"]}
            assert span.parent_span_id == above.get(kind, ids["stream"])
    assert {process for process, _ in collector.spans} == set(served.workers)


def test_while_a_collector_hangs_answers_end(serve, collector):
    collector.may_answer.clear()
    served = serve(collector.address, **PATIENT)
    served.answer()
    collector.asked.wait()  # from here on a worker waits for it
    reports = [served.answer() for _ in range(6)]
    assert {(one["outcome"], one["answer"]) for one in reports} == {("finished", FIRST + REST)}
    assert {sentence["label"] for one in reports for sentence in one["sentences"]} == {"supported"}
    collector.may_answer.set()
    served.process.send_signal(signal.SIGTERM)
    assert served.end() == 0
    assert sum(span.name == "streamverify.stream" for _, span in collector.spans) >= 6


def test_without_a_collector_answers_end_and_so_does_the_program(serve):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        nobody = taken.getsockname()[1]
    served = serve(f"http://127.0.0.1:{nobody}")
    reports = [served.answer() for _ in range(4)]
    assert {(one["outcome"], one["answer"]) for one in reports} == {("finished", FIRST + REST)}
    served.process.send_signal(signal.SIGTERM)
    assert served.end() == 0
