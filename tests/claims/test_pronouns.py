"""What a pronoun at a sentence's beginning stands for, and where nobody can tell."""

from __future__ import annotations

import pytest

from streamverify.claims.reader import read
from streamverify.sentences.segmenter import segment
from tests.claims.reading import claim, reading


@pytest.mark.parametrize(
    ("before", "text", "expected"),
    [
        (
            "The Eiffel Tower was built in 1889.",
            "It stands 330 m tall.",
            "The Eiffel Tower stands 330 m tall.",
        ),
        (
            "The tenants of Pell House may leave.",
            "They must give notice.",
            "The tenants of Pell House must give notice.",
        ),
        ("The museum, which is old, opened in 1901.", "Its garden is free.", "The museum's garden is free."),
        (
            "In 2019, Harrow Mills was sold.",
            "In 2020, it went bankrupt.",
            "In 2020, Harrow Mills went bankrupt.",
        ),
        ("The prize went to Ada Pell.", "She gave it away.", "Ada Pell gave it away."),
        ("The bid was late.", "It's tied to a condition.", "The bid is tied to a condition."),
        ("Here is more.\n", "It stands 330 m tall.", "It stands 330 m tall."),
        ("Mr. Adams married Mrs. Clark in 1990.", "She was born in York.", "Mrs. Clark was born in York."),
        ("Mr. Adams married Mrs. Clark in 1990.", "He was born in York.", "Mr. Adams was born in York."),
        ("Ada Pell met Eve Stone.", "She was born in York.", "She was born in York."),
    ],
)
def test_a_dangling_pronoun_takes_its_referent_and_nothing_else(before, text, expected):
    found = reading(before, text)
    assert found.claim.text == expected


@pytest.mark.parametrize(
    ("between", "expected"),
    [
        ("We also offer the Pro plan.", "It costs 30 euros."),  # which of the two, nobody can tell
        ("It is billed monthly.", "The Basic plan costs 30 euros."),
        ("Yes, of course.", "The Basic plan costs 30 euros."),
    ],
)
def test_a_sentence_between_whose_subject_cannot_be_told_hides_those_before(between, expected):
    assert reading("The Basic plan is cheap.", between, "It costs 30 euros.").claim.text == expected


def test_a_borrowed_referent_never_brings_the_assertion_of_the_sentence_before():
    found = reading("The Eiffel Tower was built in 1889.", "It stands 330 m tall.")
    borrowed = "".join(c for c, o in zip(found.claim.text, found.claim.offsets, strict=True) if o < 0)
    assert borrowed == "The Eiffel Tower"


@pytest.mark.parametrize(
    "text",
    [
        "It is possible to appeal.",
        "It takes 10 minutes.",
        "The fee is due.",
    ],
)
def test_what_stands_on_its_own_is_left_alone(text):
    assert claim("The Eiffel Tower was built in 1889.", text) == text


def test_a_pronoun_that_nothing_follows_claims_nothing():
    first, cut_off = segment("The tower is 330 metres tall. It ")
    assert read(cut_off, previous=[first]).claim is None
