"""A run that lost cases is no run: what is left of it could pass every gate."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from builders import BAD, GOOD, case, verifier

from streamverify.errors import InputFileError
from streamverify.evaluate import Run, evaluate
from streamverify.program import main

COUNT = 4


@pytest.fixture
def folder(tmp_path) -> Path:
    """A finished journal and a run's file, of which the second case alone would fail a gate."""
    given = [case(n, *([BAD] if n == 1 else [GOOD])) for n in range(COUNT)]
    with verifier() as one:
        run = evaluate(
            given, verifier=one, metrics=["faithfulness"], out=tmp_path / "journal.jsonl", workers=1
        )
    run.write(tmp_path / "run.json")
    return tmp_path


def damaged(lines: list[bytes], damage: str) -> list[bytes]:
    """A journal's lines: the header, the cases, and that all are done."""
    header, *held, done = lines
    return {
        "a case is lost": [header, held[0], *held[2:], done],
        "every case is lost": [header, done],
        "a case stands in another's place": [header, held[0], held[0], *held[2:], done],
        "the end counts too few": [header, held[0], *held[2:], b'{"done": 3}\n'],
        "the end counts too many": [header, *held, b'{"done": 5}\n'],
        "the end counts nothing": [header, *held, b'{"done": null}\n'],
        "a case follows the end": [header, held[0], *held[2:], done, held[1]],
    }[damage]


DAMAGES = (
    "a case is lost",
    "every case is lost",
    "a case stands in another's place",
    "the end counts too few",
    "the end counts too many",
    "the end counts nothing",
    "a case follows the end",
)


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_finished_journal_that_lost_cases_is_refused_and_can_be_mended(damage, folder, capsys):
    path = folder / "journal.jsonl"
    whole = Run.read(path)
    path.write_bytes(b"".join(damaged(path.read_bytes().splitlines(keepends=True), damage)))
    with pytest.raises(InputFileError, match="case") as caught:
        Run.read(path)
    assert "\n" not in str(caught.value)
    assert main(["report", str(path), "--md", str(folder / "note.md")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    given = [case(n, *([BAD] if n == 1 else [GOOD])) for n in range(COUNT)]
    with verifier() as one:
        evaluate(given, verifier=one, metrics=["faithfulness"], out=path)
    assert Run.read(path) == whole


@pytest.mark.parametrize("kept", [[], [0, 2, 3], [0, 0, 2, 3], [0, 1, 2, 3, 3]])
def test_a_runs_file_that_lost_or_doubled_cases_is_refused(kept, folder):
    path = folder / "run.json"
    found = json.loads(path.read_text())
    found["cases"] = [found["cases"][place] for place in kept]
    path.write_text(json.dumps(found))
    with pytest.raises(InputFileError, match=f"of {COUNT} cases") as caught:
        Run.read(path)
    assert "\n" not in str(caught.value)


def test_cases_that_went_wrong_and_were_tried_again_count_once(tmp_path):
    given = [case(n, GOOD) for n in range(COUNT)]
    for failing in ("mill", None):
        with verifier(fail_on=failing) if failing else verifier() as one:
            evaluate(given, verifier=one, metrics=["faithfulness"], out=tmp_path / "j.jsonl")
    assert len(Run.read(tmp_path / "j.jsonl").cases) == COUNT
