from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from builders import written
from hypothesis import given, settings
from hypothesis import strategies as st

from streamverify.errors import InputFileError, UsageError
from streamverify.evaluate import read_dataset
from streamverify.evaluate.dividing import sample, split, together
from streamverify.program import main

PARTS = {"train": 0.8, "test": 0.2}
shared = st.lists(st.sets(st.integers(0, 30), min_size=1, max_size=2), min_size=3, max_size=30)


def rows(found):
    return [
        {"id": f"r{n}", "passages": [f"Text {one}." for one in sorted(ids)]} for n, ids in enumerate(found)
    ]


@given(shared, st.integers(0, 3))
@settings(max_examples=60)
def test_no_passage_is_in_two_parts_and_no_row_is_lost(tmp_path_factory, found, seed):
    folder = tmp_path_factory.mktemp("split")
    data = written(folder / "all.jsonl", rows(found))
    if len(together(data)) < 2:
        with pytest.raises(UsageError, match="stays empty"):
            split(data, PARTS, seed=seed, to=folder / "parts")
        return
    counts = split(data, PARTS, seed=seed, to=folder / "parts")
    held = {name: list(read_dataset(folder / "parts" / f"{name}.jsonl")) for name in PARTS}
    assert {name: len(cases) for name, cases in held.items()} == counts
    ids = [case.id for cases in held.values() for case in cases]
    assert sorted(ids) == sorted(f"r{n}" for n in range(len(found)))
    texts = {name: {p.text for case in cases for p in case.passages} for name, cases in held.items()}
    assert not texts["train"] & texts["test"]
    other = written(folder / "turned.jsonl", reversed(rows(found)))
    split(other, PARTS, seed=seed, to=folder / "again")
    assert {c.id for c in read_dataset(folder / "again" / "test.jsonl")} == {c.id for c in held["test"]}


def test_shares_are_met_where_rows_stand_alone(tmp_path):
    data = written(tmp_path / "all.jsonl", rows([{n} for n in range(50)]))
    assert split(data, PARTS, seed=0, to=tmp_path / "p") == {"train": 40, "test": 10}
    first = (tmp_path / "p" / "test.jsonl").read_text()
    split(data, PARTS, seed=1, to=tmp_path / "p")
    assert (tmp_path / "p" / "test.jsonl").read_text() != first
    lines = set(data.read_text().splitlines())
    assert set(first.splitlines()) < lines


def test_documents_that_are_only_named_bind_too(tmp_path):
    named = [
        {"id": "a", "relevant": ["d1"]},
        {"id": "b", "retrieved": ["d1"]},
        {"id": "c", "relevant": ["d2"]},
    ]
    assert sorted(map(sorted, together(written(tmp_path / "n.jsonl", named)))) == [["a", "b"], ["c"]]


def test_rows_keep_their_ids_and_find_their_passages(tmp_path):
    written(tmp_path / "p.jsonl", [{"id": "x", "text": "Text."}])
    data = written(tmp_path / "all.jsonl", [{"question": "a", "passages_file": "p.jsonl"}, {"question": "b"}])
    split(data, PARTS, seed=0, to=tmp_path / "deep" / "parts")
    found = [case for name in PARTS for case in read_dataset(tmp_path / "deep" / "parts" / f"{name}.jsonl")]
    assert {case.id: case.question for case in found} == {"1": "a", "2": "b"}
    assert next(case for case in found if case.id == "1").passages[0].text == "Text."


def test_a_sample_is_seeded_and_in_order(tmp_path):
    data = written(tmp_path / "all.jsonl", rows([{n} for n in range(30)]))
    assert sample(data, 5, seed=3, to=tmp_path / "s.jsonl") == 5
    ids = [case.id for case in read_dataset(tmp_path / "s.jsonl")]
    assert ids == sorted(ids, key=lambda one: int(one[1:]))
    with pytest.raises(UsageError, match="the dataset itself"):
        sample(data, 5, seed=3, to=data)


@pytest.mark.parametrize("shares", [[0.8, 0.8], [8, 2], [0.5, 0.5, 0.01], [1.0, 1e-6]])
def test_shares_of_more_than_the_whole_are_refused(tmp_path, shares):
    data = written(tmp_path / "all.jsonl", rows([{n} for n in range(10)]))
    with pytest.raises(UsageError, match="add up to") as caught:
        split(data, {f"part{n}": share for n, share in enumerate(shares)}, seed=0, to=tmp_path / "parts")
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "parts").exists()


@pytest.mark.parametrize("shares", [[0.1] * 10, [0.7, 0.2, 0.1], [0.3, 0.3], [1 / 3] * 3])
def test_shares_of_the_whole_or_less_are_taken(tmp_path, shares):
    data = written(tmp_path / "all.jsonl", rows([{n} for n in range(10)]))
    counts = split(data, {f"part{n}": share for n, share in enumerate(shares)}, seed=0, to=tmp_path / "parts")
    assert sum(counts.values()) == 10


def test_the_commands(tmp_path, capsys):
    data = str(written(tmp_path / "all.jsonl", rows([{n} for n in range(10)])))
    assert main(["dataset", "sample", data, "--count", "3", "--out", str(tmp_path / "s")]) == 0
    assert main(["dataset", "split", data, "--out", str(tmp_path / "p")]) == 0
    assert capsys.readouterr().out == "3 rows\ntrain: 8 rows\ntest: 2 rows\n"
    for wrong in ("train=1", "train=x,test=1", "a=1,b=0", "a b=1,c=1", "train=0.8,test=0.8", "a=8,b=2"):
        assert main(["dataset", "split", data, "--out", str(tmp_path / "p"), "--parts", wrong]) == 2
    labelled = [
        {"id": str(n), "answer": "A.", "labels": [{"text": "A.", "label": mark}]}
        for n, mark in enumerate(["supported", "unsupported"] * 3)
    ]
    a = str(written(tmp_path / "a.jsonl", labelled))
    capsys.readouterr()
    b = str(written(tmp_path / "b.jsonl", labelled))
    assert main(["dataset", "agree", a, b, "--min-kappa", "0.9"]) == 0
    assert "Cohen kappa  1.000" in capsys.readouterr().out
    c = str(written(tmp_path / "c.jsonl", labelled))
    assert main(["dataset", "agree", a, b, c]) == 0
    assert "Fleiss kappa  1.000" in capsys.readouterr().out
    assert main(["dataset", "agree", a, a, "--min-kappa", "0.9"]) == 2
    assert "agrees with itself" in capsys.readouterr().err
    one, other = (str(written(tmp_path / f"{name}.jsonl", labelled[:1])) for name in ("one", "other"))
    assert main(["dataset", "agree", one, other, "--min-kappa", "0"]) == 1
    assert "only one label occurs" in capsys.readouterr().out


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="this system names no open files")
def test_a_pipe_is_refused_since_it_is_read_more_than_once(tmp_path):
    reading, writing = os.pipe()
    try:
        os.write(writing, json.dumps({"id": "a", "passages": ["Text."]}).encode() + b"\n")
        os.close(writing)
        with pytest.raises(InputFileError, match="is no file; it is read more than once"):
            split(Path(f"/dev/fd/{reading}"), PARTS, seed=0, to=tmp_path / "parts")
    finally:
        os.close(reading)
    assert not (tmp_path / "parts").exists()
