from __future__ import annotations

import json

import pytest
from builders import BAD, GOOD, NONE, case, cases, row, verifier, written

from streamverify.evaluate import Run
from streamverify.program import main
from streamverify.testing import collect

LEXICAL = ("--scorer", "lexical")


@pytest.fixture
def dataset(tmp_path):
    return str(written(tmp_path / "answers.jsonl", [row(one) for one in cases(6)]))


def test_a_file_is_evaluated_and_written(dataset, tmp_path, capsys):
    out, run = tmp_path / "journal.jsonl", tmp_path / "run.json"
    assert main(["evaluate", dataset, *LEXICAL, "--out", str(out), "--json", str(run), "--workers", "2"]) == 0
    told = capsys.readouterr()
    assert "6 cases" in told.out
    assert "faithfulness " in told.out
    assert "6 of 6 cases" in told.err
    assert Run.read(run) == Run.read(out)
    before = out.read_bytes()
    assert main(["evaluate", dataset, *LEXICAL, "--out", str(out)]) == 0
    assert out.read_bytes() == before


def test_the_plan_runs_nothing(dataset, capsys):
    assert main(["evaluate", dataset, "--plan", "--metrics", "faithfulness,citation_match"]) == 0
    out = capsys.readouterr().out
    assert "6 cases, 6 with an answer" in out
    assert "0 judge calls" in out
    assert "0 of 6 cases (not: 6 the case labels no claims with their sources)" in out


def test_gates_and_baseline_set_the_exit_status(dataset, tmp_path, capsys):
    gates, run = tmp_path / "gates.toml", tmp_path / "run.json"
    gates.write_text("[gates]\nhallucination_rate = { max = 1.0, min_coverage = 0.5 }\n")
    arguments = ["evaluate", dataset, *LEXICAL, "--metrics", "faithfulness"]
    assert main([*arguments, "--gates", str(gates), "--json", str(run)]) == 0
    assert "passed" in capsys.readouterr().out
    assert main([*arguments, "--metrics", "faithfulness,hallucination_rate", "--baseline", str(run)]) == 0
    assert "against the baseline" in capsys.readouterr().out
    gates.write_text("[gates]\nfaithfulness = { min = 0.0 }\n")
    assert main([*arguments, "--gates", str(gates)]) == 0  # one answer makes no claim, which is no gap
    gates.write_text("[gates]\ncitation_accuracy = { min = 0.0 }\n")
    assert main([*arguments, "--gates", str(gates)]) == 1
    out = capsys.readouterr().out
    assert "not computed  citation_accuracy" in out
    assert "citation_accuracy not computed for case-0, case-1" in out
    assert "case-3" not in out.split("citation_accuracy not computed for", 1)[1]


def test_runs_are_compared(tmp_path, capsys):
    rows = {
        "a": [row(case(n, GOOD)) for n in range(4)],
        "b": [row(case(n, BAD)) for n in range(4)],
        "c": [row(case(n + 9, NONE, GOOD)) for n in range(4)],
    }
    for name, given in rows.items():
        data = str(written(tmp_path / f"{name}.jsonl", given))
        assert main(["evaluate", data, *LEXICAL, "--json", str(tmp_path / f"{name}.json")]) == 0
    a, b, c = (str(tmp_path / f"{name}.json") for name in "abc")
    capsys.readouterr()
    assert main(["compare", a, a]) == 0
    assert main(["compare", a, b, "--critical", "faithfulness=0.01"]) == 1
    assert "4 cases fail that passed (0 allowed): case-0" in capsys.readouterr().out
    assert main(["compare", a, b, "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["failed"] is True
    assert main(["compare", a, c]) == 2
    assert "different questions" in capsys.readouterr().err
    assert main(["ab", "decide", a, c]) == 1
    assert "keep A" in capsys.readouterr().out
    assert main(["ab", "decide", a, b]) == 2
    assert "case by case" in capsys.readouterr().err
    assert main(["ab", "size", "--effect", "0.2"]) == 0
    assert capsys.readouterr().out == "394 cases an arm\n"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["evaluate", "none.jsonl"], "no such file"),
        (["evaluate", "{data}", "--metrics", "faithfullness"], "did you mean 'faithfulness'"),
        (["evaluate", "{data}", "--where", "category"], "FIELD=VALUE"),
        (["evaluate", "{data}", "--where", "category=none"], "no case"),
        (["evaluate", "{data}", "--gates", "none.toml"], "no such file"),
        (["evaluate", "{data}", "--baseline", "none.json"], "cannot be read"),
        (["evaluate", "{data}", "--policy", "strict"], "no policy 'strict'"),
        (["evaluate", "{data}", "--out", "{data}"], "is what is read here"),
        (["compare", "{data}", "{data}"], "not a run"),
        (["compare", "{data}", "{data}", "--critical", "x=y"], "is no number"),
        (["compare", "{data}", "{data}", "--max-drop", "5"], "--max-drop: 5 is a share of the baseline's"),
        (
            ["compare", "{data}", "{data}", "--critical", "faithfulness=5"],
            "(0.05 for 5 %), or add --absolute",
        ),
        (["ab", "size", "--effect", "0"], "effect"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(dataset, arguments, problem, capsys):
    given = [one.format(data=dataset) for one in arguments]
    assert main([*given, *(LEXICAL if given[0] == "evaluate" else ())]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert problem in told.err
    assert told.err.count("\n") == 1


@pytest.mark.parametrize(
    ("given", "options", "told"),
    [
        ({"passages": []}, (), "no sentence was checked, so that the run says nothing: faithfulness: not"),
        (
            {},
            ("--metrics", "faithfulness,citation_match"),
            "for no case, so that it checked nothing: citation",
        ),
        ({"answer": None}, (), "computed for no case, so that it checked nothing"),
    ],
)
def test_a_run_that_checked_nothing_has_not_passed(given, options, told, tmp_path, capsys):
    data = str(written(tmp_path / "answers.jsonl", [{**row(case(0, GOOD)), **given}]))
    assert main(["evaluate", data, *LEXICAL, *options, "--allow-errors"]) == 1
    assert told in capsys.readouterr().err
    # Where nothing that goes by verdicts is asked, nothing has to be checked.
    assert main(["evaluate", data, *LEXICAL, "--metrics", "source_conflicts"]) == (0 if not given else 1)


async def events_of(one, verifier_):
    async with verifier_.stream(one.answer, one.passages) as stream:
        return [json.loads(event.model_dump_json()) for event in await collect(stream)]


def test_a_case_that_went_wrong_fails_unless_allowed(tmp_path, capsys):
    with verifier() as scripted:
        events = scripted.portal.run(lambda: events_of(case(1, GOOD), scripted))
    rows = [
        row(case(0, GOOD)),
        {"id": "case-1", "events": events},
    ]  # recorded by another scorer, without texts
    data = str(written(tmp_path / "recorded.jsonl", rows))
    assert main(["evaluate", data, *LEXICAL]) == 1
    assert "case case-1: UsageError" in capsys.readouterr().err
    assert main(["evaluate", data, *LEXICAL, "--allow-errors"]) == 0
