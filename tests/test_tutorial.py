"""The tutorial as it stands on the page: its files, its commands, its output; only the port is changed."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

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
