"""A figure that is computed in two places is the same in both."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import figures
from streamverify.evaluate.stats import calibration_error
from training import metrics

SCORED = st.lists(
    st.tuples(st.sampled_from([0.0, 0.05, 0.1, 0.35, 0.5, 0.7, 0.95, 1.0]), st.booleans()), min_size=1
)


def arrays(scored):
    return np.array([score for score, _ in scored]), np.array([truth for _, truth in scored])


@given(SCORED)
def test_the_area_is_the_same_for_benchmarks_and_training(scored):
    scores, truth = arrays(scored)
    ours, theirs = figures.auroc(scores, truth), metrics.auroc(scores, truth)
    assert math.isnan(theirs) if ours is None else theirs == pytest.approx(ours, abs=1e-12)


@given(SCORED)
def test_the_calibration_error_is_the_same_for_the_library_and_training(scored):
    scores, truth = arrays(scored)
    found = calibration_error(scores, truth.astype(float))
    assert metrics.calibration_error(scores, truth) == pytest.approx(found, abs=1e-12)
    assert 0 <= found <= 1


def test_bins_of_equal_width_and_of_equal_count_are_told_apart():
    scores = np.array([0.1] * 18 + [0.9, 0.9])
    outcomes = np.array([0.0] * 18 + [1.0, 0.0])
    # One bin holds 18 scores, 0.1 off; the other two, 0.4 off.
    assert calibration_error(scores, outcomes, equal="width") == pytest.approx(0.9 * 0.1 + 0.1 * 0.4)
    # Ten bins of two: nine are 0.1 off, the last 0.4.
    assert calibration_error(scores, outcomes) == pytest.approx(0.9 * 0.1 + 0.1 * 0.4)
    mixed = np.array([0.0, 0.09] * 10)
    alike = np.array([0.0, 1.0] * 10)
    assert calibration_error(mixed, alike, equal="width") == pytest.approx(0.455)
    assert calibration_error(mixed, alike) == pytest.approx(0.455)
    apart = np.array([0.0, 0.5] * 10), np.array([0.0, 0.0] * 5 + [1.0, 0.0] * 5)
    assert calibration_error(*apart, equal="width") == pytest.approx(0.5)  # 0.5 off in both bins
    halves = np.array([0.55] * 10 + [0.56] * 10), np.array([0.0] * 10 + [1.0] * 10)
    assert calibration_error(*halves, equal="width") == pytest.approx(0.055)
    assert calibration_error(*halves) == pytest.approx(0.495)
