"""The README's example runs and prints what the README says it prints."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


@pytest.mark.model
def test_the_example_prints_what_is_shown():
    code = re.search(r"## Eight lines\n\n```python\n(.*?)```", README, re.DOTALL)[1]
    shown = re.search(r"<!-- example output -->\n```text\n(.*?)```", README, re.DOTALL)[1]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    score = re.compile(r"\b0\.\d+\b")

    def others(text: str) -> list[str]:
        return [score.sub("", line).rstrip() for line in text.splitlines()]

    assert others(done.stdout) == others(shown)
    # The last digit of a score depends on the processor.
    found = [float(each) for each in score.findall(done.stdout)]
    assert found == pytest.approx([float(each) for each in score.findall(shown)], abs=0.03)


def test_every_page_the_readme_names_is_there():
    named = re.findall(
        r"`((?:docs|examples|tests|benchmarks|streamverify)(?:/[\w./-]+)?|[A-Z]+(?:\.md)?)`", README
    )
    root = Path(__file__).parents[1]
    files = [name for name in named if "/" in name or name.endswith(".md") or name == "NOTICE"]
    assert len(files) > 20
    assert [name for name in files if not (root / name).exists()] == []


def test_the_readme_links_nowhere_relative():
    """It is a package index's page, too, where a relative link leads nowhere."""
    assert [target for target in re.findall(r"\]\(([^)]+)\)", README) if "://" not in target] == []


def test_there_are_two_set_up_commands():
    for mark in ("demo command", "test command"):
        block = re.search(rf"<!-- {mark} -->\n```bash\n([^\n]+)\n```\n<!-- end -->", README)
        assert block is not None, mark
