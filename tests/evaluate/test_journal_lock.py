"""One journal, one writer; a writer that was killed holds nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from builders import GOOD, cases, row, verifier, written

from streamverify.errors import InputFileError, UsageError
from streamverify.evaluate import evaluate, metric
from streamverify.program import main

WRITER = """
import sys
from builders import cases, verifier
from streamverify.evaluate import evaluate, metric

@metric
def waits(case, report):
    if case.id == "case-2":
        print("waiting", flush=True)
        sys.stdin.read()
    return 1.0

with verifier() as one:
    evaluate(cases(6), metrics=[waits], verifier=one, out=sys.argv[1], workers=1)
"""


@metric
def waits(case, report):
    return 1.0


@pytest.fixture
def writer(tmp_path):
    out = tmp_path / "journal.jsonl"
    pipe = subprocess.PIPE
    child = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(out)], stdin=pipe, stdout=pipe, cwd=Path(__file__).parent
    )
    with child:
        assert child.stdout.readline() == b"waiting\n"
        yield child, out
        child.kill()


def run(out):
    with verifier() as one:
        return evaluate(cases(6), metrics=[waits], verifier=one, out=out, workers=1)


@pytest.mark.slow
def test_a_second_writer_is_refused_and_a_killed_one_holds_nothing(writer, tmp_path, capsys):
    child, out = writer
    before = out.read_bytes()
    with pytest.raises(UsageError, match="is being written by another evaluation"):
        run(out)
    data = str(written(tmp_path / "answers.jsonl", [row(one) for one in cases(6)]))
    assert main(["evaluate", data, "--scorer", "lexical", "--out", str(out)]) == 2
    told = capsys.readouterr()
    assert told.err.count("\n") == 1
    assert "being written" in told.err
    assert out.read_bytes() == before
    child.kill()
    child.wait()
    assert run(out) == run(tmp_path / "other.jsonl")
    assert out.read_bytes().startswith(before)  # gone on with


def test_what_refuses_a_journal_gives_the_lock_back(tmp_path):
    out = tmp_path / "journal.jsonl"
    out.write_text(GOOD)
    with pytest.raises(InputFileError) as caught:
        run(out)
    out.write_bytes(b"")
    assert run(out)["waits"].figure == 1.0
    assert "no journal" in str(caught.value)  # the first error, and with it its frames, lived on


def test_a_finished_journal_can_be_read_and_written_again(tmp_path):
    out = tmp_path / "journal.jsonl"
    assert run(out) == run(out)
