from __future__ import annotations

from math import log1p

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from streamverify.scorers.selection import RELATED, LexicalIndex, related

windows = st.lists(st.lists(st.integers(0, 12), max_size=8), max_size=12)
claims = st.lists(st.integers(0, 15), max_size=8)


@given(windows, claims)
def test_weights_equal_the_formula(texts, claim):
    expected = [
        sum(log1p(len(texts) / sum(token in other for other in texts)) for token in set(claim) & set(text))
        for text in texts
    ]
    assert np.allclose(LexicalIndex(texts).weights(claim), expected)


@given(windows, claims, st.integers(1, 6), st.lists(claims, max_size=2))
def test_the_best_come_first_whatever_is_asked_for(texts, claim, count, hints):
    index = LexicalIndex(texts)
    everything = index.best(claim, len(texts) or 1, hints)
    assert sorted(everything) == list(range(len(texts)))
    assert index.best(claim, count, hints) == everything[:count]


@given(windows, claims, st.integers(1, 6))
def test_the_best_are_distinct_as_many_as_asked_and_none_left_out_is_better(texts, claim, count):
    index = LexicalIndex(texts)
    best = index.best(claim, count)
    assert len(best) == len(set(best)) == min(count, len(texts))
    weights = index.weights(claim)
    left_out = set(range(len(texts))) - set(best)
    assert all(weights[window] <= weights[chosen] for window in left_out for chosen in best)


def test_a_rare_token_outweighs_a_common_one():
    assert LexicalIndex([[1, 2], [1, 3], [1, 4], [1, 5]]).best([1, 4], 1) == [2]


def test_a_hint_decides_between_windows_that_share_as_much_with_the_claim():
    texts = [[1, 2], [1, 3], [1, 4]]
    assert LexicalIndex(texts).best([1], 1) == [0]
    assert LexicalIndex(texts).best([1], 1, [[4]]) == [2]


def test_a_hint_does_not_outweigh_the_claim():
    assert LexicalIndex([[1, 2], [3, 4], [5]]).best([1, 2], 1, [[3, 4]]) == [0]


@given(windows, claims, st.integers(1, 6), st.lists(claims, max_size=2))
def test_what_has_to_do_with_the_claim_is_all_that_shares_enough_of_what_the_best_does(
    texts, claim, count, hints
):
    ranked = LexicalIndex(texts).ranked(claim, count, hints)
    kept = related(ranked)
    assert kept == ranked[: len(kept)]
    assert bool(kept) == bool(ranked)
    for window, weight in ranked:
        assert ((window, weight) in kept) == (weight >= RELATED * ranked[0][1])


def test_other_passages_are_not_read_beside_one_that_holds_the_claim():
    texts = [[1, 2, 3, 4], [4, 8, 9], [5, 6, 7]]
    assert [window for window, _ in related(LexicalIndex(texts).ranked([1, 2, 3, 4], 3))] == [0]
    assert [window for window, _ in related(LexicalIndex(texts).ranked([10, 11], 3))] == [0, 1, 2]
