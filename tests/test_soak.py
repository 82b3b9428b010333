"""A little of the soak, for every change: `benchmarks/soak.py` runs as long as one likes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from soak import slope_kib
from soak_laws import DEAF, PASSAGES, POLICIES, Tally, _doomed, _sentences, _shown, followed, planned
from soak_scorers import HANGS, DoubleScorer
from streamverify import Verifier
from streamverify.testing import ScriptedScorer

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
SHARES = {"double": 0.8, "recorded": 0.15, "killed": 0.05}


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_streams_with_faults_lose_nothing_and_leave_nothing_behind(tmp_path):
    told = tmp_path / "soak.json"
    command = [
        sys.executable,
        str(BENCHMARKS / "soak.py"),
        "--streams",
        "400",
        "--round",
        "100",
        "--seed",
        "7",
    ]
    done = subprocess.run(
        [*command, "--json", str(told)], capture_output=True, text=True, timeout=880, check=False
    )
    assert told.exists(), done.stderr
    figures = json.loads(told.read_text())
    assert figures["broken"] == []
    assert done.returncode == 0
    assert figures["streams"] == 400
    assert sum(figures["outcomes"].values()) > 300
    assert set(figures["labels"]) >= {"supported", "unsupported", "unverified"}


def test_a_stream_of_the_soak_is_the_same_for_the_same_seed_and_faults_are_of_every_kind():
    plans = [planned(1, number, SHARES) for number in range(400)]
    assert plans == [planned(1, number, SHARES) for number in range(400)]
    assert plans != [planned(2, number, SHARES) for number in range(400)]
    assert {plan.policy for plan in plans} == set(POLICIES)
    assert {plan.verifier for plan in plans} == set(SHARES)
    assert len({(plan.source, plan.reader) for plan in plans}) > 20
    assert any(_doomed(sentence) for plan in plans for sentence in _sentences(plan.text))


def plain(policy):
    """A stream in which the source and the reader do nothing wrong, and some sentence must be withheld."""
    for number in range(10_000):
        plan = planned(1, number, {"double": 1.0})
        bad = any(_doomed(one) for one in _sentences(plan.text))
        slow = DEAF in plan.text or HANGS in plan.text
        if bad and not slow and (plan.policy, plan.source, plan.reader) == (policy, "whole", "whole"):
            return plan
    raise AssertionError("none is like that")


@pytest.mark.anyio
async def test_the_soak_notices_a_scorer_that_passes_everything():
    tally = Tally()
    async with Verifier(DoubleScorer()) as verifier:
        await followed(plain("redact"), verifier, tally)
    async with Verifier(ScriptedScorer()) as verifier:
        with pytest.raises(AssertionError, match="released"):
            await followed(plain("redact"), verifier, tally)
    assert tally.sources_begun == tally.sources_ended == 2
    assert tally.labels["unsupported"] > 0
    assert len(PASSAGES) == 2


def test_the_soak_notices_a_lost_character():
    plan = plain("flag")
    _shown(plan, plan.text)
    _shown(plan, plan.text[:-5])  # a reader may have left
    with pytest.raises(AssertionError, match="not the source"):
        _shown(plan, plan.text.replace("built", "buil", 1))


def test_the_slope_is_of_a_thousand_streams():
    rows = [{"streams": n * 500, "resident_mib": 100 + n * 0.5} for n in range(8)]
    assert slope_kib(rows) == pytest.approx(1024)
    assert slope_kib(rows[:1]) == 0
