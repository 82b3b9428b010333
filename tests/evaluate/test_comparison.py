from __future__ import annotations

import random

import pytest
from builders import BAD, GOOD, NONE, WRONG, case, cases, verifier, written
from hypothesis import given, settings
from hypothesis import strategies as st

from streamverify import Verifier
from streamverify.errors import UsageError
from streamverify.evaluate import (
    BaselineRules,
    Case,
    NotComputed,
    Run,
    compare,
    evaluate,
    metric,
    read_dataset,
)
from streamverify.evaluate.arms import decide_arms
from streamverify.evaluate.comparison import lines
from streamverify.evaluate.metrics import asking_for
from streamverify.evaluate.packs import adjusted, pack_named
from streamverify.evaluate.protocol import Need
from streamverify.evaluate.report import junit
from streamverify.testing import ScriptedScorer

NAMES = ["faithfulness", "hallucination_rate"]


def run_of(given_, metrics=NAMES, **options) -> Run:
    with verifier() as one:
        return evaluate(given_, verifier=one, metrics=metrics, **options)


def answered(*kinds, **more):
    return [case(n, *sentences, **more) for n, sentences in enumerate(kinds)]


def scored(values, name="score"):
    """A run whose metric has these values, whatever the answers."""

    @metric(name=name, range=(0, 1))
    def score(case, report):
        return values[int(case.id.removeprefix("case-"))]

    return run_of([case(n, GOOD) for n in range(len(values))], metrics=[score])


def test_a_run_compared_with_itself_differs_in_nothing():
    run = run_of(cases(6))
    found = compare(run, run)
    assert all(one.difference == 0 and one.status == "passed" for one in found.differences.values())
    assert not found.failed
    assert (found.newly_failing, found.not_comparable, found.unpaired) == ((), {}, ())


def test_a_drop_in_every_case_is_a_regression():
    before, after = answered(*[[GOOD]] * 12), answered(*[[GOOD, BAD]] * 9, *[[GOOD, BAD, WRONG]] * 3)
    found = compare(run_of(before), run_of(after))
    one = found["faithfulness"]
    assert one.status == "failed"
    assert one.interval.high < 0
    assert one.pairs == 12
    assert found["hallucination_rate"].status == "failed"  # up is worse there
    assert len(found.newly_failing) == 12
    assert found.failed
    assert "regressed" in str(one)
    back = compare(run_of(after), run_of(before))
    assert {one.status for one in back.differences.values()} == {"improved"}
    assert not back.failed
    assert len(back.newly_passing) == 12


@pytest.mark.slow
def test_pairing_sees_what_an_unpaired_test_does_not():
    """A drop of 0.01 under a spread of 0.12 between cases: visible within each case only."""
    generator = random.Random(1)
    before = [min(max(generator.gauss(0.7, 0.12), 0), 1) for _ in range(200)]
    after = [min(max(value - 0.01 + generator.gauss(0, 0.02), 0), 1) for value in before]
    a, b = scored(before), scored(after)
    found = compare(a, b, rules=BaselineRules(max_drop=0.005))["score"]
    assert found.status == "failed"
    assert found.interval.high < 0
    from streamverify.evaluate.stats import two_samples

    assert two_samples(before, after).welch > 0.05


def test_a_drop_that_may_be_chance_fails_and_says_how_many_cases_would_decide():
    generator = random.Random(2)
    before = [0.5] * 20
    after = [min(max(0.46 + generator.gauss(0, 0.2), 0), 1) for _ in range(20)]
    one = compare(scored(before), scored(after))["score"]
    assert one.status == "failed, within noise"
    assert one.failed
    assert one.needed > 20
    assert f"about {one.needed:.0f} cases would decide" in str(one)


def test_an_allowed_drop_passes_and_a_critical_metric_is_held_tighter():
    before, after = [0.80] * 10 + [0.9], [0.78] * 10 + [0.87]
    a, b = scored(before), scored(after)
    assert compare(a, b)["score"].status == "passed"
    assert compare(a, b, rules=BaselineRules(critical={"score": 0.02}))["score"].status == "failed"
    assert compare(a, b, rules=BaselineRules(max_drop=0.03, absolute=True))["score"].status == "passed"


def test_outcomes_are_compared_by_mcnemar():
    before = [1.0] * 9 + [0.0] * 2 + [1.0] * 20
    after = [0.0] * 9 + [1.0] * 2 + [1.0] * 20
    assert compare(scored(before), scored(after))["score"].p == pytest.approx(0.0654, abs=5e-5)


def test_a_figure_that_can_no_longer_be_computed_is_no_pass():
    before = run_of(answered([GOOD], [GOOD], [GOOD]))
    after = run_of(answered([GOOD], [GOOD], [NONE]))
    one = compare(before, after)["faithfulness"]
    assert (one.status, one.lost) == ("not computed", ("case-2",))
    assert compare(before, after, rules=BaselineRules(min_coverage=0.5))["faithfulness"].status == "passed"
    nothing = run_of(answered([NONE], [NONE], [NONE]))
    assert compare(before, nothing)["faithfulness"].status == "not computed"
    neither = compare(nothing, nothing)
    assert neither["faithfulness"].status == "not computed"
    assert isinstance(neither["faithfulness"].difference, NotComputed)
    assert not neither.failed  # nobody asked for it by name, and it cannot have become worse
    assert lines(neither)[0].split("  ")[0] == "not computed"
    assert lines(neither)[0].count("not computed") == 1
    assert "skipped" in junit.render(nothing, comparison=neither)
    assert 'failures="0"' in junit.render(nothing, comparison=neither)


def test_a_line_says_the_status_once():
    before, after = run_of(answered([GOOD], [GOOD])), run_of(answered([GOOD, BAD], [GOOD]))
    [same, *_] = lines(compare(before, before))
    assert same.startswith("passed  ")
    assert same.endswith("1.000 -> 1.000  +0.000 paired over 2 cases")
    assert str(compare(before, before)["faithfulness"]) == "+0.000 paired over 2 cases: passed"
    [worse] = [line for line in lines(compare(before, after)) if "  faithfulness  " in line]
    assert worse.count("failed") == 1
    assert "regressed" not in worse
    assert "1 case fails that passed (0 allowed): case-0" in lines(compare(before, after))


@pytest.mark.parametrize(("total", "least"), [(10, 0.9), (10, 0.7), (10, 0.3), (100, 0.29), (3, 0.0)])
def test_the_least_coverage_itself_is_enough(total, least):
    """Nine of ten are 0.9 of them: a share that is asked for and reached does not fail by a rounding."""
    kept = round(total * least)

    def run(computed):
        @metric(name="score", range=(0, 1))
        def score(case, report):
            number = int(case.id.removeprefix("case-"))
            return 1.0 if number < computed else NotComputed("left out")

        return run_of([case(n, GOOD) for n in range(total)], metrics=[score])

    whole, rules = run(total), BaselineRules(min_coverage=least)
    if kept:
        assert compare(whole, run(kept), rules=rules)["score"].status == "passed"
    if kept > 1:
        assert compare(whole, run(kept - 1), rules=rules)["score"].status == "not computed"


def test_runs_over_different_questions_are_refused():
    a = run_of(answered([GOOD], [GOOD], question="How old?"))
    b = run_of([*answered([GOOD], [GOOD], question="How old?"), case(2, BAD, question="How new?")])
    with pytest.raises(UsageError, match="different questions"):
        compare(a, b)
    found = compare(a, b, allow_different_cases=True)
    assert found.unpaired == ("case-2",)
    with pytest.raises(UsageError, match="no case in common"):
        compare(a, run_of([Case(id="other", answer=GOOD, passages=())]), allow_different_cases=True)


@pytest.mark.parametrize("ending", ["run.json", "journal.jsonl"])
def test_ids_that_are_numbers_of_lines_pair_no_two_questions(ending, tmp_path):
    """Rows without an id are called by their line: the third line of another file asks something else."""

    def of(name, *asked):
        rows = [
            {"question": one, "answer": GOOD, "passages": ["The mill was built in 1712."]} for one in asked
        ]
        written(tmp_path / f"{name}.jsonl", rows)
        out = tmp_path / f"{name}-{ending}"
        run = run_of(read_dataset(tmp_path / f"{name}.jsonl"), out=out if "journal" in ending else None)
        if "journal" not in ending:
            run.write(out)
        return Run.read(out)

    a, b = of("a", "How old?", "How many?", "Whose?"), of("b", "How old?", "Where?", "Whose is it?", "Why?")
    found = compare(a, b, allow_different_cases=True)
    assert found["faithfulness"].pairs == 1
    assert (found.asked_otherwise, found.unpaired) == (("2", "3"), ("4",))
    assert lines(found)[-1] == "2 cases left out, whose id is another question's in each run: 2, 3"
    assert found.to_dict()["asked_otherwise"] == ["2", "3"]
    with pytest.raises(UsageError, match="2 ids stand for another question in each"):
        compare(of("c", "Who?", "What?"), of("d", "When?", "How?"), allow_different_cases=True)


def test_a_run_of_before_it_told_its_questions_is_paired_by_id():
    a, b = run_of(answered([GOOD], question="Old?")), run_of(answered([GOOD], question="New?"))
    digest = a.cases[0].question_digest
    assert f'"question_digest": "{digest}"' in a.text()
    old = Run.from_text(a.text().replace(f', "question_digest": "{digest}"', ""))
    assert old.cases[0].question_digest == ""
    assert compare(old, b, allow_different_cases=True)["faithfulness"].pairs == 1


def test_other_answers_to_the_same_questions_are_compared():
    a = run_of(answered([GOOD], question="How old?"))
    b = run_of(answered([BAD], question="How old?"))
    assert compare(a, b).newly_failing == ("case-0",)


def test_versions_and_scorers_must_agree():
    def version(number):
        @metric(name="own", version=number, range=(0, 1))
        def own(case, report):
            return 1.0

        return own

    given_ = answered([GOOD], [BAD])
    a, b = run_of(given_, [version("1"), *NAMES]), run_of(given_, [version("2"), *NAMES])
    found = compare(a, b)
    assert found.not_comparable == {"own": "version 1 before, 2 after"}
    with pytest.raises(UsageError, match="version 1 before"):
        found["own"]

    class Other(ScriptedScorer):
        @property
        def fingerprint(self):
            return super().fingerprint.model_copy(update={"revision": "2"})

    with Verifier(Other()) as one:
        other = evaluate(given_, verifier=one, metrics=NAMES)
    with pytest.raises(UsageError, match="the scorer or its calibration differs"):
        compare(run_of(given_), other)
    assert compare(run_of(given_), other, allow_different_scorers=True)["faithfulness"].pairs == 2


class Flat:
    """Every text means the same."""

    def __init__(self, name):
        self.name = name

    def __call__(self, texts):
        return [[1.0] for _ in texts]


def test_judge_embedder_and_pack_must_agree_where_a_figure_rests_on_them():
    given_ = answered([GOOD], [BAD], question="How old?")
    names = [*NAMES, "context_relevance"]
    a, b = (run_of(given_, names, embedder=Flat(one)) for one in "ab")
    assert compare(a, b).not_comparable == {"context_relevance": "the embedder differs: a before, b after"}
    packs = (adjusted(pack_named("legal"), {}, {"grounding": one}) for one in (0.9, 0.5))
    plain, held = (run_of(given_, None, pack=pack) for pack in packs)
    assert set(compare(plain, plain).not_comparable) == set()
    differing = compare(plain, held).not_comparable
    assert differing["pack_passed"] == differing["stage.grounding"] == "the pack or its settings differ"
    assert "faithfulness" not in differing
    assert asking_for("d2d") == {Need.JUDGE}
    assert asking_for("answer_correctness") == {Need.JUDGE, Need.EMBEDDER}
    assert asking_for("faithfulness") == asking_for("one of mine") == frozenset()


@settings(max_examples=10)
@given(
    st.lists(st.tuples(st.sampled_from([0.0, 0.3, 0.5, 1.0]), st.sampled_from([0.0, 0.4, 1.0])), min_size=1)
)
def test_swapping_the_runs_turns_the_sign_and_any_difference_is_finite(pairs):
    a, b = scored([one for one, _ in pairs]), scored([other for _, other in pairs])
    there, back = compare(a, b)["score"], compare(b, a)["score"]
    assert there.difference == pytest.approx(-back.difference)
    assert there.status in ("passed", "improved") or back.status in ("passed", "improved")
    assert "nan" not in str(compare(a, b).to_dict()).lower()


def test_arms_are_decided_by_welch_and_effect_and_never_over_the_same_cases():
    generator = random.Random(3)

    def arm(name, mean):
        @metric(name="score", range=(0, 1))
        def score(case, report):
            return min(max(generator.gauss(mean, 0.1), 0), 1)

        return run_of([Case(id=f"{name}{n}", answer=GOOD, passages=()) for n in range(40)], metrics=[score])

    a, b = arm("a", 0.5), arm("b", 0.7)
    assert decide_arms(a, b, "score").adopt
    assert not decide_arms(b, a, "score").adopt
    assert "keep A" in str(decide_arms(b, a, "score"))
    with pytest.raises(UsageError, match="case by case"):
        decide_arms(a, a, "score")
