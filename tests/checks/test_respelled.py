"""Equal values written as the passages write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify import Label, Passage, Verifier
from streamverify.checks import SourceIndex, Spelling
from streamverify.checks.dates import dates, spans
from streamverify.checks.numbers import QuantityPool
from streamverify.checks.quantities import quantities
from streamverify.judging.verdict import placed
from streamverify.scorers.protocol import Claim


def put(text, *passages, question=None):
    sources = [Passage(f"p{n}", passage) for n, passage in enumerate(passages)]
    view = SourceIndex(sources, question=question).everything
    return Spelling(view).put(Claim(text, tuple(range(len(text)))))


@pytest.mark.parametrize(
    ("claim", "passage", "expected"),
    [
        ("There are a dozen eggs.", "There are 12 eggs.", "There are 12 eggs."),
        ("Returns are free for 2 weeks.", "Free for 14 days.", "Returns are free for 14 days."),
        ("Take 30 % of it.", "30% of it", "Take 30% of it."),
        ("Half of the seats are taken.", "50 percent of the seats.", "50 percent of the seats are taken."),
        ("A quarter of it went to rent.", "25% of it", "25% of it went to rent."),
        ("The tank holds 2 litres.", "It holds 2,000 ml.", "The tank holds 2,000 ml."),
        ("It is dated April 12, 2016.", "Date: 2016-04-12", "It is dated 2016-04-12."),
        ("Doors open at 3 p.m.", "Doors open at 15:00.", "Doors open at 15:00."),
        ("The fee is $1.5 million.", "A fee of $1,500,000", "The fee is $1,500,000."),
        ("Due within sixty days of it.", "Due within 60 days.", "Due within 60 days of it."),
        ("He is 6 ft 2 in tall.", "Height: 74 inches", "He is 74 inches tall."),
        ("It takes an hour and a half.", "It takes 90 minutes.", "It takes 90 minutes."),
        ("The trail is 5 km long.", "A trail of 3.1 miles", "The trail is 3.1 miles long."),
        ("Heat it to 37 °C.", "Heat to 98.6 °F.", "Heat it to 98.6 °F."),
        ("Two thirds agreed.", "67% were for it.", "67% agreed."),
        ("Add 2 tbsp of salt.", "2 tablespoons of salt", "Add 2 tablespoons of salt."),
        ("The limit is 5MB.", "A limit of 5 MB", "The limit is 5 MB."),
        ("The limit is 5 MB.", "A limit of 5MB", "The limit is 5MB."),
        ("It needs Python ≥3.11.", "Python >= 3.11", "It needs Python >= 3.11."),
        ("It needs Python >=3.11.", "Python >= 3.11", "It needs Python >= 3.11."),
        ("It needs Python ≥ 3.11.", "Python >=3.11 is needed.", "It needs Python >=3.11."),
        ("It cost about 5 million euros.", "Cost: 4.98 million euros", "It cost about 4.98 million euros."),
    ],
)
def test_an_equal_value_is_written_as_the_passage_writes_it(claim, passage, expected):
    assert put(claim, passage).text == expected


@pytest.mark.parametrize(
    ("claim", "passage"),
    [
        ("Free for 2 weeks.", "Free for 13 days."),  # not equal
        ("Free for 2 weeks.", "Free for 14 hours."),
        ("It cost 5 million euros.", "It cost 4.98 million euros."),  # rounded without a word
        ("It is over 100 km.", "It is 120 km."),
        ("It is 5 km long.", "It is 3.1 miles long, of 3.12 miles."),  # which of the two?
        ("One in four left.", "25% left."),
        ("It lasts 2 weeks.", "It lasts 14 days, that is 2 weeks."),  # the claim's form stands there too
        ("A three-year contract", "It runs for three years."),  # but for a hyphen and a plural the same
        ("It needs Python ≥ 3.11.", "Python <= 3.11"),
        ("It needs Python ≥ 3.11.", "Python >= 3.12"),
        ("It holds 5 MB.", "It holds 5 MB, not 5MB."),
        ("He came third.", "There were 3 of them."),  # a place, no count
        ("One of them left.", "1. They left."),
        ("It opens on Monday.", "Open on Mondays."),
    ],
)
def test_what_is_not_equal_or_not_written_otherwise_is_left_as_it_is(claim, passage):
    assert put(claim, passage).text == claim


@pytest.mark.parametrize(
    ("claim", "passage", "expected"),
    [
        ("The WHO approved it.", "World Health Organization", "The World Health Organization approved it."),
        ("The World Health Organization approved it.", "The WHO did.", "The WHO approved it."),
        ("An FDA rule", "The Food and Drug Administration.", "An Food and Drug Administration rule"),
        ("The CEO resigned.", "The chief executive officer left.", "The chief executive officer resigned."),
        ("The EU's rules", "The European Union's rules", "The European Union's rules"),
        ("The WHO approved it.", "The World Health Organization (WHO) did.", "The WHO approved it."),
        ("IT rose.", "It is the best.", "IT rose."),  # two letters ask for a name
        ("The ADT rose.", "He asked and did that.", "The ADT rose."),  # grammar is no name
        ("THE FDA SAID NO.", "The Food and Drug Administration.", "THE FDA SAID NO."),
        ("The Mill House opened.", "A mill house. MH", "The Mill House opened."),
    ],
)
def test_an_acronym_and_what_it_stands_for_are_written_as_the_passage_writes_them(claim, passage, expected):
    assert put(claim, passage).text == expected


def test_what_is_said_of_a_part_of_a_form_is_said_of_all_it_stands_for():
    claim = "Free for 2 weeks, says the WHO."
    found = put(claim, "Free for 14 days: World Health Organization.")
    for part, said in (("14", "2 weeks"), ("ays", "2 weeks"), ("Organ", "WHO"), ("says", "says")):
        start = found.text.index(part)
        span = placed(found, start, start + len(part))
        assert claim[span.start : span.end] == said


@given(st.sampled_from(["5 MB", "5MB", "5\u00a0MB", ">= 3.11", "≥3.11", ">=3.11"]), st.booleans(), st.data())
def test_forms_that_differ_by_a_blank_or_the_sign_alone_are_put_alike(value, twice, data):
    others = ["5 MB", "5MB", "5\u00a0MB"] if "MB" in value else [">= 3.11", "≥3.11", ">=3.11"]
    held = data.draw(st.sampled_from(others))
    passages = [f"It is {held}.", *([f"That is {value}."] if twice else [])]
    assert put(f"It takes {value}.", *passages).text == f"It takes {value if twice else held}."


def test_the_question_is_no_source_of_forms():
    assert put("It lasts 2 weeks.", "It lasts.", question="Is it 14 days?").text == "It lasts 2 weeks."


def test_of_several_forms_the_one_that_stands_among_the_same_words_is_taken():
    passages = (
        "The trial phase of the pump takes 14 days.",
        "Refunds are paid within a fortnight, 336 hours.",
    )
    assert put("The pump's trial phase takes two weeks.", *passages).text.endswith("takes 14 days.")
    assert put("Refunds are paid within two weeks.", *passages).text.endswith("within 336 hours.")


VALUES = (
    "2 weeks",
    "14 days",
    "twelve",
    "12",
    "$1.5 million",
    "$1,500,000",
    "3 pm",
    "15:00",
    "50%",
    "half",
    "5 km",
    "3.1 miles",
    "WHO",
    "World Health Organization",
)
WORDS = ("The pump", "was", "of the", "first", "[")
# A sentence each: numbers side by side are read as one, or as a list with one unit.
texts = st.lists(st.sampled_from([*VALUES, *WORDS]), max_size=8).map(". Then ".join)


def numbers(text):
    return [q for q in quantities(text, skip=spans(dates(text))) if not q.implied]


@given(texts, st.lists(texts, max_size=3))
def test_laws(claim, passages):
    found = put(claim, *passages)
    assert len(found.offsets) == len(found.text)
    assert list(found.offsets) == sorted(found.offsets)
    again = put(found.text, *passages)
    assert again.text == found.text
    # What it says is what it said.
    said, says = numbers(claim), numbers(found.text)
    assert all(map(QuantityPool(says).holds, said))
    assert all(map(QuantityPool(said).holds, says))
    assert len(dates(found.text)) == len(dates(claim))


@pytest.mark.anyio
async def test_a_finding_quotes_the_sentence_as_it_stands():
    passage = Passage("p", "Check-in is at 3 pm. Check-out is at 11:00. Prices are in 9,99 EUR.")
    async with Verifier() as verifier:
        [sentence] = (await verifier.check("Check-out is at 11 am in room 512.", [passage])).sentences
    assert sentence.findings
    for finding in sentence.findings:
        assert finding.detail.split(" ")[0] in "Check-out is at 11 am in room 512."


@pytest.mark.anyio
async def test_a_claim_that_would_get_too_long_keeps_its_own_forms():
    claim = "It takes " + ", ".join(["2 h"] * 25) + " to do."
    passage = Passage("p", "It takes all of 7,200 seconds to do.")
    async with Verifier() as verifier:
        [sentence] = (await verifier.check(claim, [passage])).sentences
    assert sentence.label is not Label.UNVERIFIED


@pytest.mark.anyio
async def test_equal_forms_are_supported_and_other_values_are_not():
    passages = [
        Passage("eggs", "There are 12 eggs in the basket."),
        Passage("back", "Returns are free for 14 days."),
    ]
    async with Verifier() as verifier:
        for claim, expected in (
            ("There are a dozen eggs in the basket.", Label.SUPPORTED),
            ("Returns are free for 2 weeks.", Label.SUPPORTED),
            ("Returns are free for 3 weeks.", None),
        ):
            [sentence] = (await verifier.check(claim, passages)).sentences
            assert (sentence.label is Label.SUPPORTED) == (expected is Label.SUPPORTED), claim
