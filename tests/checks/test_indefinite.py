"""Number words that tell no number are accused of nothing; the same words as a value are."""

from __future__ import annotations

import pytest

from streamverify.checks import SourceIndex, check
from streamverify.scorers.protocol import Claim
from streamverify.types import Passage

SOURCE = Passage("a", "The works were sold in March 1984. Profit fell by 45 million in the third quarter.")


def accused(claim: str) -> list[str]:
    return [claim[found.start : found.end] for found in check(Claim(claim), SourceIndex([SOURCE])).findings]


@pytest.mark.parametrize(
    "claim",
    [
        "The works will one day be gone.",
        "The works were sold one night in March 1984.",
        "The works cost several million dollars.",
        "The works had a few hundred employees.",
        "Profit fell against the same quarter a year earlier.",
    ],
)
def test_what_names_no_number_is_not_accused(claim):
    assert accused(claim) == []


@pytest.mark.parametrize(
    ("claim", "value"),
    [
        ("The sale of the works took one day.", "one day"),
        ("The sale of the works may take one day.", "one day"),
        ("The works were closed for one night in the sale.", "one night"),
        ("The works cost two million dollars.", "two million dollars"),
        ("The works had three hundred employees.", "three hundred"),
        ("The sale took a quarter of a year.", "quarter of a year"),
    ],
)
def test_what_names_one_is(claim, value):
    assert accused(claim) == [value]
