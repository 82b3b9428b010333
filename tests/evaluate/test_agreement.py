from __future__ import annotations

import pytest
from builders import written
from hypothesis import given
from hypothesis import strategies as st
from judges import Server, judging
from loopback import loopback
from starlette.responses import JSONResponse

from streamverify.errors import JudgeError, UsageError
from streamverify.evaluate import Interval, NotComputed, read_dataset
from streamverify.evaluate.agreement import agreement, between, with_judge
from streamverify.program import main

labels = st.sampled_from(["supported", "unsupported", "contradicted"])
groups = st.integers(2, 4).flatmap(
    lambda hands: st.dictionaries(
        st.text(max_size=3),
        st.lists(st.lists(labels, min_size=hands, max_size=hands), min_size=1, max_size=5),
        max_size=8,
    )
)


@pytest.mark.slow
@given(groups)
def test_agreement_is_a_number_in_range_or_says_why_not(cases):
    found = agreement(cases)
    if isinstance(found.kappa, float):
        assert -1 <= found.kappa <= 1
        assert (found.kappa == pytest.approx(1)) == (found.alike == found.sentences)
    if isinstance(found.interval, Interval):
        assert -1 <= found.interval.low < found.interval.high <= 1 + 1e-9
    assert agreement(cases) == found


def test_cohens_example_with_its_interval():
    rows = [["supported"] * 2] * 20 + [["supported", "unsupported"]] * 5
    rows += [["unsupported", "supported"]] * 10 + [["unsupported"] * 2] * 15
    found = agreement({str(n): [row] for n, row in enumerate(rows)})
    assert found.kappa == pytest.approx(0.4)
    # The standard error of this table is 0.127 (Fleiss, Cohen and Everitt 1969).
    assert found.interval.low == pytest.approx(0.4 - 1.96 * 0.127, abs=0.06)
    assert found.interval.high == pytest.approx(0.4 + 1.96 * 0.127, abs=0.06)
    assert (found.sentences, found.alike) == (50, 35)


def test_one_label_only_is_no_agreement():
    found = agreement({"a": [["supported", "supported"]], "b": [["supported", "supported"]]})
    assert found.kappa == NotComputed("only one label occurs") == found.interval
    assert "not computed" in str(found)


def test_a_sentence_with_one_label_is_refused():
    for rows in ([["supported"]], [["supported"] * 2, ["supported"] * 3]):
        with pytest.raises(UsageError, match="two annotators"):
            agreement({"a": rows})


def row(number: int, *marks: str) -> dict[str, object]:
    said = [f"Sentence {n} of {number}." for n in range(len(marks))]
    return {
        "id": str(number),
        "answer": " ".join(said),
        "passages": [f"Sentence 0 of {number}."],
        "labels": [{"text": text, "label": mark} for text, mark in zip(said, marks, strict=True)],
    }


def test_people_are_compared_sentence_by_sentence(tmp_path):
    a = written(tmp_path / "a", [row(n, "supported", "unsupported") for n in range(5)])
    b = written(tmp_path / "b", [row(n, "supported", "unsupported", "no_claim") for n in range(4)])
    found = between([read_dataset(a), read_dataset(b)])
    assert (found.kappa, found.sentences, found.cases, found.left_out) == (1.0, 8, 4, 6)
    assert between([read_dataset(a)] * 3).kappa == 1.0
    with pytest.raises(UsageError, match="two files"):
        between([read_dataset(a)])


def test_a_judge_is_held_to_labels_by_hand(tmp_path, capsys):
    rows = [row(n, "supported", "unsupported") for n in range(6)]
    rows += [row(n, "unsupported", "unsupported") for n in range(6, 9)]
    data = written(tmp_path / "labelled.jsonl", rows)
    with judging() as (judge, server):
        found = with_judge(read_dataset(data), judge)
        assert found.sentences == 18
        assert found.alike == 15
        assert 0.5 < found.kappa < 0.7
        assert len(server.requests) == 9
    with loopback(Server().app) as address:
        command = ["judge", "agree", str(data), "--judge", f"{address}/v1", "--judge-model", "m"]
        assert main([*command, "--judge-cache", str(tmp_path / "c"), "--min-kappa", "0.5"]) == 0
        told = capsys.readouterr()
        assert "18 sentences of 9 cases" in told.out
        assert "9 calls" in told.err
        assert main([*command, "--judge-cache", str(tmp_path / "c"), "--min-kappa", "0.9"]) == 1
        assert "9 of 9 cached" in capsys.readouterr().err
        assert main([*command, "--against", "dogs"]) == 2
        evaluated = ["evaluate", str(data), "--scorer", "lexical", "--judge", f"{address}/v1"]
        assert main([*evaluated, "--metrics", "judged_groundedness", "--judge-model", "m"]) == 0
        told = capsys.readouterr()
        assert "0.750" in told.out
        assert "9 calls" in told.err
        assert main(evaluated) == 2
        assert "--judge-model" in capsys.readouterr().err


def test_a_judge_that_does_not_answer_is_no_agreement(tmp_path):
    data = read_dataset(written(tmp_path / "a", [row(1, "supported", "unsupported")]))
    with (
        judging(lambda *_: JSONResponse({}, 500), retries=0) as (judge, _),
        pytest.raises(JudgeError, match="500"),
    ):
        with_judge(data, judge)
