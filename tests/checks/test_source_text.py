from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify.checks.index import Source, SourceIndex, SourceView
from streamverify.checks.quantities import quantities
from streamverify.checks.quotes import plain
from streamverify.checks.source_text import SourceText
from streamverify.checks.units import UNITS
from streamverify.text.words import (
    WORD,
    content_stems,
    even,
    fold,
    folded_words,
    placed_words,
    stem,
    strip_possessive,
    tokens,
    words,
)
from streamverify.types import Passage

PIECES = [
    "Cafés",
    "the",
    "owner's",
    "dogs'",
    "İstanbul",
    "U.S.A.",
    "½",
    "km²",
    "ΟΔΟΣ",
    "l’eau",
    "e\u0301",
    "ß",
    "_",
    "9",
]
written = st.one_of(
    st.text(max_size=60), st.lists(st.sampled_from([*PIECES, " ", " ", ", ", "’", "."])).map("".join)
)


@given(written)
def test_the_words_of_a_text_are_the_same_read_in_one_go_or_one_by_one(text):
    assert folded_words(text) == [word.folded for word in words(text)]
    assert placed_words(text) == [(word.start, word.folded) for word in words(text)]
    if even(text):
        assert folded_words(text) == tokens(text)


@given(written)
def test_what_a_text_holds_is_what_its_words_read_one_by_one_hold(text):
    held = SourceText(text)
    lowered = {fold(word) for word in WORD.findall(text.lower())}
    dotted = (
        {word for word in held.words if "." not in word} - lowered - {strip_possessive(w) for w in lowered}
    )
    assert held.words >= lowered | {strip_possessive(word) for word in lowered}
    assert all(word in fold(text).replace(".", "") for word in dotted)  # U.S.A. is also found as usa
    assert held.stems == {stem(word) for word in held.words}
    assert list(held.stem_run) == content_stems(text)
    assert held.plain == plain(text)


@given(st.lists(written, max_size=4))
def test_a_view_holds_what_its_texts_hold(texts):
    view = SourceView([Source(place, text, 0) for place, text in enumerate(texts)])
    assert view.words == frozenset().union(*(SourceText(text).words for text in texts))
    assert [quantity for _, quantity in view.quantities] == [
        quantity for text in texts for quantity in SourceText(text).quantities
    ]


def test_a_window_in_other_company_is_not_read_again():
    index = SourceIndex([Passage("a", "It is 330 m tall. It opened in 1889. It is made of iron.")])
    first, other = index.near([(0, 0, 17), (0, 18, 36)]), index.near([(0, 0, 17), (0, 37, 56)])
    assert first is not other
    assert first.quantities[0][1] is other.quantities[0][1]
    assert first.statements[0][1] is other.statements[0][1]


@pytest.mark.parametrize("name", sorted(name for name in UNITS if " " in name and name[0].isalpha()))
def test_a_unit_of_several_words_is_read_whole(name):
    [quantity] = quantities(f"It takes 7 {name} in all.")
    assert quantity.text == f"7 {name}"
    assert quantity.readings[0].dimension == UNITS[name].dimension
