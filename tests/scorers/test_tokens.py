"""What is remembered of a sentence, and of words, is what reading the text again would say."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers

from streamverify.scorers import known_words as words_module
from streamverify.scorers.known_words import KnownWords, known_words
from streamverify.scorers.model_files import ModelFiles
from streamverify.scorers.tokens import _SENTENCE, Encoder, TokenReader, encoded, read_tokenizer
from streamverify.text.unicode import encodable

pieces = st.sampled_from(
    ["The tower", " opened in 1889.", "naïve ½", "[SEP]", "\ud800", "日本", "\n\n", "’s"]
)
texts = st.lists(pieces | st.text(max_size=12), max_size=12).map("".join)


@pytest.fixture(scope="module")
def tokenizer():
    return read_tokenizer(ModelFiles.open(None).tokenizer)


@given(text=texts)
@example("")
@example("long " * _SENTENCE)
def test_a_text_read_again_is_read_the_same(tokenizer, text):
    encoder = Encoder(tokenizer)
    fresh = encoded(tokenizer, text, special=True)
    for _ in range(2):
        found = encoder(text)
        assert (found.ids, found.offsets) == (fresh.ids, fresh.offsets)
        assert found.special_tokens_mask == fresh.special_tokens_mask
        assert encoder.ids(text) == fresh.ids
        assert encoder.spans(text) == TokenReader(tokenizer)(text)


pieces_of_words = (
    st.sampled_from(
        ["The tower", " opened in 1889", ", e.g. ", "super", "[SEP", "]", "x" * 101, "“", "–", "…"]
    )
    | st.sampled_from(
        ["£49.5", "e\u0301", "\u0301", "\u200b", "\xa0", "\u2028", "İ", "Σ", "≮", "½", "ﬁ", "東京", "한국"]
    )
    | st.text(st.characters(min_codepoint=32, max_codepoint=0x24FF), max_size=12)
    | st.text(max_size=8)
)


@given(text=st.lists(pieces_of_words, max_size=12).map("".join))
@example("[SEP]")
@example("don't -- _do_ 3,000 (4x4) or \\n\r\n\t!")
@example("".join(map(chr, range(32, 0x3000))))
@example("Words " * 200 + "y" * 150)
def test_a_text_is_read_word_by_word_as_the_tokenizer_reads_it(tokenizer, text):
    words = known_words(tokenizer)
    assert isinstance(words, KnownWords)
    text = encodable(text)
    if not words.reads(text):
        return
    whole = encoded(tokenizer, text, special=False)
    for _ in range(2):  # once when the words are asked for, once when they are known
        assert whole.ids == words.ids(text)
        assert [*map(tuple, words.spans(text))] == whole.offsets


@given(one=st.characters(exclude_categories=["Cs"]), other=st.characters(exclude_categories=["Cs"]))
def test_no_character_changes_how_others_are_read(tokenizer, one, other):
    words = known_words(tokenizer)
    assert isinstance(words, KnownWords)
    text = f"ab{one}{other}cd“{one}”-{other}-{one}1 {other}"
    if words.reads(text):
        assert words.ids(text) == encoded(tokenizer, text, special=False).ids
        assert [*map(tuple, words.spans(text))] == encoded(tokenizer, text, special=False).offsets


def test_what_is_not_read_word_by_word(tokenizer):
    words = known_words(tokenizer)
    assert isinstance(words, KnownWords)
    assert words.reads("Plain text, on\r\n\ttwo lines [1]; it's ~£5 – or 4 °C.")
    assert not any(map(words.reads, ["a\x00b", "a\x0bb", "so [SEP] it is", "\x7f"]))


def test_what_is_remembered_is_bounded(tokenizer, monkeypatch):
    monkeypatch.setattr(words_module, "_MOST", 3)
    words = known_words(tokenizer)
    assert isinstance(words, KnownWords)
    text = "one two three four five 12345 4x4 1889 six seven " + "z" * 50
    for _ in range(2):
        assert words.ids(text) == encoded(tokenizer, text, special=False).ids
        assert [*map(tuple, words.spans(text))] == encoded(tokenizer, text, special=False).offsets
    for held in (words._ids, words._parts):
        assert len(held) <= 3
        assert not {"12345", "4x4", "z" * 50} & held.keys()


def _bare(pieces=None):
    made = Tokenizer(models.WordPiece(pieces or {"[UNK]": 0, "a": 1, "A": 2}, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=False)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return made


def test_a_tokenizer_that_keeps_capitals_has_them_kept():
    made = _bare()
    words = known_words(made)
    assert isinstance(words, KnownWords)
    assert words.ids("A a b") == made.encode("A a b").ids == [2, 1, 0]


def test_a_tokenizer_of_another_kind_reads_by_itself():
    for change in (
        {"normalizer": normalizers.Lowercase()},
        {"pre_tokenizer": pre_tokenizers.Whitespace()},
        {"model": models.WordLevel({"[UNK]": 0, "a": 1}, unk_token="[UNK]")},
    ):
        other = _bare()
        for name, value in change.items():
            setattr(other, name, value)
        assert known_words(other) is None
        assert Encoder(other).ids("a a") == other.encode("a a").ids
        assert Encoder(other).spans("a a") == TokenReader(other)("a a")
    for token in (AddedToken("a b", normalized=True), AddedToken("ab", normalized=False)):
        named = _bare()
        named.add_tokens([token])
        assert known_words(named) is None
