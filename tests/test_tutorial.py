"""The tutorial as it stands on the page: its files, its commands, its output; only the port is changed."""

from __future__ import annotations

import re
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urljoin

import chromium
import pytest

PAGE = (Path(__file__).parents[1] / "docs" / "tutorial.md").read_text(encoding="utf-8")
FILES = re.findall(r"<!-- file: (\S+) -->\s*```\w+\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
(SERVE,) = re.findall(r"<!-- serve -->\s*```bash\n(.*?)\n```", PAGE, re.DOTALL)
ASKED = re.findall(r"<!-- ask -->\s*```bash\n(.*?)\n```", PAGE, re.DOTALL)
SHOWN = re.findall(r"<!-- shows -->\s*```text\n(.*?)\n```", PAGE, re.DOTALL)

pytestmark = [pytest.mark.model, pytest.mark.timeout(600)]


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """The page's server, run with a free port; its address."""
    program, *rest = SERVE.replace("--port 8000", "--port 0").split()
    assert program == "uvicorn"
    command = [sys.executable, "-m", "uvicorn", *rest]
    process = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True)
    try:
        for line in process.stderr:
            if found := re.search(r"running on (http://127\.0\.0\.1:\d+)", line):
                yield found[1]
                break
        else:
            raise AssertionError("the server ended before it listened")
    finally:
        process.terminate()
        process.communicate()


def asked(command: str, address: str) -> str:
    there = command.replace("http://127.0.0.1:8000", address)
    assert there != command
    done = subprocess.run(["bash", "-c", there], capture_output=True, text=True, check=True)
    return done.stdout


def write(folder: Path, files: list[tuple[str, str]]) -> None:
    for name, content in files:
        (folder / name).write_text(content, encoding="utf-8")


def test_the_endpoint_answers_as_shown(tmp_path):
    write(tmp_path, FILES[:1])
    with serving(tmp_path) as address:
        assert asked(ASKED[0], address).strip() == SHOWN[0]


@pytest.mark.slow
def test_the_verified_endpoint_tells_every_verdict(tmp_path):
    write(tmp_path, FILES)
    with serving(tmp_path) as address:
        assert asked(ASKED[1], address).strip() == SHOWN[1]


_IMPORTED = re.compile(r"""(?:\bfrom|\bimport)\s*\(?\s*["'](\.[^"']+)["']""")


def modules(address: str) -> set[str]:
    """Paths of every script that the page needs, each of which the server gave."""
    with urllib.request.urlopen(f"{address}/") as page:
        waiting = re.findall(r'<script type="module" src="([^"]+)"', page.read().decode())
    found: set[str] = set()
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        found.add(path)
        with urllib.request.urlopen(urljoin(address, path)) as script:
            assert script.headers.get_content_type() == "text/javascript", path
            waiting += [urljoin(path, other) for other in _IMPORTED.findall(script.read().decode())]
    return found


@pytest.mark.slow
def test_the_page_gets_the_element_and_all_that_it_imports(tmp_path):
    write(tmp_path, FILES)
    with serving(tmp_path) as address:
        given = modules(address)
    assert "/static/grounded-stream.js" in given
    assert len(given) > 5


@pytest.mark.browser
def test_the_page_shows_a_badge_for_each_sentence_with_a_claim(tmp_path):
    write(tmp_path, FILES)
    with serving(tmp_path) as address, chromium.started(tmp_path / "profile", "--headless") as browser:
        browser.get(address)
        shown = chromium.until(browser, lambda: badges(browser))
    assert [re.search(r"supported|contradicted", text)[0] for text in shown] == [
        "supported",
        "contradicted",
        "supported",
    ]


def badges(browser) -> list[str]:
    """The words of all badges, once the answer is whole; nothing before."""
    script = """
      const root = document.querySelector('grounded-stream').shadowRoot;
      if (!root || root.querySelector('.answer')?.ariaBusy !== 'false') return [];
      return [...root.querySelectorAll('.badge:not([hidden])')].map(b => b.textContent + b.ariaLabel);
    """
    return browser.execute_script(script)
