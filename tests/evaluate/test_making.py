from __future__ import annotations

import json

import pytest
from builders import written
from hypothesis import given, settings
from hypothesis import strategies as st
from judges import Server, answered, completion, judging
from loopback import loopback
from starlette.responses import JSONResponse

from streamverify import Passage
from streamverify.errors import JudgeError, UsageError
from streamverify.evaluate import read_dataset
from streamverify.evaluate.making import TYPES, make
from streamverify.program import main

PASSAGES = (
    Passage(
        "mill", "The mill was built by monks in 1712. It has two wheels of oak. Its miller was Hannes Vogt."
    ),
    Passage("river", "The river is 40 kilometres long. Monks fished in it for centuries."),
    Passage("bridge", "The bridge was opened in 1901. It crosses a valley of 85 metres.", title="Old bridge"),
)
texts = st.lists(
    st.text(alphabet=st.sampled_from("Abc de 1729. ,“”\n–"), min_size=1, max_size=120), min_size=1, max_size=5
)


def test_rules_make_what_they_can_and_say_what_they_cannot(tmp_path):
    made = make(PASSAGES, per_type=2)
    kinds = [row["category"] for row in made.rows]
    assert {kind: kinds.count(kind) for kind in TYPES} == {
        "fact_single": 2,
        "summary": 2,
        "reasoning": 0,
        "multi_hop": 1,
        "unanswerable": 2,
    }
    assert made.missing["reasoning"][0] == 2
    assert "name a writer" in made.missing["reasoning"][1]
    assert {row["metadata"]["maker"] for row in made.rows} == {"rules"}
    cases = list(read_dataset(written(tmp_path / "made.jsonl", made.rows)))
    hop = next(case for case in cases if case.category == "multi_hop")
    assert sorted(hop.relevant) == ["mill", "river"]
    assert "monks" in hop.question
    for case in cases:
        assert (case.expected == "refuse") == (case.category == "unanswerable") == (case.relevant is None)


@given(texts, st.integers(0, 5))
@settings(max_examples=60)
def test_made_rows_are_cases_whose_references_stand_in_their_passages(found, seed):
    passages = [Passage(f"p{n}", text) for n, text in enumerate(found)]
    made = make(passages, per_type=3, seed=seed)
    assert made == make(passages, per_type=3, seed=seed)
    assert len({(row["category"], row["question"]) for row in made.rows}) == len(made.rows)
    for row in made.rows:
        told = " ".join(passage["text"] for passage in row["passages"])
        if row["category"] == "fact_single":
            before, after = row["question"].removeprefix("What belongs into the gap: “")[:-1].split("____")
            value = row["reference"].removeprefix(before).removesuffix(after)
            assert row["reference"] == before + value + after
            assert value in told
        if row["category"] == "unanswerable":
            assert "reference" not in row


def test_a_model_writes_every_type():
    with judging() as (judge, server):
        made = make(PASSAGES, per_type=2, writer=judge)
        assert {row["metadata"]["maker"] for row in made.rows} == {judge.name}
        asked = [json.loads(request["messages"][1]["content"]) for request in server.requests]
    assert [row["category"] for row in made.rows] == [kind for kind in TYPES for _ in range(2)]
    assert {len(one["passages"]) for one in asked if one["type"] == "multi_hop"} == {2}
    assert made.missing == {}


def test_a_writer_that_fails_is_told_and_never_made_up_for():
    def moody(body, number):
        return JSONResponse({}, 500) if number == 1 else answered(body)

    with judging(moody, retries=0) as (judge, _):
        made = make(PASSAGES, per_type=2, writer=judge)
    assert made.missing["fact_single"][0] == 1
    assert "answered 500" in made.missing["fact_single"][1]
    with judging(lambda *_: completion('{"question": "Why?", "answer": "So."}')) as (judge, _):
        made = make(PASSAGES, per_type=2, writer=judge)
    assert "answered what has no answer" in made.missing["unanswerable"][1]
    with (
        judging(lambda *_: JSONResponse({}, 500), retries=0) as (judge, _),
        pytest.raises(JudgeError),
    ):
        make(PASSAGES, per_type=1, writer=judge)


def test_nothing_to_ask_about_is_refused():
    with pytest.raises(UsageError, match="at least one passage"):
        make([])


def test_the_command_writes_a_dataset(tmp_path, capsys):
    passages = written(tmp_path / "p.jsonl", [{"id": p.id, "text": p.text} for p in PASSAGES])
    out = tmp_path / "questions.jsonl"
    assert main(["dataset", "make", str(passages), "--per-type", "2", "--out", str(out)]) == 0
    told = capsys.readouterr()
    assert "made by rules" in told.err
    assert "reasoning: 2 of 2 not made" in told.err
    assert len(read_dataset(out)) == int(told.out.split()[0]) == 7
    with loopback(Server().app) as address:
        writer = ["--writer", f"{address}/v1", "--writer-model", "m"]
        assert main(["dataset", "make", str(passages), "--per-type", "1", "--out", str(out), *writer]) == 0
    assert "writer: 5 calls" in capsys.readouterr().err
    assert len(read_dataset(out)) == 5
    assert main(["dataset", "make", str(passages), "--out", str(out), "--writer", "http://x"]) == 2
    empty = written(tmp_path / "e.jsonl", [{"id": "a", "text": "Short."}])
    assert main(["dataset", "make", str(empty), "--out", str(out)]) == 2
