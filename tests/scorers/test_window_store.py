"""Encoded windows that processes share: one computes, all read, whatever becomes of any of them."""

from __future__ import annotations

import errno
import subprocess
import sys
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify.errors import ScoringError
from streamverify.scorers.premise_cached import PremiseCachedScorer
from streamverify.scorers.protocol import Abort, Claim, Window
from streamverify.scorers.windows.keys_values import KeysValues
from streamverify.scorers.windows.window_store import WindowStore

LAYERS, HEADS, SIZE = 2, 3, 4
BYTES = LAYERS * 2 * HEADS * SIZE * 4
"""Of one token."""
HEADER = 64


def key(number):
    return number.to_bytes(32, "big") if number < 256 else number.to_bytes(2, "big") * 16


def window(number, tokens=5, kind=np.float32):
    numbers = np.arange(LAYERS * 2 * HEADS * tokens * SIZE).reshape(LAYERS, 2, HEADS, tokens, SIZE) + number
    return KeysValues(tuple((layer[0], layer[1]) for layer in numbers.astype(kind)))


def alike(one, other):
    pairs = zip(one.layers, other.layers, strict=True)
    return all(
        np.array_equal(mine, theirs) and mine.dtype == theirs.dtype
        for pair, other_pair in pairs
        for mine, theirs in zip(pair, other_pair, strict=True)
    )


def never():
    raise AssertionError("computed twice")


@pytest.fixture
def stores(tmp_path):
    """As many as asked for, of one folder."""
    made = []

    def make(limit=10_000_000):
        made.append(WindowStore(tmp_path, limit))
        return made[-1]

    yield make
    for store in made:
        store.close()


@given(
    asked=st.lists(st.tuples(st.integers(0, 1), st.integers(0, 9), st.integers(1, 9)), max_size=40),
    room=st.integers(0, 12),
)
def test_whoever_asks_gets_the_right_window_and_the_bound_holds(asked, room, tmp_path_factory):
    folder = tmp_path_factory.mktemp("windows")
    limit = room * (HEADER + 5 * BYTES)
    both = [WindowStore(folder, limit) for _ in range(2)]
    held = []
    for who, number, _ in asked:
        value, cheap = both[who].fetch(key(number), lambda number=number: window(number), abort=Abort())
        assert alike(value, window(number))
        assert cheap is (number in held[max(len(held) - room, 0) :])
        held = [other for other in held if other != number] + [number]
        assert both[who].statistics().bytes <= limit
    counted = [store.statistics() for store in both]
    assert sum(one.hits + one.misses for one in counted) == len(asked)
    for store in both:
        store.close()


@given(
    popular=st.integers(1, 5),
    passing=st.lists(st.tuples(st.integers(0, 30), st.integers(0, 1), st.booleans()), max_size=40),
    read=st.booleans(),
)
def test_what_was_asked_for_anew_stays_whatever_passes_by_once(popular, passing, read, tmp_path_factory):
    folder = tmp_path_factory.mktemp("windows")
    limit = 10 * (HEADER + 5 * BYTES)
    both = [WindowStore(folder, limit) for _ in range(2)]
    known = [200 + number for number in range(popular)]
    for store in both:  # brought to one process, asked for anew in the other
        for number in known:
            store.fetch(key(number), lambda number=number: window(number), abort=Abort(), anew=True)
    seen = set()
    for number, who, again in passing:
        anew = number not in seen
        both[who].fetch(key(number), lambda number=number: window(number), abort=Abort(), anew=anew)
        seen.add(number)
        if again:  # the claims of the one stream that brought it
            both[1 - who].fetch(key(number), lambda number=number: window(number), abort=Abort())
        assert both[who].statistics().bytes <= limit
    for number in known:
        value, cheap = both[read].fetch(key(number), never, abort=Abort())
        assert (cheap, alike(value, window(number))) == (True, True)
    for store in both:
        store.close()


def test_what_everybody_asked_for_anew_once_goes_when_others_are(stores):
    one, other = stores(10 * (HEADER + 5 * BYTES)), stores(10 * (HEADER + 5 * BYTES))
    for number in (*range(10), *range(50, 62)):
        for store in (one, other):
            store.fetch(key(number), lambda number=number: window(number), abort=Abort(), anew=True)
    assert one.fetch(key(0), lambda: window(0), abort=Abort())[1] is False


def test_where_files_have_no_modes_what_was_used_longest_ago_goes(stores, monkeypatch):
    def refuse(*_):
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr("pathlib.Path.chmod", refuse)
    store = stores(2 * (HEADER + 5 * BYTES))
    for number in (1, 1, 2, 3):
        store.fetch(key(number), lambda number=number: window(number), abort=Abort(), anew=True)
    assert [path.stat().st_mode & 0o100 for path in store._folder.glob("*.window")] == [0, 0]
    assert store.fetch(key(1), lambda: window(1), abort=Abort())[1] is False


@pytest.mark.parametrize("kind", [np.float32, np.float16])
def test_what_one_computes_another_reads_to_the_bit_without_copying_it(stores, kind):
    first, second = stores(), stores()
    assert first.fetch(key(1), lambda: window(1, kind=kind), abort=Abort())[1] is False
    value, cheap = second.fetch(key(1), never, abort=Abort())
    assert (cheap, alike(value, window(1, kind=kind))) == (True, True)
    assert not value.layers[0][0].flags.owndata
    assert not value.layers[0][0].flags.writeable
    assert (second.statistics().hits, second.statistics().misses, second.statistics().entries) == (1, 0, 1)


def test_what_was_read_stays_whole_after_its_file_made_room(stores):
    first, second = stores(HEADER + 5 * BYTES), stores(HEADER + 5 * BYTES)
    first.fetch(key(1), lambda: window(1), abort=Abort())
    value, _ = second.fetch(key(1), never, abort=Abort())
    first.fetch(key(2), lambda: window(2), abort=Abort())
    assert first.statistics().entries == 1
    assert alike(value, window(1))


def test_the_window_that_was_used_last_stays(stores):
    store, other = stores(2 * (HEADER + 5 * BYTES)), stores(2 * (HEADER + 5 * BYTES))
    for number in (1, 2):
        store.fetch(key(number), lambda number=number: window(number), abort=Abort())
    other.fetch(key(1), never, abort=Abort())
    store.fetch(key(3), lambda: window(3), abort=Abort())
    other.fetch(key(1), never, abort=Abort())
    assert other.fetch(key(2), lambda: window(2), abort=Abort())[1] is False


def test_threads_that_ask_at_once_compute_once(stores):
    store, asked, go_on = stores(), [], threading.Event()
    computing = threading.Event()

    def slow():
        computing.set()
        asked.append(1)
        go_on.wait()
        return window(1)

    got = []
    threads = [
        threading.Thread(target=lambda: got.append(store.fetch(key(1), slow, abort=Abort())))
        for _ in range(4)
    ]
    threads[0].start()
    computing.wait()
    for thread in threads[1:]:
        thread.start()
    go_on.set()
    for thread in threads:
        thread.join()
    assert len(asked) == 1
    assert sorted(cheap for _, cheap in got) == [False, True, True, True]


def test_an_error_reaches_who_asked_and_is_not_kept(stores):
    store = stores()
    with pytest.raises(ScoringError, match="broken"):
        store.fetch(key(1), lambda: (_ for _ in ()).throw(ScoringError("broken")), abort=Abort())
    assert alike(store.fetch(key(1), lambda: window(1), abort=Abort())[0], window(1))


def test_a_full_disk_keeps_nothing_and_is_told_once(stores, monkeypatch, caplog):
    store = stores()

    def full(_value):
        raise OSError(errno.ENOSPC, "No space left on device")
        yield

    with monkeypatch.context() as patched:
        patched.setattr("streamverify.scorers.windows.window_store._parts", full)
        for _ in range(2):
            value, cheap = store.fetch(key(1), lambda: window(1), abort=Abort())
            assert (cheap, alike(value, window(1))) == (False, True)
    assert [record.message for record in caplog.records if "No space" in record.message] == [
        caplog.records[0].message
    ]
    assert (store.statistics().evicted, store.statistics().entries) == (2, 0)
    assert list(store._folder.glob("*.part")) == []
    store.fetch(key(1), lambda: window(1), abort=Abort())
    assert store.statistics().entries == 1


def test_a_folder_that_was_taken_away_costs_only_the_windows(tmp_path):
    folder = tmp_path / "gone"
    folder.mkdir()
    store = WindowStore(folder, 10_000_000)
    (folder / "locks").unlink()
    folder.rmdir()
    assert alike(store.fetch(key(1), lambda: window(1), abort=Abort())[0], window(1))
    assert store.statistics().entries == 0
    store.close()


def test_a_file_that_is_no_window_is_refused(stores):
    store = stores()
    store._folder.joinpath(f"{key(1).hex()}.window").write_bytes(b"x" * 100)
    with pytest.raises(ScoringError, match="empty the folder"):
        store.fetch(key(1), never, abort=Abort())


HOLDER = """
import sys, threading
from pathlib import Path
from streamverify.scorers.protocol import Abort
from streamverify.scorers.windows.window_store import WindowStore

def hang():
    print("computing", flush=True)
    threading.Event().wait()

WindowStore(Path(sys.argv[1]), 10**7).fetch(bytes.fromhex(sys.argv[2]), hang, abort=Abort())
"""


@pytest.fixture
def holder(tmp_path):
    """Another process in the middle of computing window 1."""
    command = [sys.executable, "-c", HOLDER, str(tmp_path), key(1).hex()]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "computing\n"
            yield process
        finally:
            process.kill()


@pytest.mark.slow
def test_who_waits_for_another_process_can_be_called_off(stores, holder):
    abort = Abort()
    stopper = threading.Timer(0.05, abort.set)
    stopper.start()
    with pytest.raises(ScoringError, match="called off"):
        stores().fetch(key(1), never, abort=abort)
    stopper.join()


@pytest.mark.slow
def test_a_process_that_is_killed_while_it_computes_holds_nobody_up(stores, holder):
    store, got = stores(), []
    waiting = threading.Thread(
        target=lambda: got.append(store.fetch(key(1), lambda: window(1), abort=Abort()))
    )
    waiting.start()
    assert stores().fetch(key(2), lambda: window(2), abort=Abort())[1] is False  # another one is not held up
    holder.kill()
    waiting.join()
    assert alike(got[0][0], window(1))


def test_scores_of_the_model_are_the_same_to_the_bit(tmp_path):
    texts = ["The mill was built in 1804.", "It grinds barley for the whole village."]
    windows = [Window(number, text, 0, len(text)) for number, text in enumerate(texts)]
    claims = [
        Claim("The mill was built in 1904."),
        Claim("It grinds barley.", focus=(0, 1), together=((0, 1),)),
    ]
    told = []
    for shared in (None, tmp_path, tmp_path):
        scorer = PremiseCachedScorer(threads=1, shared_windows=shared)
        prepared = scorer.prepare(windows, abort=Abort())
        told.append((prepared.from_cache, scorer.score(prepared, claims, abort=Abort())))
        scorer.close()
    assert [scores for _, scores in told] == [told[0][1]] * 3
    assert [cheap for cheap, _ in told] == [0, 0, 2]


def test_threads_that_write_at_once_count_each_window_that_went_once(stores):
    store = stores(limit=6 * (HEADER + 5 * BYTES))
    together = threading.Barrier(8)

    def write(thread):
        together.wait(60)
        for number in range(30):
            store.fetch(key(1000 + thread * 30 + number), lambda: window(1), abort=Abort())

    threads = [threading.Thread(target=write, args=(thread,)) for thread in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    told = store.statistics()
    assert told.misses == 240
    assert told.misses - told.entries == told.evicted


def test_a_store_that_was_closed_says_so(stores):
    store = stores()
    store.close()
    with pytest.raises(ScoringError, match="closed"):
        store.fetch(key(7), lambda: window(7), abort=Abort())
