from __future__ import annotations

import pytest
from builders import written
from hypothesis import given
from hypothesis import strategies as st

from streamverify.errors import InputFileError, UsageError
from streamverify.evaluate import Case, Dataset, read_dataset
from streamverify.evaluate.dataset import dataset_of
from streamverify.types import CitationFinding, Label

FULL = {
    "id": "q1",
    "query": "How long is the river?",
    "answer": "It is 40 km long [1].",
    "passages": [{"id": "river", "text": "The river is 40 km long.", "title": "Rivers"}, "A second one."],
    "retrieved": ["river", "p2"],
    "scores": [0.9, 0.1],
    "ground_truth": {
        "answer": "40 km",
        "relevant_docs": ["river"],
        "citations": [{"claim": "40 km long", "source": "river"}],
    },
    "expected": "answer",
    "labels": [
        {
            "text": "It is 40 km long [1].",
            "label": "supported",
            "evidence": ["river"],
            "citations": [{"marker": "[1]", "cites": ["river"], "verdict": "correct"}],
        }
    ],
    "conflicts": [["river", "p2"]],
    "latency_ms": {"retrieval": 12, "first_token": 300.5},
    "category": "fact_single",
    "difficulty": "easy",
    "metadata": {"team": "north"},
}


ODD = (("A.", "supported"), ("B.", "supported"), ("A. ", "unsupported"))


def test_a_row_says_everything_the_format_can_say(tmp_path):
    [case] = read_dataset(written(tmp_path / "d.jsonl", [FULL]))
    assert (case.id, case.question, case.reference) == ("q1", "How long is the river?", "40 km")
    assert case.passage_ids == ("river", "p2")
    assert case.relevant == {"river": 1.0}
    assert case.claims == (("40 km long", "river"),)
    assert case.labels[0].label is Label.SUPPORTED
    assert case.labels[0].citations[0].finding is CitationFinding.CORRECT
    assert case.conflicts == (("river", "p2"),)
    assert case.latency_ms == {"retrieval": 12.0, "first_token": 300.5}
    assert case.metadata == {"team": "north"}


def test_a_row_without_an_id_is_called_by_its_line(tmp_path):
    (tmp_path / "d.jsonl").write_text('\n{"answer": "A."}\n\n{"answer": "B."}\n', encoding="utf-8")
    assert [case.id for case in read_dataset(tmp_path / "d.jsonl")] == ["2", "4"]


def test_passages_may_stand_in_a_file_of_their_own(tmp_path):
    written(tmp_path / "p.jsonl", [{"id": "a", "text": "A."}])
    rows = [{"answer": "A.", "passages_file": "p.jsonl"}, {"answer": "B.", "passages_file": "p.jsonl"}]
    first, second = read_dataset(written(tmp_path / "d.jsonl", rows))
    assert first.passages == second.passages != ()


@pytest.mark.parametrize(
    ("row", "field", "problem"),
    [
        ({"answer": 3}, "answer", "must be a string, found a number"),
        ({"passages": {}}, "passages", "must be an array"),
        ({"passages": [{"id": "a"}]}, "passages[0].text", "is missing"),
        ({"passages": ["x", ""]}, "passages[1]", "is empty"),
        ({"passages": [{"id": "a", "text": "x"}, {"id": "a", "text": "y"}]}, "passages", "'a'"),
        ({"relevant": {"a": -1}}, "relevant.a", "0 or more"),
        ({"passages_file": "nope.jsonl"}, "passages_file", "nope.jsonl: there is no such file"),
        ({"relevant": {"a": "high"}}, "relevant.a", "must be a number"),
        ({"retrieved": ["a"], "scores": [1, 2]}, "scores", "one number for each id"),
        ({"expected": "maybe"}, "expected", "answer, refuse"),
        ({"labels": [{"text": "A.", "label": "fine"}]}, "labels[0].label", "must be one of"),
        ({"latency_ms": {"lunch": 1}}, "latency_ms", "must be one of"),
        ({"latency_ms": {"total": 5, "retrieval": -1}}, "latency_ms.retrieval", "0 or more"),
        ({"conflicts": [["a"]]}, "conflicts", "pairs"),
        ({"question": "A?", "query": "B?"}, "query", "keep one"),
        ({"ground_truth": {"citations": [{"claim": "A"}]}}, "ground_truth.citations[0].source", "must be"),
        ({"passages": ["x"], "conflicts": [["p1", "zz"]]}, "conflicts", "names 'zz', which is none of"),
        ({"passages": ["x"], "conflicts": [["p1", "p1"]]}, "conflicts", "'p1' contradicts itself"),
        (
            {"passages": ["x"], "labels": [{"text": "A.", "label": "supported", "evidence": ["zz"]}]},
            "labels[0].evidence",
            "names 'zz', which is none of the case's passages (p1)",
        ),
        (
            {"answer": "A. B.", "labels": [{"text": t, "label": label} for t, label in ODD]},
            "labels[2].label",
            "is unsupported, and labels[0] says supported of the same sentence 'A.'",
        ),
        (
            {"reference": "A.", "ground_truth": {"answer": "B."}},
            "ground_truth.answer",
            "says something else than 'reference'; keep one of them",
        ),
        (
            {"relevant": ["a"], "ground_truth": {"relevant_docs": ["a", "b"]}},
            "ground_truth.relevant_docs",
            "says something else than 'relevant'; keep one of them",
        ),
        ({"events": []}, "events", "begins with stream_opened"),
        ({"events": [{"kind": "nonsense"}]}, "events", "not an event"),
        ({"id": ""}, "id", "is empty"),
        ({"answer": "\ud800"}, "answer", "lone surrogate"),
    ],
)
def test_what_is_wrong_is_named_by_file_line_and_field(tmp_path, row, field, problem):
    path = written(tmp_path / "d.jsonl", [{"answer": "Fine."}, row])
    with pytest.raises(InputFileError) as caught:
        read_dataset(path)
    assert (caught.value.line, caught.value.field) == (2, field)
    assert problem in caught.value.problem
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("line", [b"[]", b"{", b"NaN", b'{"scores": [NaN]}', b"\xff", b'{"a": ' * 20_000])
def test_what_is_no_object_is_refused_with_its_line(tmp_path, line):
    (tmp_path / "d.jsonl").write_bytes(b'{"answer": "Fine."}\n' + line + b"\n")
    with pytest.raises(InputFileError) as caught:
        read_dataset(tmp_path / "d.jsonl")
    assert caught.value.line == 2


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ('{"answer": "A.", "answer": "B."}', "answer"),
        ('{"answer": "A.", "id": "x", "answer": "A."}', "answer"),
        ('{"answer": "A.", "metadata": {"team": 1, "team": 2}}', "team"),
        ('{"passages": [{"id": "a", "text": "A.", "text": "B."}]}', "text"),
    ],
)
def test_a_name_that_stands_twice_in_a_row_is_refused(tmp_path, line, name):
    (tmp_path / "d.jsonl").write_text(f'{{"answer": "Fine."}}\n{line}\n', encoding="utf-8")
    with pytest.raises(InputFileError, match=f"'{name}' stands twice") as caught:
        read_dataset(tmp_path / "d.jsonl")
    assert caught.value.line == 2
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "where", [{"nope": "1"}, {"category": "c"}, {"category": "a", "n": "1"}, {"category": "c", "n": "\n"}]
)
def test_a_selection_that_no_case_fits_is_what_is_blamed(tmp_path, where):
    rows = [{"answer": "A.", "category": "ab"[n], "metadata": {"n": n}} for n in range(2)]
    path = written(tmp_path / "d.jsonl", rows)
    for limit in (None, 1):
        with pytest.raises(UsageError, match="no case to evaluate") as caught:
            read_dataset(path, where=where, limit=limit)
        assert "--where" in str(caught.value)
        assert all(f"{name}=" in str(caught.value) for name in where)
        assert "\n" not in str(caught.value)
    (tmp_path / "empty.jsonl").write_text("\n")
    with pytest.raises(UsageError, match="no case to evaluate") as caught:
        read_dataset(tmp_path / "empty.jsonl", where=where)
    assert "--where" not in str(caught.value)


def test_a_missing_or_empty_file_is_told(tmp_path):
    with pytest.raises(InputFileError, match="no such file"):
        read_dataset(tmp_path / "none.jsonl")
    (tmp_path / "empty.jsonl").write_text("\n")
    with pytest.raises(UsageError, match="no case"):
        read_dataset(tmp_path / "empty.jsonl")


def test_two_rows_with_one_id_are_refused(tmp_path):
    path = written(tmp_path / "d.jsonl", [{"id": "a", "answer": "A."}, {"id": "a", "answer": "B."}])
    with pytest.raises(InputFileError, match="already the id of line 1"):
        read_dataset(path)


def test_an_unknown_field_is_told_once_with_the_name_that_was_meant(tmp_path):
    told: list[str] = []
    path = written(tmp_path / "d.jsonl", [{"answr": "A."}, {"answr": "B."}, {"zzz": 1}])
    dataset = read_dataset(path, warn=told.append)
    assert list(dataset)
    assert [("answr" in line, "'answer'" in line) for line in told] == [(True, True), (False, False)]


def test_an_unknown_field_of_what_is_known_to_be_right_is_told_too(tmp_path):
    told: list[str] = []
    truth = {"anwser": "A.", "citations": [{"claim": "c", "source": "s", "by": "t"}]}
    path = written(tmp_path / "d.jsonl", [{"id": n, "answer": "A.", "ground_truth": truth} for n in "ab"])
    read_dataset(path, warn=told.append)
    assert [one.partition(": ")[2] for one in told] == [
        "unknown field 'ground_truth.anwser' (did you mean 'ground_truth.answer'?); it is ignored",
        "unknown field 'ground_truth.citations[].by'; it is ignored",
    ]


def test_what_is_said_twice_alike_and_a_sentence_that_is_said_twice_are_fine(tmp_path):
    row = {
        "answer": "It is. It was. It is.",
        "labels": [{"text": "It is.", "label": label} for label in ("supported", "unsupported")],
        "reference_answer": "It is.",
        "relevant": {"a": 1},
        "ground_truth": {"answer": "It is.", "relevant_docs": ["a"]},
        "conflicts": [["x", "y"]],
    }
    [case] = read_dataset(written(tmp_path / "d.jsonl", [row]))
    assert [one.label for one in case.labels] == [Label.SUPPORTED, Label.UNSUPPORTED]
    assert (case.reference, case.relevant, case.conflicts) == ("It is.", {"a": 1.0}, (("x", "y"),))


def test_cases_can_be_selected(tmp_path):
    rows = [{"id": str(n), "answer": "A.", "category": "ab"[n % 2], "metadata": {"n": n}} for n in range(20)]
    path = written(tmp_path / "d.jsonl", rows)
    assert [case.id for case in read_dataset(path, where={"category": "b"}, limit=2)] == ["1", "3"]
    assert [case.id for case in read_dataset(path, where={"n": "7"})] == ["7"]
    sample = [case.id for case in read_dataset(path, limit=5, seed=1)]
    assert sample == [case.id for case in read_dataset(path, limit=5, seed=1)] != [str(n) for n in range(5)]
    with pytest.raises(UsageError, match="no case"):
        read_dataset(path, where={"category": "c"})
    with pytest.raises(UsageError, match="limit"):
        read_dataset(path, limit=0)


def test_a_dataset_can_be_gone_through_again_and_knows_its_digest(tmp_path):
    path = written(tmp_path / "d.jsonl", [FULL, {"answer": "A."}])
    dataset = read_dataset(path)
    assert len(dataset) == 2
    assert list(dataset) == list(dataset)
    assert dataset.digest == dataset_of(list(dataset)).digest == read_dataset(path).digest
    assert dataset.digest != read_dataset(path, limit=1).digest
    assert dataset_of(dataset) is dataset


@given(st.text(), st.text())
def test_the_digest_tells_cases_apart(a, b):
    assert (Case(id="x", answer=a).digest == Case(id="x", answer=b).digest) is (a == b)


def test_cases_made_in_code_are_checked_too():
    with pytest.raises(UsageError, match="two cases"):
        dataset_of([Case(id="a"), Case(id="a")])
    with pytest.raises(UsageError, match="metadata"):
        dataset_of([Case(id="a", metadata={"x": object()})])
    assert isinstance(dataset_of([Case(id="a")]), Dataset)
