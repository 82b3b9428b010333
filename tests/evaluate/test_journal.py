"""A journal: an evaluation goes on where it was stopped, and no other file is taken for one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from builders import GOOD, SCRIPT, case, cases, verifier

from streamverify import Verifier
from streamverify.calibration import Calibration
from streamverify.errors import InputFileError, UsageError
from streamverify.evaluate import (
    Case,
    Measured,
    NotComputed,
    Run,
    evaluate,
    metric,
)
from streamverify.testing import ScriptedScorer

FAITHFUL = ["faithfulness", "hallucination_rate", "citation_fabricated"]


def run_of(given, **options) -> Run:
    with verifier() as one:
        return evaluate(given, verifier=one, **options)


def test_the_same_command_goes_on_where_it_was_stopped(tmp_path):
    whole = run_of(cases(8), out=tmp_path / "whole.jsonl", workers=1)
    lines = (tmp_path / "whole.jsonl").read_bytes().splitlines(keepends=True)
    for kept in range(len(lines)):
        torn = b"".join(lines[:kept]) + lines[kept][: len(lines[kept]) // 2]
        (tmp_path / "torn.jsonl").write_bytes(torn)
        scorer = ScriptedScorer(SCRIPT)
        with Verifier(scorer) as one:
            again = evaluate(cases(8), verifier=one, out=tmp_path / "torn.jsonl")
        assert again.text() == whole.text()
        if kept == len(lines) - 1:
            assert scorer.claims == []  # nothing that was judged is judged again
    assert Run.read(tmp_path / "torn.jsonl") == whole


KILLED = """
    import sys, os
    sys.path.insert(0, {folder!r})
    from builders import cases, verifier
    from streamverify.evaluate import evaluate
    def told(done, total):
        print(done, flush=True)
        if done == 3:
            sys.stdin.readline()
    with verifier() as one:
        evaluate(cases(8), verifier=one, out={out!r}, workers=1, progress=told)
"""


@pytest.mark.slow
def test_a_killed_evaluation_loses_no_case_that_was_done(tmp_path):
    out = tmp_path / "j.jsonl"
    script = textwrap.dedent(KILLED.format(folder=str(Path(__file__).parent), out=str(out)))
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", script], stdin=pipe, stdout=pipe) as process:
        assert [process.stdout.readline() for _ in range(3)] == [b"1\n", b"2\n", b"3\n"]
        os.kill(process.pid, signal.SIGKILL)
    assert out.read_bytes().count(b'"number"') == 3
    with pytest.raises(InputFileError, match="not finished"):
        Run.read(out)
    assert run_of(cases(8), out=out).text() == run_of(cases(8)).text()
    assert out.read_bytes().count(b'"number"') == 8


def test_a_journal_of_another_evaluation_is_refused_and_left_as_it_is(tmp_path):
    out = tmp_path / "j.jsonl"
    run_of(cases(3), out=out, metrics=FAITHFUL)
    before = out.read_bytes()
    with pytest.raises(UsageError, match="dataset"):
        run_of(cases(4), out=out, metrics=FAITHFUL)
    with pytest.raises(UsageError, match="metrics differ"):
        run_of(cases(3), out=out, metrics=["faithfulness"])
    fitted = Calibration(bias=1.0)
    with (
        Verifier(ScriptedScorer(), calibration=fitted) as other,
        pytest.raises(UsageError, match="fingerprint"),
    ):
        evaluate(cases(3), verifier=other, out=out, metrics=FAITHFUL)
    assert out.read_bytes() == before


@pytest.mark.parametrize("content", [b"precious notes", b'{"id": "1"}\n', b"a\nb\n"])
def test_a_file_that_is_no_journal_is_never_overwritten(tmp_path, content):
    (tmp_path / "mine.jsonl").write_bytes(content)
    with pytest.raises(InputFileError, match="no journal"):
        run_of(cases(2), out=tmp_path / "mine.jsonl")
    assert (tmp_path / "mine.jsonl").read_bytes() == content


def test_a_case_that_went_wrong_is_tried_again(tmp_path):
    trying = []

    @metric(range=(0, 1))
    def fragile(case, report):
        trying.append(case.id)
        if trying.count("case-1") == 1 and case.id == "case-1":
            raise RuntimeError("once")
        return 1.0

    out = tmp_path / "j.jsonl"
    assert run_of(cases(3), metrics=[fragile], out=out).errors
    assert not run_of(cases(3), metrics=[fragile], out=out).errors
    assert sorted(trying) == ["case-0", "case-1", "case-1", "case-2"]
    assert not Run.read(out).errors


HALF = "half \ud800 a pair"


@pytest.mark.parametrize("field", ["id", "category"])
def test_what_no_file_can_hold_is_refused_before_anything_is_scored(field, tmp_path):
    spoiled = Case(**{"id": "case-1", "answer": GOOD, field: HALF})
    with pytest.raises(UsageError, match=f"its {field} holds a lone surrogate") as caught:
        run_of([case(0, GOOD), spoiled], out=tmp_path / "j.jsonl")
    assert str(caught.value).isascii()
    assert not (tmp_path / "j.jsonl").exists()


@pytest.mark.parametrize(
    "told",
    [
        lambda: Measured(0.5, details={HALF: 1}),
        lambda: Measured(0.5, details={"what": object()}),
        lambda: Measured(0.5, details={"worth": float("nan")}),
        lambda: Measured(0.5, warning=HALF),
        lambda: NotComputed(HALF),
        lambda: exec(f"raise RuntimeError({HALF!r})"),
    ],
)
def test_what_a_journal_cannot_hold_makes_the_case_an_error_and_stops_nothing(told, tmp_path):
    @metric(range=(0, 1))
    def wild(case, report):
        return told() if case.id == "case-1" else 1.0

    out = tmp_path / "j.jsonl"
    given = [case(n, GOOD, question=HALF) for n in range(3)]
    run = run_of(given, metrics=[wild], out=out)
    assert [one.id for one in run.errors] == ["case-1"]
    assert isinstance(run.cases[1]["wild"], NotComputed)
    assert Run.read(out) == run
    assert "NaN" not in out.read_text(encoding="utf-8")
    assert run.cases[0].load().question == "half \\ud800 a pair"


def test_an_answer_that_is_no_text_is_an_error_of_its_case(tmp_path):
    out = tmp_path / "j.jsonl"
    run = run_of([case(0, GOOD), case(1, HALF)], metrics=FAITHFUL, out=out)
    assert "surrogate" in run.cases[1].error
    assert Run.read(out) == run
