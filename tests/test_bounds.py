from __future__ import annotations

import math
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import beta, binom

from streamverify.bounds import (
    allowed_misses,
    binomial_at_most,
    conformal_misses,
    expected_miss_rate,
    guaranteed_threshold,
    least_labels,
    platt,
    threshold_above,
)
from streamverify.errors import NotEnoughLabelsError, UsageError

shares = st.floats(0.005, 0.6)
unit = st.floats(0, 0.999)


@given(st.integers(0, 400), st.integers(0, 400), shares)
def test_the_tail_is_scipys(successes, trials, rate):
    assert math.isclose(
        binomial_at_most(successes, trials, rate), binom.cdf(successes, trials, rate), rel_tol=1e-9
    )


@given(st.integers(0, 3000), shares, st.floats(0.5, 0.999))
@settings(max_examples=60)
def test_as_many_misses_are_allowed_as_scipy_says(labels, rate, confidence):
    tails = binom.cdf(np.arange(labels + 1), labels, rate)
    # Where the tail meets the limit exactly, rounding decides.
    strict, lax = (int(np.sum(tails <= 1 - confidence + slack)) - 1 for slack in (-1e-9, 1e-9))
    found = allowed_misses(labels, rate, confidence)
    assert strict <= (-1 if found is None else found) <= lax


@pytest.mark.parametrize(
    ("rate", "confidence", "needed"),
    [(0.05, 0.95, 59), (0.1, 0.95, 29), (0.1, 0.9, 22), (0.01, 0.95, 299), (0.05, 0.99, 90), (0.5, 0.5, 1)],
)
def test_the_least_number_of_labels(rate, confidence, needed):
    assert least_labels(rate, confidence) == needed
    assert allowed_misses(needed, rate, confidence) is not None
    assert allowed_misses(needed - 1, rate, confidence) is None
    with pytest.raises(NotEnoughLabelsError, match=str(needed)) as caught:
        guaranteed_threshold([0.1] * (needed - 1), rate, confidence)
    assert (caught.value.found, caught.value.needed) == (needed - 1, needed)


@pytest.mark.parametrize(("labels", "misses"), [(18, None), (19, 0), (38, 0), (39, 1), (199, 9)])
def test_the_average_takes_19_labels_at_5_per_cent(labels, misses):
    assert conformal_misses(labels, 0.05) == misses
    if misses is not None:
        assert expected_miss_rate(misses, labels) <= 0.05 + 1e-12


@given(st.lists(unit, min_size=1, max_size=60), st.data())
def test_a_threshold_lets_no_more_through_than_allowed_and_is_the_lowest(scores, data):
    misses = data.draw(st.integers(0, len(scores) - 1))
    found = threshold_above(scores, misses)
    assert sum(score >= found for score in scores) <= misses
    assert sum(score >= found - 2e-9 for score in scores) > misses


@given(st.lists(unit, min_size=59, max_size=300), st.floats(0.05, 0.3), st.floats(0.05, 0.3))
@settings(max_examples=50)
def test_who_allows_more_misses_gets_no_higher_threshold(scores, a, b):
    strict, lax = (guaranteed_threshold(scores, rate, 0.95)[0] for rate in (min(a, b), max(a, b)))
    assert lax <= strict


@pytest.mark.slow
@pytest.mark.parametrize("labels", [59, 93, 200, 500])
@pytest.mark.parametrize("places", [None, 2])
def test_the_guarantee_holds_in_simulated_sets_of_labels(labels, places):
    draw = np.random.default_rng([labels, places or 0])
    held, rates = 0, []
    for _ in range(1500):
        scores = draw.beta(2, 5, labels)
        given_scores = scores.tolist() if places is None else scores.round(places).tolist()
        threshold, _ = guaranteed_threshold(given_scores, 0.05, 0.95)
        # Of rounded scores those reach it that were rounded up to the next of them, or beyond.
        edge = threshold if places is None else np.ceil(threshold * 100) / 100 - 0.005
        rates.append(beta.sf(edge, 2, 5))
        held += rates[-1] <= 0.05
    assert held / 1500 >= 0.94
    assert np.mean(rates) <= 0.05


def test_a_sentence_that_is_surely_wrong_is_not_promised_away():
    with pytest.raises(UsageError, match="score of 1"):
        guaranteed_threshold([1.0] * 59, 0.05, 0.95)


@given(
    st.floats(0, 1, exclude_min=True, exclude_max=True), st.floats(0, 1, exclude_min=True, exclude_max=True)
)
@example(1e-320, 0.95)
@example(0.05, 1e-320)
@example(1e-15, 0.95)
def test_however_small_a_share_is_the_labels_it_takes_are_told_or_it_is_refused(rate, confidence):
    try:
        needed = least_labels(rate, confidence)
    except UsageError:
        assert 1 in (1 - rate, 1 - confidence)
    else:
        assert binomial_at_most(0, needed, rate) <= 1 - confidence
        scores = [0.5] * min(needed, 50)
        with suppress(NotEnoughLabelsError):
            assert guaranteed_threshold(scores, rate, confidence)[1] < len(scores)


@pytest.mark.parametrize(
    ("rate", "confidence"),
    [(0, 0.95), (1, 0.95), (0.05, 0), (0.05, 1), (-1, 2), (1e-320, 0.95), (0.05, 1e-320), (0.05, math.nan)],
)
def test_shares_lie_between_0_and_1(rate, confidence):
    with pytest.raises(UsageError, match="between 0 and 1"):
        least_labels(rate, confidence)


def test_platt_finds_the_slope_and_shift_that_made_the_labels():
    draw = np.random.default_rng(1)
    scores = draw.normal(0, 3, 20_000)
    grounded = draw.random(20_000) < 1 / (1 + np.exp(-(0.5 * scores - 1)))
    slope, shift = platt(list(scores), [bool(one) for one in grounded])
    assert slope == pytest.approx(0.5, abs=0.03)
    assert shift == pytest.approx(-1, abs=0.05)


@given(st.lists(st.tuples(st.floats(-700, 700), st.booleans()), min_size=2, max_size=30))
def test_platt_ends_with_finite_numbers_or_says_why_not(rows):
    try:
        slope, shift = platt([score for score, _ in rows], [grounded for _, grounded in rows])
    except UsageError:
        return
    assert slope > 0
    assert math.isfinite(slope + shift)
