"""The packs over answers of many kinds, by the embedded model and the command line: what stages are for."""

from __future__ import annotations

import json

import pytest
from builders import written

from streamverify.evaluate import Run
from streamverify.program import main

pytestmark = [pytest.mark.model, pytest.mark.slow]

MILL = {
    "id": "mill",
    "title": "The mill of Arden",
    "text": "The mill of Arden was built in 1712 by Ada Holt. It has two wheels and still grinds rye.",
}
RIVER = {"id": "river", "title": "The river", "text": "The river at Arden is 40 kilometres long."}
QUOTED = {**MILL, "metadata": {"quote_only": True}}
RIGHT = "The mill of Arden was built in 1712 [mill]."


def row(id_, answer, **more):
    return {
        "id": id_,
        "question": "When was the mill of Arden built?",
        "answer": answer,
        "passages": [MILL, RIVER],
        "retrieved": ["mill", "river"],
        "relevant": ["mill"],
        "expected": "answer",
        "reference": "The mill of Arden was built in 1712.",
        **more,
    }


ROWS = [
    row("right", RIGHT),
    row("made up", f"{RIGHT[:-1]}. It burnt down in 1999 and was sold to a circus [mill]."),
    row("uncited", "The mill of Arden was built in 1712."),
    row("badly retrieved", RIGHT, relevant=["deed", "map", "will", "tax roll"]),
    row("in its own words", RIGHT, passages=[QUOTED, RIVER]),
    row("leaking", f"{RIGHT} The key is sk-abcdefghijklmnopqrstuvwxyz."),
    row("refused", "I cannot answer that from the documents.", relevant=["mill"]),
    row("unlabelled", RIGHT, relevant=None),
]
THRESHOLDS = ["--thresholds", "context_relevance=0.05", "--thresholds", "answer_relevance=0.2"]


@pytest.fixture
def data(tmp_path):
    return str(written(tmp_path / "answers.jsonl", ROWS))


def stages(run):
    return {case.id: {stage.name: stage.status for stage in case.stages} for case in run.cases}


def test_each_stage_of_rag_stops_or_marks_what_it_is_for(data, tmp_path, capsys):
    journal = tmp_path / "journal.jsonl"
    command = ["evaluate", data, "--pack", "rag", "--embedder", "default", *THRESHOLDS]
    assert main([*command, "--out", str(journal)]) == 0
    told = capsys.readouterr().out
    run = Run.read(journal)
    found = stages(run)
    assert set(found["right"].values()) == {"passed"}
    assert len(found["right"]) == 8
    assert found["made up"]["faithfulness"] == "failed"
    assert found["uncited"]["citations"] != "passed"
    assert found["badly retrieved"]["retrieval"] == "failed"
    assert (found["in its own words"]["source_policy"], found["in its own words"]["policy_compliance"]) == (
        "failed",
        "skipped",
    )
    assert (found["leaking"]["policy_compliance"], found["leaking"]["rejection_calibration"]) == (
        "failed",
        "skipped",
    )
    assert found["refused"]["rejection_calibration"] == "failed"
    assert found["unlabelled"]["retrieval"] == "not computed"
    passed = {case.id: case.passed for case in run.cases}
    assert passed["right"] is True
    assert passed["unlabelled"] is None  # neither passed nor failed: nobody knows
    assert not any(verdict for id_, verdict in passed.items() if id_ != "right")
    assert "stage source_policy: 1 failed" in told
    assert "stage policy_compliance: 1 failed" in told
    lines = [json.loads(line) for line in journal.read_text().splitlines()[1:]]
    ran = [(one["status"], one.get("duration_ms")) for line in lines for one in line.get("stages", ())]
    assert ran
    assert all((took is None) == (status == "skipped") for status, took in ran)


def test_weights_and_thresholds_come_from_the_line_and_from_a_file(data, tmp_path):
    settings = tmp_path / "rag.toml"
    settings.write_text("pack = 'rag'\n[stages.faithfulness]\nweight = 0\nthreshold = 0.1\n")
    runs = []
    for n, more in enumerate(
        (
            ["--pack", "rag"],
            ["--pack", "rag", "--weights", "faithfulness=0", "--thresholds", "faithfulness=0.1"],
            ["--settings", str(settings)],
        )
    ):
        out = tmp_path / f"{n}.json"
        command = ["evaluate", data, "--limit", "2", "--embedder", "default", *THRESHOLDS, *more]
        assert main([*command, "--json", str(out)]) == 0
        runs.append(Run.read(out))
    plain, line, file = runs
    assert line.header.pack == file.header.pack != plain.header.pack
    assert line.text() == file.text()
    made_up = [run.cases[1] for run in runs]
    assert stages(plain)["made up"]["faithfulness"] == "failed"
    assert stages(line)["made up"]["faithfulness"] == "passed"
    assert made_up[1]["pack_score"] > made_up[0]["pack_score"]


def test_legal_lets_no_made_up_citation_pass(data, tmp_path, capsys):
    whole = "The mill of Arden was built in 1712 by Ada Holt"
    rows = [row("right", f"{whole} [mill]."), row("invented", f"{whole} [7].")]
    file = str(written(tmp_path / "legal.jsonl", rows))
    out = tmp_path / "run.json"
    assert main(["evaluate", file, "--pack", "legal", "--json", str(out)]) == 1
    told = capsys.readouterr().out
    assert "failed        citation_fabricated <= 0" in told
    found = stages(Run.read(out))
    assert set(found["right"].values()) == {"passed"}
    assert (found["invented"]["existence"], found["invented"]["grounding"]) == ("failed", "skipped")


def test_cases_that_do_not_pass_fail_the_command_where_it_is_told_how_many_must(tmp_path, capsys):
    file = str(
        written(tmp_path / "a.jsonl", [row("right", RIGHT), row("made up", f"{RIGHT} It burnt down.")])
    )
    command = ["evaluate", file, "--pack", "d2d"]
    loose = [*command, "--thresholds", "precision=0.4"]
    assert main(loose) == 0
    assert main([*loose, "--min-passed", "0.5"]) == 0
    assert main([*loose, "--min-passed", "1"]) == 1
    assert "failed        pack_passed >= 1" in capsys.readouterr().out
    assert main(["evaluate", file, "--min-passed", "1"]) == 2
    assert "name a pack" in capsys.readouterr().err


def test_d2d_is_scored_without_a_judge_and_says_by_whom(data, tmp_path):
    journal = tmp_path / "j.jsonl"
    command = ["evaluate", data, "--pack", "d2d", "--metrics", "d2d", "--limit", "1", "--out", str(journal)]
    assert main(command) == 0
    [case] = Run.read(journal).cases
    # One of two passages used, everything right and complete.
    assert case["d2d"] == pytest.approx(0.4 * 5 + 0.2 * 3 + 0.2 * 5 + 0.2 * 5)
    assert case["pack_score"] == pytest.approx((case["d2d"] - 1) / 4)
    assert "by the scorer in place of a judge" in case.figures["d2d_correctness"].warning
