"""Sentences by their marks alone: the parts are the text, and what opens one is what a part begins with."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify.text.sentence_ends import SENTENCE_END, opens_sentence

words = st.lists(st.sampled_from(["Mill", "mill", "1804", "is", "barley", "`x`"]), min_size=1, max_size=4)
sentences = st.lists(
    st.tuples(words, st.sampled_from([".", "!", "?"])).map(
        lambda pair: " ".join(pair[0]).capitalize() + pair[1]
    ),
    min_size=1,
    max_size=5,
)


@given(sentences, st.sampled_from([" ", "  ", "\n", "\n\n"]))
def test_sentences_set_one_behind_another_are_cut_where_they_were_joined(parts, blank):
    assert SENTENCE_END.split(blank.join(parts)) == parts


@given(sentences)
def test_the_first_word_of_each_opens_it_and_the_words_inside_do_not(parts):
    text, begun = " ".join(parts), 0
    for part in parts:
        at = 0
        for word in part.split(" "):
            assert opens_sentence(text, begun + at) == (at == 0)
            at += len(word) + 1
        begun += len(part) + 1


@pytest.mark.parametrize("text", ["Ask Dr. Who", "See Smith v. Who", "It is called Who"])
def test_a_word_behind_a_title_or_inside_a_sentence_opens_none(text):
    assert not opens_sentence(text, text.index("Who"))


@pytest.mark.parametrize("text", ["Who", "It ended. Who", "He said “Who", "Note: Who", "one\n  Who"])
def test_a_word_behind_a_stop_a_break_or_an_opening_quote_opens_one(text):
    assert opens_sentence(text, text.index("Who"))
