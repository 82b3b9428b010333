"""A year from nowhere, and one that the claim supposes or rounds."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from streamverify.checks import SourceIndex, check
from streamverify.scorers.protocol import Claim
from streamverify.types import Passage

MILL = (
    "The mill at Corran was built in 1871 and burnt down in the spring of 1902; a café opened there in 1988."
)


def year_missing(claim: str, *texts: str) -> float:
    passages = [Passage(f"p{number}", text) for number, text in enumerate(texts)]
    return check(Claim(claim), SourceIndex(passages)).signals.year_missing


@given(st.integers(1500, 2099))
def test_a_year_counts_as_missing_exactly_where_nothing_leads_to_it(year):
    missing = year_missing(f"The mill at Corran was built in {year}.", MILL)
    assert missing == (year not in {1871, 1902, 1988})


@given(st.integers(1500, 2099), st.integers(2, 60))
def test_a_year_that_the_sources_lead_to_is_not_missing(year, span):
    assume(year + span not in {1871, 1902, 1988})
    text = f"The mill was built in {year}. It burnt down {span} years later."
    assert not year_missing(f"The mill burnt down in {year + span}.", text)


@pytest.mark.parametrize(
    "claim",
    [
        "A mill bought in 1975 pays half of the levy.",
        "Someone who joined in 1975 pays half of the levy.",
        "For a permit that was issued in 1975, the old levy applies.",
        "If the mill had been built in 1975, it would pay half of the levy.",
    ],
)
def test_a_year_that_tells_a_kind_of_thing_is_not_missing(claim):
    assert not year_missing(claim, MILL)


def test_what_is_told_of_some_thing_is_still_missing():
    assert year_missing("A fire destroyed the mill; it was rebuilt in 1975.", MILL)
    assert year_missing("A request for a café was turned down in 1975.", MILL)


def test_a_round_year_stands_for_one_nearby():
    assert not year_missing("The mill was lost around 1900.", MILL)
    assert year_missing("The mill was lost around 1950.", MILL)
    assert year_missing("The mill was lost in 1900.", MILL)


@pytest.mark.parametrize("claim", ["It burnt down in the 1950s.", "It was built in the 16th century."])
def test_decades_and_centuries_count_as_years(claim):
    assert year_missing(claim, MILL)


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("The song was popular in the sixties.", "The song was popular in the 1960s."),
        ("The mill was built in 1746.", "The mill was built in the 1700s."),
        ("The firm was founded in 1974.", "The firm celebrates its 50th anniversary in 2024."),
        ("He died in 2005 at the age of 60.", "He was born in 1945 and died in 2005 at 60."),
        ("The server needs 4 GB of memory.", "The software needs Windows Server 2022 and 4 GB of memory."),
    ],
)
def test_a_year_in_other_words_worked_out_or_in_a_name_is_not_missing(text, claim):
    assert not year_missing(claim, text)


def test_the_year_that_a_passage_is_from_is_not_missing():
    passage = Passage("p", "The fee is 5 euros.", metadata={"date": "2024-03-01"})
    index = SourceIndex([passage])
    assert not check(Claim("In 2024 the fee is 5 euros."), index).signals.year_missing
    assert check(Claim("In 2023 the fee is 5 euros."), index).signals.year_missing


def test_a_day_and_a_month_say_nothing_by_themselves():
    assert not year_missing("The café opened on 4 May 1989.", MILL)
