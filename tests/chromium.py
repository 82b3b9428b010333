"""A real browser for the tests that look at a page."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)
PATIENCE_S = 280
"""How long a page, a script or a command may take where others hold the processors; a test itself has 600."""


@contextlib.contextmanager
def started(profile: Path, *flags: str) -> Iterator[Any]:
    """Headless Chromium with its driver, which ends with the block; a test fails where there is none."""
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.fail("no browser: apt-get install chromium chromium-driver, or deselect with -m 'not browser'")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in [*FLAGS.split(), *flags, f"--user-data-dir={profile}"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    with webdriver.Chrome(options=options, service=webdriver.ChromeService(driver)) as made:
        made.command_executor.client_config.timeout = PATIENCE_S
        made.set_page_load_timeout(PATIENCE_S)
        made.set_script_timeout(PATIENCE_S)
        yield made


def until(driver: Any, asked: Callable[[], Any]) -> Any:
    """What something about the page comes to, once that is true."""
    from selenium.webdriver.support.ui import WebDriverWait

    return WebDriverWait(driver, PATIENCE_S, poll_frequency=0.05).until(lambda _: asked())
