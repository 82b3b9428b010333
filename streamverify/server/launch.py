"""What `streamverify serve` was asked for, made into a server.

Before: `cli.py`, or `worker.py` in a worker process. After: `app.py` in `process.py`.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from socket import socket
from typing import TYPE_CHECKING, cast

from streamverify._extras import require
from streamverify.errors import UsageError
from streamverify.policy import policy_from
from streamverify.scorers import Share
from streamverify.server.heap import give_large_blocks_back
from streamverify.server.online import OnlineOptions, online_evaluation
from streamverify.server.settings import LOOPBACK, Limits, ServeSettings

if TYPE_CHECKING:
    from streamverify.calibration import PresetName
    from streamverify.monitor import OnlineEvaluation, OpenTelemetryObserver
    from streamverify.policy import PolicyWord
    from streamverify.records import Records
    from streamverify.records.rows import Keep
    from streamverify.scorers.protocol import Provider
    from streamverify.streaming.session import OnUnverified

KEY, TOKEN = "STREAMVERIFY_UPSTREAM_KEY", "STREAMVERIFY_TOKEN"

SERVES = "serves "
"""How the line begins that tells where the server listens."""

Tell = Callable[[str], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """The words of the command line; a worker process is given the same as JSON."""

    upstream: str | None
    demo: bool
    host: str
    port: int
    policy: str
    on_unverified: str
    passages: str | None
    model: str | None
    provider: str
    preset: str | None
    max_lag: float | None
    concurrent: int
    max_body: int
    timeout: float
    drain_seconds: float
    records: str | None
    keep: str
    judging: bool
    judging_tenant: str
    redact_pii: bool
    metrics: bool
    traces: bool
    online: OnlineOptions = field(default_factory=OnlineOptions)

    def settings(self) -> ServeSettings:
        """Without what is opened for it: records, metrics and traces.

        Raises:
            UsageError: a value cannot be used, other machines could reach the server without a token, or
                nothing exports traces. Operator.
            MissingExtraError: traces are asked for, and OpenTelemetry is not installed. Operator.
        """
        from streamverify.console.files import read_passages  # noqa: PLC0415 - kept out of start-up

        token = os.environ.get(TOKEN) or None
        if self.host not in LOOPBACK and token is None:
            raise UsageError(
                f"--host {self.host} can be reached by other machines: set {TOKEN} to a secret first"
            )
        above_zero = {
            "--max-lag": self.max_lag,
            "--concurrent": self.concurrent,
            "--max-body": self.max_body,
            "--timeout": self.timeout,
        }
        for option, value in above_zero.items():
            if value is not None and not value > 0:
                raise UsageError(f"{option} must be above 0, not {value}")
        if not 0 <= self.drain_seconds < math.inf:
            raise UsageError(f"--drain-seconds must be 0 or more, and finite, not {self.drain_seconds}")
        if self.keep != "text" and self.records is None:
            raise UsageError("--keep is about records: name them with --records")
        if self.judging and self.records is None:
            raise UsageError("--judging shows what was recorded: name the records with --records")
        self.share(None)
        self.online.refuse(recorded=self.records is not None)
        if self.traces:
            _refuse_traces_for_nobody()
        return ServeSettings(
            upstream=self.upstream,
            upstream_key=os.environ.get(KEY) or None,
            token=token,
            policy=policy_from(cast("PolicyWord", self.policy)),
            redact_pii=self.redact_pii,
            on_unverified=cast("OnUnverified", self.on_unverified),
            passages=read_passages(Path(self.passages)) if self.passages is not None else (),
            demo=self.demo,
            judging=self.judging,
            model=self.model,
            preset=cast("PresetName | None", self.preset),
            max_lag=self.max_lag,
            limits=Limits(
                body_bytes=self.max_body,
                concurrent=self.concurrent,
                total_seconds=self.timeout,
                drain_seconds=self.drain_seconds,
            ),
        )

    def share(self, given: Share | None) -> Share:
        """What this process takes of the machine, and where its model runs.

        Raises:
            UsageError: there is no such provider. Operator.
        """
        whole = given if given is not None else Share()
        # A graphics processor is not shared out by cores.
        threads = whole.threads if self.provider == "cpu" else None
        return replace(whole, provider=cast("Provider", self.provider), threads=threads)


def _records(name: str, keep: Keep) -> Records:
    from streamverify.records import Database, Records  # noqa: PLC0415 - an extra
    from streamverify.records.database import DatabaseError  # noqa: PLC0415 - an extra

    try:
        return Records(name, keep=keep)
    except DatabaseError as error:
        cause = str(error.orig or error).partition("\n")[0]
        raise UsageError(f"--records {Database(name).name} cannot be opened: {cause}") from None


def run_server(
    options: ServeOptions,
    tell: Tell,
    *,
    judges: str = "",
    sockets: Sequence[socket] | None = None,
    share: Share | None = None,
    beat: Callable[[], object] | None = None,
) -> None:
    """Serve until told to stop; blocking, in the main thread.

    Args:
        options: of the command line.
        tell: what the operator may want to know, a line each.
        judges: token of the judging page.
        sockets: that listen already; None to listen where the options say.
        share: of the machine, where other processes serve beside this one.
        beat: called by the event loop every second; must not wait.

    Raises:
        UsageError: as `ServeOptions.settings`, or records cannot be opened. Operator.
        ModelError: the model cannot be loaded, or not where it is to run. Operator.
        MissingExtraError: a package is not installed. Operator.
    """
    import uvicorn  # noqa: PLC0415 - an extra

    from streamverify.server.app import create_app, verifier_for  # noqa: PLC0415 - an extra
    from streamverify.server.drain import Drain  # noqa: PLC0415 - as above
    from streamverify.server.listening import listening  # noqa: PLC0415 - kept out of start-up
    from streamverify.server.process import Process  # noqa: PLC0415 - an extra

    settings = options.settings()
    give_large_blocks_back()  # before anything is loaded
    tracing = recorded = page = watched = online = None
    stack = ExitStack()
    try:
        if sockets is None:
            sockets = [stack.enter_context(listening(options.host, options.port))]
        if options.traces:
            tracing = _tracing()
        if options.records is not None:
            recorded = _records(options.records, cast("Keep", options.keep))
            online = stack.enter_context(
                online_evaluation(options.online, recorded.database, lambda: verifier)
            )
        if options.metrics:
            from streamverify.monitor import PrometheusObserver  # noqa: PLC0415 - an extra

            watched = PrometheusObserver(
                records_dropped=None if recorded is None else lambda: recorded.statistics.dropped,
                shared_cache=share is not None and share.windows is not None,
            )
        drain = Drain()
        if recorded is not None and options.judging:
            from streamverify.server.judging import judging_app  # noqa: PLC0415 - an extra

            page = judging_app(recorded.database, token=judges, tenant=options.judging_tenant, drain=drain)
        observers = tuple(filter(None, (recorded, tracing, online)))
        settings = replace(settings, observers=observers, metrics=watched, share=options.share(share))
        # Loaded here: what uvicorn tells of an application that cannot start is a traceback.
        verifier = stack.enter_context(verifier_for(settings))
        config = uvicorn.Config(
            create_app(settings, verifier, drain, judging=page),
            log_level="warning",
            access_log=False,
            server_header=False,
        )
        server = Process(config, drain, seconds=options.drain_seconds, tell=tell, beat=beat)
        server.run(sockets=list(sockets))
    finally:
        _close(tracing, online, recorded, tell)
        stack.close()


def _close(
    tracing: OpenTelemetryObserver | None,
    online: OnlineEvaluation | None,
    recorded: Records | None,
    tell: Tell,
) -> None:
    """Close the observers, and tell what the records hold."""
    if online is not None:
        online.close()
        told = online.statistics
        tell(
            f"online: {told.sampled} sampled, {told.scored} scored, {told.failed} failed, {told.shed} shed, "
            f"{told.lost} lost"
        )
    if tracing is not None:
        tracing.close()
    if recorded is not None:
        recorded.close()
        stored, dropped, _ = recorded.statistics
        tell(f"records: {stored} stored, {dropped} dropped")


def _tracing() -> OpenTelemetryObserver:
    from streamverify.monitor import OpenTelemetryObserver  # noqa: PLC0415 - an extra

    return OpenTelemetryObserver()


def _refuse_traces_for_nobody() -> None:
    """Spans of a process without a provider would vanish without a word."""
    trace = require("opentelemetry.trace", extra="otel", feature="--traces")
    if isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        raise UsageError(
            "--traces: nothing exports spans here; run opentelemetry-instrument -- streamverify serve "
            "--traces, after pip install opentelemetry-distro opentelemetry-exporter-otlp"
        )
