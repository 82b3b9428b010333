"""What `training.fitting` fits and counts; needs the library beside the recipe's requirements."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

fitting = pytest.importorskip(
    "training.fitting", reason="training.fitting needs the library: pip install -e ."
)

NAMES = ("single", "check")
units = st.floats(0, 1)
claims = st.lists(st.tuples(units, units, st.booleans()), min_size=1, max_size=30)


def rows(drawn):
    return [
        fitting.Row(str(i), "supported" if supported else "unsupported", {"single": single, "check": check})
        for i, (single, check, supported) in enumerate(drawn)
    ]


def test_figures_of_a_perfect_and_of_a_reversed_verdict():
    truth = np.array([True, True, False, False])
    chance = np.array([1.0, 1.0, 0.0, 0.0])
    assert fitting.agreement(chance, chance >= 0.5, truth) == (1.0, 1.0, 0.0, 0.0)
    assert fitting.agreement(1 - chance, chance < 0.5, truth) == (0.0, 0.0, 100.0, 1.0)


def test_a_weight_of_which_nothing_stays_does_not_help_in_cross_validation():
    told = rows([(float(i % 2), i % 3 / 2, bool(i % 2)) for i in range(18)])
    fit = fitting.Fitting(told, (), 0.0, 0.1)
    assert fit.validate(NAMES, "supported", [1, -1]).auroc == 1.0
    assert fit.validate(NAMES, "supported", [1, -1], {"single": 0.0}).auroc < 0.8


def test_a_weight_that_is_given_counts_in_cross_validation():
    told = rows([(float(i % 2), float(i % 2), i % 2 == 0) for i in range(18)])
    fit = fitting.Fitting(told, (), 0.0, 0.1)
    assert fit.validate(("single",), "supported", [1]).auroc < 0.8
    assert fit.validate(("single",), "supported", [1], given={"check": -9.0}).auroc == 1.0


@given(claims, st.floats(-4, 4), st.floats(-8, 0), st.floats(-3, 3))
def test_flips_are_the_labels_that_would_be_others_without_the_weight(drawn, single, check, bias):
    found = fitting.Flips.of("check", NAMES, np.array([single, check]), bias, rows(drawn))
    right = wrong = 0
    for one, other, supported in drawn:
        if (one * single + other * check + bias >= 0) != (one * single + bias >= 0):
            wrong += supported
            right += not supported
    assert (found.right, found.wrong) == (right, wrong)


@given(claims, st.floats(-4, 4), st.floats(-8, 0), st.floats(-3, 3))
def test_a_check_keeps_the_largest_share_of_its_weight_with_which_it_pays(drawn, single, check, bias):
    weights = np.array([single, check])
    shares = fitting.paying(["check"], NAMES, weights, bias, rows(drawn))

    def pays(part):
        lower = np.array([single, check * part])
        found = fitting.Flips.of("check", NAMES, lower, bias, rows(drawn))
        return found.right >= 2 * found.wrong

    assert shares == {"check": next(tenths / 10 for tenths in range(10, -1, -1) if pays(tenths / 10))}
    assert weights.tolist() == [single, check]


@given(claims, st.floats(-8, 0), st.floats(-8, 0), st.floats(-3, 3))
def test_every_check_pays_beside_the_others(drawn, one, other, bias):
    weights = np.array([one, other])
    shares = fitting.paying(NAMES, NAMES, weights, bias, rows(drawn))
    lowered = weights * [shares[name] for name in NAMES]
    for name in NAMES:
        assert fitting.Flips.of(name, NAMES, lowered, bias, rows(drawn)).pay


def test_without_other_claims_every_check_keeps_its_weight():
    assert fitting.paying(NAMES, NAMES, np.array([-1.0, -2.0]), 0.5, []) == {"single": 1.0, "check": 1.0}
