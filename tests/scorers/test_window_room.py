"""Encoded windows leave room for the passages that are known."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from streamverify.scorers.premise_cached import PremiseCachedScorer
from streamverify.scorers.protocol import Abort, Window
from streamverify.scorers.windows.cache import ByteBoundedCache
from streamverify.scorers.windows.window_room import (
    CACHE_BYTES,
    CHARACTERS_A_TOKEN,
    FLOOR_BYTES,
    FREE_TOKENS,
    LESS_BYTES,
    SHARED_BYTES,
    Room,
    left,
)


class Known:
    def __init__(self, tokens):
        self.tokens = tokens


@given(st.lists(st.integers(0, 200_000), max_size=20), st.data())
def test_windows_have_the_less_room_the_more_passages_are_known(tokens, data):
    told, known = [], []
    room = Room(told.append)
    for count in tokens:
        if known and data.draw(st.booleans()):
            known.pop(data.draw(st.integers(0, len(known) - 1)))
        known.append(Known(count))
        room.add(known[-1])
        less = LESS_BYTES * max(sum(one.tokens for one in known) - FREE_TOKENS, 0)
        assert told[-1] + min(less, CACHE_BYTES - FLOOR_BYTES) == CACHE_BYTES
    assert left(0) == CACHE_BYTES


sets_of_texts = st.lists(st.sampled_from(["a" * 80_000, "b" * 200_000, "c" * 4, ""]), max_size=4)


@given(st.lists(sets_of_texts, max_size=5), st.integers(0, 50_000), st.data())
def test_texts_that_are_expected_take_room_until_they_are_not_equal_ones_once(arrivals, tokens, data):
    told, known = [], []
    room = Room(told.append)

    def bound():
        known.append(Known(tokens))
        room.add(known[-1])
        return told[-1]

    waiting = []
    for texts in arrivals:
        waiting.append((texts, room.expect(texts)))
        waiting[-1][1].__enter__()
    while True:
        expected = sum(map(len, {text for texts, _ in waiting for text in texts})) // CHARACTERS_A_TOKEN
        assert room.expected == expected
        assert bound() == left(tokens * len(known) + expected)
        if not waiting:
            break
        waiting.pop(data.draw(st.integers(0, len(waiting) - 1)))[1].__exit__(None, None, None)


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 6), st.booleans(), st.integers(0, 20)), max_size=60)
)
def test_a_cache_that_is_told_another_bound_keeps_it_and_forgets_in_the_usual_order(asked):
    cache = ByteBoundedCache[bytes](20, len)
    for number, size, anew, limit in asked:
        before = {**cache._new, **cache._known}
        cache.resize(limit)
        told, held = cache.statistics(), {**cache._new, **cache._known}
        assert told.bytes == sum(size for _, size in held.values()) <= limit
        assert cache._bytes_known == sum(size for _, size in cache._known.values()) <= limit / 2
        assert held.keys() <= before.keys()
        if sum(size for _, size in before.values()) <= limit:
            assert held.keys() == before.keys()
        cache.fetch(b"%d" % number, lambda size=size: bytes(size), abort=Abort(), anew=anew)


def test_only_a_cache_of_its_own_without_a_bound_of_the_callers_is_divided(tmp_path):
    text = "The mill was built in 1804."
    bounds, expecting = {}, {}
    for name, given_bytes, shared in (
        ("default", None, None),
        ("given", 10_000_000, None),
        ("shared", None, tmp_path),
    ):
        scorer = PremiseCachedScorer(threads=1, cache_bytes=given_bytes, shared_windows=shared)
        prepared = scorer.prepare([Window(0, text, 0, len(text))], abort=Abort())
        bounds[name] = scorer._encoded._cache.limit
        tokens = prepared.index.tokens
        with scorer.expect(["word " * 400_000]):
            scorer.prepare([Window(0, text, 0, len(text))], abort=Abort())
            expecting[name] = scorer._encoded._cache.limit
        scorer.close()
    assert tokens > 5
    assert bounds == {
        "default": CACHE_BYTES,
        "given": 10_000_000,
        "shared": SHARED_BYTES,
    }
    assert expecting == bounds | {"default": FLOOR_BYTES}
