"""An empty database of each kind."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def server():
    from postgres_server import Server

    with Server() as running:
        yield running


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def url(request, tmp_path):
    if request.param == "sqlite":
        return str(tmp_path / "records.db")
    return request.getfixturevalue("server").new_database()
