"""A name in the place of the source's own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify.checks import SourceIndex, check
from streamverify.scorers.protocol import Claim
from streamverify.types import Passage

FACTS = (
    "Anna Bergmann designed the harbour bridge in 1924. Otto Falk built the old mill nine years later.",
    "The Corrie Prize for poetry went to Lise Holm. The Albion Medal for novels went to Ravi Sen.",
)
NAMES = ("Anna Bergmann", "Otto Falk", "Lise Holm", "Ravi Sen")


def moved(claim: str, texts: tuple[str, ...] = FACTS) -> float:
    return signals(claim, texts).name_moved


def signals(claim: str, texts: tuple[str, ...]):
    return check(Claim(claim), SourceIndex([Passage(f"p{i}", text) for i, text in enumerate(texts)])).signals


def test_the_name_of_another_in_the_place_of_the_right_one_stands_out():
    claim = "The harbour bridge was designed in 1924 by Otto Falk."
    found = check(Claim(claim), SourceIndex([Passage("p", FACTS[0])]))
    assert found.signals.name_moved > 0.5
    assert [finding.detail for finding in found.findings] == ["Otto Falk here, Anna Bergmann in passage p"]
    assert moved(claim.replace("Otto Falk", "Anna Bergmann")) == 0


@given(st.permutations(FACTS), st.sampled_from(NAMES))
def test_the_order_of_the_passages_changes_nothing(order, name):
    claim = f"The Corrie Prize for poetry went to {name}."
    assert moved(claim, tuple(order)) == moved(claim)
    assert (moved(claim) > 0) is (name != "Lise Holm")


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        # A pronoun may mean the name: it counts half, and nothing is told.
        (
            "Lise Holm taught at Ulm. In Bergen she studied music from 1881 to 1884 with Ravi Sen.",
            "Lise Holm studied music in Bergen from 1881 to 1884.",
        ),
        # What the sentence before speaks of goes on as "the company", "the plan".
        (
            "Acme Corp makes pumps. The company, with its seat in Lyon, was founded by Jean Dupont in 1990.",
            "Acme Corp was founded by Jean Dupont in 1990.",
        ),
        # Another matter shares a few words.
        (
            "Anna Bergmann designed the harbour bridge in 1924. Otto Falk was born in Ulm.",
            "Otto Falk built boats.",
        ),
        # A land and its people.
        (
            "The British peck of grain holds nine litres, the Dutch bushel more. Britain is wet.",
            "A peck of grain holds nine litres in Britain.",
        ),
        # One name in two forms.
        (
            "The World Health Organization, based in Geneva, named the virus.",
            "The WHO named the virus in Geneva.",
        ),
    ],
)
def test_what_may_be_the_same_is_not_told(text, claim):
    assert check(Claim(claim), SourceIndex([Passage("p", text)])).findings == ()


SHORT = ("US", "EU", "UK", "TV", "AI", "PC", "MP", "Li", "Wu")


@given(st.sampled_from(SHORT), st.sampled_from(("A {} office", "The {} board", "Ms {}")))
def test_a_name_of_two_letters_stands_where_it_is_written(name, form):
    claim = f"{form.format(name)} blocked the merger of Contoso and Fabrikam on Tuesday."
    found = check(Claim(claim), SourceIndex([Passage("p", claim)]))
    assert (found.findings, found.signals.name_moved) == ((), 0)


@pytest.mark.parametrize(("theirs", "ours"), [("U.S.", "US"), ("United States", "US"), ("American", "US")])
def test_a_name_of_two_letters_may_be_written_out(theirs, ours):
    text = "A {} judge blocked the merger of Contoso and Fabrikam on Tuesday."
    assert moved(text.format(ours), (text.format(theirs),)) == 0


def test_a_name_of_two_letters_in_the_place_of_another_stands_out():
    text = "Ms Wu opened the new studio of Contoso in 2019. Ms Li closed it. The mill is old."
    found = check(Claim("Ms Li opened the new studio of Contoso in 2019."), SourceIndex([Passage("p", text)]))
    assert [finding.detail for finding in found.findings] == ["Li here, Wu in passage p"]
