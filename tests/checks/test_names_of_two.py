"""Two people of one surname."""

from __future__ import annotations

import pytest

from streamverify.checks import SourceIndex, check
from streamverify.scorers.protocol import Claim
from streamverify.types import Passage


def details(claim: str, *texts: str) -> list[str]:
    index = SourceIndex([Passage(f"p{place}", text) for place, text in enumerate(texts)])
    return [finding.detail for finding in check(Claim(claim), index).findings]


@pytest.mark.parametrize(
    "source",
    [
        "The firm was founded by Bruno Tessaro.",
        "Bruno Tessaro founded the firm. Later Carla Tessaro ran it.",
        "Bruno Tessaro founded the firm. Elio Rossi ran it.",
        "Bruno Umberto Tessaro’s firm was founded here.",
        "The firm was founded by Ubaldo Tessaro.",
    ],
)
def test_another_given_name_of_the_same_surname_is_told(source):
    assert details("Elio Tessaro founded the firm.", source) == ["Elio Tessaro is in no passage"]


@pytest.mark.parametrize(
    "source",
    [
        "The firm was founded by Elio Tessaro.",
        "The firm was founded by ELIO TESSARO.",
        "The firm was founded by Mr Tessaro.",
        "The firm was founded by Dr. Tessaro.",
        "The firm was founded by Sir Bruno Tessaro and by Chairman Tessaro.",
        "The firm was founded by E. Tessaro.",
        "The firm was founded by B. Tessaro.",
        "The firm was founded by Bruno E. Tessaro.",
        "The firm was founded by Elio Bruno Tessaro.",
        "The firm was founded by Bruno Tessaro and his son Elio.",
        "The firm was founded by Tessaro.",
        "The firm was founded by Bruno Tessaro. The Tessaro brothers ran it.",
        "The firm was founded by Bruno Tessaro. The Tessaros ran it.",
        "The firm was founded by Bruno Tessaro-Rossi.",
        "The firm, Casa Tessaro, was founded here.",
        "The firm was founded by the Italian Tessaro.",
        "Visit Tessaro. The firm was founded here.",
        "The firm was founded by Aurelio Tessaro.",
    ],
)
def test_who_may_be_the_same_is_not_told(source):
    assert details("Elio Tessaro founded the firm.", source) == []


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [("Tom", "Thomas"), ("Bob", "Robert"), ("Chris", "Christopher"), ("Beth", "Elizabeth"), ("Anna", "Anne")],
)
def test_a_nickname_is_not_told(ours, theirs):
    for one, other in ((ours, theirs), (theirs, ours)):
        assert details(f"{one} Tessaro founded the firm.", f"{other} Tessaro founded the firm.") == []


@pytest.mark.parametrize("word", ["Ask", "President", "Founder", "Old", "Later", "Antwerp"])
def test_a_word_that_is_no_given_name_is_not_told(word):
    assert details(f"{word} Tessaro twice.", "The firm was founded by Bruno Tessaro.") == []


def test_whoever_stands_in_the_place_of_another_of_the_surname_is_told():
    text = "In 1962 the company was founded in Gravina as a workshop by Bruno Tessaro. Its plant is old."
    other = "Elio Tessaro runs it today."
    claim = "Elio Tessaro founded the company in Gravina in 1962 as a workshop."
    assert details(claim, text, other) == ["Elio Tessaro here, Bruno Tessaro in passage p0"]
    assert details(claim.replace("Elio", "Bruno"), text, other) == []
    assert details(f"{claim[:-1]}, as did Bruno Tessaro.", text, other) == []
    assert details(claim, f"{other} {text}") == []  # the sentence before may tell who is meant
