from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify import citations
from streamverify.citations import metrics as citation_metrics
from streamverify.figure import Aggregate, Interval, NotComputed, Spread, finite, share

NO_NUMBERS = (math.nan, math.inf, -math.inf)


@pytest.mark.parametrize("value", NO_NUMBERS)
def test_no_nan_can_be_built(value):
    for build in (
        lambda: finite(value),
        lambda: share(value, 1, "never"),
        lambda: Interval(value, 1.0, "bca"),
        lambda: Interval(0.0, value, "bca"),
        lambda: Aggregate(value, NotComputed("one case"), 1),
        lambda: Spread.of([0.5, value], 0, 1),
    ):
        with pytest.raises(ValueError, match="finite"):
            build()


def test_a_gap_says_why_and_an_interval_is_in_order():
    with pytest.raises(ValueError, match="reason"):
        NotComputed("")
    with pytest.raises(ValueError, match="above its high end"):
        Interval(0.9, 0.1, "bca")
    with pytest.raises(ValueError, match="must be NotComputed"):
        Aggregate(0.5, NotComputed("one case"), 0)


def test_nothing_to_divide_by_is_no_zero():
    assert NotComputed("no claim") == share(0, 0, "no claim")
    assert share(1, 4, "no claim") == 0.25


def test_an_aggregate_tells_figure_interval_and_coverage_on_one_line():
    found = Aggregate(0.87, Interval(0.83, 0.9, "bca"), 198, {"no claim in the answer": 2})
    assert str(found) == "0.870 [0.830, 0.900], 198 of 200 cases, 2 not computed: no claim in the answer"
    assert found.coverage == 0.99
    gap = Aggregate(NotComputed("no judge was given"), NotComputed("no case"), 0, {"no judge was given": 3})
    assert str(gap) == "not computed: no judge was given, 0 of 3 cases"  # the reason once
    mixed = Aggregate(NotComputed("all weights are 0"), NotComputed("no case"), 0, {"no claim": 1})
    assert str(mixed) == "not computed: all weights are 0, 0 of 1 case, 1 not computed: no claim"


@given(st.lists(st.floats(0, 1), min_size=1))
def test_a_spread_counts_every_case_once_and_stays_in_order(values):
    spread = Spread.of(values, 0.0, 1.0)
    assert sum(spread.histogram) == len(values)
    assert spread.smallest <= spread.median <= spread.largest
    assert spread.smallest <= spread.p95 <= spread.largest
    assert isinstance(spread.deviation, NotComputed) == (len(values) < 2)


def test_spread_of_nothing_is_none():
    assert Spread.of([], 0.0, 1.0) is None


def test_the_citation_figures_are_the_same_type():
    assert citations.NotComputed is NotComputed
    assert citation_metrics.NotComputed is NotComputed
