from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from statsmodels.stats.inter_rater import aggregate_raters
from statsmodels.stats.inter_rater import cohens_kappa as kappa_oracle
from statsmodels.stats.inter_rater import fleiss_kappa as fleiss_oracle
from statsmodels.stats.power import TTestIndPower, TTestPower

from streamverify.errors import UsageError
from streamverify.evaluate import kappa, stats
from streamverify.figure import Interval, NotComputed

rates = st.integers(1, 300).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(rates)
def test_wilson_is_scipys(rate):
    expected = scipy_stats.binomtest(*rate).proportion_ci(method="wilson")
    found = stats.wilson(*rate)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_wilson_of_nothing_is_not_computed_and_of_nonsense_refused():
    assert NotComputed("no case") == stats.wilson(0, 0)
    assert isinstance(stats.normal(5, 5), NotComputed)
    with pytest.raises(UsageError, match="successes"):
        stats.wilson(3, 2)
    with pytest.raises(UsageError, match="confidence"):
        stats.wilson(1, 2, confidence=1)


@settings(max_examples=15)
@given(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=0, max_size=30))
def test_an_interval_holds_the_mean_or_says_why_there_is_none(values):
    found = stats.mean_interval(values, 7)
    if len(values) < 2:
        assert found == NotComputed("one case" if values else "no case")
    elif len(set(values)) == 1:
        assert isinstance(found, Interval if values[0] in (0, 1) else NotComputed)
    else:
        assert found.low <= math.fsum(values) / len(values) <= found.high
    assert not isinstance(found, Interval) or found.low < found.high  # no width of 0 that passes any gate


@settings(max_examples=15)
@given(
    st.lists(st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.9, 1.0]), min_size=2, max_size=40), st.integers(0, 99)
)
def test_the_interval_of_a_mean_is_scipys(values, seed):
    assume(len(set(values)) > 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where BCa has no answer
        low, high = scipy_stats.bootstrap(
            (np.array(values),),
            np.mean,
            n_resamples=stats.RESAMPLES,
            batch=stats.AT_ONCE // len(values),
            rng=np.random.default_rng(seed),
        ).confidence_interval
    found = stats.mean_interval(values, seed)
    assert (found.method == "bca") is bool(np.isfinite([low, high]).all())
    if found.method == "bca":
        assert (found.low, found.high) == pytest.approx((low, high), abs=1e-9)


def test_the_standard_error_of_one_case_is_not_zero():
    assert NotComputed("one case") == stats.mean_interval([0.7], 1) == stats.pooled_interval([(1, 2)], 1)
    assert NotComputed("all cases equal") == stats.mean_interval([0.7, 0.7], 1)
    assert NotComputed("all cases equal") == stats.pooled_interval([(1, 2), (2, 4)], 1)


def test_equal_seeds_give_equal_intervals():
    values = [0.1, 0.9, 0.4, 0.6, 0.2]
    assert stats.mean_interval(values, 3) == stats.mean_interval(values, 3) != stats.mean_interval(values, 4)
    parts = [(1, 2), (3, 3), (0, 4), (2, 5)]
    assert stats.pooled_interval(parts, 3) == stats.pooled_interval(parts, 3)
    assert stats.seed_of("a", "b") != stats.seed_of("ab")


def test_a_pooled_rate_is_wider_than_if_sentences_were_independent():
    generator = np.random.default_rng(0)
    answers = [(float(generator.binomial(8, p)), 8.0) for p in generator.beta(3, 1, 200)]
    clustered = stats.pooled_interval(answers, 1)
    plain = stats.wilson(int(sum(k for k, _ in answers)), 1600)
    assert clustered.high - clustered.low > 1.2 * (plain.high - plain.low)


def test_the_memory_of_a_bootstrap_is_bounded():
    many = [float(n % 7) for n in range(3000)]
    assert isinstance(stats.mean_interval(many, 1), Interval)


@pytest.mark.parametrize(("lost", "won", "p"), [(9, 2, 0.0654), (0, 6, 0.03125), (5, 5, 1.0)])
def test_mcnemar_is_exact(lost, won, p):
    assert stats.mcnemar(lost, won) == pytest.approx(p, abs=5e-5)


def test_tests_that_scipy_would_answer_with_nan_are_not_computed():
    assert isinstance(stats.mcnemar(0, 0), NotComputed)
    assert isinstance(stats.paired_test([0.1]), NotComputed)
    assert isinstance(stats.paired_test([0.1, 0.1]), NotComputed)
    flat = stats.two_samples([1, 1], [2, 2])
    assert isinstance(flat.welch, NotComputed)
    assert isinstance(flat.cohens_d, NotComputed)
    assert isinstance(stats.two_samples([1], [2, 3]).difference, NotComputed)
    assert isinstance(kappa.cohens_kappa(["a", "a"], ["a", "a"]), NotComputed)
    assert isinstance(kappa.fleiss_kappa([["a", "a"]]), NotComputed)


def test_two_arms():
    a, b = [0.1, 0.4, 0.5, 0.3], [0.6, 0.5, 0.9, 0.7]
    found = stats.two_samples(a, b)
    assert found.difference == pytest.approx(0.35)
    assert found.welch == pytest.approx(scipy_stats.ttest_ind(a, b, equal_var=False).pvalue)
    pooled = math.sqrt((np.var(a, ddof=1) + np.var(b, ddof=1)) / 2)
    assert found.cohens_d == pytest.approx(0.35 / pooled)


@pytest.mark.parametrize(("effect", "cases"), [(0.1, 1571), (0.2, 394), (0.5, 64)])
def test_sample_sizes(effect, cases):
    assert stats.sample_size(effect) == cases
    assert stats.sample_size(-effect) == cases
    oracle = TTestIndPower().solve_power(effect_size=effect, power=0.8, alpha=0.05)
    assert cases == math.ceil(oracle)
    assert stats.sample_size(effect, paired=True) == math.ceil(
        TTestPower().solve_power(effect_size=effect, power=0.8, alpha=0.05)
    )


@pytest.mark.parametrize("bad", [{"effect": 0}, {"effect": 0.1, "power": 1}, {"effect": 0.1, "alpha": 0}])
def test_sizes_that_make_no_sense_are_refused(bad):
    with pytest.raises(UsageError):
        stats.sample_size(**bad)


labels = st.lists(st.tuples(*[st.sampled_from("abc")] * 3), min_size=2, max_size=30)


@given(labels)
def test_kappas_are_those_of_statsmodels(rows):
    first, second = [row[0] for row in rows], [row[1] for row in rows]
    table = np.zeros((3, 3))
    for a, b in zip(first, second, strict=True):
        table["abc".index(a), "abc".index(b)] += 1
    found = kappa.cohens_kappa(first, second)
    if not isinstance(found, NotComputed):
        assert found == pytest.approx(kappa_oracle(table, return_results=False))
    found = kappa.fleiss_kappa(rows)
    if not isinstance(found, NotComputed):
        counts, _ = aggregate_raters(np.array([["abc".index(label) for label in row] for row in rows]), 3)
        assert found == pytest.approx(fleiss_oracle(counts))


def test_agreement_needs_equal_rows():
    with pytest.raises(UsageError, match="two annotators"):
        kappa.cohens_kappa(["a"], ["a", "b"])
    with pytest.raises(UsageError, match="same number"):
        kappa.fleiss_kappa([["a", "b"], ["a"]])


def test_false_discovery_control():
    assert stats.discoveries([]) == []
    assert stats.discoveries([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.04, 0.04])


@pytest.mark.parametrize(
    ("effect", "cases", "paired", "power"), [(5.45, 2, True, 0.453), (0.6, 376, False, 1)]
)
def test_power_is_a_number_where_scipys_series_has_none(effect, cases, paired, power):
    assert stats.power_of(effect, cases, paired=paired) == pytest.approx(power, abs=0.005)


@given(st.floats(0.05, 5.95), st.integers(2, 400), st.booleans())
def test_power_is_a_share_and_grows_with_the_cases(effect, cases, paired):
    fewer, more = (stats.power_of(effect, number, paired=paired) for number in (cases, cases + 1))
    assert 0 <= fewer <= more + 1e-6 <= 1 + 1e-6
