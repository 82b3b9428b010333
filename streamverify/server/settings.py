"""What the operator of `streamverify serve` decides."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, get_args
from urllib.parse import urlsplit

from streamverify.calibration import PresetName
from streamverify.errors import UsageError
from streamverify.observe import Observer
from streamverify.policy import Flag, Policy
from streamverify.streaming.session import OnUnverified
from streamverify.types import Passage

if TYPE_CHECKING:
    from streamverify.monitor.prometheus import PrometheusObserver
    from streamverify.scorers.named import Share

LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
"""Names of this machine that no other machine can reach."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds on what one client can make the server do."""

    body_bytes: int = 8 * 2**20
    """Longest request."""
    body_seconds: float = 30.0
    """For a request's body to arrive."""
    answer_bytes: int = 32 * 2**20
    """Longest whole answer of the upstream, and longest single event of a stream."""
    concurrent: int = 64
    """Answers in progress; one more is refused with 429."""
    connect_seconds: float = 10.0
    """To reach the upstream."""
    idle_seconds: float = 120.0
    """Between two parts of the upstream's answer, its first byte included."""
    total_seconds: float = 900.0
    """For one answer."""
    drain_seconds: float = 20.0
    """That answers in progress may go on once the server was told to stop; 0 interrupts them at once."""

    def __post_init__(self) -> None:
        """Refuse bounds nothing can meet."""
        if not 0 <= self.drain_seconds < math.inf:
            raise UsageError("drain_seconds must be 0 or more, and finite")
        for name in (limit.name for limit in fields(self) if limit.name != "drain_seconds"):
            if not getattr(self, name) > 0:
                raise UsageError(f"{name} must be above 0, not {getattr(self, name)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeSettings:
    """One server."""

    upstream: str | None = None
    """Address of the OpenAI-compatible API, `/v1` included; None for the demo page alone."""
    upstream_key: str | None = field(default=None, repr=False)
    """Sent to the upstream in place of the client's own key."""
    token: str | None = field(default=None, repr=False)
    """What clients must show; None only where no other machine can reach the server."""
    policy: Policy = field(default_factory=Flag)
    """For requests that name none."""
    redact_pii: bool = False
    """Whether personal data is taken out of every answer, proxied or on the demo page, whatever its policy;
    see `RedactPii`. The page for people who judge shows what records keep."""
    on_unverified: OnUnverified = "withhold"
    """For requests that do not say; see `Verifier`."""
    passages: tuple[Passage, ...] = ()
    """For requests that hold none."""
    demo: bool = False
    """Whether there is a demo page."""
    judging: bool = False
    """Whether there is a page on which people judge what was recorded."""
    model: str | None = None
    """What judges, as `Verifier` takes it; None for the model that comes with the library."""
    preset: PresetName | None = None
    """The threshold, as `Verifier` takes it; None for the model's own."""
    max_lag: float | None = None
    """Seconds a sentence may wait for its check, as `Verifier` takes it; None for as long as it takes."""
    limits: Limits = field(default_factory=Limits)
    observers: tuple[Observer, ...] = ()
    """Told of every answer; they stay the caller's to close. An `OpenTelemetryObserver` among them has a span
    for each proxied request too, and the upstream is told of it."""
    metrics: PrometheusObserver | None = None
    """What `/metrics` tells; also told of every answer. None for no such path."""
    share: Share | None = None
    """Of the machine, where other processes serve beside this one; as `Verifier` takes it."""

    def __post_init__(self) -> None:
        """Refuse addresses and secrets that cannot be used."""
        if self.upstream is not None:
            _refuse_address(self.upstream)
        for name, secret in (("upstream's key", self.upstream_key), ("token", self.token)):
            if secret is not None and secret != secret.strip():
                raise UsageError(f"the {name} begins or ends with a blank or a line break: take it away")
        if self.upstream_key is not None and not (
            self.upstream_key.isascii() and self.upstream_key.isprintable()
        ):
            raise UsageError("the upstream's key has a character that no header can carry")
        if self.upstream is None and not self.demo and not self.judging:
            raise UsageError("nothing to serve: name an --upstream, or ask for --demo or --judging")
        if self.on_unverified not in get_args(OnUnverified):
            raise UsageError(f"on_unverified must be 'release' or 'withhold', not {self.on_unverified!r}")
        if self.token is not None and len(self.token) < 16:
            raise UsageError("the token must have 16 characters or more")


def _refuse_address(upstream: str) -> None:
    """Raise a `UsageError` for an address that no request could be sent to."""
    if not upstream.startswith(("http://", "https://")):
        raise UsageError(f"the upstream must begin with http:// or https://, not {upstream!r}")
    try:
        parts = urlsplit(upstream)
        problem = "" if parts.hostname and parts.port != 0 else "it names no host and port"
    except ValueError as error:
        problem = str(error)
    else:
        if any(char.isspace() or not char.isprintable() for char in upstream):
            problem = "it holds a blank or a line break"
        elif parts.query or parts.fragment:
            problem = "leave out what follows its path: a request brings its own query"
    if problem:
        raise UsageError(f"the upstream's address cannot be used: {problem}")
