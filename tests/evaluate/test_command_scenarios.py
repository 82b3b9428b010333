"""The commands about many answers, from file to file, and what each says to input that is none."""

from __future__ import annotations

import json
import shutil
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from builders import BAD, GOOD, NONE, WRONG, case, cases, row, verifier, written

from streamverify.evaluate import Run, evaluate
from streamverify.program import main

LEXICAL = ("--scorer", "lexical")
GATES = '[gates]\nfaithfulness = { min = 0.9 }\n[gates."category=even"]\ncitation_fabricated = { max = 0 }\n'


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory):
    """A folder with answers, gates, and two runs of which the second is worse."""
    folder = tmp_path_factory.mktemp("evaluated")
    written(folder / "answers.jsonl", [row(one) for one in cases(6)])
    (folder / "gates.toml").write_text(GATES)
    (folder / "odd.toml").write_text("[gates]\nfaithfulness = { min = 0.0, max = 1.0 }\n")
    with verifier() as one:
        few = {"verifier": one, "metrics": ["faithfulness", "hallucination_rate"]}
        good = evaluate([case(n, GOOD) for n in range(4)], out=folder / "good.jsonl", **few)
        good.write(folder / "good.json")
        evaluate([case(n, WRONG) for n in range(4)], **few).write(folder / "worse.json")
    return folder


@pytest.fixture
def folder(evaluated, tmp_path, monkeypatch):
    """The working directory: a copy of it."""
    shutil.copytree(evaluated, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_report_is_written_in_one_go_and_again_without_scoring(folder, capsys):
    reports = ["--html", "page.html", "--md", "note.md", "--junit", "tests.xml"]
    command = ["evaluate", "answers.jsonl", *LEXICAL, "--gates", "gates.toml", "--out", "journal.jsonl"]
    assert main([*command, *reports, "--json", "run.json"]) == 1
    told = capsys.readouterr()
    assert "failed        faithfulness >= 0.9" in told.out
    assert "passed        citation_fabricated (category even) <= 0" in told.out
    first = {name: Path(name).read_bytes() for name in ("page.html", "note.md", "tests.xml")}
    root = ET.fromstring(first["tests.xml"])
    assert int(root.get("failures")) >= 1
    assert b"case-5" in first["page.html"]
    for name in first:
        Path(name).unlink()
    # The journal has all that the reports need, and a report never fails for what it reports.
    assert main(["report", "journal.jsonl", "--gates", "gates.toml", *reports]) == 0
    assert {name: Path(name).read_bytes() for name in first} == first
    assert main(["report", "run.json", "--html", "bare.html"]) == 0  # figures only


def test_a_baseline_fails_the_command_and_the_reports_say_why(folder, capsys):
    with verifier() as one:
        evaluate(cases(6), verifier=one, metrics=["citation_fabricated"]).write("other.json")
    assert main(["evaluate", "answers.jsonl", *LEXICAL, "--json", "base.json"]) == 0
    rows = [row(case(n, BAD, category="odd" if n % 2 else "even")) for n in range(6)]
    written(Path("bad.jsonl"), rows)
    command = ["evaluate", "bad.jsonl", *LEXICAL, "--baseline", "base.json", "--md", "note.md"]
    capsys.readouterr()
    assert main(command) == 1
    assert "fail that passed" in capsys.readouterr().out
    assert "newly failing" in Path("note.md").read_text().lower()
    # Another scorer's figures are not compared: nothing could be, and that is no pass.
    incomparable = ["evaluate", "answers.jsonl", *LEXICAL, "--baseline", "other.json"]
    assert main(incomparable) == 2
    assert "no metric can be compared" in capsys.readouterr().err
    # What was measured is kept, and the baseline is not written over.
    assert main([*incomparable, "--json", "new.json"]) == 2
    assert "the run itself is in new.json" in capsys.readouterr().err
    assert Path("new.json").read_bytes() == Path("base.json").read_bytes()
    kept = Path("other.json").read_bytes()
    assert main([*incomparable, "--json", "other.json"]) == 2
    assert Path("other.json").read_bytes() == kept


def test_a_comparison_takes_runs_and_journals(folder, capsys):
    assert main(["compare", "good.jsonl", "good.json"]) == 0
    assert main(["compare", "good.json", "worse.json"]) == 1
    assert "failed  " in capsys.readouterr().out
    assert main(["compare", "worse.json", "good.json"]) == 0
    assert (
        main(["compare", "good.json", "worse.json", "--absolute", "--max-drop", "1", "--new-failures", "4"])
        == 0
    )


def test_sampled_and_sliced_cases_are_the_same_every_time(folder, capsys):
    command = ["evaluate", "answers.jsonl", *LEXICAL, "--limit", "3", "--seed", "7"]
    assert main([*command, "--json", "a.json"]) == main([*command, "--json", "b.json", "--workers", "1"]) == 0
    assert Path("a.json").read_bytes() == Path("b.json").read_bytes()
    assert main(["evaluate", "answers.jsonl", *LEXICAL, "--where", "category=odd", "--json", "c.json"]) == 0
    assert {one.category for one in Run.read("c.json").cases} == {"odd"}


def test_a_plan_of_a_pack_tells_what_is_missing_and_leaves_nothing_behind(folder, capsys):
    before = sorted(folder.iterdir())
    assert main(["evaluate", "answers.jsonl", "--pack", "rag", "--plan", "--out", "journal.jsonl"]) == 0
    out = capsys.readouterr().out
    assert "6 cases, 6 with an answer" in out
    assert "0 of 6 cases (not: 6 " in out
    assert sorted(folder.iterdir()) == before


def test_a_dataset_is_made_sampled_split_and_evaluated(folder, capsys):
    rows = [
        {"id": f"p{n}", "text": f"The mill number {n} was built in 17{n:02}. It has two wheels."}
        for n in range(8)
    ]
    written(Path("passages.jsonl"), rows)
    assert main(["dataset", "make", "passages.jsonl", "--per-type", "2", "--out", "made.jsonl"]) == 0
    count = len(Path("made.jsonl").read_text().splitlines())
    assert count > 0
    assert main(["dataset", "sample", "made.jsonl", "--count", "2", "--out", "few.jsonl"]) == 0
    assert len(Path("few.jsonl").read_text().splitlines()) == 2
    # Questions without answers: every figure of an answer says so, and no gate is passed.
    assert main(["evaluate", "made.jsonl", *LEXICAL, "--gates", "gates.toml"]) == 1
    assert f"not computed: the case has no answer, 0 of {count} cases" in capsys.readouterr().out


def spoiled(name: str) -> bytes:
    good = json.dumps(row(case(0, GOOD))).encode() + b"\n"
    return {
        "broken.jsonl": good + b'{"id": "x", "answer": \n',
        "list.jsonl": good + b"[1, 2]\n",
        "wrong.jsonl": good + b'{"id": "x", "answer": 3}\n',
        "nan.jsonl": good + b'{"id": "x", "scores": [NaN], "retrieved": ["a"]}\n',
        "half.jsonl": good + b'{"id": "x", "answer": "\\ud800"}\n',
        "latin.jsonl": good + '{"id": "é"}\n'.encode("latin-1"),
        "twice.jsonl": good + good,
        "empty.jsonl": b"",
        "blank.jsonl": b"\n \n",
        "deep.jsonl": good + b'{"a": ' * 100_000 + b"\n",
        "long.jsonl": good + b'{"id": "' + b"x" * (10 << 20) + b'", "answer": 3}\n',
        "binary.jsonl": bytes(range(256)) * 10,
    }[name]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("broken.jsonl", "broken.jsonl:2: not a JSON object on one line"),
        ("list.jsonl", "list.jsonl:2: expected a JSON object, found an array"),
        ("wrong.jsonl", "wrong.jsonl:2: field 'answer': must be a string, found a number"),
        ("nan.jsonl", "nan.jsonl:2: NaN is not JSON"),
        ("half.jsonl", "half.jsonl:2: field 'answer': holds a lone surrogate"),
        ("latin.jsonl", "latin.jsonl:2: invalid UTF-8 at byte 8"),
        ("twice.jsonl", "twice.jsonl:2: field 'id': 'case-0' is already the id of line 1"),
        ("empty.jsonl", "there is no case to evaluate"),
        ("blank.jsonl", "there is no case to evaluate"),
        ("deep.jsonl", "deep.jsonl:2: "),
        ("long.jsonl", "long.jsonl:2: field 'answer': must be a string"),
        ("binary.jsonl", "binary.jsonl:1: "),
        (".", "cannot be read: Is a directory"),
        ("missing.jsonl", "there is no such file"),
    ],
)
@pytest.mark.parametrize("command", ["evaluate", "plan", "calibrate"])
def test_a_dataset_that_is_none_is_one_line_with_its_place(command, name, told, folder, capsys):
    if name.endswith("jsonl") and name != "missing.jsonl":
        Path(name).write_bytes(spoiled(name))
    given = {"evaluate": ["evaluate", name], "plan": ["evaluate", name, "--plan"]}.get(
        command, [command, name]
    )
    assert main([*given, *LEXICAL]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("\n") == 1
    assert shown.err.startswith("streamverify: ")
    assert told in shown.err
    assert len(shown.err) < 500


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["evaluate", "answers.jsonl", "--metrics", "faithfullness"], "did you mean 'faithfulness'"),
        (["evaluate", "answers.jsonl", "--pack", "rga"], "did you mean 'rag'"),
        (["evaluate", "answers.jsonl", "--weights", "faithfulness=2"], "--pack or --settings"),
        (["evaluate", "answers.jsonl", "--pack", "rag", "--weights", "luck=2"], "has no stage 'luck'"),
        (["evaluate", "answers.jsonl", "--pack", "rag", "--weights", "faithfulness=much"], "no number"),
        (["evaluate", "answers.jsonl", "--gates", "answers.jsonl"], "not TOML"),
        (["evaluate", "answers.jsonl", "--gates", "."], "cannot be read"),
        (["evaluate", "answers.jsonl", "--settings", "none.toml"], "no such file"),
        (["evaluate", "answers.jsonl", "--baseline", "answers.jsonl"], "not a run"),
        (["evaluate", "answers.jsonl", "--calibration", "none.json"], "none.json"),
        (["evaluate", "answers.jsonl", "--embedder", "luck"], "luck"),
        (["evaluate", "answers.jsonl", "--judge", "http://127.0.0.1:9"], "--judge-model"),
        (["compare", "good.json", "none.json"], "none.json"),
        (["compare", "good.json", "."], "cannot be read"),
        (["report", "good.json"], "nothing to write"),
        (["report", "answers.jsonl", "--md", "x.md"], "not a run"),
        (["report", "good.json", "--md", "none/x.md"], "cannot be written"),
        (["calibrate", "answers.jsonl"], "label"),
        (["dataset", "sample", "none.jsonl", "--count", "2", "--out", "x.jsonl"], "no such file"),
        (["dataset", "make", "none.jsonl", "--out", "x.jsonl"], "no such file"),
    ],
)
def test_what_cannot_be_is_one_line_and_exit_2(arguments, told, folder, capsys):
    before = sorted(folder.iterdir())
    assert main([*arguments, *(LEXICAL if arguments[0] in ("evaluate", "calibrate") else ())]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert [line for line in shown.err.splitlines() if " cases" not in line] == [shown.err.splitlines()[-1]]
    assert told in shown.err
    assert sorted(folder.iterdir()) == before


def test_a_gate_on_what_no_run_has_is_not_passed(folder, capsys):
    Path("gates.toml").write_text("[gates]\nfaithfullness = { min = 0.5 }\n")
    assert main(["evaluate", "answers.jsonl", *LEXICAL, "--gates", "gates.toml"]) == 2
    assert "did you mean 'faithfulness'" in capsys.readouterr().err
    written(Path("greeting.jsonl"), [row(case(0, NONE))])
    assert main(["evaluate", "greeting.jsonl", *LEXICAL, "--gates", "odd.toml"]) == 1
    assert "not computed  faithfulness" in capsys.readouterr().out
