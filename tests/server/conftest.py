"""A real browser for the tests that look at a page."""

from __future__ import annotations

import chromium
import pytest


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with chromium.started(tmp_path_factory.mktemp("profile"), "--headless", "--window-size=900,700") as made:
        yield made
