"""Files of other tools as these write them: DeepEval 4.3.1, the writers of Ragas 0.4.3, TREC."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify.errors import InputFileError, UsageError
from streamverify.evaluate import read_dataset
from streamverify.evaluate.converting import convert
from streamverify.files.csv_rows import csv_rows
from streamverify.program import main

RAGAS = {"user_input": "Q?", "response": "A.", "retrieved_contexts": ["C1", "C2"], "reference": "R."}
DEEPEVAL = {"input": "Q?", "actual_output": "A.", "retrieval_context": ["C1", "C2"], "expected_output": "R."}


@pytest.mark.parametrize(("form", "row"), [("ragas", RAGAS), ("deepeval", DEEPEVAL)])
@pytest.mark.parametrize("array", [True, False])
def test_other_tools_rows_become_ours(form, row, array, tmp_path):
    file = tmp_path / "theirs"
    file.write_text(json.dumps([row]) if array else json.dumps(row) + "\n")
    assert main(["dataset", "convert", str(file), "--from", form, "--out", str(tmp_path / "o")]) == 0
    (case,) = read_dataset(tmp_path / "o")
    assert (case.question, case.answer, case.reference) == ("Q?", "A.", "R.")
    assert [passage.text for passage in case.passages] == ["C1", "C2"]


def test_a_trec_run_goes_by_rank_and_keeps_queries_without_an_answer(tmp_path):
    run, qrels = tmp_path / "run", tmp_path / "qrels"
    run.write_text("q1 Q0 d2 2 0.5 tag\nq1 Q0 d1 1 0.5 tag\n")
    qrels.write_text("q1 0 d1 2\nq1 0 d9 0\nq2 0 d5 1\n")
    first, second = convert(run, "trec", qrels=qrels)
    assert (first["retrieved"], first["relevant"]) == (["d1", "d2"], {"d1": 2.0, "d9": 0.0})
    assert (second["id"], second["retrieved"]) == ("q2", [])


@pytest.mark.parametrize(
    ("form", "text", "told"),
    [
        ("ragas", '{"other": 1}', "none of the fields"),
        ("ragas", '{"user_input": 3}', "must be a text"),
        ("ragas", '{"retrieved_contexts": "C"}', "array of texts"),
        ("deepeval", '{"input": NaN}', "NaN is not JSON"),
        ("trec", "q1 Q0 d1 1 0.5", "expected 6 columns"),
        ("trec", "q1 Q0 d1 1 nan tag", "no number"),
        ("trec", "q1 Q0 d1 1 1 t\nq1 Q0 d1 2 1 t", "occurs twice"),
        ("trec", "", "no row"),
    ],
)
def test_what_cannot_be_converted_names_its_place(form, text, told, tmp_path):
    file = tmp_path / "theirs"
    file.write_text(text)
    with pytest.raises(InputFileError, match=told):
        convert(file, form)


def test_forms_are_named(tmp_path):
    with pytest.raises(UsageError, match="choose ragas, deepeval, trec"):
        convert(tmp_path, "excel")
    with pytest.raises(UsageError, match="TREC"):
        convert(tmp_path, "ragas", qrels=tmp_path)


SAVED = Path(__file__).parent / "data"
"""What `EvaluationDataset.save_as` of DeepEval wrote, three times of the same."""


@pytest.mark.parametrize("ending", ["json", "jsonl", "csv"])
def test_what_deepeval_saves_is_read(ending, tmp_path, capsys):
    out, file = tmp_path / "o.jsonl", SAVED / f"deepeval.{ending}"
    assert main(["dataset", "convert", str(file), "--from", "deepeval", "--out", str(out)]) == 0
    error = capsys.readouterr().err
    assert ("with | between them" in error) == (ending != "json")
    assert error.count("column 'context' has no place in our rows and is left out\n") == 1
    assert error.count("\n") == 1 + (ending != "json")
    first, second, third = read_dataset(out)
    assert (first.question, first.answer, first.reference) == ("Q?", "A.", "R.")
    assert [passage.text for passage in first.passages] == ["C1", "C2"]
    assert dict(first.metadata) == {"topic": "mills", "name": "first"}
    assert (second.question, second.answer, second.passages) == ("Only a question?", None, None)
    assert [passage.text for passage in third.passages] == ["C3"]


def test_where_deepeval_had_a_passage_from_is_its_title(tmp_path):
    file = tmp_path / "d.json"
    context = ["deepeval_source=handbook.pdf,deepeval_context=The mill,\nof 1712.", "Plain."]
    file.write_text(json.dumps([{"input": "Q?", "retrieval_context": context}]))
    [row] = convert(file, "deepeval")
    assert row["passages"] == [
        {"id": "p1", "title": "handbook.pdf", "text": "The mill,\nof 1712."},
        "Plain.",
    ]


SAMPLE = {
    "user_input": "Q?",
    "retrieved_contexts": ["C1, or so", "It's C2"],
    "retrieved_context_ids": ["d7", 9],
    "reference_context_ids": ["d7"],
    "response": "A.",
    "multi_responses": ["A.", "B."],
    "reference": "R.",
}


@pytest.mark.parametrize("ending", ["jsonl", "csv"])
def test_what_ragas_saves_is_read(ending, tmp_path):
    """As `to_jsonl` (without what is None) and `to_csv` (lists as Python writes them)."""
    file = tmp_path / f"r.{ending}"
    if ending == "jsonl":
        file.write_text(json.dumps(SAMPLE, ensure_ascii=False) + "\n")
    else:
        with file.open("w", newline="") as opened:
            writer = csv.DictWriter(opened, SAMPLE.keys())
            writer.writeheader()
            writer.writerow(SAMPLE)
    out = tmp_path / "o.jsonl"
    assert main(["dataset", "convert", str(file), "--from", "ragas", "--out", str(out)]) == 0
    [case] = read_dataset(out)
    assert (case.question, case.answer, case.reference) == ("Q?", "A.", "R.")
    assert [(p.id, p.text) for p in case.passages] == [("d7", "C1, or so"), ("9", "It's C2")]
    assert (case.retrieved, dict(case.relevant)) == (("d7", "9"), {"d7": 1.0})
    assert case.metadata["samples"] == ["A.", "B."]


def test_what_has_a_place_is_taken_and_each_column_that_has_none_is_told_once(tmp_path):
    told: list[str] = []
    file = tmp_path / "r.jsonl"
    rows = [
        {"question": "Q?", "ground_truths": ["R."], "rubrics": {"1": "bad"}, "persona_name": None},
        {"question": "Q?", "ground_truths": ["R.", "S."], "rubrics": {"1": "bad"}, "mine": 0},
        {"question": "Q?", "user_input": "P?", "reference": "R.", "reference_contexts": ["C"]},
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    first, second, third = convert(file, "ragas", warn=told.append)
    assert (first["reference"], third["question"], "reference" in second) == ("R.", "P?", False)
    left = ["rubrics", "ground_truths", "mine", "question", "reference_contexts"]
    assert told == [f"{file}: column {one!r} has no place in our rows and is left out" for one in left]
    file.write_text(json.dumps({"id": 0, "input": "Q?", "tags": ["a"], "context": ["C"]}))
    [row] = convert(file, "deepeval", warn=told.append)
    assert (row["id"], row["metadata"]) == ("0", {"tags": ["a"]})
    assert told[-1].endswith("column 'context' has no place in our rows and is left out")


def test_a_cell_may_be_as_long_as_it_is_and_nothing_of_the_process_changes(tmp_path):
    file, limit = tmp_path / "r.csv", csv.field_size_limit()
    long = 'So "long", so\nlong. ' * 20_000
    with file.open("w", newline="") as opened:
        csv.writer(opened).writerows([["user_input", "response"], ["Q?", long], [], ["P?", "A."]])
    first, second = convert(file, "ragas")
    assert (first["answer"], second["id"], csv.field_size_limit()) == (long, "2", limit)


CELLS = st.text(st.sampled_from('ab",\n |'), max_size=6)


@given(st.lists(st.lists(CELLS, min_size=2, max_size=2), max_size=5), st.booleans())
def test_cells_are_read_as_the_standard_librarys_writer_wrote_them(rows, all_quoted):
    out = io.StringIO(newline="")
    quoting = csv.QUOTE_ALL if all_quoted else csv.QUOTE_MINIMAL
    csv.writer(out, quoting=quoting, lineterminator="\n").writerows([["one", "two"], *rows])
    found = list(csv_rows(out.getvalue(), "f.csv"))
    assert [list(row.values()) for _, row in found] == rows
    lines = out.getvalue().split("\n")
    for number, row in found:
        assert lines[number - 1].lstrip('"').startswith(next(iter(row.values())).split("\n")[0].split('"')[0])


@pytest.mark.parametrize(
    ("name", "text", "where"),
    [
        ("a.csv", 'user_input,response\n"Q\n1?",A.\n\nQ2?,"[1]"\n', ":5:"),
        ("a.csv", 'user_input,response\n"Q\n1?",A.\n\nQ2?\n', ":5:"),
        ("a.csv", 'user_input,response\n"Q\n1?",A.\n\nQ2?,"A" B\n', ":5:"),
        ("a.csv", "user_input,user_input\nA,B\n", ":1:"),
        ("a.jsonl", '{"user_input": "Q?"}\n\n{"user_input": 3}\n', ":3:"),
        ("a.json", '[{"user_input": "Q?"},\n\n{"user_input": 3}]\n', "a.json[1]:"),
    ],
)
def test_what_is_wrong_names_its_line_or_its_place_in_the_array(name, text, where, tmp_path):
    file = tmp_path / name
    file.write_text(text)
    with pytest.raises(InputFileError) as caught:
        convert(file, "ragas")
    assert where in str(caught.value)


@pytest.mark.parametrize(
    ("name", "form", "text", "told"),
    [
        ("a.jsonl", "ragas", '{"user_input": [{"content": "Hi", "type": "human"}]}', "several turns"),
        ("a.jsonl", "ragas", '{"retrieved_contexts": ["a"], "retrieved_context_ids": []}', "as many as"),
        (
            "a.jsonl",
            "ragas",
            '{"retrieved_contexts": ["a", "b"], "retrieved_context_ids": [1, 1]}',
            "the id of two texts",
        ),
        ("a.jsonl", "ragas", '{"response": "A", "reference_context_ids": [true]}', "array of ids"),
        ("a.jsonl", "deepeval", '{"retrieval_context": [{"x": 1}]}', "array of texts"),
        ("a.csv", "deepeval", "input,actual_output\nQ?,A.,more\n", "another number of cells"),
        ("a.csv", "deepeval", 'input\n"Q?\n', "is no CSV"),
        ("a.csv", "ragas", "user_input,retrieved_contexts\nQ?,__import__('os')\n", "array of texts"),
        ("a.csv", "ragas", "user_input,retrieved_contexts\nQ?,[__import__('os')]\n", "array of texts"),
    ],
)
def test_what_their_files_may_hold_and_ours_may_not_names_its_place(name, form, text, told, tmp_path):
    file = tmp_path / name
    file.write_text(text)
    with pytest.raises(InputFileError, match=told):
        convert(file, form)


def test_a_trec_run_with_its_judgments_is_measured(tmp_path, capsys):
    run, qrels, out = tmp_path / "run.txt", tmp_path / "qrels.txt", tmp_path / "o.jsonl"
    run.write_text("q1 Q0 d1 1 12.5 bm25\nq1 Q0 d2 2 12.5 bm25\nq3 Q0 d1 1 3.0 bm25\n")
    qrels.write_text("q1 0 d2 1\nq2 0 d5 2\nq1 0 d1 -1\n")
    assert (
        main(["dataset", "convert", str(run), "--from", "trec", "--qrels", str(qrels), "--out", str(out)])
        == 0
    )
    assert main(["evaluate", str(out), "--scorer", "lexical", "--metrics", "mrr"]) == 0
    # d2 stands second for q1, q2 found nothing, q3 was not judged.
    assert "0.250" in (told := capsys.readouterr().out)
    assert "2 of 3 cases" in told
