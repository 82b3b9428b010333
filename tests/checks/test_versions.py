from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify.checks import SourceIndex, check
from streamverify.checks.versions import MOST_PASSAGES, Versions
from streamverify.claims.reader import read
from streamverify.types import FindingKind, Passage, Sentence

RULE = "Parking permits cost {} euros a year. They are sold at the town hall on weekdays. One is for one car."
OLD, NEW = RULE.format(60), RULE.format("ninety")
CLAIM = "A parking permit costs 60 euros a year."

versions = [
    (Passage("a", OLD, title="Parking rules 2019"), Passage("b", NEW, title="Parking rules 2022")),
    (
        Passage("a", OLD, metadata={"updated": "2019-03-01"}),
        Passage("b", NEW, metadata={"updated": "2022-01-15"}),
    ),
    (Passage("a", f"Withdrawn in March. {OLD}"), Passage("b", NEW)),
    (Passage("a", OLD), Passage("b", f"This text replaces the earlier rules. {NEW}")),
    (Passage("a", f"{OLD} No longer in force.", title="Rules"), Passage("b", NEW, title="Rules")),
]


@pytest.mark.parametrize("pair", versions)
@pytest.mark.parametrize("turned", [False, True])
def test_a_claim_that_follows_the_older_version_is_told_with_what_the_newer_says(pair, turned):
    found = Versions(pair[::-1] if turned else pair).followed(CLAIM)
    assert found is not None
    assert (found.older, found.newer) == ((1, 0) if turned else (0, 1))
    assert "ninety" in found.sentence


@pytest.mark.parametrize("pair", versions)
@pytest.mark.parametrize(
    "claim",
    [
        "A parking permit costs 90 euros a year.",
        "Permits are sold at the town hall on weekdays.",
        "Previously a parking permit cost 60 euros a year.",
        "The permit used to cost 60 euros a year.",
        "The town hall has two entrances.",
        "",
    ],
)
def test_what_both_say_the_newer_says_or_was_so_is_left_alone(pair, claim):
    assert Versions(pair).followed(claim) is None


def test_a_claim_that_names_the_year_of_the_older_version_is_about_it():
    assert (
        Versions(versions[0]).followed("In the rules of 2019 a parking permit costs 60 euros a year.") is None
    )


def test_passages_about_other_things_are_no_versions_of_each_other():
    other = Passage(
        "b", "The museum opens at nine and costs 90 crowns. Guided tours leave hourly.", title="2022"
    )
    assert Versions([Passage("a", OLD, title="2019"), other]).pairs == ()


def test_two_passages_of_one_date_without_a_word_on_it_are_no_versions():
    assert Versions([Passage("a", OLD), Passage("b", NEW)]).pairs == ()


def test_the_finding_says_why_and_the_signal_is_set():
    index = SourceIndex(versions[0][:2])
    claim = read(Sentence(index=0, text=CLAIM, start=0, end=len(CLAIM))).claim
    checked = check(claim, index)
    assert checked.signals.superseded == 1
    [finding] = [one for one in checked.findings if one.kind is FindingKind.SUPERSEDED]
    assert "passage a" in finding.detail
    assert "passage b" in finding.detail
    assert "ninety euros" in finding.detail


texts = st.text("ab1.2 ", max_size=60)


@given(st.lists(texts, max_size=5), texts)
def test_any_text_is_read_and_no_passage_supersedes_itself(passages, claim):
    known = Versions([Passage(str(i), text, title=text[:9]) for i, text in enumerate(passages)])
    assert all(older.passage != newer.passage for older, newer in known.pairs)
    assert not any((newer, older) in known.pairs for older, newer in known.pairs)
    known.followed(claim)


def test_of_very_many_passages_the_first_are_compared():
    many = [Passage(str(i), OLD, title=f"Rules {1900 + i}") for i in range(MOST_PASSAGES + 20)]
    assert max(newer.passage for _, newer in Versions(many).pairs) == MOST_PASSAGES - 1
