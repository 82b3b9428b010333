from __future__ import annotations

import gc
import threading
import weakref
from functools import partial

import anyio
import pytest

from streamverify.errors import ScoringError, ScoringTimeoutError
from streamverify.scorers.protocol import Abort
from streamverify.streaming import workers as module
from streamverify.streaming.workers import Workers, WorkersStatistics

pytestmark = pytest.mark.anyio


def wait_for(abort: Abort) -> None:
    told = threading.Event()
    abort.attach(told.set)
    assert told.wait(60)


def threads(name: str) -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == name]


async def test_a_call_returns_its_result_and_raises_its_own_error():
    workers = Workers(2, "w-result")
    assert await workers.run(lambda: 7, Abort()) == 7

    def fail() -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        await workers.run(fail, Abort())


async def test_never_more_calls_at_once_than_threads():
    workers = Workers(2, "w-bound")
    lock, now, most = threading.Lock(), [0], [0]
    barrier = threading.Barrier(2)

    def call() -> None:
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        barrier.wait(60)  # passes only because two calls do run at once
        with lock:
            now[0] -= 1

    async with anyio.create_task_group() as group:
        for _ in range(8):
            group.start_soon(workers.run, call, Abort())
    assert most[0] == 2
    assert workers.statistics() == WorkersStatistics(running=0, waiting=0)


async def test_an_idle_pool_has_no_thread():
    workers = Workers(2, "w-idle")
    await workers.run(lambda: None, Abort())
    for thread in threads("w-idle"):
        thread.join(60)
    assert not threads("w-idle")


async def test_sentences_that_follow_each_other_are_judged_by_the_thread_that_is_there(monkeypatch):
    monkeypatch.setattr(module, "LINGER", 600.0)
    pool = Workers(4, "w-linger")
    seen = [await pool.run(threading.get_ident, Abort()) for _ in range(20)]
    assert len(set(seen)) == 1
    left = threads("w-linger")
    assert len(left) == 1
    pool.close()
    left[0].join(60)
    assert not threads("w-linger")
    assert await pool.run(lambda: 7, Abort()) == 7  # it may be used again, and nothing rests
    for thread in threads("w-linger"):
        thread.join(60)
    assert not threads("w-linger")


async def test_what_a_resting_thread_did_is_let_go_of(monkeypatch):
    monkeypatch.setattr(module, "LINGER", 600.0)
    pool = Workers(1, "w-forgets")

    class Held:
        pass

    held = Held()
    gone = weakref.ref(held)
    await pool.run(partial(isinstance, held, Held), Abort())
    del held
    while gone() is not None:  # the thread is on its way to rest
        gc.collect()
        await anyio.lowlevel.checkpoint()
    assert threads("w-forgets")
    pool.close()


async def test_where_the_system_has_no_more_threads_a_check_fails_and_its_slot_is_free_again(monkeypatch):
    pool = Workers(1, "w-none")
    refused = threading.Thread.start

    def refuse(self: threading.Thread) -> None:
        if self.name == "w-none":
            raise RuntimeError("can't start new thread")
        refused(self)

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refuse)
        for _ in range(3):
            with pytest.raises(ScoringError, match="no thread"):
                await pool.run(lambda: 7, Abort())
    assert pool.statistics() == WorkersStatistics(running=0, waiting=0)
    assert await pool.run(lambda: 7, Abort()) == 7


async def test_a_hanging_call_times_out_and_does_not_starve_the_next_one():
    workers = Workers(1, "w-hang")
    release = threading.Event()
    abort = Abort()
    with pytest.raises(ScoringTimeoutError):
        await workers.run(lambda: release.wait(20), abort, timeout=0.01)  # ignores its abort
    assert abort.is_set
    assert await workers.run(lambda: "next", Abort()) == "next"
    release.set()


async def test_a_cancelled_call_is_told_and_one_that_waits_never_begins():
    workers = Workers(1, "w-cancel")
    abort, began = Abort(), threading.Event()
    async with anyio.create_task_group() as first:
        first.start_soon(workers.run, lambda: wait_for(abort), abort)
        while workers.statistics().running == 0:
            await anyio.lowlevel.checkpoint()
        async with anyio.create_task_group() as second:
            second.start_soon(workers.run, began.set, Abort())
            while workers.statistics().waiting == 0:
                await anyio.lowlevel.checkpoint()
            second.cancel_scope.cancel()
        assert workers.statistics() == WorkersStatistics(running=1, waiting=0)
        assert not abort.is_set
        first.cancel_scope.cancel()
    assert abort.is_set
    assert not began.is_set()


async def test_closing_tells_every_running_call():
    workers = Workers(1, "w-close")
    abort = Abort()
    async with anyio.create_task_group() as group:
        group.start_soon(workers.run, lambda: wait_for(abort), abort)
        while workers.statistics().running == 0:
            await anyio.lowlevel.checkpoint()
        workers.close()
    assert abort.is_set
