from __future__ import annotations

import threading

import anyio
import pytest

from streamverify.errors import ScoringTimeoutError
from streamverify.scorers.protocol import Abort
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
