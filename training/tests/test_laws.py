"""Claims made by rule say what their label says, and their spans point at what was changed."""

import gzip
import json
from random import Random

import pytest

from training import laws
from training.edits import MONTHS

CASE = {
    "id": "c1",
    "domain": "toys",
    "question": "?",
    "passages": [
        {
            "title": "Ferry rules",
            "text": "The ferry to Carrow carries at most 120 passengers on a calm day. "
            "The crossing takes 3 hours in summer and is cancelled in high wind. "
            "The first boat of the season left on 12 March 2021 with a full load.",
        }
    ],
    "claims": [
        {"claim": "The ferry carries up to 120 people.", "label": "entail", "kind": "close", "spans": []},
        {
            "claim": "The crossing takes 5 hours.",
            "label": "contradict",
            "kind": "number",
            "spans": ["5 hours"],
        },
    ],
}


@pytest.fixture
def labelled(tmp_path):
    path = tmp_path / "cases.jsonl.gz"
    with gzip.open(path, "wt") as file:
        file.write(json.dumps(CASE) + "\n")
    return path


@pytest.mark.parametrize("seed", range(40))
def test_a_frame_adds_words_and_changes_neither_label_nor_spans(seed):
    sample = laws.Sample("The crossing takes 5 hours.", "contradict", "written", ((19, 26),))
    made = laws.framed(sample, Random(seed))
    ((start, end),) = made.spans
    assert made.claim[start:end] == "5 hours"
    assert made.label == "contradict"
    assert len(made.claim) > len(sample.claim)
    assert "crossing takes 5 hours" in made.claim


@pytest.mark.parametrize(
    ("text", "equal"),
    [
        ("It takes 3 hours.", ("180 minutes",)),
        ("It left on 12 March 2021.", ("March 12, 2021", "2021-03-12")),
        ("It cost 2.5 million.", ("2,500,000",)),
        ("Of the guests 50 percent came.", ("half",)),
    ],
)
def test_equal_values_are_equal_and_wrong_ones_are_not(text, equal):
    right, wrong = laws.equal_value(text, Random(1))
    assert any(value in right for value in equal)
    assert not any(value in wrong.text for value in equal)
    ((start, end),) = wrong.spans
    assert wrong.text[:start] == text[:start]
    assert wrong.text[end:] in text


def test_of_two_versions_the_later_one_holds():
    text = CASE["passages"][0]["text"]
    for seed in range(20):
        passages, titles, samples = laws.superseded(text, "Ferry", Random(seed))
        current, outdated, then = samples
        assert (current.label, outdated.label, then.label) == ("entail", "contradict", "entail")
        years = [int(title[-5:-1]) for title in titles]
        newer = passages[years.index(max(years))]
        old = passages[years.index(min(years))]
        assert then.claim.split(", ", 1)[1][1:] in old
        assert newer != old


def test_rows_are_read_by_the_recipe(labelled):
    rows = list(laws.from_labelled(labelled, ("Anna Berg",) * 9, 5, Random(3)))
    assert {"entail", "contradict"} <= {row["label"] for row in rows}
    for row in rows:
        for start, end in row["spans"]:
            assert 0 <= start < end <= len(row["claim"])
        if row["kind"] == "copy":
            core = max(
                row["premise"].split(". "), key=lambda s: len(set(s.split()) & set(row["claim"].split()))
            )
            assert core.rstrip(".")[4:] in row["claim"]


def test_months_are_told_apart():
    assert laws.iso("3", MONTHS[1], "2020") == "2020-02-03"
