"""Both event loops for every asynchronous test, and no way out to a network."""

from __future__ import annotations

import socket

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "default", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("default")


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(autouse=True)
def only_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library is offline: a connection to anything but this machine fails the test."""
    connect = socket.socket.connect

    def refuse(self: socket.socket, address: object) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6):
            host = address[0] if isinstance(address, tuple) else address
            assert host in ("127.0.0.1", "::1", "localhost"), f"connection to {address!r}"
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", refuse)
