"""The browser of the other pages' tests, and their PostgreSQL."""

from __future__ import annotations

import pytest

from tests.server.conftest import browser


@pytest.fixture(scope="session")
def server():
    from tests.records.postgres_server import Server

    with Server() as running:
        yield running


__all__ = ["browser"]
