"""Numbers, paths and addresses that nobody means: one line, status 2, and nothing runs for ever."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from streamverify.program import main
from streamverify.records import Records
from tests.console.command_line import LEXICAL
from tests.console.test_bad_input import ROW


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with a dataset of labels, a run of it, an answer and records."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STREAMVERIFY_TOKEN", "a-token-of-more-than-sixteen-letters")
    rows = [json.dumps({**ROW, "id": f"a{number}"}) for number in range(60)]
    (tmp_path / "rows.jsonl").write_text("\n".join(rows), "utf-8")
    (tmp_path / "answer.txt").write_text("Penguins fly.", "utf-8")
    (tmp_path / "notes.md").write_text("Not to be read because a name was left out.", "utf-8")
    Records("r.db").close()
    return tmp_path


SHARES = "a miss rate and a confidence must lie between 0 and 1, such as 0.05 and 0.95"
CALIBRATE = ["calibrate", "rows.jsonl", *LEXICAL]
COMPARE = ["compare", "run.json", "run.json"]
CHECK = ["check", "-a", "answer.txt", *LEXICAL]


@pytest.mark.parametrize("value", ["1e-320", "1e-17", "inf", "nan", "-0.0"])
@pytest.mark.parametrize("option", ["--max-miss-rate", "--confidence"])
def test_a_share_that_arithmetic_takes_for_none_is_refused(
    option: str, value: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*CALIBRATE, f"{option}={value}"]) == 2
    assert SHARES in capsys.readouterr().err


@pytest.mark.parametrize("drop", ["inf", "1e400"])
def test_a_drop_without_end_is_refused(drop: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*COMPARE, "--max-drop", drop]) == 2
    assert capsys.readouterr().err == "streamverify: --max-drop: 'inf' is no number of 0 or more\n"


@pytest.mark.parametrize("speed", ["1e-320", "0.5", "-1", "nan"])
def test_a_replay_has_an_end_in_sight(speed: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", *LEXICAL, f"--speed={speed}"]) == 2
    assert "--speed must be 1 or more tokens a second, or 0" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        [*CHECK, "-p", ""],
        ["stream", *LEXICAL, "-p", ""],
        ["domains", "check", "company_expert", "-a", "answer.txt", "-p", ""],
        ["dataset", "make", "", "--out", "made.jsonl"],
        ["dataset", "split", "rows.jsonl", "--out", ""],
        ["monitor", "files", ""],
        ["serve", "--upstream", "http://127.0.0.1:9/v1", "--passages", ""],
    ],
)
def test_a_folder_whose_name_was_left_out_is_not_this_one(
    arguments: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(folder.iterdir())
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "is empty; name a file or a folder" in captured.err
    assert sorted(folder.iterdir()) == before


SERVING = {
    "serve": ["serve", "--demo"],
    "dashboard": ["dashboard", "--records", "r.db"],
    "label": ["dataset", "label", "rows.jsonl", "--out", "labels.jsonl", "--annotator", "ann"],
}


@pytest.mark.parametrize("arguments", SERVING.values(), ids=SERVING)
def test_a_port_that_is_taken_is_one_line(
    arguments: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main([*arguments, "--port", str(port)]) == 2
    said = f"streamverify: port {port} cannot be used on 127.0.0.1: Address already in use\n"
    assert capsys.readouterr().err == said


@pytest.mark.parametrize("host", ["192.0.2.1", "no machine", "a" * 70, "[::1"])
@pytest.mark.parametrize("name", ["serve", "dashboard"])
def test_a_host_that_is_not_this_machine_is_one_line(
    name: str, host: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*SERVING[name], "--port", "0", "--host", host]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"streamverify: port 0 cannot be used on {host}: ")
    assert captured.err.count("\n") == 1
