"""Standard error that is closed or has no room, and Ctrl-C before there is a program."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from streamverify.console.shell import guarded
from tests.console.command_line import LEXICAL, TRUE
from tests.console.test_bad_input import ROW

pytestmark = pytest.mark.skipif(os.name != "posix", reason="descriptors as POSIX has them")


def run(arguments: list[str], **options: object) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "streamverify", *arguments]
    return subprocess.run(command, check=False, stdout=subprocess.PIPE, timeout=150, **options)


@pytest.fixture
def commands(passages: str, tmp_path: Path) -> dict[str, list[str]]:
    rows = tmp_path / "rows.jsonl"
    rows.write_text(json.dumps(ROW) + "\n", "utf-8")
    return {
        "check": ["check", "-p", passages, "--answer-text", TRUE, "--json", *LEXICAL],
        "evaluate": ["evaluate", str(rows), "--metrics", "faithfulness", *LEXICAL],
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", ["check", "evaluate"])
@pytest.mark.parametrize("error", ["closed", "full"])
def test_a_result_is_whole_wherever_standard_error_goes(
    name: str, error: str, commands: dict[str, list[str]]
) -> None:
    told = run(commands[name], stderr=subprocess.PIPE)
    if error == "closed":
        silent = run(commands[name], preexec_fn=lambda: os.close(2))
    else:
        with Path("/dev/full").open("wb") as full:
            silent = run(commands[name], stderr=full)
    assert told.returncode == silent.returncode == 0
    assert told.stdout
    if name == "check":  # but for times
        labels = [[one["label"] for one in json.loads(done.stdout)["sentences"]] for done in (told, silent)]
        assert labels[0] == labels[1] == ["supported"]
    else:
        assert len(silent.stdout.splitlines()) == len(told.stdout.splitlines())


def test_an_interrupt_while_the_program_loads_is_one_line() -> None:
    loading = """
import sys
class Interrupted:
    def find_spec(self, name, path=None, target=None):
        if name == "streamverify.program":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupted())
from streamverify.__main__ import main
sys.exit(main())
"""
    done = subprocess.run(
        [sys.executable, "-c", loading], check=False, capture_output=True, text=True, timeout=150
    )
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "streamverify: interrupted before anything was done\n"


def test_the_installed_command_is_the_module() -> None:
    import importlib.metadata

    [script] = importlib.metadata.entry_points(group="console_scripts", name="streamverify")
    assert script.value == "streamverify.__main__:main"


def test_what_the_log_says_names_the_program(monkeypatch, capsys):
    log = logging.getLogger("streamverify")
    monkeypatch.setattr(log, "propagate", False)  # as where nobody set logging up
    guarded(lambda: log.warning("nothing_checked: none of %d", 2))()
    assert capsys.readouterr().err == "streamverify: nothing_checked: none of 2\n"
    log.warning("afterwards")
    assert capsys.readouterr().err == "afterwards\n"
