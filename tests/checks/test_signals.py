from __future__ import annotations

from dataclasses import astuple, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify.checks import SourceIndex, check
from streamverify.scorers.protocol import Claim
from streamverify.types import FindingKind, Passage

FACTS = [
    "The fee rose to $1,250 on 3 March 2021.",
    "Ada Pell of Harrow Mills paid 12.5 percent.",
    "It takes about 20 minutes at 9:30 a.m. and is not refundable.",
    "Set max_retries to 3 in version 4.2.1.",
    "He called it “a very good day for us”.",
    "Every tenant must give sixty days' notice because the law says so.",
]
facts = st.lists(st.sampled_from(FACTS), min_size=1, max_size=6)


def findings(claim: str, *passages: Passage, question: str | None = None, near=()):
    index = SourceIndex(passages, question=question)
    return check(Claim(claim), index, near=near).findings


@given(facts, st.data())
def test_a_sentence_copied_from_a_passage_raises_nothing(texts, data):
    index = SourceIndex([Passage(str(place), text) for place, text in enumerate(texts)])
    claim = data.draw(st.sampled_from(texts))
    near = data.draw(st.sampled_from([(), ((texts.index(claim), 0, len(claim)),)]))
    checked = check(Claim(claim), index, near=near)
    assert checked.findings == ()
    assert set(astuple(replace(checked.signals, verbatim=0.0))) == {0.0}


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("Barley was ground here until 1950.", 1),
        ("barley was ground here, until 1950", 1),
        ("Barley was ground here until 1905.", 0),
        ("Barley was ground here.", 0),
        ("Nobody says that barley was ground here until 1950.", 0),
        ("The mill closed.", 1),
        ("Or a barn.", 0),
    ],
)
def test_only_a_whole_sentence_of_a_passage_is_verbatim(claim, expected):
    text = "The mill closed. Barley was ground here until 1950. It is a museum, or a barn."
    assert check(Claim(claim), SourceIndex([Passage("a", text)])).signals.verbatim == expected


@pytest.mark.parametrize(
    ("claim", "instead"),
    [
        ("The fee rose to $1,300 in spring.", ["$1,250"]),
        ("The fee rose on 4 March 2021.", ["3 March 2021"]),
        ("The fee rose to $1,250 on 3 March 2021.", []),
        ("Penguins weigh 30 kg.", []),
    ],
)
@given(before=st.lists(st.sampled_from([FACTS[1], FACTS[3], FACTS[4]])), titled=st.booleans())
def test_the_places_of_what_stands_instead_hold_what_the_findings_say(claim, instead, before, titled):
    """In the passage's own text, wherever the window begins; a title or the question is no place in it."""
    text = " ".join([*before, FACTS[0]])
    passage = Passage("p", "" if titled else text, title=text if titled else None)
    near = [] if titled else [(0, text.index(FACTS[0]), len(text))]
    checked = check(Claim(claim), SourceIndex([passage]), near=near)
    assert [passage.text[start:end] for _, start, end in checked.against] == ([] if titled else instead)
    assert all(f", {value} in passage p" in str(checked.findings) for value in instead)


@given(st.text(max_size=120), facts)
def test_any_claim_is_read_with_signals_from_0_to_1_and_findings_inside_it(claim, texts):
    index = SourceIndex([Passage("p", " ".join(texts))])
    checked = check(Claim(claim), index)
    assert all(0 <= value <= 1 for value in checked.signals.features().values())
    assert all(0 <= found.start < found.end <= len(claim) for found in checked.findings)
    assert check(Claim(claim), index) == checked


FIGURES = ["0", "0.0", "-0", "0.5", "7", "12,000", "1e-320", "9" * 310, "1/0", "0/0", "half", "zero", "3.4.5"]
UNITS = [" %", "%", " percent", " percentage points", " km", "$", " million", " times", ":00", "th", ""]
figures = st.lists(st.tuples(st.sampled_from(FIGURES), st.sampled_from(UNITS)).map("".join), max_size=6)


@given(figures, figures)
def test_any_figures_are_compared_with_any_others(claimed, given_):
    text = f"It was {' and '.join(given_)} from 3 May 2019 to 0 May 0."
    index = SourceIndex([Passage("p", text)])
    checked = check(Claim(f"It is {', '.join(claimed)}."), index, near=((0, 0, len(text)),))
    assert all(0 <= value <= 1 for value in checked.signals.features().values())


@given(st.lists(st.booleans(), min_size=60, max_size=60))
def test_nothing_is_found_in_borrowed_characters(own):
    text = "On 5 May 2020 Zed Quux paid $777 to Foo_Bar and got 55 % back"[:60]
    offsets = tuple(100 + place if mine else -1 for place, mine in enumerate(own))
    found = check(Claim(text, offsets), SourceIndex([Passage("p", "Nothing of the kind.")])).findings
    assert all(offsets.count(one.start) == 1 and offsets.count(one.end - 1) == 1 for one in found)


def test_a_wrong_number_is_contrasted_with_the_one_in_the_passage():
    found = findings(
        "The rate was 1.25 %.", Passage("p1", "Rain fell."), Passage("p2", "The rate was 12.5 %.")
    )
    assert [(one.kind, one.start, one.end, one.detail) for one in found] == [
        (FindingKind.NUMBER_MISMATCH, 13, 19, "1.25 % here, 12.5 % in passage p2")
    ]


def test_a_wrong_date_a_wrong_quotation_and_a_new_name_are_found_where_they_stand():
    passage = Passage("p", "On 3 March 2021 Ms. Pell said “this must be paid in full”.")
    claim = "On 4 March 2021 Mr. Linde said “this may be paid in full”."
    found = {one.kind: claim[one.start : one.end] for one in findings(claim, passage)}
    assert found == {
        FindingKind.DATE_MISMATCH: "4 March 2021",
        FindingKind.NAME_NOT_FOUND: "Linde",
        FindingKind.QUOTE_MISMATCH: "this may be paid in full",
    }


def test_titles_and_the_question_are_sources_too():
    passage = Passage("p", "The order was repealed.", title="Calder Fees Order, 2019")
    question = "I earn $4,200 in Tarbet. What now?"
    assert findings("The Calder order of 2019 covers $4,200 in Tarbet.", passage, question=question) == ()


@pytest.mark.parametrize("name", ["Apple Inc.", "Apple Corp", "Apple Holdings", "the Apple Group"])
def test_what_a_firm_is_by_law_is_no_name_of_its_own(name):
    passage = Passage("p", "In 2019 the mill in Ulm was bought by Apple.")
    assert findings(f"The mill in Ulm was bought by {name} in 2019.", passage) == ()
    assert findings("The mill in Ulm was bought by Bosch Inc. in 2019.", passage)


def test_a_number_that_follows_from_the_sources_is_no_finding():
    question = "Registration is $900, flights $1,600 and the hotel $1,400."
    assert findings("It is a single expense of $3,900.", Passage("p", "Ask first."), question=question) == ()


def test_a_value_the_answer_makes_up_as_an_example_is_no_finding():
    assert (
        findings("Pass e.g. request_timeout=25 to it.", Passage("p", "request_timeout sets the limit.")) == ()
    )


@pytest.mark.parametrize(
    "claim",
    [
        "A ewe of 70 kg needs a dose.",
        "For a hedge of ten metres the plants are delivered.",
        "A 15-year-old may join.",
        "Someone weighing 46 kg gets two doses.",
        "Nothing is due, as a bill of €900 does not count.",
        "It is open, but a car worth 9,000 euros must stay outside.",
        "A bill filed 45 days after the trip needs a hearing.",
        "Someone who has been ill for 45 days may ask for a hearing.",
        "In a village at 1,200 m, doses take an hour longer.",
    ],
)
def test_a_value_that_tells_which_case_of_a_rule_is_meant_is_no_finding(claim):
    passage = Passage(
        "p", "Doses, hedges, bills and hearings: 3 kg, 2 metres, 12 years, 5 euros, 4 May 2029."
    )
    assert findings(claim, passage) == ()


@pytest.mark.parametrize(
    "claim",
    [
        "A ticket costs 15 euros.",
        "The shop grants a discount of 20 percent.",
        "The deadline is 4 March 2029.",
        "A volunteer is paid 42 crowns.",
        "A volunteer planted 300 trees.",
        "Two teams scored 31 points.",
        "A company employs 450 people.",
        "An anonymous donor pledged 900,000 euros.",
        "A total of 4,312 people attended, which is a record.",
        "A study of 450 patients is under way.",
        "At a height of 450 metres, the tower is the tallest.",
        "Nobody came, and a fine of 500 euros is due.",
        "In an interview on 6 March 2029, she resigned.",
        "An employer must give 45 days of notice when it closes.",
        "A child below 14 years of age has to wait outside.",
    ],
)
def test_a_value_that_is_stated_of_something_is_found(claim):
    passage = Passage(
        "p", "A ticket costs 12 euros. The discount is 5 percent. The deadline is 4 May 2029. 30 crowns."
    )
    assert len(findings(claim, passage)) == 1


def test_a_number_elsewhere_is_missing_near_but_not_missing():
    passages = [
        Passage("a", "Landlords give 30 days' notice."),
        Passage("b", "Tenants give 21 days' notice."),
    ]
    index = SourceIndex(passages)
    near = [(1, 0, len(passages[1].text))]
    checked = check(Claim("Tenants give 30 days' notice."), index, near=near)
    assert checked.signals.number_missing == 0.0
    assert checked.signals.number_rival == 1.0
    assert [found.detail for found in checked.findings] == ["30 days here, 21 days in passage b"]


@pytest.mark.parametrize(
    ("claim", "signal"),
    [
        ("Most tenants pay the fee.", "general_missing"),
        ("Tenants pay the fee because rents rose.", "causal_missing"),
        ("Tenants will probably pay the fee.", "tentative_missing"),
    ],
)
def test_strong_words_count_only_when_no_near_source_has_one(claim, signal):
    without, within = Passage("p", "Tenants pay the fee."), Passage("p", claim)
    assert getattr(check(Claim(claim), SourceIndex([without])).signals, signal) == 1.0
    assert getattr(check(Claim(claim), SourceIndex([within])).signals, signal) == 0.0


@pytest.mark.parametrize(
    ("text", "claim", "mismatch"),
    [
        (
            "The train leaves Bonn at 8:15 and arrives in Ulm at 13:05.",
            "The train departs Bonn at 8:15.",
            False,
        ),
        ("The train arrives in Bonn at 8:15 and stops.", "The train departs Bonn at 8:15.", True),
        (
            "The council approved the plan for the bridge.",
            "The council rejected the plan for the bridge.",
            True,
        ),
        (
            "The entry fee for grown visitors is at most 50 euros.",
            "The entry fee for grown visitors is never more than 50 euros.",
            False,
        ),
        (
            "The old bridge leads over the river at Ulm.",
            "The old bridge does not lead over the river at Ulm.",
            True,
        ),
    ],
)
def test_an_opposite_counts_on_its_own_side_of_a_conjunction(text, claim, mismatch):
    signals = check(Claim(claim), SourceIndex([Passage("p", text)])).signals
    assert (max(signals.opposite, signals.negation_mismatch) > 0) is mismatch


def test_without_passages_every_telling_thing_is_missing():
    signals = check(Claim("Ada Pell paid $84,000 in 2017."), SourceIndex([])).signals
    assert (signals.number_missing, signals.date_missing, signals.name_missing) == (1.0, 1.0, 1.0)


def test_long_sources_without_windows_are_not_read_closely():
    text = "The deposit is not refundable after June. " * 6000
    signals = check(Claim("The deposit is refundable after June."), SourceIndex([Passage("p", text)])).signals
    assert (signals.negation_mismatch, signals.verbatim) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("text", "claim", "opposed"),
    [
        ("Do not use it for longer than six weeks.", "Do not use it for shorter than six weeks.", True),
        ("The archive lies north of the old harbour.", "The archive lies south of the old harbour.", True),
        (
            "The first tower is lower than the second tower.",
            "The second tower is higher than the first.",
            False,
        ),
        ("Jamaica lies 145 km south of Cuba.", "Cuba lies 145 km north of Jamaica.", False),
        ("Revenue rose by 5% in the third quarter.", "Revenue fell by 5% in the third quarter.", True),
        ("Revenue rose by 5% in the third quarter.", "Revenue declined by 5% in the third quarter.", True),
        ("The team beat Leeds in the cup final.", "The team lost to Leeds in the cup final.", True),
        ("The team beat Leeds in the cup final.", "Leeds lost to the team in the cup final.", False),
        ("Parental leave is unpaid for 12 weeks.", "Parental leave is paid for 12 weeks.", True),
        ("The museum is closed except on Mondays.", "The museum is open on Mondays.", False),
        ("Children under 12 travel free.", "Children over 12 travel free.", True),
        ("Children under 12 travel free.", "Children below 12 travel free.", False),
        ("Children under 12 pay no fee over the holidays.", "Children under 12 pay no fee.", False),
        ("The burn heals within seven days.", "The burn has healed after seven days.", False),
        ("Take the tablets with food and water.", "Take the tablets before meals and water.", True),
        ("Take the tablets with food and water.", "Take the tablets with a meal and water.", False),
        ("Nurses work full-time in the ward.", "Nurses work part-time in the ward.", True),
        ("The call is synchronous by default.", "The call is asynchronous by default.", True),
        ("The fee of 5 euros is billed monthly.", "The fee is 60 euros annually as billed.", False),
        ("The fee is billed yearly to members.", "The fee is billed annually to members.", False),
        # What is turned round about them is as often right.
        ("The park is open every day but Sunday.", "The park is closed on Sundays.", False),
        (
            "The salary is paid each month in twelve parts.",
            "The annual salary is paid in twelve parts.",
            False,
        ),
        (
            "Orders under 50 euros pay for shipping; all others ship free.",
            "Orders over 50 euros ship free.",
            False,
        ),
        ("Children under 12 go free; older children pay it all.", "Children over 12 pay it all.", False),
    ],
)
def test_an_opposite_counts_unless_the_sentence_is_turned_round_with_it(text, claim, opposed):
    assert (check(Claim(claim), SourceIndex([Passage("p", text)])).signals.opposite > 0) is opposed


@pytest.mark.parametrize(
    ("text", "claim", "replaced"),
    [
        (
            "Breakfast costs 14 euros.",
            "Breakfast costs 14 dollars.",
            "14 dollars here, 14 euros in passage p",
        ),
        ("The cache takes 9 MB.", "The cache takes 9 KB.", "9 KB here, 9 MB in passage p"),
        (
            "The recording is kept for 72 hours.",
            "It is kept for 72 days.",
            "72 days here, 72 hours in passage p",
        ),
        (
            "Add 2 tablespoons of sugar and 1 teaspoon of salt.",
            "Add 2 teaspoons of sugar.",
            "2 teaspoons here, 2 tablespoons in passage p",
        ),
        ("Add 1 tbsp of sugar.", "Add 3 teaspoons of sugar.", None),
        ("Add half a cup of sugar.", "Add 8 tablespoons of sugar.", None),
        ("A bus leaves once a day.", "It came back after one week.", None),
        ("It weighs 25 kg.", "It is 25 kilometres away.", None),
    ],
)
def test_a_figure_with_another_unit_of_its_kind_is_contrasted_with_it(text, claim, replaced):
    checked = check(Claim(claim), SourceIndex([Passage("p", text)]))
    assert (checked.signals.unit_replaced > 0) is (replaced is not None)
    assert replaced is None or [finding.detail for finding in checked.findings] == [replaced]


FOREIGN = (
    ("The grant is 450 a month. It was 400 crowns before.", "The grant is 450 pounds a month."),
    ("The grant is 400 crowns, and 50 crowns for food.", "The grant is 450 pounds in all."),
    ("Price: 450. Deposit: €50.", "The price is $450."),
    ("Prices: 500 and 950. Deposit: €50.", "The price differs by 450 dollars."),
)


@pytest.mark.parametrize(("text", "claim"), FOREIGN)
def test_an_amount_in_a_currency_that_no_source_names_is_not_theirs(text, claim):
    checked = check(Claim(claim), SourceIndex([Passage("p", text)]))
    assert [one.kind for one in checked.findings] == [FindingKind.NUMBER_MISMATCH]
    assert checked.signals.unit_replaced == 1


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("Price: 450. Deposit: €50.", "The price is 450 euros."),
        ("Price (GBP): 450. Deposit: €50.", "The price is 450 pounds."),
        ("The fee is 450 kr. A bond is 300 EUR.", "The fee is 450 crowns."),
        ("The fee is 450 US dollars.", "The fee is $450."),
        ("The hound weighs 450. A calf weighs 20 kg and costs 5 crowns.", "The hound weighs 450 pounds."),
        ("Lines: 1080. Price: $5.", "The film is in 1080p."),
        ("Price: 450.", "The price is $450."),
    ],
)
def test_an_amount_whose_currency_may_be_theirs_is_not_accused(text, claim):
    assert findings(claim, Passage("p", text)) == ()
