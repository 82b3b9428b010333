from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify.errors import PassageError
from streamverify.passages import blank_ids, cut, passages_from
from streamverify.scorers.lexical import LexicalScorer
from streamverify.types import Passage, Span


@dataclass
class Document:
    """The shape of a LangChain document."""

    page_content: str
    metadata: dict[str, Any] = field(default_factory=dict)
    id: str | None = None


@dataclass
class TextNode:
    """The shape of a LlamaIndex node."""

    node_id: str
    text: str
    metadata: dict[str, Any] = field(default_factory=dict)

    def get_content(self, metadata_mode: str = "none") -> str:
        return self.text


@dataclass
class NodeWithScore:
    node: TextNode
    score: float | None


words = LexicalScorer().token_spans


def characters(text: str) -> list[Span]:
    return [Span(index, index + 1) for index, char in enumerate(text) if not char.isspace()]


prose = st.lists(
    st.sampled_from(
        [
            "Rome fell. ",
            "In 1453 it ended",
            "\n\n",
            " ",
            "e.g. ",
            "東京は首都。",
            "👍🏽",
            "word" * 40,
            "a-b-c",
            "!",
            "\r\n",
        ]
    ),
    max_size=60,
).map("".join)
anything = st.one_of(prose, st.text(max_size=300))
tokenizers = st.sampled_from([words, characters])


@given(st.lists(anything, max_size=4), tokenizers, st.integers(1, 40))
def test_the_windows_of_a_passage_joined_are_its_text(texts, tokens, limit):
    passages = [Passage(f"d{number}", text) for number, text in enumerate(texts)]
    windows = cut(passages, tokens, limit)
    assert [window.passage for window in windows] == sorted(window.passage for window in windows)
    joined = {
        number: "".join(w.text for w in group) for number, group in groupby(windows, lambda w: w.passage)
    }
    for number, text in enumerate(texts):
        assert joined.get(number, "") == (text if tokens(text) else "")


@given(anything, tokenizers, st.integers(1, 40))
def test_a_window_points_at_its_text_and_has_no_more_tokens_than_allowed(text, tokens, limit):
    for window in cut([Passage("d", text, "Title")], tokens, limit):
        assert text[window.start : window.end] == window.text
        assert 1 <= len(tokens(window.text)) <= limit
        assert window.title == "Title"


@given(st.integers(1, 30), st.integers(5, 30))
def test_windows_start_where_sentences_start_if_the_sentences_fit(sentences, limit):
    text = "Rome fell in winter. " * sentences
    assert all(window.text.startswith("Rome") for window in cut([Passage("d", text)], words, limit))


def test_windows_of_a_passage_are_of_like_length():
    (first, second) = cut([Passage("d", "One two three. " * 6)], words, 16)
    assert len(words(first.text)) == len(words(second.text)) == 9


def test_room_is_kept_for_a_title_where_there_is_one():
    text = "One two three. " * 12
    for title, most in (("Title", 9), (None, 12)):
        windows = cut([Passage("d", text, title)], words, 12, title_tokens=3)
        assert max(len(words(window.text)) for window in windows) == most


def test_a_long_sentence_is_cut_between_words():
    text = "alpha beta gamma delta " * 50
    windows = cut([Passage("d", text)], words, 7)
    assert all(window.text.startswith(("alpha", "beta", "gamma", "delta")) for window in windows)


def test_text_without_blanks_is_cut_in_linear_time_and_loses_nothing():
    text = "首都は東京です。" * 5_000
    windows = cut([Passage("d", text)], characters, 100)
    assert "".join(window.text for window in windows) == text


def test_a_lone_surrogate_reaches_no_tokenizer_and_moves_no_offset():
    seen = []

    def tokens(text):
        seen.append(text.encode())
        return words(text)

    (window,) = cut([Passage("d", "a \ud800 b")], tokens, 10)
    assert (window.start, window.end, window.text) == (0, 5, "a � b")
    assert seen


def test_strings_are_named_by_their_position():
    assert [(p.id, p.text) for p in passages_from(["one", Passage("x", "two"), "three"])] == [
        ("p1", "one"),
        ("x", "two"),
        ("p3", "three"),
    ]


def test_a_mapping_keeps_what_it_says_besides_id_and_text():
    (passage,) = passages_from([{"id": 7, "text": "t", "title": "T", "url": "u", "metadata": {"page": 3}}])
    assert passage == Passage("7", "t", "T", {"url": "u", "page": 3})


def test_a_langchain_document_is_read_by_shape():
    passages = passages_from(
        [
            Document("own", id="a"),
            Document("chunk", {"chunk_id": 4, "doc_id": "d", "title": "T"}),
            Document("nameless"),
        ]
    )
    assert [passage.id for passage in passages[:2]] == ["a", "4"]
    assert passages[1].title == "T"
    assert passages[2].id.startswith("sha256-")
    assert passages_from([Document("nameless")])[0].id == passages[2].id


def test_chunks_that_share_the_id_of_their_document_are_told_apart():
    chunks = [Document(text, {"doc_id": "d"}) for text in ("one", "two", "one", "three")]
    assert [(p.id, p.text) for p in passages_from(chunks)] == [("d", "one"), ("d#2", "two"), ("d#3", "three")]


@given(
    st.lists(
        st.tuples(st.sampled_from(["d", "d#2", "e"]), st.sampled_from("abcdef"), st.booleans()), max_size=24
    )
)
def test_a_chunk_takes_the_first_name_that_is_free_or_has_its_text(chunks):
    expected: dict[str, str] = {}
    objects: list[object] = []
    for name, text, shared in chunks:
        identity, number = name, 1
        while shared and expected.get(identity, text) != text:
            number += 1
            identity = f"{name}#{number}"
        if expected.get(identity, text) == text:
            expected[identity] = text
            objects.append(Document(text, {"doc_id": name}) if shared else Passage(name, text))
    assert {passage.id: passage.text for passage in passages_from(objects)} == expected


def test_a_llama_index_node_is_read_by_shape_without_its_citation_label():
    node = TextNode("n1", "Source 3:\nThe text. Source 4:\n", {"title": "T"})
    expected = Passage("n1", "The text. Source 4:\n", "T", {"title": "T"})
    assert passages_from([NodeWithScore(node, None)]) == passages_from([node]) == (expected,)
    (scored,) = passages_from([NodeWithScore(node, 0.5)])
    assert scored == replace(expected, metadata={"title": "T", "score": 0.5})
    own = TextNode("n1", "The text.", {"score": 0.1})
    assert passages_from([NodeWithScore(own, 0.5)])[0].metadata == {"score": 0.1}


def test_the_same_passage_twice_is_kept_once():
    assert passages_from([{"id": "a", "text": "t"}, Passage("a", "t")]) == (Passage("a", "t"),)


def test_an_id_with_two_texts_is_an_error_that_names_it():
    with pytest.raises(PassageError, match="'a'"):
        passages_from([{"id": "a", "text": "t"}, {"id": "a", "text": "u"}])


def test_blank_passages_are_kept_and_told():
    passages = passages_from(["", " \n", "text"])
    assert len(passages) == 3
    assert blank_ids(passages) == ("p1", "p2")


@pytest.mark.parametrize("single", ["text", b"text", {"id": "a", "text": "t"}, Passage("a", "t"), 3, None])
def test_a_single_passage_where_a_sequence_is_meant_is_an_error_that_says_so(single):
    with pytest.raises(PassageError, match="sequence"):
        passages_from(single)


@pytest.mark.parametrize(
    ("item", "named"),
    [
        (3, "passage 1 is a int"),
        ({"text": "t"}, "passage 1 has no 'id'"),
        ({"id": "a"}, "passage 1 has no 'text'"),
        ({"id": "", "text": "t"}, "non-empty"),
        ({"id": "a", "text": None}, "'a'"),
        ({"id": "a", "text": "t", "title": 3}, "title"),
        ({"id": "a", "text": "t", "metadata": [1]}, "metadata"),
        ({"id": True, "text": "t"}, "True"),
    ],
)
def test_what_cannot_be_read_is_an_error_that_names_it(item, named):
    with pytest.raises(PassageError, match=named):
        passages_from([item])


def test_the_total_length_is_bounded_and_repeats_do_not_count():
    assert len(passages_from([Passage("a", "x" * 60)] * 5, max_chars=100)) == 1
    with pytest.raises(PassageError, match="120 characters"):
        passages_from(["x" * 60, "x" * 60], max_chars=100)


@given(st.lists(st.text(max_size=20), max_size=6))
def test_every_text_survives_except_for_lone_surrogates(texts):
    passages = passages_from([{"id": f"d{number}", "text": text} for number, text in enumerate(texts)])
    assert [passage.text for passage in passages] == texts
    (odd,) = passages_from([{"id": "\udfff", "text": "a\ud800b", "title": "\ud800"}])
    assert (odd.id, odd.text, odd.title) == ("�", "a�b", "�")
