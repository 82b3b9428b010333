"""The formulas of `benchmarks/queueing.py` against known values and against the simulation."""

from __future__ import annotations

import math
from collections import OrderedDict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_simulation import simulate
from queueing import Costs, Fleet, Load, erlang_c, forecast, lru_hits, popularity, sized

COSTS = Costs(claim=0.03, cv=0.25, window=0.005, request=0.004, window_bytes=2**20)


def test_erlangs_c_has_its_known_values():
    assert erlang_c(1, 0.7) == pytest.approx(0.7)  # of one server the share of time it is busy
    assert erlang_c(2, 1.0) == pytest.approx(1 / 3)
    assert erlang_c(10, 8.0) == pytest.approx(0.40918, abs=1e-5)
    assert erlang_c(3, 3.0) == 1.0


@given(st.integers(1, 300), st.floats(0.01, 0.99))
def test_more_servers_with_as_much_work_each_make_fewer_wait(servers, busy):
    assert 0 <= erlang_c(servers + 1, busy * (servers + 1)) <= erlang_c(servers, busy * servers) <= 1


@pytest.mark.parametrize("exponent", [0.6, 0.9, 1.2])
@pytest.mark.parametrize("held", [5, 40, 150])
def test_a_cache_hits_as_often_as_forecast(exponent, held):
    probabilities = popularity(200, exponent)
    draws = np.searchsorted(np.cumsum(probabilities), np.random.default_rng(1).random(20_000))
    cache: OrderedDict[int, None] = OrderedDict()
    hits = 0
    for place, one in enumerate(draws.tolist()):
        hits += place >= 2000 and one in cache
        cache[one] = None
        cache.move_to_end(one)
        if len(cache) > held:
            cache.popitem(last=False)
    assert hits / 18_000 == pytest.approx(lru_hits(probabilities, held), abs=0.02)


def test_a_cache_of_everything_and_one_of_nothing():
    probabilities = popularity(50, 1.0)
    assert probabilities.sum() == pytest.approx(1)
    assert lru_hits(probabilities, 50) == 1
    assert lru_hits(probabilities, 0) == 0


@pytest.mark.parametrize("routed", [False, True])
def test_formula_and_simulation_agree_on_how_busy_a_fleet_is(routed):
    load = Load(300, windows=10, sets=500)
    fleet = Fleet(4, cores=4, cache_bytes=500 * 2**20, routed=routed)
    told = forecast(load, fleet, COSTS)
    found = simulate(load, fleet, COSTS, seconds=60)
    assert found.busy == pytest.approx(told.busy, abs=0.05)
    assert found.hits == pytest.approx(told.hits, abs=0.1)
    assert found.lag_p50 == pytest.approx(told.lag_p50, rel=0.3)


def test_too_much_work_is_told_and_a_fleet_is_sized_for_it():
    load = Load(10_000)
    assert math.isinf(forecast(load, Fleet(1), COSTS).lag_p95)
    for routed in (False, True):
        fleet = sized(load, Fleet(1, routed=routed), COSTS)
        assert forecast(load, fleet, COSTS).lag_p95 <= 0.25
        assert fleet.machines > 1


def test_the_same_seed_gives_the_same_figures():
    load, fleet = Load(20), Fleet(2, cores=2, routed=True)
    first = simulate(load, fleet, COSTS, seconds=10, seed=3)
    assert simulate(load, fleet, COSTS, seconds=10, seed=3) == first
    assert simulate(load, fleet, COSTS, seconds=10, seed=4) != first
