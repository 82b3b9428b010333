"""A negation is told where claim and source are alike around it, and not where one says it in other words."""

from __future__ import annotations

import pytest

from streamverify.checks import SourceIndex, check
from streamverify.scorers.protocol import Claim
from streamverify.types import FindingKind, Passage


def told(claim: str, source: str) -> bool:
    found = check(Claim(claim), SourceIndex([Passage("p", source)])).findings
    return any(one.kind is FindingKind.NEGATION_MISMATCH for one in found)


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        (
            "Archives stay in the region of their vault.",
            "Archives are not copied elsewhere and stay in the region of their vault.",
        ),
        (
            "The rent of a studio covers heating, and nothing is charged on top for water.",
            "The rent of a studio covers heating and water.",
        ),
        (
            "Staff of the depot cannot move days on site from one week to the next.",
            "Staff of the depot are expected on site on two days each week.",
        ),
        (
            "The sensor needs no wire and reports each hour by radio.",
            "The sensor reports each hour by radio and takes its power from a cell.",
        ),
    ],
)
def test_other_words_for_the_same_are_not_accused(claim, source):
    assert not told(claim, source)


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("Archives are not kept in the northern region.", "Archives are kept in the northern region."),
        ("Archives are kept in the northern region.", "Archives are not kept in the northern region."),
        ("The rent does not cover heating and water.", "The rent of a studio covers heating and water."),
        ("No permit is needed for the upper valley.", "A permit is needed for the upper valley."),
    ],
)
def test_the_opposite_in_the_same_words_is(claim, source):
    assert told(claim, source)
