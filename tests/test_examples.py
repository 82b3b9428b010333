"""Every example runs as it stands, offline, in a process of its own."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
ARGUMENTS = {"fastapi_sse.py": ["--once"]}
"""A server asks itself once in place of serving on."""


@pytest.mark.model
@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.glob("*.py")))
def test_an_example_runs_to_its_end(name):
    command = [sys.executable, str(EXAMPLES / name), *ARGUMENTS.get(name, [])]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=170)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.model
@pytest.mark.slow
def test_the_example_for_pytest_runs_by_its_own_command():
    """Without plugins that a reader may not have; settings that need them must not reach it."""
    [asked] = re.findall(r"^pytest .*$", (EXAMPLES / "pytest_grounding.py").read_text(), re.MULTILINE)
    plain = [f"-pno:{plugin}" for plugin in ("timeout", "xdist", "cov")]
    command = [sys.executable, "-m", *asked.split(), *plain]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=EXAMPLES.parent)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout
