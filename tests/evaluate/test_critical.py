"""A metric that is held to a drop of its own was asked for: where it cannot be compared, nothing passes."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from builders import BAD, GOOD, NONE, case, row, verifier, written

from streamverify.evaluate import BaselineRules, Run, compare, evaluate, metric
from streamverify.evaluate.comparison import lines
from streamverify.evaluate.report import junit, markdown, page
from streamverify.program import main

NAMES = ["faithfulness", "hallucination_rate"]


class Flat:
    """Every text means the same."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, texts):
        return [[1.0] for _ in texts]


def run_of(metrics, *sentences: str, embedder=None) -> Run:
    given = [case(n, *(sentences or (GOOD,)), question="How old?") for n in range(3)]
    with verifier() as one:
        return evaluate(given, verifier=one, metrics=metrics, embedder=embedder)


def versioned(number: str):
    @metric(name="own", version=number, range=(0, 1))
    def own(case, report):
        return 1.0

    return own


def pairs() -> dict[str, tuple[str, Run, Run]]:
    """A critical metric, and two runs in which it cannot be compared though others can."""
    meaning = [*NAMES, "context_relevance"]
    return {
        "another embedder": ("context_relevance", *(run_of(meaning, embedder=Flat(one)) for one in "ab")),
        "another version": ("own", *(run_of([*NAMES, versioned(one)]) for one in "12")),
        "only before": ("own", run_of([*NAMES, versioned("1")]), run_of(NAMES)),
        "only after": ("own", run_of(NAMES), run_of([*NAMES, versioned("1")])),
        "computed in neither": ("faithfulness", *(run_of(NAMES, NONE) for _ in "ab")),
    }


@pytest.mark.parametrize(
    "why", ["another embedder", "another version", "only before", "only after", "computed in neither"]
)
def test_a_critical_metric_that_is_not_compared_passes_nothing_and_every_report_says_so(why, tmp_path):
    name, before, after = pairs()[why]
    assert not compare(before, after).failed  # nobody asked for it: the others stand
    found = compare(before, after, rules=BaselineRules(critical={name: 0.01}))
    assert found.failed
    assert found.to_dict()["failed"] is True
    assert any(line.startswith("not computed") and name in line for line in lines(found))
    note = markdown.render(after, comparison=found).splitlines()[0]
    assert note.startswith("### ❌")
    assert f"{name.capitalize()} not compared with the baseline".replace("_", "&#95;") in note
    assert "o worse than the baseline" not in note
    assert (
        f"{name.capitalize()} not compared with the baseline" in page.render(after, comparison=found).decode()
    )
    [suite] = [
        one for one in ET.fromstring(junit.render(after, comparison=found)) if one.get("name") == "baseline"
    ]
    assert [one.get("name") for one in suite if one.find("failure") is not None] == [name]
    before.write(tmp_path / "a.json")
    after.write(tmp_path / "b.json")
    assert main(["compare", str(tmp_path / "a.json"), str(tmp_path / "b.json")]) == 0
    held = ["--critical", f"{name}=0.01"]
    assert main(["compare", str(tmp_path / "a.json"), str(tmp_path / "b.json"), *held]) == 1


def test_a_critical_metric_that_is_compared_is_not_told_twice(capsys):
    run = run_of(NAMES)
    found = compare(run, run, rules=BaselineRules(critical={"faithfulness": 0.0}))
    assert not found.failed
    assert sum("faithfulness" in line for line in lines(found)) == 1


def test_a_gates_file_with_a_critical_metric_fails_the_evaluation(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(Path("answers.jsonl"), [row(case(n, GOOD if n else BAD)) for n in range(3)])
    command = ["evaluate", "answers.jsonl", "--scorer", "lexical", "--metrics"]
    assert main([*command, "faithfulness,hallucination_rate", "--json", "base.json"]) == 0
    held = ["--baseline", "base.json", "--gates", "gates.toml"]
    Path("gates.toml").write_text("[baseline]\ncritical = { hallucination_rate = 0.01 }\n")
    assert main([*command, "faithfulness,hallucination_rate", *held]) == 0
    capsys.readouterr()
    assert main([*command, "faithfulness", *held]) == 1
    assert "only the baseline has it" in capsys.readouterr().out
    assert json.loads(Path("base.json").read_text())["header"]["cases"] == 3
