from __future__ import annotations

import threading
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from seen import Seen

from streamverify.errors import ScoringError
from streamverify.scorers.protocol import Abort
from streamverify.scorers.windows.cache import ByteBoundedCache

LIMIT = 10
keys = st.sampled_from([b"a", b"b", b"c", b"d"])


class CacheAgainstModel(RuleBasedStateMachine):
    """The cache beside an ordered dictionary that says what it must hold."""

    def __init__(self):
        super().__init__()
        self.cache = ByteBoundedCache[bytes](LIMIT, len)
        self.model: OrderedDict[bytes, bytes] = OrderedDict()
        self.hits = self.misses = self.evicted = 0

    @rule(key=keys, size=st.integers(0, LIMIT + 2))
    def fetch(self, key, size):
        value, cost_nothing = self.cache.fetch(key, lambda: bytes(size), abort=Abort())
        if key in self.model:
            assert cost_nothing
            assert value == self.model[key]
            self.model.move_to_end(key)
            self.hits += 1
            return
        assert not cost_nothing
        assert value == bytes(size)
        self.misses += 1
        if size > LIMIT:
            self.evicted += 1
            return
        self.model[key] = value
        while sum(map(len, self.model.values())) > LIMIT:
            self.model.popitem(last=False)
            self.evicted += 1

    @rule(key=keys)
    def fail(self, key):
        def broken() -> bytes:
            raise ZeroDivisionError

        if key in self.model:
            self.fetch(key, 0)
            return
        with pytest.raises(ZeroDivisionError):
            self.cache.fetch(key, broken, abort=Abort())
        self.misses += 1

    @rule()
    def clear(self):
        self.cache.clear()
        self.model.clear()

    @invariant()
    def counters_agree(self):
        held = sum(map(len, self.model.values()))
        assert held <= LIMIT
        assert self.cache.statistics() == (self.hits, self.misses, self.evicted, len(self.model), held)


@given(
    popular=st.integers(1, 5),
    passing=st.lists(st.tuples(st.integers(0, 30), st.integers(1, 6), st.booleans()), max_size=40),
)
def test_what_was_asked_for_anew_stays_whatever_passes_by_once(popular, passing):
    cache = ByteBoundedCache[bytes](LIMIT, len)
    known = [bytes([number]) for number in range(popular)]
    for key in [*known, *known]:
        cache.fetch(key, lambda: b"1", abort=Abort(), anew=True)
    seen = set()
    for number, size, again in passing:
        key = b"passing %d" % number
        cache.fetch(key, lambda size=size: bytes(size), abort=Abort(), anew=key not in seen)
        seen.add(key)
        if again:  # the claims of the one stream that brought it
            cache.fetch(key, lambda size=size: bytes(size), abort=Abort())
        assert cache.statistics().bytes <= LIMIT
    if all(size <= LIMIT - popular for _, size, _ in passing):
        assert all(cache.fetch(key, lambda: b"2", abort=Abort()) == (b"1", True) for key in known)


@given(st.lists(st.tuples(keys, st.integers(0, LIMIT + 2), st.booleans(), st.booleans()), max_size=60))
def test_bytes_and_entries_add_up_whoever_asks(asked):
    cache = ByteBoundedCache[bytes](LIMIT, len)
    for key, size, anew, clear in asked:
        cache.fetch(key, lambda size=size: bytes(size), abort=Abort(), anew=anew)
        if clear:
            cache.clear()
        told = cache.statistics()
        assert told.bytes <= LIMIT
        held = dict(cache._new) | dict(cache._known)
        assert told.entries == len(held) == len(cache._new) + len(cache._known)
        assert told.bytes == sum(size for _, size in held.values())
        assert cache._bytes_known == sum(size for _, size in cache._known.values()) <= LIMIT / 2


def test_what_everybody_asked_for_anew_once_goes_when_others_are():
    cache = ByteBoundedCache[bytes](LIMIT, len)
    for key in [b"old", b"old", b"a", b"a", b"b", b"b"]:
        cache.fetch(key, lambda: bytes(4), abort=Abort(), anew=True)
    assert cache.fetch(b"old", lambda: b"again", abort=Abort()) == (b"again", False)


TestCacheAgainstModel = CacheAgainstModel.TestCase
TestCacheAgainstModel.settings = settings(stateful_step_count=30, deadline=None)


class Encoder:
    """Computes when told to, and counts."""

    def __init__(self, *, error: Exception | None = None):
        self.started, self.go = threading.Event(), threading.Event()
        self.error = error
        self.calls = 0

    def __call__(self) -> bytes:
        self.calls += 1
        self.started.set()
        assert self.go.wait(60)
        if self.error is not None:
            raise self.error
        return b"value"


@pytest.fixture
def pool():
    with ThreadPoolExecutor(8) as threads:
        yield threads


def ask(pool, cache, encoder, count):
    """One thread that computes and `count` that wait for it."""
    first = pool.submit(cache.fetch, b"k", encoder, abort=Abort())
    assert encoder.started.wait(60)
    waiting = []
    for _ in range(count):
        abort = Seen()
        waiting.append((pool.submit(cache.fetch, b"k", encoder, abort=abort), abort))
        assert abort.attached.wait(60)
    return first, waiting


def test_threads_that_ask_at_once_share_one_computation(pool):
    cache, encoder = ByteBoundedCache[bytes](LIMIT, len), Encoder()
    first, waiting = ask(pool, cache, encoder, 4)
    encoder.go.set()
    assert first.result() == (b"value", False)
    assert [future.result() for future, _ in waiting] == [(b"value", True)] * 4
    assert encoder.calls == 1
    assert cache.statistics()[:2] == (4, 1)


def test_a_failure_reaches_all_who_asked_and_nobody_after(pool):
    cache, encoder = ByteBoundedCache[bytes](LIMIT, len), Encoder(error=ZeroDivisionError())
    first, waiting = ask(pool, cache, encoder, 3)
    encoder.go.set()
    for future in (first, *(future for future, _ in waiting)):
        assert isinstance(future.exception(), ZeroDivisionError)
    assert encoder.calls == 1
    assert cache.fetch(b"k", lambda: b"other", abort=Abort()) == (b"other", False)


def test_who_waits_and_is_called_off_leaves_at_once_and_disturbs_nobody(pool):
    cache, encoder = ByteBoundedCache[bytes](LIMIT, len), Encoder()
    first, ((impatient, abort), (patient, _)) = ask(pool, cache, encoder, 2)
    abort.set()
    assert isinstance(impatient.exception(timeout=60), ScoringError)
    encoder.go.set()
    assert first.result() == (b"value", False)
    assert patient.result() == (b"value", True)


def test_when_the_one_who_computes_is_called_off_another_computes(pool):
    cache, encoder, abort = (
        ByteBoundedCache[bytes](LIMIT, len),
        Encoder(error=ScoringError("stopped")),
        Abort(),
    )
    first = pool.submit(cache.fetch, b"k", encoder, abort=abort)
    assert encoder.started.wait(60)
    other = Seen()
    second = pool.submit(cache.fetch, b"k", lambda: b"mine", abort=other)
    assert other.attached.wait(60)
    abort.set()
    encoder.go.set()
    assert isinstance(first.exception(), ScoringError)
    assert second.result() == (b"mine", False)


def test_a_value_larger_than_the_bound_is_given_and_not_kept():
    cache = ByteBoundedCache[bytes](3, len)
    assert cache.fetch(b"k", lambda: b"long value", abort=Abort()) == (b"long value", False)
    assert cache.statistics() == (0, 1, 1, 0, 0)


@given(st.lists(st.tuples(keys, st.integers(0, 12)), max_size=40), st.integers(0, 20))
def test_the_bound_holds_after_every_fetch(asked, limit):
    cache = ByteBoundedCache[bytes](limit, len)
    for key, size in asked:
        cache.fetch(key, lambda size=size: bytes(size), abort=Abort())
        assert cache.statistics().bytes <= limit


def test_a_negative_bound_is_refused():
    with pytest.raises(ValueError, match="0 bytes or more"):
        ByteBoundedCache[bytes](-1, len)
