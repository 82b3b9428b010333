"""The example of a check before merging: it passes as it stands, and stops answers that are worse."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from streamverify.program import main

FOLDER = Path(__file__).parents[2] / "examples" / "premerge"


@pytest.fixture
def command(tmp_path, monkeypatch):
    """The arguments that the workflow runs, in a copy of the folder it runs them in."""
    shutil.copytree(FOLDER, tmp_path / "premerge")
    monkeypatch.chdir(tmp_path / "premerge")
    found = re.search(
        r"streamverify (evaluate .*?)\n +working-directory", Path("premerge.yml").read_text(), re.DOTALL
    )
    return found[1].split()


def test_the_example_passes_as_it_stands(command, capsys):
    assert main(command) == 0
    assert "against the baseline" in capsys.readouterr().out


def test_a_worse_answer_does_not_pass(command, capsys):
    answers = Path("answers.jsonl")
    answers.write_text(
        answers.read_text().replace('"The mill has two wheels."', '"Pirates of the moon stole gold."')
    )
    assert main(command) == 1
    assert "mill-wheels" in capsys.readouterr().out
