from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from typer.testing import CliRunner

from streamverify.cli import app, main
from streamverify.events import Event, StreamFailed, StreamFinished, read_event
from streamverify.types import Label, Report

PASSAGES = '{"id": "tower", "text": "The tower is 330 metres tall. It was completed in 1889."}\n'
TRUE = "The tower is 330 metres tall."
FALSE = "Penguins invented cheese in Peru."
LEXICAL = ("--scorer", "lexical")

COMMANDS = (
    ("check",),
    ("stream",),
    ("demo",),
    ("serve",),
    ("model",),
    ("model", "info"),
    ("model", "verify"),
)


@pytest.fixture
def passages(tmp_path: Path) -> str:
    path = tmp_path / "passages.jsonl"
    path.write_text(PASSAGES, encoding="utf-8")
    return str(path)


@pytest.fixture
def answer(tmp_path: Path) -> str:
    path = tmp_path / "answer.txt"
    path.write_text(f"{TRUE} {FALSE}\n", encoding="utf-8")
    return str(path)


@contextmanager
def started(*arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """The command as a user runs it; its pipes are closed in the end."""
    command = [sys.executable, "-m", "streamverify", *arguments]
    environment = os.environ | {"PYTHONIOENCODING": "utf-8", "COLUMNS": "100"}
    pipe = subprocess.PIPE
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # So a shell starts what runs in the background, and children would inherit it.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    with subprocess.Popen(
        command, env=environment, bufsize=0, stdin=pipe, stdout=pipe, stderr=pipe
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def ended(process: subprocess.Popen[bytes], data: bytes | None = None) -> tuple[int, str, str]:
    """Exit status, standard output, standard error."""
    out, err = process.communicate(data, timeout=50)
    return process.returncode, out.decode(), err.decode()


def send(process: subprocess.Popen[bytes], data: bytes) -> None:
    assert process.stdin is not None
    process.stdin.write(data)


def next_event(process: subprocess.Popen[bytes]) -> Event:
    assert process.stdout is not None
    return read_event(process.stdout.readline())


# --- help and usage ------------------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_explains_itself(command: tuple[str, ...]) -> None:
    result = CliRunner().invoke(app, [*command, "--help"], prog_name="streamverify")
    assert result.exit_code == 0
    if command != ("model",):
        assert f"Example: streamverify {' '.join(command)}" in " ".join(result.output.split()) or (
            command == ("stream",) and "| streamverify stream" in result.output
        )


def test_every_command_and_option_is_documented() -> None:
    text = (Path(__file__).parents[1] / "docs" / "cli.md").read_text(encoding="utf-8")
    for command in COMMANDS:
        assert f"streamverify {' '.join(command)}" in text
        result = CliRunner().invoke(app, [*command, "--help"])
        for option in set(re.findall(r"--[a-z-]+", result.output)) - {"--help"}:
            assert f"`{option}" in text, (command, option)


def test_help_loads_no_model_runtime() -> None:
    script = (
        "import sys; from streamverify.cli import main; main(['--help']); main(['check', '--help']); "
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
        (["check", "-p", "{a}", "-a", "{a}"], "{a}:1: not a JSON object on one line: Expecting value at"),
        (
            ["check", "-p", "{p}", "-a", "{a}", "--scorer", "nope"],
            "no model at nope: give default, lexical",
        ),
        (["check", "-p", "{p}", "-a", "{a}", "--calibration", "{p}"], "{p} is not a calibration file"),
        (["stream", "-p", "none.jsonl"], "none.jsonl: there is no such file or folder"),
        (["demo", "nope"], "there is no demo case 'nope'; choose one of docs,"),
        (["demo", "--speed", "-1"], "--speed must be 0 or more, not -1"),
        (["demo", "--speed", "nan"], "--speed must be 0 or more, not nan"),
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
    assert "1 sentences could not be checked" in captured.err
    assert "! unverified" in captured.out
    assert main([*arguments, "--fail-on", "unverified"]) == 1


def test_check_needs_citations_where_asked(
    passages: str, answer: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "-p", passages, "-a", answer, *LEXICAL, "--require-citations", "claims"]) == 0
    assert "no citation" in capsys.readouterr().out


def test_check_reads_an_answer_on_standard_input_and_a_folder_of_passages(tmp_path: Path) -> None:
    (tmp_path / "tower.md").write_text("The tower is 330 metres tall.", encoding="utf-8")
    with started("check", "-p", str(tmp_path), "-a", "-", *LEXICAL, "--json") as process:
        status, out, err = ended(process, f"{TRUE} ünïcödé.\n".encode())
    assert (status, err) == (0, "")
    assert json.loads(out)["sentences"][0]["evidence"][0]["passage"] == "tower.md"


# --- stream --------------------------------------------------------------------------------------


def test_stream_tells_events_while_the_answer_is_still_arriving(passages: str) -> None:
    with started("stream", "-p", passages, *LEXICAL) as process:
        send(process, f"{TRUE} The next".encode())
        events = [next_event(process)]
        # Ends only because the verdict comes before the rest of the answer does.
        while events[-1].kind != "sentence_judged":
            events.append(next_event(process))
        status, out, err = ended(process, b" one is open")
    events += [read_event(line) for line in out.splitlines()]
    assert (status, err) == (0, "")
    assert [event.seq for event in events] == list(range(len(events)))
    assert isinstance(events[-1], StreamFinished)
    assert events[-1].report.answer == f"{TRUE} The next one is open"


def test_stream_names_the_byte_that_is_no_utf8_after_what_came_before(passages: str) -> None:
    data = f"{TRUE} Größe: ".encode()
    with started("stream", "-p", passages, *LEXICAL) as process:
        status, out, err = ended(process, data + b"\xff rest")
    last = read_event(out.splitlines()[-1])
    assert status == 2
    assert err == f"streamverify: <stdin>: invalid UTF-8 at byte offset {len(data)}: invalid start byte\n"
    assert isinstance(last, StreamFailed)
    assert last.report.answer == f"{TRUE} Größe: "
    assert last.report.sentences[0].text.strip() == TRUE


def test_stream_ends_quietly_when_its_reader_goes_away(passages: str) -> None:
    with started("stream", "-p", passages, *LEXICAL) as process:
        send(process, TRUE.encode())
        next_event(process)
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        with suppress(BrokenPipeError):  # it may be gone by now
            send(process, b" More. " * 50)
        assert process.stderr.read() == b""
        assert process.wait(50) == 141


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_an_interrupt_ends_with_status_130_and_one_line(passages: str) -> None:
    with started("stream", "-p", passages, *LEXICAL) as process:
        send(process, TRUE.encode())
        next_event(process)
        process.send_signal(signal.SIGINT)
        # Its standard input is still open: waiting for it must not keep it from ending.
        assert process.wait(50) == 130
        assert process.stderr is not None
        err = process.stderr.read().decode()
    assert err == "streamverify: interrupted before the end; what was shown is not a whole result\n"


# --- demo and model ------------------------------------------------------------------------------


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
