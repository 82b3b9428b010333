from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify.checks import SourceIndex, check
from streamverify.checks.aligned import Ground, Place, Reader, run_of
from streamverify.scorers.protocol import Claim
from streamverify.text.words import placed_words
from streamverify.types import FindingKind, Passage

FACTS = [
    "The tower bridge is 330 metres long and the canal bridge is 450 metres long.",
    "Members pay 12 euros a month. Guests pay 19 euros a month.",
    "The mill opened on 4 May 1891. The bakery opened on 9 June 1903.",
    "The pump runs for 40 minutes; the fan runs for 25 minutes.",
    "Adults wait 14 days, children 21 days.",
]
CLAIMS = [
    *(sentence for fact in FACTS for sentence in fact.split("; ")),
    "The tower bridge is 450 metres long.",
    "Guests pay 12 euros a month.",
    "The bakery opened on 4 May 1891.",
    "Children wait 14 days.",
]
UNRELATED = "Herons nest near quiet ponds; larches shed needles."


def checked(claim: str, texts: list[str], question: str | None = None):
    index = SourceIndex([Passage(text[:16], text) for text in texts], question=question)
    return check(Claim(claim), index)


@given(st.permutations(FACTS), st.sampled_from(CLAIMS))
def test_the_order_of_the_passages_changes_nothing(order, claim):
    found, usual = checked(claim, order), checked(claim, FACTS)
    assert [(order[place], *span) for place, *span in found.against] == [
        (FACTS[place], *span) for place, *span in usual.against
    ]
    assert replace(found, against=()) == replace(usual, against=())


@given(st.lists(st.sampled_from(FACTS), min_size=1, unique=True), st.sampled_from(CLAIMS))
def test_a_passage_that_shares_no_word_with_the_claim_changes_nothing(texts, claim):
    alone, beside = checked(claim, texts), checked(claim, [*texts, UNRELATED])
    assert alone.findings == beside.findings
    assert alone.signals.value_unaligned == beside.signals.value_unaligned


@given(st.lists(st.sampled_from(FACTS), min_size=1, unique=True), st.data())
def test_a_sentence_copied_from_a_passage_is_never_accused(texts, data):
    sentences = [sentence for text in texts for sentence in text.replace(". ", ".\n").split("\n")]
    assert checked(data.draw(st.sampled_from(sentences)), texts).findings == ()


@given(st.text(max_size=80), st.text(max_size=120), st.integers(0, 120), st.integers(0, 80))
def test_closeness_lies_between_0_and_1(claim, text, start, at):
    ground, reader = Ground([(0, run_of(text, placed_words(text)), False)]), Reader(claim)
    words = reader.around(at, at + 3)
    close = (
        ground.closeness(Place(0, start, start + 2, ""), ground.weighed(words), reader.own) if words else 0
    )
    assert 0 <= close <= 1 + 1e-9


@pytest.mark.parametrize(
    ("claim", "kind", "detail"),
    [
        (
            "The tower bridge is 450 metres long.",
            FindingKind.NUMBER_MISMATCH,
            "450 metres here, 330 metres in passage ",
        ),
        ("Guests pay 12 euros a month.", FindingKind.NUMBER_MISMATCH, "12 euros here, 19 euros in passage "),
        (
            "The bakery opened on 4 May 1891.",
            FindingKind.DATE_MISMATCH,
            "4 May 1891 here, 9 June 1903 in passage ",
        ),
    ],
)
def test_the_value_of_another_thing_is_contrasted_with_the_right_one(claim, kind, detail):
    [found] = checked(claim, FACTS).findings
    home = next(text for text in FACTS if found.detail.removeprefix(detail) == text[:16])
    assert (found.kind, found.detail) == (kind, detail + home[:16])
    assert claim[found.start : found.end] == detail.split(" here")[0]


def test_the_gap_grows_with_what_the_claim_says_of_the_rival():
    vague = checked("The bridge is 450 metres long.", FACTS).signals.value_unaligned
    named = checked("The tower bridge is 450 metres long.", FACTS).signals.value_unaligned
    right = checked("The canal bridge is 450 metres long.", FACTS).signals.value_unaligned
    assert right <= vague < named


@pytest.mark.parametrize(
    "claim",
    [
        "If guests pay 12 euros a month, they lose nothing.",
        "Members pay 12 euros and guests 19 euros a month.",
        "Children pay 12 euros.",
    ],
)
def test_a_value_supposed_or_named_with_its_rival_or_without_one_is_not_accused(claim):
    assert checked(claim, FACTS[1:2]).findings == ()


ROWS = (
    ("The lease runs from 2015 to 2025.", "The lease ends in 2025."),
    ("The shop is open from 09:00 to 17:30.", "The shop closes at 17:30."),
    ("The war lasted from 1914 to 1918.", "The war ended in 1918."),
    ("Revenue rose from $200 million to $300 million.", "Revenue reached $300 million."),
    ("Ada Lovelace (1815–1852) was a mathematician.", "Ada Lovelace died in 1852."),
    ("The rule applies from 1 May 2020 until 30 June 2021.", "The rule expired on June 30, 2021."),
    ("Applications are open from 1 March to 15 April.", "Applications close on 15 April."),
    ("Rents rose by 5.2% in 2019, 8.1% in 2020 and 6.0% in 2021.", "In 2020 rents rose by 8.1%."),
)


@pytest.mark.parametrize(("text", "claim"), ROWS)
def test_what_stands_before_a_row_of_values_is_said_of_each(text, claim):
    assert checked(claim, [text]).findings == ()


@pytest.mark.parametrize(
    ("text", "claim", "detail"),
    [
        ("Adults pay 12 euros and children pay 5 euros.", "Adults pay 5 euros.", "5 euros here, 12 euros"),
        ("Adults pay 12 euros and children pay 5 euros.", "Children pay 12 euros.", "12 euros here, 5 euros"),
        ("Rents rose by 5.2% in 2019, 8.1% in 2020.", "In 2019 rents rose by 8.1%.", "8.1% here, 5.2%"),
    ],
)
def test_of_two_things_in_one_sentence_each_has_its_value(text, claim, detail):
    [found] = checked(claim, [text]).findings
    assert found.detail.startswith(detail)


@pytest.mark.parametrize(
    ("claim", "told"),
    [
        ("Standard orders are brought to the door within 3-7 business days.", ["7 business days here, 5"]),
        ("Standard orders are brought to the door within 3 to 5 business days.", []),
    ],
)
def test_an_end_of_a_range_that_the_source_has_as_the_same_end_is_not_set_against_the_other(claim, told):
    text = "Within 3-5 business days standard orders are brought to the door."
    found = [one.detail for one in checked(claim, [text]).findings]
    assert len(found) == len(told)
    assert all(detail.startswith(start) for detail, start in zip(found, told, strict=True))


def test_the_range_of_another_thing_is_still_contrasted():
    text = "Trains to the coast need 30 to 50 minutes. Buses to the valley need 60 to 90 minutes."
    found = checked("Buses to the valley need 30 to 50 minutes.", [text]).findings
    assert any("30 here, 60 in" in one.detail for one in found)


@pytest.mark.parametrize(
    ("text", "claim", "accused"),
    [
        ("Tickets used to cost €12. They now cost €15.", "Tickets cost €15.", False),
        (
            "The notice period was 30 days until March 2024. Since April 2024, it has been 60 days.",
            "The notice period is 60 days.",
            False,
        ),
        ("Tickets formerly cost €12, but now they are €15.", "Tickets cost €15.", False),
        ("Tickets for adults cost €12. Those for children cost €15.", "Tickets for adults cost €15.", True),
        ("Tickets used to cost €12. They now cost €15.", "Tickets used to cost €15.", True),
        (
            "The shop was open for 12 hours until 2024. It is now open for 9 hours.",
            "It was open for 9 hours until 2024.",
            True,
        ),
    ],
)
def test_what_held_formerly_alone_accuses_no_claim_of_now(text, claim, accused):
    assert bool(checked(claim, [text]).findings) is accused


def test_a_value_of_the_question_or_a_title_is_not_accused():
    claim = "Guests pay 12 euros a month."
    assert checked(claim, FACTS, question="I pay 12 euros. Why?").findings == ()
    titled = Passage("p", FACTS[1], title="Prices from 12 euros")
    assert check(Claim(claim), SourceIndex([titled])).findings == ()


def test_of_long_sources_only_the_near_ones_are_aligned():
    filler = "Herons nest near quiet ponds. " * 1000
    index = SourceIndex([Passage("a", FACTS[1]), Passage("b", filler), Passage("c", "Guests pay 7 euros.")])
    claim = Claim("Guests pay 12 euros a month.")
    near = check(claim, index, near=[(0, 0, len(FACTS[1]))])
    assert [found.detail for found in near.findings] == ["12 euros here, 19 euros in passage a"]


REPLACED = (
    (
        "The eruption reached its climax on 27 August 1883.",
        "The eruption reached its climax on 26 August 1883.",
    ),
    ("Shipping costs 5 euros within Germany.", "Shipping within Germany costs 7 euros."),
    ("The tower is 330 metres tall.", "The tower is 350 metres tall."),
)


@pytest.mark.parametrize(("text", "claim"), REPLACED)
def test_a_value_put_in_the_place_of_the_sources_own_stands_out(text, claim):
    assert checked(claim, [text]).signals.value_replaced > 0.1
    assert checked(text, [text]).signals.value_replaced == 0


@pytest.mark.parametrize(
    "claim",
    [
        "Seven tours a day, each of 90 minutes, make 630 minutes.",
        "If the tower were 350 metres tall, it would sway.",
        "Its neighbour across the river is 120 metres lower.",
    ],
)
def test_a_value_that_follows_is_supposed_or_told_of_something_else_replaces_none(claim):
    texts = ["The tower is 330 metres tall.", "Seven tours a day, each of 90 minutes, start at the gate."]
    assert checked(claim, texts).signals.value_replaced == 0
