from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify.sentences.segmenter import segment
from streamverify.text.layout import body
from streamverify.types import Sentence, SentenceKind

START = 7
SAYS_NOTHING = re.compile(
    r"(?:[^\w.,;:!?\"'|`()\[\]]|[\u2776-\u2793])*(?:\[[ xX]\]\s+)?"
    r"(?:(?:\d{1,3}(?:[.):]|\s[-–—])|\(\d{1,3}\)|\(?(?:[A-Za-z]|[ivx]{2,5})[.)]|\d{1,2}(?:\.\d{1,2}){1,4}\.?)\s+"
    r"|(?:[0-9]\ufe0f?\u20e3|[①-⑳])\s*)?"
)
"""All that may stand before a body: blanks, marks, and one short number of a list."""

hostile = st.lists(
    st.sampled_from(
        [
            "1999",
            "12",
            "3",
            ".",
            ")",
            "-",
            "*",
            "#",
            ">",
            " ",
            "\n",
            "\t",
            "It is tall",
            "It",
            "?",
            "|",
            "`",
            "٣",
            "①",
            "2.3",
            ": ",
            " - ",
        ]
    ),
    max_size=24,
).map("".join)


def parts(sentence: Sentence) -> tuple[str, str, str]:
    span = body(sentence)
    assert sentence.start <= span.start <= span.end <= sentence.end
    at, end = span.start - sentence.start, span.end - sentence.start
    return sentence.text[:at], sentence.text[at:end], sentence.text[end:]


@given(hostile | st.text(), st.sampled_from(SentenceKind))
def test_layout_is_blanks_and_marks_and_never_the_only_thing_a_sentence_says(text, kind):
    lead, inside, rest = parts(Sentence(index=0, text=text, start=START, end=START + len(text), kind=kind))
    assert SAYS_NOTHING.fullmatch(lead)
    assert not rest.strip()
    assert any(map(str.isalnum, text)) == any(map(str.isalnum, inside))


@given(hostile)
def test_in_an_answer_no_figure_of_running_prose_is_layout(text):
    for sentence in segment(text):
        lead, _, _ = parts(sentence)
        assert SAYS_NOTHING.fullmatch(lead)
        if sentence.kind is SentenceKind.PROSE:
            assert not any(map(str.isalnum, lead))


@pytest.mark.parametrize(
    ("text", "kind", "inside"),
    [
        ("1999. ", SentenceKind.PROSE, "1999."),
        ("1999. ", SentenceKind.LIST_ITEM, "1999."),
        ("12. ", SentenceKind.LIST_ITEM, "12."),
        ("1999. A fire.\n", SentenceKind.LIST_ITEM, "1999. A fire."),
        ("12. A fire.\n", SentenceKind.LIST_ITEM, "A fire."),
        ("> 2) A fire.\n", SentenceKind.QUOTE, "A fire."),
        ("12. A fire. ", SentenceKind.PROSE, "12. A fire."),
    ],
)
def test_a_number_is_a_mark_only_where_it_numbers_something(text, kind, inside):
    sentence = Sentence(index=0, text=text, start=START, end=START + len(text), kind=kind)
    assert parts(sentence)[1] == inside


@pytest.mark.parametrize(
    ("text", "kept", "withheld"),
    [
        ("3.5 Stars were given.", "Stars were given.", "3.5 Stars were given."),
        ("3.5. It is tall.", "It is tall.", "3.5. It is tall."),
        ("- 2.3.1 Lifts run daily.", "Lifts run daily.", "2.3.1 Lifts run daily."),
        ("12. A fire.", "A fire.", "A fire."),
    ],
)
def test_a_sections_number_may_be_a_figure(text, kept, withheld):
    sentence = Sentence(index=0, text=text, start=0, end=len(text), kind=SentenceKind.LIST_ITEM)
    assert text[slice(*body(sentence))] == kept
    assert text[slice(*body(sentence, sections=False))] == withheld


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<p>It is tall.</p>", "It is tall."),
        ("<ul><li>It is tall</li>\n</ul>\n", "It is tall"),
        ("- <li> It is tall.<br /> ", "It is tall."),
        ("It is <b>tall</b>.", "It is <b>tall</b>."),
        ("It is <b>tall</b>", "It is <b>tall</b>"),
        ('<p title="tall">It is.</p>', '<p title="tall">It is.'),  # what stands in a tag may say something
        ("<p></p>", "<p></p>"),
        ("5 > 3", "5 > 3"),
    ],
)
def test_bare_tags_of_blocks_are_layout(text, said):
    kind = SentenceKind.LIST_ITEM if text.startswith("-") else SentenceKind.PROSE
    inside = body(Sentence(index=0, text=text, start=START, end=START + len(text), kind=kind))
    assert said == text[inside.start - START : inside.end - START]
