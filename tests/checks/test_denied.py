"""What a claim says with the very verb that its evidence negates, or the other way round."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify.checks import SourceIndex, check
from streamverify.checks.denied import denied
from streamverify.scorers.protocol import Claim
from streamverify.text.words import WORD
from streamverify.types import FindingKind, Passage

THINGS = ("Leave bought under the scheme", "The basement of the museum", "A sibling in the nursery class")
VERBS = ("be carried over", "be opened in winter", "count for the place", "be reached by tram")
BEHIND = ("", ", as nobody asked for it", "; the form is at the office", ", and a fee of 5 euros is due")


@given(st.sampled_from(THINGS), st.sampled_from(VERBS), st.sampled_from(BEHIND), st.sampled_from(BEHIND))
def test_only_one_of_the_two_denies(thing, verb, behind, other):
    told = denied(f"{thing} can {verb}{behind}.", f"{thing} cannot {verb}{other}.")
    assert told is not None
    assert denied(f"{thing} cannot {verb}{behind}.", f"{thing} can {verb}{other}.") is not None
    assert denied(f"{thing} can {verb}{behind}.", f"{thing} can {verb}{other}.") is None
    assert denied(f"{thing} cannot {verb}{behind}.", f"{thing} can't {verb}{other}.") is None


@given(st.permutations(THINGS), st.sampled_from(VERBS))
def test_what_is_denied_of_another_thing_says_nothing(things, verb):
    one, other, _ = things
    assert denied(f"{one} can {verb}.", f"{other} cannot {verb}.") is None


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_text_is_read(claim, evidence):
    place = denied(claim, evidence)
    assert place is None or 0 <= place < len(WORD.findall(claim))


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        # The other clause says it.
        ("A child cannot open zone B.", "A child can open zone A, but no other zone."),
        ("Fruit did not rise with visits by bees.", "Fruit rose with visits by wasps and not with bees."),
        ("Nor have bottles become cheaper.", "Besides, bottles have not become cheaper."),
        # A case, a time, a number of them.
        ("Results are not expected before April.", "Results are expected in April."),
        ("If the key is not set, version 2 is used.", "The key can be set to name a version."),
        ("Charges are refunded when you move away.", "Charges are not refunded when you stay in town."),
        ("Three drifters never reached the coast.", "Eight drifters reached the coast."),
        # Said without a negation.
        ("The supplier is unable to deliver the parts.", "The supplier cannot deliver the parts."),
        ("Owners of assistance dogs are exempt: they pay no fee.", "Owners of dogs do not pay the fee."),
        ("Bikes can be taken on weekends.", "Bikes cannot be taken on weekdays."),
        ("The council approved the second plan.", "The council did not approve the first plan."),
        ("It is not true that employees pay for parking.", "The employees pay for parking."),
        # Not what is negated.
        ("The bus leaves at noon.", "The bus that does not stop here leaves at noon."),
    ],
)
def test_what_a_sentence_says_in_another_way_is_not_told(claim, evidence):
    assert denied(claim, evidence) is None


def test_words_that_both_clauses_have_turn_neither():
    claim = "The insurance covers theft from an unlocked car."
    assert denied(claim, "The insurance does not cover theft from an unlocked car.") is not None


def test_it_is_told_and_weighs():
    passage = Passage("p", "Leave bought under the scheme cannot be carried over. Forms are online.")
    found = check(Claim("Leave bought under the scheme can be carried over."), SourceIndex([passage]))
    assert found.signals.verb_denied == 1
    (finding,) = found.findings
    assert finding.kind is FindingKind.NEGATION_MISMATCH
    assert finding.detail.startswith("passage p: Leave bought under the scheme cannot")
    right = check(Claim("Leave bought under the scheme can't be carried over."), SourceIndex([passage]))
    assert (right.signals.verb_denied, right.findings) == (0, ())


def test_long_sentences_are_passed_over():
    many = ", ".join(f"part {number} can be moved" for number in range(200))
    assert denied(f"{many}.", "Part 7 cannot be moved.") is None


@pytest.mark.parametrize(
    ("claim", "evidence", "word"),
    [
        (
            "The surveyor acts as an arbitrator.",
            "The surveyor acts as an expert and not as an arbitrator.",
            5,
        ),
        (
            "In disputes the surveyor acts as an arbitrator.",
            "In disputes the surveyor acts as an expert, not an arbitrator, and his decision is final.",
            7,
        ),
        ("The surveyor acts as an expert.", "The surveyor acts as an expert and not as an arbitrator.", None),
        ("The surveyor acts as an arbitrator.", "The surveyor acts as an expert and an arbitrator.", None),
        (
            "The surveyor does not act as an arbitrator.",
            "A surveyor acts as an expert, not an arbitrator.",
            None,
        ),
        (
            "The surveyor acts as an expert, not an arbitrator.",
            "He acts as an expert, not an arbitrator.",
            None,
        ),
        (
            "The owner is named as an arbitrator.",
            "The surveyor acts as an expert and not an arbitrator.",
            None,
        ),
        ("As an arbitrator he is paid.", "The surveyor acts as an expert and not as an arbitrator.", None),
    ],
)
def test_what_a_thing_is_not_by_the_evidence_it_is_not_said_to_be(claim, evidence, word):
    assert denied(claim, evidence) == word
