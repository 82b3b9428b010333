"""Rules said from both sides of a bound, negations said with another word, and whose opposite a word is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify.checks.bounds import Bounds
from streamverify.checks.negation import mismatch, statements

UP = (
    "above {}",
    "over {}",
    "more than {}",
    "exceeding {}",
    "of {} or more",
    "no less than {}",
    "of at least {}",
)
DOWN = ("up to {}", "under {}", "less than {}", "not exceeding {}", "of {} or less", "no more than {}")


def told(claim: str, source: str) -> str | None:
    found = mismatch(claim, statements(source))
    return claim[found.start : found.end] if found else None


@given(st.sampled_from(UP), st.sampled_from(DOWN), st.integers(1, 900), st.integers(1, 900))
def test_a_bound_is_turned_in_one_of_the_same_figure_from_the_other_side(up, down, one, other):
    above, below = (f"Claims {way.format(f'£{one}')} are paid." for way in (up, down))
    assert Bounds.of(above).turned_in(Bounds.of(below))
    assert Bounds.of(below).turned_in(Bounds.of(above))
    assert not Bounds.of(above).turned_in(Bounds.of(above))
    elsewhere = Bounds.of(f"Claims {down.format(f'£{other}')} are paid.")
    assert Bounds.of(above).turned_in(elsewhere) is (one == other)


@given(st.text(max_size=80) | st.text(alphabet="ao1 may½²-,.", max_size=40))
def test_any_text_is_read_for_bounds(text):
    assert not Bounds.of(text).turned_in(Bounds.of(text))


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("Expenses of up to £250 do not need approval.", "Expenses above £250 require approval."),
        ("Files of up to 25 MB can be attached.", "Files larger than 25 MB cannot be attached."),
        ("Children aged 12 and over are admitted.", "Children under 12 are not admitted."),
        ("Children from the age of twelve are admitted.", "Children under 12 are not admitted."),
        (
            "Applications received by 1 May will be considered.",
            "Applications received after 1 May 2025 will not be considered.",
        ),
        ("Texts of 10 pages or more are accepted.", "Texts shorter than 10 pages are rejected."),
        (
            "Refunds are possible within 30 days of purchase.",
            "Refunds over 30 days after it are not possible.",
        ),
        (
            "The service is not available during the first 90 days.",
            "The service is available after 90 days at the earliest.",
        ),
    ],
)
def test_one_rule_from_both_sides_of_its_bound_is_no_mismatch(claim, source):
    assert told(claim, source) is None


@pytest.mark.parametrize(
    ("claim", "source", "word"),
    [
        ("Children from the age of 8 are admitted.", "Children under 12 are not admitted.", "admitted"),
        (
            "Patients with an eGFR under 25 were included.",
            "Patients with an eGFR below 25 were excluded.",
            "included",
        ),
        (
            "Files larger than 25 MB can be attached.",
            "Files larger than 25 MB cannot be attached.",
            "attached",
        ),
        (
            "Applications received after 1 May will be considered.",
            "Applications received after 1 May will not be considered.",
            "considered",
        ),
        # Both sides are named: the bound that both have counts.
        (
            "Expenses up to £250 need approval.",
            "Expenses up to £250 do not need approval, those above £250 do.",
            "approval",
        ),
        # The bound alone is turned round.
        ("Guests over 65 pay the fee in May.", "Guests under 65 pay the fee in May.", "over"),
    ],
)
def test_another_figure_or_the_same_side_turns_nothing_back(claim, source, word):
    assert told(claim, source) == word


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("Engineers advised not to wait.", "He added that engineers advised against waiting."),
        ("No new members have been admitted since 2008.", "The scheme was closed to new members in 2008."),
        ("Python 3.7 hasn't been supported since August 2023.", "2023-08: Python 3.7 support dropped."),
        ("Windows 8.1 isn't supported since 7.2.", "Support for Windows 8.1 ended in 7.2."),
        ("The API has not been available since March 2024.", "The API was retired in March 2024."),
        ("Employees may not accept gifts.", "Employees are barred from accepting gifts."),
        ("Guests may not smoke in the rooms.", "Guests are forbidden to smoke in the rooms."),
        ("No rent is due for the first six months.", "Rent-free period: the first six months."),
    ],
)
def test_a_negation_said_with_another_word_is_no_mismatch(claim, source):
    assert told(claim, source) is None


@pytest.mark.parametrize(
    ("claim", "source", "word"),
    [
        ("The lease does not end in May.", "The lease ends in May.", "not"),
        (
            "Support for Python 3.7 was not dropped in May.",
            "Support for Python 3.7 was dropped in May.",
            "not",
        ),
        ("The pool is not closed on Mondays.", "The pool is closed on Mondays.", "not"),
        (
            "Pellucid-2 is not barred from being used to identify speakers.",
            "It must not be used for identifying speakers.",
            "used",
        ),
        # Another part of the sentence has it.
        (
            "The warning about unused access is not sent to the owner.",
            "Access unused for 180 days is removed; a warning is sent 14 days before.",
            "not",
        ),
    ],
)
def test_such_a_word_may_itself_be_negated(claim, source, word):
    assert told(claim, source) == word


@pytest.mark.parametrize(
    ("claim", "source", "word"),
    [
        (
            "You can agree on it at no less than 50%, for a maximum of three months.",
            "Part-time return (minimum 50%) can be agreed for up to 3 months.",
            None,
        ),
        ("The maximum fee is 50 euros a day.", "The minimum fee is 50 euros a day.", "maximum"),
        ("The maximum fee is fifteen euros a day.", "The minimum fee is 15 euros a day.", "maximum"),
        (
            "The discount rate was cut by 30 basis points.",
            "A decrease of 0.5 points in the discount rate would raise the obligations.",
            None,
        ),
        (
            "A fall in the discount rate would reduce the obligations.",
            "A decrease of 0.5 points in the discount rate would raise the obligations.",
            "reduce",
        ),
        (
            "The lender raised its price for Weisfield to $57.50.",
            "The lender lowered its price for Weisfield to $57.50, after a rival said it would bid.",
            "raised",
        ),
        ("Sales edged up by 0.8% to ¥1.92tn.", "Sales edged down 0.8% to ¥1.92 trillion.", "edged"),
        (
            "Sales edged up to ¥1.92tn.",
            "Profit rose 12% to ¥1bn; sales edged down to ¥1.92 trillion.",
            "edged",
        ),
        ("Sales of chips went up by 0.8%.", "Sales of chips drifted down 0.8%.", "went"),
        ("Sales of chips went up by 0.8%.", "Sales of chips edged up 0.8%.", None),
        ("Sales moved down in May at Ota.", "Sales at Ota moved up in April and down in May.", None),
    ],
)
def test_an_opposite_belongs_to_its_figure_and_to_what_is_stated(claim, source, word):
    assert told(claim, source) == word


@pytest.mark.parametrize(
    ("claim", "source", "word"),
    [
        (
            "Buyers can't be made to pay more of the commission than sellers.",
            "The commission is shared: the buyer may not pay more than the seller.",
            None,
        ),
        (
            "The records have to be kept for 5 years.",
            "They shall document breaches, including those not notified, and keep the record for 5 years.",
            None,
        ),
        (
            "Records of the breach are kept for years.",
            "Records of the breach are kept for years, whether it was notified or not.",
            None,
        ),
        (
            "Records of the breach are kept for years.",
            "Records of the breach are not kept for years.",
            "kept",
        ),
        (
            "No permit is needed for Switzerland.",
            "Travel is free in the EU; for Switzerland a permit is needed; the rest is excluded.",
            "No",
        ),
        (
            "A permit is needed for Switzerland.",
            "Travel is not limited in the EU; for Switzerland a permit is needed.",
            None,
        ),
        # The part does not hold all that the sentence says of it.
        (
            "Damage by water is not covered.",
            "The following are not covered: theft; loss; damage by water.",
            None,
        ),
    ],
)
def test_a_negation_counts_for_what_it_stands_beside(claim, source, word):
    assert told(claim, source) == word
