"""The laws of reading hold for the model in the package as often as `rates.json` says.

`python benchmarks/reading.py --cases 600 --out tests/laws_of_reading/rates.json` measures them at length.
Here each law meets fewer cases: it fails where so few holding would be a wonder if the rate were as written.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from laws_of_reading.cases import cases
from laws_of_reading.laws import LAWS
from laws_of_reading.rates import Rate, held
from streamverify import Verifier

RATES = json.loads(Path(__file__).with_name("rates.json").read_text(encoding="utf-8"))["laws"]
CASES = {"d": 120}
"""Cases of a law: of one that holds seldom few tell little, since next to none could hold by chance."""
FEW = 30


@pytest.fixture(scope="module")
def verifier():
    with Verifier() as verifier:
        yield verifier


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("law", LAWS)
def test_a_law_holds_as_often_as_is_told(verifier, law):
    kept: dict[str, list[bool]] = {}
    for outcome in held(verifier, law, CASES.get(law, FEW)):
        kept.setdefault(outcome.pair.law, []).append(outcome.holds)
    for name, values in kept.items():
        assert Rate.of(values, confidence=0.999).high >= RATES[name]["rate"], f"{name}: {Rate.of(values)}"


@pytest.mark.parametrize("law", LAWS)
def test_every_pair_changes_something_or_says_what_is_expected(law):
    pairs = list(LAWS[law](40))
    assert len(pairs) >= 20
    # A case with one passage is its own reordering.
    changed = [pair.before != pair.after for pair in pairs if pair.expected == "same"]
    assert not changed or sum(changed) > 0.8 * len(changed)


def test_the_claims_are_of_both_kinds():
    assert len(cases()) > 1000
    assert {case.supported for case in cases()} == {True, False}
