"""What a command is told by mistake: one line that names what to change, status 2, and nothing is lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify.console.outputs import refuse_unwritable
from streamverify.errors import InputFileError, UsageError
from streamverify.files.jsonl import json_object
from streamverify.program import main
from streamverify.records import Records
from tests.console.command_line import LEXICAL

PASSAGE = {"id": "t", "text": "The tower is 330 metres tall."}
ROW = {
    "id": "a",
    "answer": "The tower is 330 metres tall. Penguins fly.",
    "metadata": {"level": "easy"},
    "passages": [PASSAGE],
    "labels": [
        {"text": "The tower is 330 metres tall.", "label": "supported"},
        {"text": "Penguins fly.", "label": "unsupported"},
    ],
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with a dataset, passages, a run and files that are none of these."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.jsonl").write_text(json.dumps(ROW) + "\n", "utf-8")
    (tmp_path / "passages.jsonl").write_text(json.dumps(PASSAGE) + "\n", "utf-8")
    (tmp_path / "empty.jsonl").touch()
    (tmp_path / "windows.jsonl").write_bytes(json.dumps(ROW).encode("utf-16"))
    (tmp_path / "deep.jsonl").write_text("[" * 100_000 + "\n", "utf-8")
    (tmp_path / "deep.toml").write_text("a = " + "[" * 100_000, "utf-8")
    (tmp_path / "dots.toml").write_text("a" + ".a" * 100_000 + " = 1", "utf-8")
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "notes").write_text("not to be lost", "utf-8")
    (tmp_path / "surrogate.jsonl").write_text('{"question": "\\ud800", "answer": "x"}\n', "utf-8")
    assert main(["evaluate", "rows.jsonl", *LEXICAL, "--json", "run.json"]) == 0
    return tmp_path


EVALUATE = ["evaluate", "rows.jsonl", *LEXICAL]
CALIBRATE = ["calibrate", "rows.jsonl", *LEXICAL]
RAGAS = ["dataset", "convert", "rows.jsonl", "--from", "ragas"]
JUDGE = ["judge", "agree", "rows.jsonl"]
LABEL = ["dataset", "label", "rows.jsonl", "--annotator", "ann", "--out"]
SPLIT = ["dataset", "split", "rows.jsonl", "--out", "parts"]
COSTS = "the cost of a miss and the cost of a false alarm go together: numbers of 0 or more, not both 0"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        # the input would be lost
        ([*EVALUATE, "--json", "rows.jsonl"], "--json: rows.jsonl is what is read here; name another file"),
        ([*EVALUATE, "--html", "./rows.jsonl"], "--html: rows.jsonl is what is read here; name another file"),
        ([*EVALUATE, "--out", "x", "--json", "x"], "--out and --json name the same file, x"),
        ([*CALIBRATE, "--curve", "rows.jsonl"], "--curve: rows.jsonl is what is read here; name another"),
        ([*RAGAS, "--out", "rows.jsonl"], "--out: rows.jsonl is what is read here; name another file"),
        (
            ["dataset", "make", "passages.jsonl", "--out", "passages.jsonl"],
            "--out: passages.jsonl is what is read here; name another file",
        ),
        (
            ["report", "run.json", "--md", "run.json"],
            "--md: run.json is what is read here; name another file",
        ),
        # the result would be lost
        (
            [*EVALUATE, "--json", "no/run.json"],
            "--json: no/run.json cannot be written: there is no folder no",
        ),
        ([*EVALUATE, "--md", "folder"], "--md: folder is a folder; name a file"),
        ([*CALIBRATE, "--out", "no/c.json"], "--out: no/c.json cannot be written: there is no folder no"),
        ([*RAGAS, "--out", "folder"], "--out: folder is a folder; name a file"),
        ([*EVALUATE, "--out", "x" * 300], "--out: " + "x" * 300 + " cannot be written: File name too long"),
        # an option that would do nothing
        ([*EVALUATE, "--seed", "1"], "a seed draws the sample that a limit takes: give a limit too"),
        # what was given is none
        ([*CALIBRATE, "--per", "typo"], "case 'a' has no 'typo' to group by; choose one of kind, level"),
        (["demo", "--scorer", "x" * 300], "no model at " + "x" * 300),
        (
            ["evaluate", "rows.jsonl", "--gates", "deep.toml"],
            "deep.toml: not TOML that is meant: it is",
        ),
        (
            ["evaluate", "rows.jsonl", "--gates", "dots.toml"],
            "dots.toml: not TOML that is meant: it is",
        ),
        (["audit", "list", "--records", "\udcff"], "the records' name '\\udcff' is not valid UTF-8"),
        ([*SPLIT[:2], "empty.jsonl", *SPLIT[3:]], "empty.jsonl: there is no case to divide"),
        ([*SPLIT, "--parts", "a=1e308,b=1e308"], "name at least two parts, each with a share above 0"),
        (["evaluate", "windows.jsonl"], "windows.jsonl:1: is UTF-16, as Windows' shells write it; save it"),
        ([*EVALUATE, "--out", "deep.jsonl"], "deep.jsonl:1: exists and is no journal of an evaluation"),
        (["compare", "run.json", "run.json", "--critical", "typo=0"], "neither run has a metric 'typo'"),
        (
            [*JUDGE, "--judge", "", "--judge-model", ""],
            "a judge needs both --judge ADDRESS and --judge-model",
        ),
        ([*CALIBRATE, "--cost-miss", "inf", "--cost-alarm", "1"], COSTS),
        (["audit", "upgrade", "--records", "folder"], "sqlite:///folder cannot be used: unable to open"),
        (["audit", "upgrade", "--records", "no/r.db"], "sqlite:///no/r.db cannot be used: unable to open"),
        (["audit", "upgrade", "--records", "rows.jsonl"], "sqlite:///rows.jsonl cannot be used: file is not"),
        (
            ["dataset", "sample", "rows.jsonl", "--count", "1", "--out", "loop"],
            "loop cannot be written: Too many levels",
        ),
        (
            ["dataset", "convert", "surrogate.jsonl", "--from", "ragas", "--out", "c"],
            "c cannot be written: line 1 would hold half of a surrogate pair, which is no character",
        ),
        ([*LABEL, "rows.jsonl"], "rows.jsonl:1: field 'case': not a label: is missing"),
        ([*LABEL, "notes"], "notes:1: not a label: Invalid JSON"),
        ([*LABEL, "windows.jsonl"], "windows.jsonl:1: is UTF-16, as Windows' shells write it; save it"),
        ([*LABEL, "/dev/zero"], "/dev/zero is no file that could keep labels"),
        (["dataset", "merge", "rows.jsonl", "notes", "--out", "m"], "notes:1: not a label: Invalid JSON"),
        (
            [*CALIBRATE, "--calibration", "windows.jsonl"],
            "windows.jsonl is not a calibration file: invalid UTF-8",
        ),
        (["monitor", "files", "rows.jsonl"], "rows.jsonl cannot be made a folder: File exists"),
        (["monitor", "files", "x" * 300], "x" * 300 + " cannot be made a folder: File name too long"),
        (CALIBRATE, "1 answers with a sentence labelled as not grounded; the guarantee needs 59"),
        (["audit", "list", "--records", "x" * 300], "there are no records at sqlite:///xxx"),
    ],
)
def test_bad_input_is_told_in_one_line_before_anything_is_computed(
    arguments: list[str], message: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    capsys.readouterr()
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"streamverify: {message}")
    assert captured.err.count("\n") == 1
    assert {path: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before


@pytest.mark.parametrize("state", ["/dev/zero", "/dev/full", "/dev/null"])
def test_a_device_is_no_memory_of_alerts(
    state: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Records("r.db").close()
    capsys.readouterr()
    assert main(["monitor", "check", "--records", "r.db", "--state", state]) == 2
    assert capsys.readouterr().err == f"streamverify: {state}: is no file that could remember what is on\n"


def test_the_name_of_a_folder_does_not_steer_the_terminal(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["monitor", "files", "\x1b[31mred"]) == 0
    assert capsys.readouterr().out.startswith("␛[31mred/")
    assert len(list(Path("\x1b[31mred").iterdir())) == 2


def test_a_wrong_word_for_an_option_is_told_without_the_words_of_a_library(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main([*EVALUATE, "--preset", "foo"]) == 2
    said = capsys.readouterr().err
    assert "'foo' is not one of 'strict', 'balanced', 'lenient'" in said
    assert "Value error" not in said


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"a": "b', "not a JSON object on one line: Unterminated string starting at column 7"),
        ('{"a": "b\n', "not a JSON object on one line: Invalid control character at column 9"),
        ('{"a": ' + "9" * 5000 + "}", "holds a number of more than 4300 digits"),
    ],
)
def test_what_is_wrong_with_a_line_of_json_is_told_in_plain_words(line: str, problem: str) -> None:
    with pytest.raises(InputFileError) as caught:
        json_object(line, "rows.jsonl", 3)
    assert str(caught.value) == f"rows.jsonl:3: {problem}"


NAMES = st.sampled_from(["rows.jsonl", "new", "./new", "folder/../new", "folder", "folder/new", "no/new"])


@given(reads=st.lists(NAMES, max_size=2), writes=st.lists(NAMES, max_size=3))
def test_outputs_pass_only_where_each_is_a_file_of_its_own(
    tmp_path_factory: pytest.TempPathFactory, reads: list[str], writes: list[str]
) -> None:
    base = tmp_path_factory.mktemp("outputs")
    (base / "folder").mkdir()
    (base / "rows.jsonl").touch()
    given_ = {f"--{place}": base / name for place, name in enumerate(writes)}
    places = [path.resolve() for path in given_.values()]
    own = len(set(places)) == len(places) and not {(base / name).resolve() for name in reads} & set(places)
    sound = own and all(place.parent.is_dir() and not place.is_dir() for place in places)
    try:
        refuse_unwritable([None, *(base / name for name in reads)], given_ | {"--none": None})
    except UsageError:
        assert not sound
    else:
        assert sound


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="a device of Linux")
@pytest.mark.parametrize("option", ["--calibration", "--gates", "--settings"])
def test_a_device_without_end_is_no_file_to_read(
    option: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main([*EVALUATE, option, "/dev/zero"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("streamverify: /dev/zero")
    assert said.endswith("longer than 1 MiB\n")


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="a file of Linux")
def test_a_journal_that_reads_like_a_file_and_is_none_is_named(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main([*EVALUATE, "--out", "/proc/self/mem"]) == 2
    assert capsys.readouterr().err.startswith("streamverify: /proc/self/mem cannot be used: ")


def test_a_device_may_be_written_twice() -> None:
    refuse_unwritable((), {"--md": Path("/dev/null"), "--html": Path("/dev/null")})


@pytest.mark.parametrize("speed", ["0", "inf"])
def test_a_demo_without_pauses_tells_no_times_of_a_stream(
    speed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    # The answer is there at once: how many times as long as the bare stream it took says nothing.
    assert main(["demo", "--speed", speed, *LEXICAL]) == 0
    said = capsys.readouterr().out
    assert "the bare stream" not in said
    assert "verdict lag" not in said
