"""Labels by hand become a golden set: what most people say, and never what nobody decided."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from builders import BAD, GOOD, WRONG, case, row, written
from hypothesis import given
from hypothesis import strategies as st

from streamverify.errors import InputFileError, UsageError
from streamverify.evaluate import read_dataset
from streamverify.evaluate.labels import LabelFile, Labelled, tasks
from streamverify.evaluate.merging import (
    agreement_of,
    holds_labels,
    labelled_dataset,
    merge,
    read_labels,
    write_golden,
)
from streamverify.program import main

CASES = [case(1, GOOD, BAD), case(2, WRONG, GOOD)]
WORK = tasks(CASES)
PLACES = [(task.case.id, s.index, s.text) for task in WORK for s in task.sentences]


def said(who, place, label, evidence=()):
    id_, index, text = place
    return Labelled(case=id_, sentence=index, text=text, label=label, annotator=who, evidence=evidence)


votes = st.dictionaries(
    st.tuples(st.sampled_from(["ann", "ben", "cem"]), st.sampled_from(PLACES)),
    st.sampled_from(["supported", "unsupported", "contradicted"]),
    min_size=1,
)


@given(votes)
def test_a_sentence_gets_the_label_of_most_votes_or_is_told(found):
    merged = merge(CASES, [said(who, place, label) for (who, place), label in found.items()])
    for id_, index, text in PLACES:
        ranked = Counter(
            label for (_, place), label in found.items() if place[:2] == (id_, index)
        ).most_common()
        own = [one.label for one in merged.labels.get(id_, ()) if one.text == text.strip()]
        divided = [one for one in merged.conflicts if (one.case, one.sentence) == (id_, index)]
        if not ranked or (len(ranked) > 1 and ranked[0][1] == ranked[1][1]):
            assert own == []
            assert len(divided) == bool(ranked)
        else:
            assert own == [ranked[0][0]]
            assert divided == []
    assert merged.annotators == tuple(sorted({who for who, _ in found}))
    assert (merged.agreement is None) == (len(merged.annotators) == 1)
    if merged.agreement is not None:
        assert merged.agreement.sentences + merged.agreement.left_out == len({place for _, place in found})


def test_what_was_ticked_by_half_of_those_who_decided_is_evidence():
    place = PLACES[0]
    told = [
        said("ann", place, "supported", ("mill", "river")),
        said("ben", place, "supported", ("mill",)),
        said("cem", place, "supported"),
        said("dan", place, "unsupported", ("moon",)),
    ]
    merged = merge(CASES, told)
    assert merged.labels["case-1"][0].evidence == ("mill",)
    assert (merged.outvoted, merged.unlabelled) == (1, 1)


@pytest.fixture
def files(tmp_path):
    """Ann and Ben in one file, Cem in another; they are divided about the last sentence."""
    data = written(tmp_path / "answers.jsonl", [row(one) for one in CASES])
    one, other = tmp_path / "labels.jsonl", tmp_path / "cem.jsonl"
    marks = {
        "ann": ("supported", "unsupported", "contradicted", "supported"),
        "ben": ("supported", "unsupported", "contradicted", "unsupported"),
        "cem": ("supported", "supported", "contradicted", "no_claim"),
    }
    for who, labels in marks.items():
        file = LabelFile(other if who == "cem" else one, who, WORK)
        for (id_, index, _), label in zip(PLACES, labels, strict=True):
            file.put(id_, index, label, ["mill"] if label == "supported" else [])
        file.close()
    return data, one, other


def test_the_files_of_the_labelling_page_become_a_golden_set(files, tmp_path, capsys):
    data, one, other = files
    out = tmp_path / "golden.jsonl"
    assert main(["dataset", "merge", str(data), str(one), str(other), "--out", str(out)]) == 0
    told = capsys.readouterr()
    assert "3 sentences of 2 answers labelled by ann, ben, cem" in told.out
    assert "1 against a vote; 1 divided, without a label" in told.out
    assert "Fleiss kappa" in told.out
    assert "case 'case-2', sentence 2: ann supported, ben unsupported, cem no_claim" in told.err
    first, second = read_dataset(out)
    assert [(label.text, label.label) for label in first.labels] == [
        (GOOD, "supported"),
        (BAD, "unsupported"),
    ]
    assert first.labels[0].evidence == ("mill",)
    assert [label.label for label in second.labels] == ["contradicted"]
    again = ["dataset", "merge", str(out), str(one), "--out", str(tmp_path / "again.jsonl")]
    assert main(again) == 2
    assert "has labels already" in capsys.readouterr().err
    assert main([*again, "--replace", "--min-kappa", "0.99"]) == 1


def test_agreement_and_calibration_read_them_as_they_are(files, tmp_path, capsys):
    data, one, other = files
    assert main(["dataset", "agree", str(one)]) == 0
    assert "Cohen kappa" in capsys.readouterr().out
    assert main(["dataset", "agree", str(one), str(other)]) == 0
    assert "Fleiss kappa" in capsys.readouterr().out
    assert main(["dataset", "agree", str(other)]) == 2
    assert "two annotators" in capsys.readouterr().err
    assert main(["dataset", "agree", str(one), str(data)]) == 2
    assert "another file does not" in capsys.readouterr().err
    command = ["calibrate", str(data), "--scorer", "lexical", "--cost-miss", "5", "--cost-alarm", "1"]
    assert main([*command, "--labels", str(one), "--labels", str(other)]) == 0
    told = capsys.readouterr()
    assert main([*command, "--max-miss-rate", "0.05"]) == 2
    assert "without a guarantee" in capsys.readouterr().err
    assert "3 labelled sentences of 2 answers" in told.out
    assert "left without a label" in told.err


def test_a_dataset_with_labels_in_place_knows_it_by_its_digest(files):
    data, one, _ = files
    found = labelled_dataset(data, [one])
    assert [len(case.labels) for case in found] == [2, 1]
    assert found.digest != read_dataset(data).digest


def test_one_annotator_is_no_agreement_and_no_majority_is_needed(files, tmp_path):
    data, _, other = files
    merged = merge(read_dataset(data), read_labels([other]))
    assert (merged.sentences, merged.agreement, merged.conflicts) == (4, None, ())
    out = ["--out", str(tmp_path / "g.jsonl"), "--min-kappa", "0.5"]
    assert main(["dataset", "merge", str(data), str(other), *out]) == 2


def test_what_was_taken_back_or_torn_is_no_label(files):
    _, one, _ = files
    kept = len(read_labels([one]))
    taken = said("ann", PLACES[0], None).model_dump_json()
    one.write_text(one.read_text() + taken + '\n{"case": "case-1", "sent')
    assert len(read_labels([one])) == kept - 1
    one.write_bytes(one.read_bytes().rpartition(b"\n")[0] + b'\n{"case": "caf\xc3')
    assert len(read_labels([one])) == kept - 1
    # A whole line is a label though its end is missing, as editors leave it.
    one.write_text(one.read_text(errors="ignore").rpartition("\n")[0].rstrip("\n"))
    assert len(read_labels([one])) == kept - 1
    one.write_text(said("ann", PLACES[0], "supported").model_dump_json())
    assert [label.annotator for label in read_labels([one])] == ["ann"]


def test_labels_of_something_else_are_refused(files, tmp_path):
    data, one, other = files
    cases = read_dataset(data)
    with pytest.raises(UsageError, match="no answer"):
        merge(cases, [said("ann", ("gone", 0, "x"), "supported")])
    with pytest.raises(UsageError, match="reads otherwise"):
        merge(cases, [said("ann", ("case-1", 0, "x"), "supported")])
    with pytest.raises(UsageError, match="no label to merge"):
        merge(cases, [])
    with pytest.raises(UsageError, match="two annotators"):
        agreement_of([said("ann", PLACES[0], "supported")])
    changed = tmp_path / "other.jsonl"
    changed.write_text(other.read_text().replace('"contradicted"', '"supported"'))
    with pytest.raises(UsageError, match="cem labels sentence 1 of case 'case-2' differently"):
        read_labels([other, changed])
    changed.write_text('{"case": 1}\n')
    with pytest.raises(InputFileError, match="not a label"):
        read_labels([changed])
    assert not holds_labels(changed)
    assert holds_labels(one)
    with pytest.raises(UsageError, match="the dataset itself"):
        write_golden(data, merge(cases, read_labels([one])), data)


def test_rows_stay_as_they_stand_but_for_their_labels(files, tmp_path):
    data, one, _ = files
    rows = [{**json.loads(line), "mine": {"x": 1}} for line in data.read_text().splitlines()]
    rows.append({"id": "third", "answer": "Nobody labelled this.", "passages": ["p"]})
    written(data, rows)
    out = tmp_path / "golden.jsonl"
    write_golden(data, merge(read_dataset(data), read_labels([one])), out)
    found = [json.loads(line) for line in out.read_text().splitlines()]
    assert [{k: v for k, v in row.items() if k != "labels"} for row in found] == rows
    assert ["labels" in row for row in found] == [True, True, False]
