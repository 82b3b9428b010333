"""What the operator of `streamverify serve` decides."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from streamverify.errors import UsageError
from streamverify.policy import Flag, Policy

LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
"""Names of this machine that no other machine can reach."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds on what one client can make the server do."""

    body_bytes: int = 8 * 2**20
    """Longest request."""
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
        if (
            min(self.body_bytes, self.concurrent, self.connect_seconds, self.idle_seconds, self.total_seconds)
            <= 0
        ):
            raise UsageError("every limit must be above 0")


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
    demo: bool = False
    """Whether there is a demo page."""
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        """Refuse addresses and secrets that cannot be used."""
        if self.upstream is not None and not self.upstream.startswith(("http://", "https://")):
            raise UsageError(f"the upstream must begin with http:// or https://, not {self.upstream!r}")
        if self.upstream is None and not self.demo:
            raise UsageError("nothing to serve: name an upstream, or ask for the demo page")
        if self.token is not None and len(self.token) < 16:
            raise UsageError("the token must have 16 characters or more")
