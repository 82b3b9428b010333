from __future__ import annotations

import json

import pytest
from anyio import to_thread
from builders import BAD, GOOD, PASSAGES, SCRIPT, WRONG, case, cases, row, verifier, written
from hypothesis import given
from hypothesis import strategies as st

from streamverify import Redact, Verifier
from streamverify.calibration import Calibration
from streamverify.errors import InputFileError, UsageError
from streamverify.evaluate import (
    CATALOGUE,
    Case,
    Dataset,
    NotComputed,
    Run,
    evaluate,
    evaluate_async,
    from_events,
    metric,
    plan,
    read_dataset,
)
from streamverify.evaluate.checked import checked
from streamverify.evaluate.dataset import dataset_of
from streamverify.evaluate.gates import gates_from
from streamverify.testing import ScriptedScorer, collect

FAITHFUL = ["faithfulness", "hallucination_rate", "citation_fabricated"]


def run_of(given, **options) -> Run:
    with verifier() as one:
        return evaluate(given, verifier=one, **options)


def test_figures_and_coverage_of_a_run():
    run = run_of(cases(6), metrics=FAITHFUL)
    assert [one["faithfulness"] for one in run.cases] == [
        1.0,
        0.5,
        1 / 3,
        NotComputed("no claim in the answer"),
        0.0,
        2 / 3,
    ]
    assert run["faithfulness"].computed == 5
    assert run["faithfulness"].not_computed == {"no claim in the answer": 1}
    assert run["faithfulness"].figure == pytest.approx((1 + 0.5 + 1 / 3 + 0 + 2 / 3) / 5)
    assert run["hallucination_rate"].figure == pytest.approx(5 / 10)  # pooled over statements
    assert set(run.categories) == {"even", "odd"}
    assert [one.id for one in run.worst("faithfulness", 2)] == ["case-4", "case-2"]
    assert [one.id for one in run.worst("hallucination_rate", 1)] == ["case-4"]
    with pytest.raises(UsageError, match="no metric 'nonsense'"):
        run["nonsense"]


def test_a_result_opens_to_its_report_and_to_what_a_figure_was_made_of(tmp_path):
    for out in (None, tmp_path / "j.jsonl"):
        run = run_of(cases(3), metrics=FAITHFUL, out=out)
        result = run.cases[2]
        assert result.report is not None
        assert result.report.answer == f"{GOOD} {BAD} {WRONG}"
        assert result.details("hallucination_rate") == {"sentences": [1, 2]}


@pytest.mark.slow
@given(
    st.lists(st.lists(st.sampled_from([GOOD, BAD, WRONG, "Hello!", "It cost [9]."]), min_size=0), min_size=1)
)
def test_any_metric_of_any_case_is_a_number_in_its_range_or_says_why_not(answers):
    given_ = [case(n, *sentences, question="How old?") for n, sentences in enumerate(answers)]
    run = run_of(given_, metrics=list(CATALOGUE))
    for result in run.cases:
        for name, measured in result.figures.items():
            low, high = CATALOGUE[name].range
            if isinstance(measured.figure, NotComputed):
                assert measured.figure.reason
            else:
                assert low <= measured.figure <= (high if high is not None else float("inf"))
        assert "NaN" not in result.record().model_dump_json()


@pytest.mark.parametrize("workers", [1, 4, 9])
def test_equal_input_gives_equal_bytes_whatever_the_number_of_workers(workers, tmp_path):
    first = run_of(cases(12), out=tmp_path / "one.jsonl", workers=1)
    second = run_of(cases(12), out=tmp_path / "two.jsonl", workers=workers)
    assert first.text() == second.text()
    assert first.digest == second.digest


def test_a_run_is_read_as_it_was_written(tmp_path):
    run = run_of(cases(6), out=tmp_path / "journal.jsonl")
    run.write(tmp_path / "run.json")
    again, journal = Run.read(tmp_path / "run.json"), Run.read(tmp_path / "journal.jsonl")
    assert again == run == journal
    assert again.text() == run.text() == journal.text()
    assert again.aggregates == run.aggregates
    assert again.cases[0].report is None  # answers stand in the journal only
    assert journal.cases[0].report == run.cases[0].report
    assert len(run.rows()) == 6
    assert run.rows()[3]["faithfulness.not_computed"] == "no claim in the answer"


@metric(range=(0, 1))
def half(case, report):
    return 0.5


@pytest.mark.parametrize(
    ("spoil", "problem"),
    [
        (lambda text: text[:-40], "not a run"),
        (lambda text: text.replace('"format": 1', '"format": 9'), "format is 9"),
        (lambda _: "[]", "not a run"),
        (lambda text: text.replace('{"value": 0.5}', '{"worth": 0.5}'), "not a run"),
        (lambda text: text.replace('{"value": 0.5}', "{}"), "either a value or a reason"),
        (lambda text: text.replace('{"value": 0.5}', '{"value": NaN}'), "not a run"),
        (
            lambda text: text.replace('{"value": 0.5}', '{"value": 7.0}'),
            "half is 7, and lies between 0 and 1",
        ),
        (
            lambda text: text.replace('"half": {"value": 0.5}', '"hlf": {"value": 0.5}'),
            "has no figure 'half'",
        ),
        (lambda text: text.replace('"parts": [0.0, 1.0]', '"parts": [7.0, 1.0]'), "hallucination_rate is 7"),
    ],
)
def test_a_file_that_is_no_run_is_refused_in_one_line(spoil, problem, tmp_path):
    path = tmp_path / "run.json"
    text = run_of(cases(2), metrics=["grounding_score", "hallucination_rate", half]).text()
    assert spoil(text) != text
    path.write_text(spoil(text))
    with pytest.raises(InputFileError, match=problem) as caught:
        Run.read(path)
    assert "\n" not in str(caught.value)


def test_a_journal_with_an_impossible_figure_is_refused_with_its_line(tmp_path):
    path = tmp_path / "journal.jsonl"
    run_of(cases(2), metrics=[half], out=path)
    path.write_text(path.read_text().replace('"value":0.5', '"value":-1.0', 1))
    for read in (lambda: Run.read(path), lambda: run_of(cases(2), metrics=[half], out=path)):
        with pytest.raises(InputFileError, match="half is -1, and lies between 0 and 1") as caught:
            read()
        assert caught.value.line == 2


def test_a_figure_that_was_edited_in_the_file_changes_nothing(tmp_path):
    run = run_of(cases(6), metrics=["faithfulness"])
    head, cases_ = run.text().split('"cases": [', 1)
    (tmp_path / "run.json").write_text(head.replace('"value": 0.5', '"value": 0.99') + '"cases": [' + cases_)
    assert Run.read(tmp_path / "run.json")["faithfulness"] == run["faithfulness"]


def test_a_check_that_did_not_run_takes_its_figures_away():
    with verifier(fail_on="moon") as one:
        run = evaluate(cases(6), verifier=one, metrics=FAITHFUL)
    gap = "a sentence was not checked (check_failed)"
    reasons = {case.id: case["hallucination_rate"] for case in run.cases if "moon" in case.report.answer}
    assert len(reasons) == 3
    assert all(isinstance(one, NotComputed) and one.reason.startswith(gap[:26]) for one in reasons.values())
    assert run["hallucination_rate"].computed == 2


def test_a_check_that_failed_is_no_result_and_is_tried_again(tmp_path):
    whole, out = run_of(cases(6), metrics=FAITHFUL), tmp_path / "journal.jsonl"
    with verifier(fail_on="moon") as one:
        broken = evaluate(cases(6), verifier=one, metrics=FAITHFUL, out=out)
    assert [case.id for case in broken.errors] == ["case-1", "case-2", "case-5"]
    assert broken.errors[0].error == "1 of 2 sentences were not checked: scripted failure"
    assert Run.read(out) == broken
    assert run_of(cases(6), metrics=FAITHFUL, out=out).text() == whole.text() == Run.read(out).text()
    # The head, six cases, the three again, and that all are done.
    assert len(out.read_text().splitlines()) == 11


def test_a_sentence_that_no_try_would_check_is_no_failure():
    [found] = run_of([case(0, GOOD, passages=())], metrics=FAITHFUL).cases
    assert (found.error, found.passed, found.counts["unverified"]) == ("", None, 1)


def test_a_check_that_failed_inside_a_metric_makes_the_case_an_error_too():
    one = case(0, GOOD, reference="The moon owns the mill.")
    with verifier(fail_on="moon") as broken:
        run = evaluate([one], verifier=broken, metrics=["context_recall", "faithfulness"])
    assert run["faithfulness"].figure == 1.0
    assert run.cases[0]["context_recall"] == NotComputed("the metric raised ScoringError")
    assert "1 of 1 sentences were not checked: scripted failure" in run.cases[0].error


def test_a_metric_that_raises_makes_the_case_an_error_and_the_others_go_on():
    @metric(range=(0, 1))
    def fragile(case, report):
        if case.id == "case-1":
            raise RuntimeError("no luck")
        return 1.0

    @metric(range=(0, 1))
    def wild(case, report):
        return 7.0 if case.id == "case-0" else float("nan")

    run = run_of(cases(3), metrics=[fragile, wild, "faithfulness"])
    assert [one["fragile"] for one in run.cases] == [1.0, NotComputed("the metric raised RuntimeError"), 1.0]
    assert all(isinstance(one["wild"], NotComputed) for one in run.cases)
    assert "no luck" in run.cases[1].error
    assert "outside of its range" in run.cases[0].error
    assert [one["faithfulness"] for one in run.cases] == [1.0, 0.5, 1 / 3]
    assert run["fragile"].coverage == pytest.approx(2 / 3)


def test_a_metric_of_ones_own():
    @metric(needs={"answer"}, range=(0, 1))
    def names_the_product(case, report):
        if "product" not in case.metadata:
            return NotComputed("the case names no product")
        return float(case.metadata["product"].lower() in report.answer.lower())

    given_ = [case(0, GOOD, metadata={"product": "Mill"}), case(1, GOOD), Case(id="no answer")]
    run = run_of(given_, metrics=["faithfulness", names_the_product])
    assert [one["names_the_product"] for one in run.cases] == [
        1.0,
        NotComputed("the case names no product"),
        NotComputed("the case has no answer"),
    ]


def test_metrics_are_found_by_name_and_a_near_miss_is_told():
    with pytest.raises(UsageError, match="did you mean 'faithfulness'"):
        run_of(cases(1), metrics=["faithfullness"])
    with pytest.raises(UsageError, match="cannot need 'luck'"):
        metric(needs=["luck"])(lambda case: 1.0)

    @metric(name="faithfulness")
    def other(case):
        return 1.0

    with pytest.raises(UsageError, match="two metrics"):
        run_of(cases(1), metrics=["faithfulness", other])


def test_progress_is_told_for_every_case_and_cases_are_read_as_they_are_needed():
    read, done, lead = [], [], []

    def source():
        for one in cases(40):
            read.append(one.id)
            lead.append(len(read) - len(done))
            yield one

    dataset = Dataset(source)
    read.clear(), lead.clear()
    run_of(dataset, workers=2, metrics=FAITHFUL, progress=lambda n, total: done.append((n, total)))
    assert done == [(n, 40) for n in range(1, 41)]
    assert max(lead) <= 6  # memory does not grow with the number of cases


def test_the_plan_says_what_would_be_computed_and_runs_nothing():
    given_ = [case(0, GOOD, question="How old?"), Case(id="b", question="Why?")]
    found = plan(given_, metrics=["faithfulness", "faithfulness_weighted_importance"])
    assert (found.cases, found.answers, found.recorded) == (2, 1, 0)
    assert found.computed == {"faithfulness": 1, "faithfulness_weighted_importance": 0}
    assert found.gaps["faithfulness_weighted_importance"] == {
        "no embedder was given": 1,
        "the case has no answer": 1,
    }


async def recorded(one: Case, verifier_: Verifier, **options) -> list[str]:
    async with verifier_.stream(one.answer, one.passages, **options) as stream:
        return [event.model_dump_json() for event in await collect(stream)]


@pytest.mark.anyio
async def test_a_recorded_stream_is_not_scored_again_unless_scorer_calibration_or_policy_differ(tmp_path):
    async def reused(run):
        case = await to_thread.run_sync(run.cases[0].load)
        return case.recorded

    scorer = ScriptedScorer(SCRIPT)
    one = case(0, GOOD, BAD)
    async with Verifier(scorer) as live:
        lines = await recorded(one, live)
        held = from_events(lines, id="case-0", passages=PASSAGES)
        before = len(scorer.claims)
        run = await evaluate_async([held], verifier=live)
        assert len(scorer.claims) == before
        assert await reused(run)
        assert (await to_thread.run_sync(run.cases[0].load)).report == held.recording.report
        fresh = await evaluate_async([one], verifier=live)
        assert not await reused(fresh)
        # The same figures, byte for byte.
        assert await to_thread.run_sync(fresh.text) == await to_thread.run_sync(run.text)
        assert not await reused(await evaluate_async([held], verifier=live, policy=Redact()))
    async with Verifier(scorer, calibration=Calibration(bias=0.5)) as other:
        assert not await reused(await evaluate_async([held], verifier=other))
        bare = from_events(lines, id="case-0")
        failed = await evaluate_async([bare], verifier=other)
        assert "has no passages to score it again" in failed.cases[0].error


@pytest.mark.anyio
async def test_events_in_a_row_are_checked(tmp_path):
    async with verifier() as live:
        lines = await recorded(case(0, GOOD), live)
    events = [json.loads(line) for line in lines]
    good = {**row(case(0, GOOD)), "events": events}
    [held] = read_dataset(written(tmp_path / "d.jsonl", [good]))
    assert held.recording.report.answer == GOOD
    for changed, problem in (
        ({**good, "events": events[:2] + events[3:]}, "out of order"),
        ({**good, "events": events[:-1]}, "ends with its last event"),
        ({**good, "passages": [{"id": "mill", "text": "Other."}]}, "another passage"),
        ({**good, "answer": "Something else."}, "differs"),
    ):
        with pytest.raises(InputFileError, match=problem):
            read_dataset(written(tmp_path / "d.jsonl", [changed]))


def test_an_answer_without_passages_is_not_grounded_by_having_none():
    run = run_of(
        [case(0, GOOD, passages=())], metrics=["faithfulness", "grounding_score", "contradicted_contexts"]
    )
    assert all(
        isinstance(figure, NotComputed) for figure in map(run.cases[0].__getitem__, run.header.metrics)
    )


def test_no_metric_is_not_every_metric():
    with pytest.raises(UsageError, match="--metrics"):
        run_of(cases(1), metrics=[])
    with pytest.raises(UsageError, match="--metrics"):
        plan(cases(1), metrics=[])
    with pytest.raises(UsageError, match="--metrics"), verifier() as one:
        checked(dataset_of(cases(1)), metrics=[], verifier=one)
    gates = gates_from({"gates": {"hallucination_rate": {"max": 1.0}}})
    with verifier() as one:
        found = checked(dataset_of(cases(1)), metrics=[], gates=gates, verifier=one)
    assert list(found.run.header.metrics) == ["hallucination_rate"]
    assert "faithfulness" in run_of(cases(1), metrics=[], pack="legal").header.metrics


def test_workers_must_be_some():
    with pytest.raises(UsageError, match="workers"):
        run_of(cases(1), workers=0)
