"""What a claim tells as a difference is not accused where two values of the sources have it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify.checks.compared import difference
from streamverify.checks.quantities import quantities

amounts = st.integers(20, 500)


def worked_out(claim: str, source: str) -> bool:
    return any(difference(claim, number, quantities(source, hedges=False)) for number in quantities(claim))


@given(amounts, amounts)
def test_a_difference_of_two_values_is_one_and_the_next_number_is_none(one, other):
    source = f"The first load is {one} kg, the second load is {other} kg."
    apart = abs(one - other)
    if apart and apart not in (one, other):
        assert worked_out(f"The second load is {apart} kg heavier.", source)
    if apart + 1 not in (one, other):
        assert not worked_out(f"The second load is {apart + 1} kg heavier.", source)


@pytest.mark.parametrize(
    "claim",
    [
        "The T9 takes 2 kg more than the T8.",
        "The change cut the load by 2 kg.",
        "Buyers of the T9 saved about 2 kg.",
        "The T8 is 2 kg short of the T9.",
    ],
)
def test_it_may_be_told_in_several_ways(claim):
    assert worked_out(claim, "The T9 carries 10 kg and the T8 8 kg. The lock weighs 2 kg.")


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("The T8 weighs 2 kg.", "The T9 carries 10 kg and the T8 8 kg."),  # not told as a difference
        ("The T9 takes 2 kg more.", "The T9 carries 10 kg in 8 minutes."),  # of two kinds
    ],
)
def test_what_is_none_is_not_taken_for_one(claim, source):
    assert not worked_out(claim, source)
