from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify.claims.nonclaims import Reason
from streamverify.claims.reader import read
from streamverify.sentences.segmenter import segment
from streamverify.text.markdown import plain
from streamverify.types import Sentence, SentenceKind, Span
from tests.claims.reading import claim, reading


def reason(*texts: str) -> Reason | None:
    return reading(*texts).reason


PIECES = [
    *(
        "The fee is 5 km. ",
        "**Note:** ",
        "- item ",
        "`code` ",
        "[1] ",
        "It covers ",
        "# ",
        "| a | b |\n",
        "passages, ",
    ),
    *(
        "According to the ",
        "don't say ",
        "yes, ",
        ":",
        "?",
        "\n",
        "[text](http://a.b) ",
        "日本",
        "é",
        " ",
        "\\*",
        "\\",
    ),
]
pieces = st.sampled_from(PIECES)


@given(st.lists(pieces | st.text(max_size=8), max_size=12), st.sampled_from(SentenceKind), st.data())
def test_every_character_of_a_claim_stands_in_the_sentence_in_order_outside_the_markers(parts, kind, data):
    text = "".join(parts)
    start = data.draw(st.integers(0, 50))
    marks = [
        Span(start + place, start + place + 3) for place in range(len(text)) if text.startswith("[1]", place)
    ]
    before = Sentence(index=0, text="The old museum was closed: ", start=0, end=start)
    sentence = Sentence(index=1, text=text, start=start, end=start + len(text), kind=kind)
    found = read(sentence, previous=[before], markers=marks)
    assert (found.claim is None) == (found.reason is not None)
    for held in (found.claim, found.abstained_topic):
        if held is None:
            continue
        assert len(held.text) == len(held.offsets)
        own = [(char, offset) for char, offset in zip(held.text, held.offsets, strict=True) if offset >= 0]
        assert all(char == text[offset - start] or char == " " for char, offset in own)
        assert [offset for _, offset in own] == sorted({offset for _, offset in own})
        assert not any(mark.start <= offset < mark.end for mark in marks for _, offset in own)


@given(st.text(alphabet="abc *_`#[]()~>|-1.", max_size=60))
def test_markup_only_ever_takes_characters_off(text):
    aligned = plain(text, 7)
    assert [
        text[offset - 7] if text[offset - 7].isspace() is False else " " for offset in aligned.offsets
    ] == list(aligned.text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- **Ice:** 15 minutes at a time.", "Ice: 15 minutes at a time."),
        ("1. Run `tarn doctor` first.", "Run tarn doctor first."),
        ("[The guide](https://a.b/c_(d)) has *all* steps.", "The guide has all steps."),
        ("> The fee is __due__ today.", "The fee is due today."),
        ("Set max_retry_count and 2 * 3 * 4 first.", "Set max_retry_count and 2 * 3 * 4 first."),
        (r"A \*literal\* star is kept here.", "A *literal* star is kept here."),
    ],
)
def test_markdown_comes_off(text, expected):
    assert claim(text) == expected


@pytest.mark.parametrize(
    ("text", "marker", "expected"),
    [
        ("The fee is $5 [1].", "[1]", "The fee is $5."),
        (
            "The appeal goes to the court [p1], which sits daily.",
            "[p1]",
            "The appeal goes to the court, which sits daily.",
        ),
        ("According to [1], the fee is $5.", "[1]", "the fee is $5."),
        ("[1] states that the fee is $5.", "[1]", "the fee is $5."),
    ],
)
def test_citation_markers_come_off_with_what_only_introduced_them(text, marker, expected):
    assert claim(text, markers=(marker,)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("According to the provided documents, it closed in 2001.", "it closed in 2001."),
        ("The report states that the plant closed in 2001.", "the plant closed in 2001."),
        ("Based on the passages, the plant closed in 2001.", "the plant closed in 2001."),
        ("Yes, the plant closed in 2001.", "the plant closed in 2001."),
        ("However, the plant closed in 2001.", "the plant closed in 2001."),
        ("Note that the plant closed in 2001.", "the plant closed in 2001."),
        ("**Short answer:** the plant closed in 2001.", "the plant closed in 2001."),
        ("Good question! The plant closed in 2001.", "The plant closed in 2001."),
        (
            "According to the Dutch authorities, 36,417 people died.",
            "According to the Dutch authorities, 36,417 people died.",
        ),
        ("The plant may have closed in 2001.", "The plant may have closed in 2001."),
    ],
)
def test_only_what_is_no_part_of_the_claim_is_taken_off_its_front(text, expected):
    assert claim(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hi there!", Reason.GREETING),
        ("Thanks for asking!", Reason.GREETING),
        ("I'm sorry to hear that.", Reason.GREETING),
        ("Would you like to know more about the lighthouse?", Reason.QUESTION),
        ("Let me know if you would like the details for part-time staff...", Reason.OFFER),
        ("I hope this helps.", Reason.OFFER),
        ("**Migrating to 2.0**", Reason.HEADING),
        ("Here is a short summary of the guideline:", Reason.META),
        ("You will need:", Reason.LEAD_IN),
        ("Let me go through this step by step.", Reason.META),
        ("It depends on what happened:", Reason.LEAD_IN),
        ("Based on the provided documents,", Reason.META),
        ("Sure, here is what the documentation says about it.", Reason.META),
        ("Sources:", Reason.REFERENCE),
        ("https://status.example.org", Reason.REFERENCE),
        ("***", Reason.EMPTY),
    ],
)
def test_what_claims_nothing_is_told_by_its_reason(text, expected):
    assert reason(text) is expected
    assert claim(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "Thank you notes must be sent within 10 days.",
        "Welcome bonuses are paid after 90 days.",
        "It depends on your service: less than a year gives you four weeks at full pay.",
        "There are three items, and each of them costs $5.",
        "Here the limit is 50 km an hour, says the act.".replace("Here the", "The"),
        "The agreement does not include the garage.",
        "Breeding success was not recorded, but it will be from 2025 onwards.",
        "Ultrasound: not recommended.",
        "Don't forget proof of travel, e.g. your ticket.",
    ],
)
def test_a_claim_in_the_clothes_of_a_courtesy_is_still_a_claim(text):
    assert claim(text) is not None


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("The documents do not state the 2024 fee for e-filing.", "the 2024 fee for e-filing"),
        ("The passages don't say whether leave pauses probation.", "leave pauses probation"),
        (
            "I could not find guidance on pelidoxin during breastfeeding in these documents.",
            "pelidoxin during breastfeeding",
        ),
        ("I found nothing in the documents about connecting the S3.", "connecting the S3"),
        ("The passages don't say who carried out the audit.", "someone carried out the audit"),
        ("The passages say nothing about an age limit.", "an age limit"),
        ("Tessel has not given a figure for 2025 in these documents.", "Tessel has given a figure for 2025"),
        ("How the garden was paid for isn't mentioned.", "the garden was paid for"),
        ("There is no information about the price in the sources.", "the price"),
        ("What the passages leave open is whether agency workers count.", "agency workers count"),
    ],
)
def test_an_abstention_claims_nothing_and_names_its_topic(text, topic):
    found = reading(text)
    assert (found.claim, found.reason, found.abstains) == (None, Reason.ABSTENTION, True)
    assert found.abstained_topic.text == topic


def test_an_abstention_that_goes_on_to_claim_something_is_read_as_that():
    found = reading("The documents do not state the new fee, but the old fee was $240.")
    assert (found.abstains, found.abstained_topic.text, found.claim.text) == (
        True,
        "the new fee",
        "the old fee was $240.",
    )


@pytest.mark.parametrize(
    ("text", "claimed"),
    [
        ("The sources do not state the price: it is 50 euros.", "it is 50 euros."),
        ("The passages do not mention the opening year, which was 1950.", "the opening year was 1950."),
        (
            "I was unable to find the name of the builder, who was Benito Mussolini.",
            "the name of the builder was Benito Mussolini.",
        ),
        ("There is no information about the price because tickets cost 50 euros.", "tickets cost 50 euros."),
        ("The documents do not mention it, tickets cost 50 euros.", "tickets cost 50 euros."),
        ("The sources do not say this – tickets cost 50 euros.", "tickets cost 50 euros."),
        ("The documents do not state the price (50 euros per adult).", "the price: 50 euros per adult"),
        ("We have no data on the tower because it was demolished in 1950.", "it was demolished in 1950."),
        (
            "The documents do not say when the dam, which was built in 1950, broke.",
            "the dam was built in 1950",
        ),
    ],
)
def test_what_an_abstention_tells_in_passing_is_a_claim(text, claimed):
    found = reading(text)
    assert (found.abstains, found.claim.text) == (True, claimed)
    assert found.abstained_topic is not None


@pytest.mark.parametrize(
    "text",
    [
        "The documents do not say how it works, or when it opens.",
        "I could not find information on price, opening hours, and location.",
        "The documents do not state the fee for Schedule B (section 4).",
        "The passages do not say whether Acme Corp. paid in 2019.",
        "The handbook (2024 edition) does not say how long it takes.",
        "The context does not specify the deadline for 2025 applications, the form to use, or the fee.",
        "The documents do not say what happens on Monday, 3 May 2021.",
    ],
)
def test_what_only_names_the_topic_of_an_abstention_is_no_claim(text):
    found = reading(text)
    assert (found.claim, found.abstains) == (None, True)


@pytest.mark.parametrize(
    ("text", "claimed"),
    [
        ("The tower was built in 1950, correct?", "The tower was built in 1950"),
        ("A ticket costs 50 euros, doesn't it?", "A ticket costs 50 euros"),
        ("Is it open?", None),
        ("Yes.", None),
        ("No.", None),
        ("Indeed.", None),
        ("Paris.", "Paris."),
    ],
)
def test_a_tag_makes_no_question_of_a_statement_and_a_bare_answer_none(text, claimed):
    found = reading(text).claim
    assert (found.text if found else None) == claimed


def test_a_header_row_with_an_amount_claims_it():
    [header, row] = segment("| Ticket | 50 euros |\n|---|---|\n| Child | 6 euros |\n")
    assert read(header).claim.text == "Ticket: 50 euros"
    [years, row] = segment("| Year | 2022 |\n|---|---|\n| Sales | 5 |\n")
    assert read(years).claim is None
    assert read(row, previous=[years]).claim.text == "Year: Sales, 2022: 5"


@pytest.mark.parametrize(
    ("lead", "item", "expected"),
    [
        ("The leave covers:", "- dental visits", "The leave covers dental visits"),
        ("You will need:", "- a valid passport", "You will need a valid passport"),
        ("To reset the password:", "1. Hold down RESET.", "To reset the password, Hold down RESET"),
        ("The following are excluded:", "- cosmetic treatments;", "cosmetic treatments are excluded"),
        ("The leave covers:", "- The fee is $5.", "The fee is $5."),
        ("Here are the main points:", "- dental visits", "dental visits"),
    ],
)
def test_a_list_item_takes_the_frame_of_its_lead_in(lead, item, expected):
    assert claim(lead, item) == expected


def test_later_items_of_a_list_take_the_frame_too_and_prose_ends_it():
    assert claim("The leave covers:", "- dental visits", "- eye tests") == "The leave covers eye tests"
    assert (
        claim("The leave covers:", "- dental visits", "That is all there was.", "- eye tests") == "eye tests"
    )


def test_code_and_headings_claim_nothing_and_tables_are_read_by_row():
    kinds = {0: SentenceKind.TABLE, 1: SentenceKind.TABLE, 2: SentenceKind.TABLE}
    header, rule, row = "| Plan | Price |\n", "|---|---|\n", "| Pro | $20 |\n"
    assert reading("x = 1", kinds={0: SentenceKind.CODE}).reason is Reason.CODE
    assert reading("# Fees", kinds={0: SentenceKind.HEADING}).reason is Reason.HEADING
    assert reading(header, kinds=kinds).reason is Reason.HEADING
    assert reading(header, rule, kinds=kinds).reason is Reason.EMPTY
    assert reading(header, rule, row, kinds=kinds).claim.text == "Plan: Pro, Price: $20"
    assert reading(header + rule + row, kinds=kinds).claim.text == "Plan: Pro, Price: $20"


@pytest.mark.parametrize(
    "line", ["Sources: [1], [2]", "Source: [1].", "References: [1] and [2]", "Source: [1]; [2]."]
)
def test_a_line_of_sources_is_no_claim(line):
    found = reading("It costs 5 euros.", line, markers=tuple(one for one in ("[1]", "[2]") if one in line))
    assert (found.claim, found.reason) == (None, Reason.REFERENCE)


def test_what_is_said_behind_a_source_is_a_claim():
    assert claim("Sources and references are free for members of the library.") is not None
    assert claim("Source: the fee is 5 euros a day [1].", markers=("[1]",)) is not None


TONES = [", right?", ", correct?", ", isn't it?", "!", "…", " 😀", " 👍"]


@pytest.mark.parametrize("tone", TONES)
@pytest.mark.parametrize(
    "claim", ["Aspirin is safe for children", "Smoking is allowed indoors", "We ship to Canada and Mexico"]
)
def test_no_tone_at_its_end_takes_a_claim_from_being_checked(claim, tone):
    (sentence,) = segment(f"{claim}{tone}")
    assert read(sentence, learned=True).claim is not None


@pytest.mark.parametrize(
    "talk", ["Great question!", "You are welcome 😀", "Let me know if I can help!", "✈️ Travel tips"]
)
def test_talk_stays_talk_in_any_tone(talk):
    (sentence,) = segment(talk)
    assert read(sentence, learned=True).claim is None
