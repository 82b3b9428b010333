from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from streamverify.checks.index import Source, SourceView

AS_A_PATTERN = re.compile(
    r"\b[A-Z][\w'’-]*+(?:(?:\s+(?:of|the|and|for|on|in|de|la|du|&))?\s+[A-Z][\w'’-]*+){1,7}"
)
"""A run of capitalised words as one pattern: plain to read, and slow on long words with hyphens."""
_LETTERS = re.compile(r"[^\W\d_]+")

texts = st.lists(
    st.sampled_from(
        ["World", "Health", "Aa-Bb", "O'Neil", "of", "the", "&", "x", " ", "  ", "\n", ",", "-", "9"]
    )
).map("".join)


@given(texts)
def test_the_initials_of_every_run_of_capitalised_words_are_known(text):
    expected = set()
    for run in AS_A_PATTERN.findall(text):
        words = _LETTERS.findall(run)
        expected.add("".join(word[0] for word in words if word[0].isupper()).lower())
        expected.add("".join(word[0] for word in words).lower())
    assert SourceView([Source(0, text, 0)]).initials == expected
