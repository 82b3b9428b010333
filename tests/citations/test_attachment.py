"""Which sentences a marker serves."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from streamverify import Sentence
from streamverify.citations import attach, find_markers
from streamverify.sentences.segmenter import segment
from streamverify.types import SentenceKind


def served(text, mode="sentence"):
    sentences = segment(text)
    markers = [find_markers(sentence.text) for sentence in sentences]
    return [[a.marker.text for a in attached] for attached in attach(sentences, markers, mode=mode)]


def test_a_marker_serves_its_sentence_alone_unless_told_otherwise():
    text = "It grew. Costs fell. Debt was paid [1][2]."
    assert served(text) == [[], [], ["[1]", "[2]"]]
    assert served(text, "paragraph") == [["[1]", "[2]"]] * 3


def test_a_paragraphs_markers_serve_its_uncited_sentences_only():
    assert served("It grew. Costs fell [3]. Debt was paid [1].\n\nSales rose [2].", "paragraph") == [
        ["[1]"],
        ["[3]"],
        ["[1]"],
        ["[2]"],
    ]


def test_markers_before_the_paragraphs_end_are_not_lent():
    assert served("It grew [1]. Costs fell.", "paragraph") == [["[1]"], []]


def test_an_item_owns_its_markers_and_lends_them_within():
    text = "- It grew. Costs fell [1].\n- Debt was paid.\n- Sales rose [2].\n"
    expected = [["[1]"], ["[1]"], [], ["[2]"]]
    assert expected == served(text)
    assert expected == served(text, "paragraph")


def test_a_sentence_of_nothing_but_markers_serves_the_one_before():
    def line(index, text):
        return Sentence(index=index, text=text, start=0, end=len(text))

    sentences = [line(0, "It grew. "), line(1, "[1][2]")]
    attached = attach(sentences, [find_markers(s.text) for s in sentences])
    assert [(a.marker.text, a.home, a.own) for a in attached[0]] == [("[1]", 1, True), ("[2]", 1, True)]


def test_code_has_no_markers():
    code = Sentence(index=0, text="x [1]", start=0, end=5, kind=SentenceKind.CODE)
    assert attach([code], [find_markers("x [1]")]) == ((),)


@given(
    st.lists(
        st.sampled_from(["It grew. ", "It grew [1]. ", "\n\n", "- It grew. ", "- It fell [2].\n"]),
        max_size=10,
    )
)
def test_own_markers_are_always_served_and_nothing_is_invented(pieces):
    sentences = segment("".join(pieces))
    markers = [find_markers(sentence.text) for sentence in sentences]
    for mode in ("sentence", "paragraph"):
        attached = attach(sentences, markers, mode=mode)
        assert [list(own) for own in markers] == [[a.marker for a in here if a.own] for here in attached]
        assert all(a.marker in markers[a.home] for here in attached for a in here)
        assert all(a.home >= index for index, here in enumerate(attached) for a in here)


@given(st.lists(st.sampled_from(["It grew. ", "It grew [1]. ", "\n\n"]), max_size=8))
def test_live_attachment_differs_only_where_the_paragraph_is_still_open(pieces):
    sentences = segment("".join(pieces))
    markers = [find_markers(sentence.text) for sentence in sentences]
    whole = attach(sentences, markers, mode="paragraph")
    for count in range(len(sentences)):
        live = attach(sentences[:count], markers[:count], mode="paragraph")
        assert all(a == b or not any(x.own for x in b) for a, b in zip(live, whole, strict=False))
