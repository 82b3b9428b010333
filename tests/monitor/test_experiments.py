"""Subjects stay where they belong, looks cost what they should, and a router finds the better arm."""

from __future__ import annotations

import math
import random
import uuid
from collections import Counter

import pytest
import scipy.stats  # noqa: F401 - loaded here, where no test's time runs
from hypothesis import example, given
from hypothesis import strategies as st
from recorded import PASSAGES_OF_MILL, START, write

from streamverify import Label, Verifier
from streamverify.errors import UsageError
from streamverify.evaluate.arms import decide_samples, look_level
from streamverify.evaluate.stats import welch_interval
from streamverify.figure import Interval, NotComputed
from streamverify.monitor import ArmState, ThompsonRouter, arm_of
from streamverify.monitor.experiments import decide_recorded, subject_means
from streamverify.monitor.traffic import Answer
from streamverify.program import main
from streamverify.testing import ScriptedScorer


@given(st.text(), st.text(), st.floats(0, 1), st.floats(0, 1))
def test_a_subject_keeps_its_arm_and_shares_grow_one_way(subject, experiment, one, other):
    small, large = sorted((one, other))
    arms = [arm_of(subject, experiment, {"b": share, "a": 1 - share}) for share in (small, large)]
    assert arms == [arm_of(subject, experiment, {"b": s, "a": 1 - s}) for s in (small, large)]
    assert arms != ["b", "a"]
    assert arm_of(subject, experiment, {"b": 0.0, "a": 1.0}) == "a"
    assert arm_of(subject, experiment, {"b": 1.0, "a": 0.0}) == "b"


def test_arms_are_even_and_experiments_independent():
    subjects = [f"user {number}" for number in range(4_000)]
    assert arm_of("user 1", "prompts", ["a", "b"]) == "b"  # in every process and every version
    pairs = Counter((arm_of(s, "x", ["a", "b"]), arm_of(s, "y", ["a", "b"])) for s in subjects)
    assert all(abs(count - 1_000) < 150 for count in pairs.values())
    for arms in ([], {"a": 0.5}, {"a": 1.5, "b": -0.5}):
        with pytest.raises(UsageError, match="share"):
            arm_of("s", "x", arms)


@given(st.integers(1, 60))
def test_all_looks_together_spend_the_level(looks):
    levels = [look_level(look, looks) for look in range(1, looks + 1)]
    assert math.fsum(levels) == pytest.approx(0.05)
    assert all(level >= 0 for level in levels)
    assert levels == sorted(levels)


def test_looks_are_counted_from_one():
    for look, looks in ((0, 3), (4, 3)):
        with pytest.raises(UsageError, match="from 1"):
            look_level(look, looks)


@given(
    st.lists(st.floats(0, 1), max_size=20),
    st.lists(st.floats(0, 1), max_size=20),
    st.integers(1, 5),
    st.booleans(),
)
@example([0.0, 1.0], [1.0, 1.0], 1, False)  # one arm without spread
@example([0.0, 8.29e-244], [0.0, 8.29e-244], 1, False)  # a spread whose square is 0
def test_a_decision_is_never_a_number_that_is_none(a, b, look, higher):
    found = decide_samples("x", a, b, higher_is_better=higher, look=look, looks=5)
    assert "nan" not in str(found)
    if found.adopt:
        assert found.tests.welch < found.level <= 0.05
        assert found.tests.difference != 0
        assert (found.tests.difference > 0) == higher
    if isinstance(found.interval, Interval):
        assert found.interval.low - 1e-9 <= found.tests.difference <= found.interval.high + 1e-9


def test_welchs_interval_excludes_zero_where_the_test_is_sure():
    a, b = [0.1, 0.4, 0.5, 0.3], [0.6, 0.5, 0.9, 0.7]
    found = decide_samples("x", a, b)
    assert (0 in found.interval) == (found.tests.welch >= 0.05)
    assert isinstance(welch_interval([1, 1], [1, 1]), NotComputed)
    assert isinstance(welch_interval([1], [1, 2]), NotComputed)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_five_looks_without_a_difference_adopt_no_more_often_than_one():
    """80 experiments of 5 looks, 40 cases an arm more at each: at most 1 in 20 may be wrong."""
    generator, wrong = random.Random(5), 0
    for _ in range(80):
        a = [generator.random() for _ in range(200)]
        b = [generator.random() for _ in range(200)]
        wrong += any(
            decide_samples("x", a[: 40 * look], b[: 40 * look], look=look, looks=5).tests.welch
            < look_level(look, 5)
            for look in range(1, 6)
        )
    assert wrong <= 9  # 4 are allowed on average; the draws are the same each time


def answer(number, requester, supported, unsupported, run="a"):
    labels = dict.fromkeys(Label, 0) | {Label.SUPPORTED: supported, Label.UNSUPPORTED: unsupported}
    return Answer(uuid.UUID(int=number), START, None, run, requester, "finished", None, None, labels, 1, 9)


def test_answers_of_one_requester_count_once():
    answers = [answer(1, "ann", 2, 0), answer(2, "ann", 0, 2), answer(3, None, 1, 0), answer(4, None, 1, 0)]
    assert sorted(subject_means(answers, "faithfulness")) == [0.5, 1.0, 1.0]
    assert subject_means([answer(5, "ben", 0, 0)], "faithfulness") == []
    with pytest.raises(UsageError, match="no figure"):
        decide_recorded(answers, answers, "beauty")


@pytest.mark.slow
def test_a_release_of_a_prompt_is_decided_by_what_was_recorded(tmp_path, capsys):
    url = str(tmp_path / "records.db")
    write(url, 80, run="prompt-1", good=0.6)
    write(url, 80, run="prompt-2", good=0.95, seed=1)
    arguments = ["--records", url, "--window", "2026-11-01..2026-11-02"]
    assert main(["ab", "decide", "prompt-1", "prompt-2", *arguments]) == 0
    assert "adopt B" in capsys.readouterr().out
    assert main(["ab", "decide", "prompt-2", "prompt-1", *arguments]) == 1
    assert "keep A" in capsys.readouterr().out
    assert main(["ab", "decide", "prompt-1", "prompt-2", *arguments, "--metric", "hallucination_rate"]) == 0
    assert main(["ab", "decide", "prompt-1", "prompt-2", *arguments, "--look", "3", "--looks", "2"]) == 2
    assert "looks are counted" in capsys.readouterr().err


@pytest.mark.parametrize("runs", [("prompt-1", "prompt-2"), ("prompt-2", "prompt-1"), ("prompt-1", "")])
def test_a_run_of_which_nothing_was_recorded_is_no_reason_to_keep_the_other(tmp_path, capsys, runs):
    url = str(tmp_path / "records.db")
    write(url, 2, run="prompt-2")
    missing = next(run for run in runs if run != "prompt-2")
    assert main(["ab", "decide", *runs, "--records", url]) == 2
    assert capsys.readouterr() == ("", f"streamverify: no recorded answers of run {missing!r}\n")
    window = "2026-10-01..2026-10-02"
    assert main(["ab", "decide", "prompt-2", "prompt-2", "--records", url, "--window", window]) == 2
    assert capsys.readouterr().err == f"streamverify: no recorded answers of run 'prompt-2' in {window}\n"


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.floats(0, 1)), max_size=30),
    st.integers(0, 2**32),
)
def test_a_router_knows_what_it_was_told_and_its_state_makes_another(rewards, seed):
    router = ThompsonRouter("ab", seed=seed)
    for arm, value in rewards:
        router.reward(arm, value)
    for name, state in router.state.items():
        own = [value for arm, value in rewards if arm == name]
        assert state.rewards == pytest.approx(len(own))
        assert state.successes == pytest.approx(1 + sum(own))
        assert 0 < state.mean < 1
    again = ThompsonRouter(router.state, seed=seed)
    other = ThompsonRouter(router.state, seed=seed)
    assert [again.choose() for _ in range(20)] == [other.choose() for _ in range(20)]


def test_a_router_refuses_what_makes_no_sense():
    router = ThompsonRouter(["a", "b"])
    for arm, value in (("c", 1.0), ("a", 1.5), ("a", -0.1)):
        with pytest.raises(UsageError):
            router.reward(arm, value)
    with pytest.raises(ValueError, match="finite"):
        router.reward("a", math.nan)
    with pytest.raises(UsageError, match="two arms"):
        ThompsonRouter(["a"])
    assert router.state == {"a": ArmState(), "b": ArmState()}


def test_the_better_arm_is_asked_more_and_the_regret_flattens():
    for seed in range(5):
        router, drawn = ThompsonRouter(["good", "bad"], seed=seed), random.Random(seed)
        chosen = []
        for _ in range(2_000):
            arm = router.choose()
            chosen.append(arm)
            router.reward(arm, float(drawn.random() < {"good": 0.9, "bad": 0.7}[arm]))
        assert chosen[1_000:].count("bad") < 60
        assert chosen.count("bad") < 300  # an even split would have asked it 1,000 times


def test_streams_teach_the_router_whose_they_are():
    router = ThompsonRouter(["a", "b"])
    scorer = ScriptedScorer({"old": Label.UNSUPPORTED}, fail_on="broken")
    with Verifier(scorer, observers=[router]) as verifier:
        for run, text in (
            ("a", "The mill grinds barley. The old wheel turns in Wales."),
            ("a", "Hello!"),
            ("b", "The broken mill grinds barley."),
            ("c", "The mill grinds barley."),
            (None, "The mill grinds barley."),
        ):
            verifier.check_sync(text, PASSAGES_OF_MILL, context={"run": run} if run else None)
        assert verifier.drain_observers(50)
    # Half of one answer's claims; a greeting teaches nothing; what nobody could check is no success.
    assert router.state == {"a": ArmState(1.5, 1.5), "b": ArmState(1.0, 2.0)}
