"""One table of list marks: whatever takes marks off a sentence takes off the same ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify.citations import attach, find_markers, states_number
from streamverify.citations.context import is_checkbox
from streamverify.claims.reader import read
from streamverify.sentences.segmenter import segment
from streamverify.text.layout import body
from streamverify.text.list_marks import is_item, marks_end
from streamverify.text.markdown import plain
from streamverify.types import SentenceKind

MARKS = [
    "- ", "* ", "+ ", "• ", "◦ ", "▪ ", "‣ ", "● ", "▸ ", "► ", "✅ ", "⚠️ ", "1. ", "2) ", "(1) ",
    "(12) ", "a) ", "(a) ", "ii) ", "(iv) ", "1️⃣ ", "- 1. ", "  - ", "  ▪ ", "– ", "— ", "→ ", "· ", "① ",
    "a. ", "1: ", "1 - ", "1 – ", "1.1 ", "1.1. ", "2.3.1 ", "2.3.1. ",
]  # fmt: skip
"""What opens an item for the segmenter, in front of its text."""
QUOTED = ["> ", "> - ", "> 1. ", "> ✅ "]
SAYS = "The lift is open daily."


@pytest.mark.parametrize("mark", MARKS)
def test_every_room_reads_the_same_marks(mark):
    first, second = segment(f"The list:\n\n{mark}{SAYS}\n{mark}{SAYS}\n")[1:]
    for sentence in (first, second):
        assert sentence.kind is SentenceKind.LIST_ITEM
        inside = body(sentence)
        assert sentence.text[inside.start - sentence.start : inside.end - sentence.start] == SAYS
        assert plain(sentence.text, sentence.start).text == SAYS
        assert not states_number(sentence.text)
        assert is_item(sentence.text)
        claim = read(sentence).claim
        assert claim is not None
        assert claim.text == SAYS


@pytest.mark.parametrize("mark", MARKS)
def test_the_markers_at_an_items_end_serve_that_item_alone(mark):
    sentences = segment(f"{mark}It opened. It is tall. [1]\n{mark}It is old. It shut.\n")
    found = attach(sentences, [find_markers(sentence.text) for sentence in sentences])
    assert [bool(one) for one in found] == [True, True, False, False]


@pytest.mark.parametrize("mark", QUOTED)
def test_quote_marks_are_no_part_of_what_is_said(mark):
    (sentence,) = segment(f"{mark}{SAYS}")
    assert sentence.text[body(sentence).start :] == SAYS
    assert plain(sentence.text, 0).text == SAYS
    assert not states_number(sentence.text)


@pytest.mark.parametrize(
    "text",
    [
        "1999. It burnt.",
        "12.",
        "(1)",
        "a)",
        "3.5 m",
        "-5 °C",
        "I. Newton",
        "1.5) x",
        "1.5 million",
        "1.5 Million",
        "1.05 Points",
        "3.11 is out",
        "1: 10",
        "5 - 3 is 2",
        "p. 12",
        "–5 °C",
    ],
)
def test_what_says_something_is_no_mark(text):
    assert marks_end(text) == 0


@pytest.mark.parametrize("line", ["- ", "* ", "1. ", "▪ ", "  - ", "> - "])
def test_a_box_behind_any_mark_is_no_citation(line):
    assert is_checkbox(f"Tasks:\n{line}[x] it", len(f"Tasks:\n{line}"), "x")


marked = st.lists(
    st.sampled_from(["-", "*", "1.", "(1)", "a)", "✅", "▪", ">", "#", " ", "\n", "x", "12", "[x]"])
).map("".join)


@given(marked | st.text(), st.booleans())
def test_marks_are_a_beginning_and_taking_numbers_off_takes_no_less(text, numbered):
    end = marks_end(text, numbered=numbered)
    assert 0 <= marks_end(text, numbered=False) <= end <= len(text)


@given(marked | st.text())
def test_an_item_says_something_behind_its_marks(text):
    assert not is_item(text) or text[marks_end(text) :].strip()
