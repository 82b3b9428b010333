"""Small counts, days of two kinds, and numbers that count something."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify.checks import SourceIndex, check
from streamverify.scorers.protocol import Claim
from streamverify.types import Passage


def details(claim: str, *texts: str) -> list[str]:
    index = SourceIndex([Passage(f"p{place}", text) for place, text in enumerate(texts)])
    return [found.detail for found in check(Claim(claim), index).findings]


counts = st.integers(2, 12)
THINGS = st.sampled_from(["doses", "tablets", "members", "seats"])


@given(counts, counts, THINGS)
def test_a_small_count_in_nearly_the_same_words_is_told_where_it_is_another(one, other, thing):
    text, claim = (f"The plan of Ulm allows {count} {thing} a patient." for count in (one, other))
    expected = [] if one == other else [f"{other} here, {one} in passage p0"]
    assert details(claim, text) == expected
    assert details(claim, text, f"Elsewhere {other} {thing} are usual.") == expected


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("Do not exceed 4 doses in 24 hours.", "Do not exceed 6 doses in 24 hours."),
        ("Take 2 tablets three times a day.", "Take 3 tablets three times a day."),
        ("The board has nine members in all.", "The board has four members in all."),
    ],
)
def test_a_wrong_small_count_is_told(text, claim):
    assert len(details(claim, text)) == 1


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("The board has more than five members in all.", "The board has six members in all."),
        ("The board has nine members in all.", "The board has about eight members in all."),
        ("The board has nine members and meets in the hall.", "The club of the river has four members."),
        ("The board has nine members in all.", "The board has two of the nine members in all."),
        ("A cabin has four berths, a larger one six.", "A larger cabin has six berths."),
        ("Five members left the board in May.", "Seven members left the board in May, five old and two new."),
        ("The board has nine members in all.", "If the board had four members, it would end."),
    ],
)
def test_a_count_that_may_follow_or_is_of_something_else_is_not_told(text, claim):
    assert details(claim, text) == []


@pytest.mark.parametrize(
    ("text", "claim", "told"),
    [
        ("Delivery takes 5 working days.", "Delivery takes 5 calendar days.", True),
        ("Delivery takes 3-5 business days.", "Delivery takes 3-5 calendar days.", True),
        ("Delivery takes 5 consecutive days.", "Delivery takes 5 business days.", True),
        ("Delivery takes 5 working days.", "Delivery takes 5 business days.", False),
        ("Delivery takes 5 working days.", "Delivery takes 5 days.", False),
        ("Delivery takes 5 days.", "Delivery takes 5 calendar days.", False),
        ("It takes 5 working days, 5 calendar days abroad.", "It takes 5 calendar days abroad.", False),
    ],
)
def test_working_days_are_no_calendar_days(text, claim, told):
    assert bool(details(claim, text)) is told


@pytest.mark.parametrize(
    ("text", "claim", "told"),
    [
        (
            "The plan costs $20 a month and has 25 users.",
            "The plan costs $25 a month and has 20 users.",
            "$25 here, $20 in passage p0",
        ),
        (
            "The hall has 20 square metres and sleeps 30 people.",
            "The hall has 30 square metres and sleeps 20 people.",
            "30 square metres here, 20 square metres in passage p0",
        ),
        ("The plan has 25 users.", "The plan costs €25.", "€25 is in no passage"),
        ("Margin (%): 12.5", "The margin was 12.5%.", None),
        ("| Fee in euros | 25 | Fine | 40 |", "The fee is 25 euros.", None),
        ("Fee in euros: 25\nusers: 40", "The fee is 25 euros.", None),
    ],
)
def test_what_is_counted_is_no_amount_whose_unit_stands_elsewhere(text, claim, told):
    assert (told in details(claim, text)) if told else details(claim, text) == []
