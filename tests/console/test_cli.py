from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import FALSE, LEXICAL, PASSAGES, TRUE, ended, started
from typer.testing import CliRunner

from streamverify.program import app, main
from streamverify.types import Label, Report

COMMANDS = (
    ("check",),
    ("stream",),
    ("demo",),
    ("serve",),
    ("evaluate",),
    ("compare",),
    ("ab",),
    ("ab", "size"),
    ("ab", "decide"),
    ("audit",),
    ("audit", "list"),
    ("audit", "show"),
    ("audit", "documents"),
    ("audit", "access"),
    ("audit", "withheld"),
    ("audit", "failed"),
    ("audit", "judge"),
    ("audit", "verify"),
    ("audit", "erase"),
    ("audit", "upgrade"),
    ("monitor",),
    ("monitor", "drift"),
    ("monitor", "check"),
    ("monitor", "files"),
    ("dashboard",),
    ("model",),
    ("model", "info"),
    ("model", "verify"),
)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_explains_itself(command: tuple[str, ...]) -> None:
    result = CliRunner().invoke(app, [*command, "--help"], prog_name="streamverify")
    assert result.exit_code == 0
    if command not in (("model",), ("ab",), ("audit",), ("monitor",)):
        assert f"Example: streamverify {' '.join(command)}" in " ".join(result.output.split()) or (
            command == ("stream",) and "| streamverify stream" in result.output
        )


@pytest.mark.slow
def test_every_command_and_option_is_documented() -> None:
    text = (Path(__file__).parents[2] / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
    for command in COMMANDS:
        assert f"streamverify {' '.join(command)}" in text
        result = CliRunner().invoke(app, [*command, "--help"])
        for option in set(re.findall(r"--[a-z-]+", result.output)) - {"--help"}:
            assert f"`{option}" in text, (command, option)


def test_help_loads_no_model_runtime() -> None:
    script = (
        "import sys; from streamverify.program import main; main(['--help']); main(['check', '--help']); "
        "sys.exit(str({'numpy', 'onnxruntime', 'tokenizers', 'sentencex', 'rich'} & set(sys.modules) or ''))"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert result.stderr.strip() == ""


def test_the_version_is_that_of_the_distribution(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert re.fullmatch(r"streamverify \d+\.\d+\S*\n", capsys.readouterr().out)


@pytest.mark.parametrize(
    "arguments",
    [
        ["check"],
        ["check", "--passages", "p", "--answer", "a", "--policy", "shout"],
        ["stream", "--nope"],
        ["demo", "--speed", "fast"],
        ["nope"],
    ],
)
def test_a_wrong_call_ends_with_status_2_and_says_so(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "Traceback" not in captured.err
    assert captured.err.strip()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["check", "-p", "{p}", "-a", "{a}", "--fail-on", "wrong"], "--fail-on: 'wrong' is no label; choose"),
        (["check", "-p", "none.jsonl", "-a", "{a}"], "none.jsonl: there is no such file or folder"),
        (["check", "-p", "{p}", "-a", "none.txt"], "none.txt: there is no such file or folder"),
        (
            ["check", "-p", "{p}", "-a", "{a}", "--scorer", "nope"],
            "no model at nope: installed are ",
        ),
        (["check", "-p", "{p}", "-a", "{a}", "--calibration", "{p}"], "{p} is not a calibration file"),
        (["stream", "-p", "none.jsonl"], "none.jsonl: there is no such file or folder"),
        (["demo", "nope"], "there is no demo case 'nope'; choose one of docs,"),
        (["demo", "--speed", "-1"], "--speed must be 1 or more tokens a second, or 0 for no pause, not -1"),
        (["demo", "--speed", "nan"], "--speed must be 1 or more tokens a second, or 0 for no pause, not nan"),
        (["model", "info", "nope"], "no model at nope"),
    ],
)
def test_bad_input_ends_with_one_line_on_standard_error(
    arguments: list[str], message: str, passages: str, answer: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def filled(text: str) -> str:
        return text.replace("{p}", passages).replace("{a}", answer)

    assert main([filled(argument) for argument in arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"streamverify: {filled(message)}")
    assert captured.err.count("\n") == 1


# --- check ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fail_on", "status"),
    [
        ("", 0),
        ("contradicted", 0),
        ("unverified", 0),
        ("unsupported", 1),
        (" Contradicted , unsupported ", 1),
        ("supported", 1),
    ],
)
def test_check_fails_on_the_labels_named_and_on_no_others(
    fail_on: str, status: int, passages: str, answer: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "-p", passages, "-a", answer, *LEXICAL, "--fail-on", fail_on]) == status
    captured = capsys.readouterr()
    assert f"  {TRUE}\n" in captured.out
    assert "? unsupported" in captured.out
    assert "finished" in captured.out
    assert captured.err == ""


def test_check_prints_the_report_as_json(
    passages: str, answer: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "-p", passages, "-a", answer, *LEXICAL, "--json", "--policy", "redact"]) == 0
    report = Report.model_validate_json(capsys.readouterr().out)
    assert report.answer == Path(answer).read_text(encoding="utf-8")
    assert [sentence.label for sentence in report.sentences] == [Label.SUPPORTED, Label.UNSUPPORTED]
    assert FALSE not in report.released


def test_check_says_when_sentences_could_not_be_checked(
    passages: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "german.txt"
    path.write_text(
        "Der Turm ist dreihundertdreißig Meter hoch und wurde im Jahr 1889 in Paris fertiggestellt.",
        encoding="utf-8",
    )
    arguments = ["check", "-p", passages, "-a", str(path), "--fail-on", "contradicted"]
    assert main(arguments) == 0
    captured = capsys.readouterr()
    assert "1 sentence could not be checked" in captured.err
    assert "! unverified" in captured.out
    assert main([*arguments, "--fail-on", "unverified"]) == 1
    assert main(arguments[:-2]) == 0
    assert "1 sentence could not be checked" in capsys.readouterr().err


def test_check_needs_citations_where_asked(
    passages: str, answer: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "-p", passages, "-a", answer, *LEXICAL, "--require-citations", "claims"]) == 0
    assert "no citation" in capsys.readouterr().out


@pytest.mark.slow
def test_check_reads_an_answer_on_standard_input_and_a_folder_of_passages(tmp_path: Path) -> None:
    (tmp_path / "tower.md").write_text("The tower is 330 metres tall.", encoding="utf-8")
    with started("check", "-p", str(tmp_path), "-a", "-", *LEXICAL, "--json") as process:
        status, out, err = ended(process, f"{TRUE} ünïcödé.\n".encode())
    assert (status, err) == (0, "")
    assert json.loads(out)["sentences"][0]["evidence"][0]["passage"] == "tower.md"


# --- stream --------------------------------------------------------------------------------------


def test_demo_lists_its_cases(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("docs ")
    assert len(lines) >= 8


@pytest.mark.parametrize("policy", ["observe", "flag", "redact", "halt"])
def test_demo_replays_a_case_under_every_policy(policy: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "citations", "--speed", "0", "--policy", policy, *LEXICAL]) == 0
    out = capsys.readouterr().out
    assert "What do the documents say about the solar farm at Pell Ridge?" in out
    assert "verdicts agree with the labels" in out
    assert "\x1b" not in out
    if policy == "flag":
        assert "fabricated" in out


@pytest.mark.slow
@pytest.mark.model
def test_the_demo_runs_with_the_model_in_the_package() -> None:
    with started("demo", "--speed", "0") as process:
        status, out, err = ended(process)
    assert (status, err) == (0, "")
    assert "✗ contradicted" in out
    assert "sv-minilm-premise-cache" in out


@pytest.mark.model
def test_the_model_in_the_package_is_intact_and_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["model", "verify"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert all(line.startswith("ok ") for line in lines)
    assert "recorded probabilities, largest difference" in lines[-1]
    assert main(["model", "info"]) == 0
    assert "provider     CPUExecutionProvider" in capsys.readouterr().out
    assert main(["model", "info", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["fingerprint"]["precision"]


def test_a_damaged_model_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    (tmp_path / "sha256sums").write_text(f"{'0' * 64}  config.json\n", encoding="utf-8")
    assert main(["model", "verify", str(tmp_path)]) == 2
    assert f"{tmp_path / 'config.json'} is damaged or was changed" in capsys.readouterr().err


# --- convenience, and what goes wrong at the edges -----------------------------------------------


def test_json_tells_a_terminal_nothing_and_a_reader_everything(tmp_path, capsys):
    (tmp_path / "p.jsonl").write_text(PASSAGES, encoding="utf-8")
    hostile = "The tower \x9b31m is \u202e330 metres\u202c tall\x7f."
    assert main(["check", "-p", str(tmp_path / "p.jsonl"), "--answer-text", hostile, *LEXICAL, "--json"]) == 0
    told = capsys.readouterr().out
    assert all(char.isprintable() or char == "\n" for char in told)
    assert json.loads(told)["answer"] == hostile


def test_check_says_nothing_of_how_late_a_verdict_was(tmp_path, capsys):
    (tmp_path / "p.jsonl").write_text(PASSAGES, encoding="utf-8")
    assert main(["check", "-p", str(tmp_path / "p.jsonl"), "--answer-text", TRUE, *LEXICAL]) == 0
    assert "lag" not in capsys.readouterr().out


@pytest.mark.parametrize("name", ["passages.json", "tower.txt"])
def test_check_reads_an_array_and_a_single_text_file(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / name
    path.write_text(f"\n [{PASSAGES}]" if name.endswith("json") else TRUE, encoding="utf-8")
    assert main(["check", "-p", str(path), "--answer-text", TRUE, *LEXICAL, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["sentences"][0]["evidence"][0]["passage"]
    assert found == ("tower" if name.endswith("json") else "tower.txt")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('[{"id": "a", "text": "x"}, 3]', "[1]: expected a JSON object, found a number"),
        ('[{"id": "a", "text": "x"}, {"id": "a", "text": "y"}]', "[1]: field 'id': 'a' is the id of an item"),
        ('[{"id": "a"}]', "[0]: field 'text': is missing"),
        ('[\n{"id": }]', ":2: not a JSON array: Expecting value"),
        ("[]", ": the file is empty"),
    ],
)
def test_a_wrong_array_names_its_item(
    content: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "p.json"
    path.write_text(content, encoding="utf-8")
    assert main(["check", "-p", str(path), "--answer-text", TRUE]) == 2
    assert capsys.readouterr().err.startswith(f"streamverify: {path}{message}")


@pytest.mark.parametrize("given", [[], ["-a", "x.txt", "--answer-text", "x"], ["--answer-text", " "]])
def test_an_answer_is_given_exactly_once(
    given: list[str], passages: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "-p", passages, *given]) == 2
    assert "answer" in capsys.readouterr().err


def test_an_answer_in_place_of_its_file_is_told_the_other_option(
    passages: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for given in (TRUE, ""):
        assert main(["check", "-p", passages, "-a", given]) == 2
        assert "--answer-text takes the text" in capsys.readouterr().err


def test_a_policy_that_is_none_is_answered_with_the_choices(
    passages: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "-p", passages, "--answer-text", TRUE, "--policy", "zap"]) == 2
    error = capsys.readouterr().err
    assert all(word in error for word in ("zap", "observe", "flag", "redact", "halt"))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
@pytest.mark.parametrize(
    "command",
    [
        "check",
        *(
            pytest.param(one, marks=pytest.mark.slow)
            for one in ("check --json", "stream", "demo", "model", "demo --list")
        ),
    ],
)
def test_no_room_for_the_result_is_one_line_and_no_success(command: str, passages: str, answer: str) -> None:
    arguments = {
        "check": ["check", "-p", passages, "-a", answer, *LEXICAL],
        "check --json": ["check", "-p", passages, "-a", answer, *LEXICAL, "--json"],
        "stream": ["stream", "-p", passages, *LEXICAL],
        "demo": ["demo", "--speed", "0", *LEXICAL],
        "model": ["model", "info", "--json"],
        "demo --list": ["demo", "--list"],
    }[command]
    with Path("/dev/full").open("w") as full, Path(answer).open() as given:
        done = subprocess.run(
            [sys.executable, "-m", "streamverify", *arguments],
            stdin=given,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr == (
        "streamverify: standard output cannot be written: No space left on device; the result is not whole\n"
    )


def test_a_calibration_file_that_is_not_there_is_called_what_it_is(
    passages: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check = ["check", "-p", passages, "--answer-text", TRUE, "--calibration"]
    assert main([*check, "nope.json"]) == 2
    assert capsys.readouterr().err == "streamverify: no calibration file at nope.json\n"
    assert main([*check, str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"streamverify: {tmp_path} cannot be read: Is a directory\n"
    wrong = tmp_path / "c.json"
    wrong.write_text('{"treshold": 0.9}', encoding="utf-8")
    assert main([*check, str(wrong)]) == 2
    assert "field 'treshold'" in (error := capsys.readouterr().err)
    assert "threshold" in error.partition("fields:")[2]


def test_a_model_path_that_cannot_be_read_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "folder" / "sha256sums").mkdir(parents=True)
    (tmp_path / "file").write_text("x", encoding="utf-8")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for name in ("folder", "file", "loop"):
        assert main(["model", "info", str(tmp_path / name)]) == 2
        error = capsys.readouterr().err
        assert error.count("\n") == 1
        assert "cannot be read" in error or "no model at" in error


@pytest.mark.model
def test_a_calibration_replaces_only_what_it_names(
    passages: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "c.json"
    path.write_text('{"threshold": 0.99}', encoding="utf-8")
    check = ["check", "-p", passages, "--answer-text", TRUE, "--json"]
    assert main(check) == 0
    shipped = json.loads(capsys.readouterr().out)["sentences"][0]
    assert main([*check, "--calibration", str(path)]) == 0
    changed = json.loads(capsys.readouterr().out)["sentences"][0]
    assert changed["score"] == shipped["score"]
    assert shipped["label"] == "supported"
    assert (changed["label"] == "supported") is (shipped["score"] >= 0.99)
