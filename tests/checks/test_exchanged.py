"""A value or a name between the same two words as another one in the evidence."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from streamverify.checks import SourceIndex, check
from streamverify.checks.exchanged import exchanged
from streamverify.checks.negation import Statement
from streamverify.scorers.protocol import Claim
from streamverify.types import Passage

NUMBERS = st.one_of(st.integers(0, 12).map(lambda n: f"{n}"), st.sampled_from(["15", "20", "1,500", "2.5"]))
WEEKDAYS = st.sampled_from(["Monday", "Tuesday", "Friday"])
SENTENCE = "A host who lets for no more than {} nights in a calendar year owes no levy."


def exchange(claim: str, evidence: str) -> tuple[str, str] | None:
    found = exchanged(claim, Statement(evidence))
    return (found.text, found.other) if found is not None else None


@given(NUMBERS, NUMBERS)
def test_another_number_between_the_same_words_is_told(one, other):
    found = exchange(SENTENCE.format(one), SENTENCE.format(other))
    assert found == (None if one == other else (one, other))


@given(WEEKDAYS, WEEKDAYS)
def test_another_weekday_between_the_same_words_is_told(one, other):
    sentence = "The office at the harbour is open on {} from nine to five."
    found = exchange(sentence.format(one), sentence.format(other))
    assert found == (None if one == other else (one, other))


@pytest.mark.parametrize(
    ("claim", "evidence", "found"),
    [
        ("In the third scene Leandros frees Ismene.", "In the third, Ismene frees Leandros.", None),
        ("The MMR vaccine ran out on 4 April.", "The HPV vaccine ran out on 4 April.", ("MMR", "HPV")),
        ("It came second in the race at Ulm.", "It came third in the race at Ulm.", ("second", "third")),
        (
            "Serve the notice within 12 days of it.",
            "Serve the notice within 12 weeks of it.",
            ("days", "weeks"),
        ),
        ("It opens in May this year, at Ulm.", "It opens in June this year, at Ulm.", ("May", "June")),
    ],
)
def test_other_kinds(claim, evidence, found):
    assert exchange(claim, evidence) == found


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        # The same value in other letters.
        ("Unit 17 lost twelve days.", "Unit 17 lost 12 days."),
        ("The hall opens at 9 on weekdays.", "The hall opens at 9:00 on weekdays."),
        ("The fee is 1.500 euros a year.", "The fee is 1,500 euros a year."),
        ("A share of 2.5 litres a day is served.", "A share of 2.50 litres a day is served."),
        # Rounded.
        ("The mill has about 500 visitors a day.", "The mill has about 497 visitors a day."),
        # The sentence has the claim's own value before the same word.
        (
            "Wallet charges go back for 90 days.",
            "Card charges go back for 180 days, wallet charges for 90 days.",
        ),
        # Few words in common.
        ("Parking costs 4 euros.", "A ticket for the ferry to the islands costs 9 euros."),
    ],
)
def test_what_says_the_same_or_something_else_is_not(claim, evidence):
    assert exchange(claim, evidence) is None


def signals(claim: str, text: str):
    return check(Claim(claim), SourceIndex([Passage("p", text)])).signals


def test_it_weighs_unless_it_follows_from_other_values():
    text = "The new tariff costs us 6 million dollars a year, half of which we pass on to buyers."
    worked_out, wrong = (f"The new tariff costs us {n} million dollars a year." for n in (3, 7))
    assert exchange(worked_out, text) == ("3", "6")
    assert signals(worked_out, text).exchanged == 0
    assert signals(wrong, text).exchanged > 0


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        # A time of day in another form.
        (
            "The shop at the harbour closes at 7 p.m. on Fridays.",
            "The shop at the harbour closes at 19:00 on Fridays.",
        ),
        ("The first bus to Ulm leaves at 9.15.", "The first bus to Ulm leaves at 09:15."),
        ("The hall closes at seven in the evening.", "The hall closes at 19:00 in the evening."),
        # Of another version.
        ("Version 4 does not support Windows.", "The tool supports Windows since version 5."),
        # A title, and what lies within a range.
        ("The talks were led by Chancellor Merkel in Bonn.", "The talks were led by Angela Merkel in Bonn."),
        ("Delivery of a parcel may take 4 days.", "Delivery of a parcel may take 3 to 5 days."),
    ],
)
def test_what_may_be_right_does_not_weigh(claim, text):
    assert signals(claim, text).exchanged == 0


def test_another_time_of_day_weighs():
    for time in ("8 p.m.", "20:00", "19:30"):
        claim = f"The shop at the harbour closes at {time} on Fridays."
        assert signals(claim, "The shop at the harbour closes at 19:00 on Fridays.").exchanged, time


NUMERALS = st.text("0123456789.,:/'’²½٣ ", min_size=1, max_size=24)


@given(NUMERALS, NUMERALS, NUMERALS)
@example("1.1,03.78", "2", "3")
def test_any_numeral_is_read(one, other, third):
    sentence = "The reading at the lock was {} at noon on the day."
    found = exchange(sentence.format(one), sentence.format(f"{other} to {third}"))
    assert found is None or found[0] in one


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_text_is_read(claim, evidence):
    found = exchanged(claim, Statement(evidence))
    assert found is None or claim[found.start : found.end] == found.text


def test_long_sentences_are_passed_over():
    many = "It costs 5 euros in all. " * 100
    assert exchange(many, many.replace("5", "6")) is None


@pytest.mark.parametrize(
    ("claim", "evidence", "found"),
    [
        ("It may be written in English or in German.", "It may be written in German or English.", None),
        ("It may be written in German or English.", "It may be written in English or in German.", None),
        (
            "Before the fire, Bergmann had paid Falk for the mill.",
            "Before the fire, Falk had paid Bergmann for the mill.",
            ("Bergmann", "Falk"),
        ),
        (
            "A thesis on this topic may be written in French or in German.",
            "A thesis on this topic may be written in Latin or in German.",
            ("French", "Latin"),
        ),
    ],
)
def test_names_in_another_order_are_not_exchanged(claim, evidence, found):
    assert exchange(claim, evidence) == found
