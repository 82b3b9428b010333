"""What is remembered of a sentence is what reading it again would say."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from streamverify.scorers.model_files import ModelFiles
from streamverify.scorers.tokens import _SENTENCE, Encoder, TokenReader, encoded, read_tokenizer

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
        assert encoder.spans(text) == TokenReader(tokenizer)(text)
