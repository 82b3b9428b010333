from __future__ import annotations

import logging

import pytest
from builders import BAD, GOOD, NONE, case, cases, row, verifier, written

from streamverify.errors import InputFileError, UsageError
from streamverify.evaluate import NotComputed, Run, decide, evaluate, metric, read_gates
from streamverify.evaluate.checked import checked, message
from streamverify.evaluate.dataset import dataset_of
from streamverify.evaluate.gates import gates_from
from streamverify.program import main
from streamverify.pytest_plugin import assert_evaluation

GRAMMAR = """
[gates]
faithfulness = { min = 0.85, on = "low" }
hallucination_rate = { max = 0.02 }
citation_fabricated = { max = 0 }
[gates."category=legal"]
faithfulness = { min = 0.95 }
[baseline]
max_drop = 0.05
critical = { faithfulness = 0.02 }
new_failures = 0
min_coverage = 1.0
"""


@metric(range=(0, 1))
def odd_numbers(case, report):
    number = int(case.id.removeprefix("case-"))
    return 1.0 if number % 2 else NotComputed("the number is even")


def run_of(given, **options) -> Run:
    with verifier() as one:
        return evaluate(given, verifier=one, **options)


def statuses(run, table):
    return [result.status for result in decide(run, gates_from({"gates": table}))]


def test_a_gates_file_says_what_it_can_say(tmp_path):
    (tmp_path / "gates.toml").write_text(GRAMMAR)
    gates = read_gates(tmp_path / "gates.toml")
    assert list(gates.everywhere) == ["faithfulness", "hallucination_rate", "citation_fabricated"]
    assert gates.everywhere["faithfulness"].on == "low"
    assert gates.categories["legal"]["faithfulness"].min == 0.95
    assert gates.baseline.critical == {"faithfulness": 0.02}
    assert gates.metrics == ("faithfulness", "hallucination_rate", "citation_fabricated")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("[gats]\n", "gats"),
        ("[gates]\nfaithfulness = 0.8", "gates.faithfulness"),
        ("[gates]\nfaithfulness = {}", "gates.faithfulness"),
        ("[gates]\nfaithfulness = { mim = 0.8 }", "gates.faithfulness.mim"),
        ('[gates]\nfaithfulness = { max = 0.8, on = "low" }', "gates.faithfulness"),
        ('[gates."team=a"]\nfaithfulness = { min = 0.8 }', "gates.team=a"),
        ("[gates]\nfaithfulness = { min = nan }", "gates.faithfulness.min"),
        ("[gates]\nhallucination_rate = { max = 2 }", "gates.hallucination_rate"),
        ("[gates]\nfaithfulness = { min = 0.9, max = 0.1 }", "gates.faithfulness"),
        ("[gates]\nfaithfulness = { min = -1 }", "gates.faithfulness"),
        ("[gates]\nfaithfulness = { min = true }", "gates.faithfulness.min"),
        ('[gates]\nfaithfulness = { min = "0.2" }', "gates.faithfulness.min"),
        ("[gates]\nhallucination_rate = { min = 0.2 }", "gates.hallucination_rate"),
        ('[gates."category=a"]\nfaithfulness = { max = 0.2 }', "gates.category=a.faithfulness"),
        ("[baseline]\nmax_drop = 5", "baseline"),
        ("[baseline]\ncritical = { faithfulness = 2 }", "baseline"),
        ("[baseline]\nmax_drop = -1", "baseline.max_drop"),
        ("[baseline]\nmin_coverage = 2", "baseline.min_coverage"),
    ],
)
def test_what_is_wrong_with_a_gates_file_is_named(tmp_path, text, place):
    (tmp_path / "gates.toml").write_text(text)
    with pytest.raises(InputFileError) as caught:
        read_gates(tmp_path / "gates.toml")
    assert caught.value.field == place
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("content", [b"[gates", b"\xff", b"a = " + b"9" * 5_000, None])
def test_what_is_no_toml_is_refused(tmp_path, content):
    if content is not None:
        (tmp_path / "gates.toml").write_bytes(content)
    with pytest.raises(InputFileError) as caught:
        read_gates(tmp_path / "gates.toml")
    assert "\n" not in str(caught.value)


def test_a_byte_order_mark_is_no_part_of_a_file(tmp_path):
    (tmp_path / "gates.toml").write_text(GRAMMAR, encoding="utf-8-sig")
    assert read_gates(tmp_path / "gates.toml").everywhere["faithfulness"].min == 0.85


def test_gates_pass_and_fail_by_value_and_by_the_cautious_end():
    run = run_of([case(n, *([GOOD] if n else [GOOD, BAD])) for n in range(10)])
    assert run["faithfulness"].figure == 0.95
    low, high = run["faithfulness"].interval.low, run["hallucination_rate"].interval.high
    assert statuses(run, {"faithfulness": {"min": 0.95}}) == ["passed"]
    assert statuses(run, {"faithfulness": {"min": 0.96}}) == ["failed"]
    assert statuses(run, {"faithfulness": {"min": 0.95, "on": "low"}}) == ["failed"]
    assert statuses(run, {"faithfulness": {"min": low, "on": "low"}}) == ["passed"]
    assert statuses(run, {"hallucination_rate": {"max": 0.1}}) == ["passed"]
    assert statuses(run, {"hallucination_rate": {"max": high - 0.01, "on": "high"}}) == ["failed"]
    assert statuses(run, {"citation_fabricated": {"max": 0}}) == ["passed"]


def test_a_figure_that_was_not_computed_passes_no_gate():
    run = run_of(cases(6), metrics=["faithfulness", odd_numbers, "citation_match"])
    for table in (
        {"odd_numbers": {"min": 0.0}},  # three cases of six
        {"citation_match": {"min": 0.0}},
        {"nonsense": {"min": 0.0}},
        {"category=unknown": {"faithfulness": {"min": 0.0}}},
    ):
        assert statuses(run, table) == ["not computed"]
    [result] = decide(run, gates_from({"gates": {"odd_numbers": {"min": 0.0}}}))
    assert result.missing == ("case-0", "case-2", "case-4")
    assert statuses(run, {"odd_numbers": {"min": 0.1, "min_coverage": 0.5}}) == ["passed"]
    assert statuses(run, {"category=even": {"faithfulness": {"min": 0.4}}}) == ["passed"]


def test_a_gate_on_an_end_without_an_interval_is_not_passed():
    run = run_of([case(0, GOOD)])
    assert statuses(run, {"faithfulness": {"min": 0.1, "on": "low"}}) == ["not computed"]


def test_an_answer_with_nothing_to_judge_does_not_ask_for_a_figure(tmp_path):
    """A greeting makes no claim: that is no failure. A sentence that was not checked is one."""
    run = run_of(cases(6), out=tmp_path / "journal.jsonl")
    run.write(tmp_path / "run.json")
    for one in (run, Run.read(tmp_path / "run.json"), Run.read(tmp_path / "journal.jsonl")):
        found = one["faithfulness"]
        assert (found.computed, found.nothing, found.coverage) == (5, 1, 1.0)
        assert found.not_computed == {"no claim in the answer": 1}  # told all the same
        table = {"faithfulness": {"min": 0.1}, "hallucination_rate": {"max": 1.0}}
        assert statuses(one, table) == ["passed", "passed"]
    cited = [case(0, f"{GOOD[:-1]} [1]."), case(1, NONE)]
    assert statuses(run_of(cited), {"citation_accuracy": {"min": 0.5}}) == ["passed"]
    assert statuses(run_of([case(0, GOOD), case(1, NONE)]), {"citation_accuracy": {"min": 0.0}}) == [
        "not computed"  # the other answer claims something and cites nothing
    ]
    with verifier(fail_on="moon") as failing:
        unchecked = evaluate(cases(6), verifier=failing)
    [result] = decide(unchecked, gates_from({"gates": {"faithfulness": {"min": 0.0}}}))
    assert (result.status, unchecked["faithfulness"].nothing) == ("not computed", 1)
    assert result.missing == ("case-1", "case-2", "case-5")


def test_answers_that_all_claim_nothing_pass_no_gate():
    run = run_of([case(n, NONE) for n in range(3)])
    assert statuses(run, {"faithfulness": {"min": 0.0}}) == ["not computed"]
    assert isinstance(run["faithfulness"].coverage, NotComputed)


def test_a_metric_that_raises_on_a_greeting_has_failed():
    @metric(needs={"answer"}, range=(0, 1))
    def away(case, report):
        raise ConnectionError("the judge is away")

    run = run_of([case(0, NONE)], metrics=[away])
    assert run["away"].nothing == 0


@pytest.mark.parametrize("name", ["rag", "legal"])
def test_a_pack_does_not_ask_for_scores_of_a_greeting(name):
    alone = run_of([case(0, NONE)], pack=name)
    stages = {stage.name: stage for stage in alone.cases[0].stages}
    assert stages["faithfulness"].status == "not computed"
    assert alone.cases[0].figures["stage.faithfulness"].figure.nothing
    assert alone.cases[0].passed is None
    assert alone["pack_passed"].nothing == (name == "legal")  # rag's first stages lack labels, which is a gap


@pytest.mark.parametrize("failing", [1, 3, 5])
def test_a_judge_that_fails_on_some_cases_fails_the_gate_and_names_them(failing):
    """What raised does not leave the denominator: the gate says which cases have no figure."""

    @metric(needs={"answer"}, range=(0, 1))
    def judged(case, report):
        if int(case.id.removeprefix("case-")) < failing:
            raise ConnectionError("the judge is away")
        return 1.0

    run = run_of([case(n, GOOD) for n in range(10)], metrics=[judged])
    [result] = decide(run, gates_from({"gates": {"judged": {"min": 0.5}}}))
    assert result.status == "not computed"
    assert result.missing == tuple(f"case-{n}" for n in range(failing))
    assert run["judged"].not_computed == {"the metric raised ConnectionError": failing}
    assert run["judged"].computed == 10 - failing


def test_a_gap_is_never_a_number():
    run = run_of([case(0, NONE)])
    assert run["faithfulness"].figure == NotComputed("no claim in the answer")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[gates]\n",
        '[gates."category=legal"]\n',
        "[baseline]\n",
        '[gates]\n[gates."category=legal"]\n[baseline]\n',
        '[gates."category=legal"]\n[gates."category=medical"]\n[baseline]\n',
    ],
)
def test_a_file_without_gates_is_refused(tmp_path, text):
    (tmp_path / "gates.toml").write_text(text)
    with pytest.raises(InputFileError, match="holds no gate"):
        read_gates(tmp_path / "gates.toml")


RULES = "[baseline]\nmax_drop = 0.0\ncritical = { faithfulness = 0.01 }\n"


@pytest.mark.parametrize("text", [RULES, "[gates]\n" + RULES, "[baseline]\nmin_coverage = 0.5\n"])
def test_rules_for_a_baseline_that_is_not_there_ask_for_nothing_and_are_refused(text, tmp_path, capsys):
    gates, data = tmp_path / "gates.toml", tmp_path / "answers.jsonl"
    gates.write_text(text)
    written(data, [row(case(n, GOOD)) for n in range(2)])
    assert main(["evaluate", str(data), "--scorer", "lexical", "--gates", str(gates)]) == 2
    told = capsys.readouterr()
    assert (told.out, told.err.count("\n")) == ("", 1)
    assert "--baseline" in told.err
    assert str(gates) in told.err
    with verifier() as one, pytest.raises(UsageError, match="baseline"):
        assert_evaluation(data, gates=gates, verifier=one)


@pytest.mark.parametrize(
    ("table", "left"),
    [
        ({"max_drop": 0.05}, "max_drop"),
        (
            {"critical": {"faithfulness": 0.01}, "new_failures": 2, "min_coverage": 0.5},
            "critical, new_failures",
        ),
        ({"min_coverage": 0.5}, ""),  # of the gates too
        ({}, ""),
    ],
)
def test_rules_for_a_baseline_that_is_not_there_are_told_beside_gates(table, left, caplog):
    gates = gates_from({"gates": {"faithfulness": {"min": 0.9}}, "baseline": table})
    given = dataset_of([case(n, GOOD) for n in range(2)])
    with verifier() as one:
        found = checked(given, gates=gates, verifier=one)
        whole = checked(given, gates=gates, baseline=found.run, verifier=one)
    assert not found.failed
    assert (len(found.notes), whole.notes) == (bool(left), ())
    assert [one.getMessage() for one in caplog.records if one.levelno == logging.WARNING] == list(found.notes)
    if left:
        assert f"[baseline] {left}" in found.notes[0]
        assert "--baseline" in found.notes[0]
        assert found.notes[0] in message(found)
