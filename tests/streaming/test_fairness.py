"""Reading an iterator without keeping the loop: waits are noticed, and given where none came."""

from __future__ import annotations

from contextlib import aclosing

import anyio
import anyio.lowlevel
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify.streaming.fairness import TURN, Turns

pytestmark = pytest.mark.anyio


class Clock:
    """Stands still unless told."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


async def counting(count, waits):
    for number in range(count):
        for _ in range(waits):
            await anyio.lowlevel.checkpoint()
        yield number


async def others_turns(waits, work, count=8):
    """How often another task ran while all the items were read, each with this much work."""
    clock, turns_of_others, running = Clock(), 0, True

    async def other():
        nonlocal turns_of_others
        while running:
            await anyio.lowlevel.checkpoint()
            turns_of_others += 1

    got = []
    async with anyio.create_task_group() as group, aclosing(counting(count, waits)) as items:
        turns = Turns(items, clock=clock)
        group.start_soon(other)
        with pytest.raises(StopAsyncIteration):
            while True:
                got.append(await turns.next())
                clock.now += work
                await turns.yield_if_due()
        running = False
        told = turns_of_others
    assert got == list(range(count))
    return told


@given(st.sampled_from(["asyncio", "trio"]), st.integers(0, 2))
def test_every_item_comes_once_however_the_iterator_waits(backend, waits):
    anyio.run(others_turns, waits, 0.0, backend=backend)


async def test_an_iterator_that_never_waits_lets_nobody_run_unless_work_takes_long():
    assert await others_turns(0, TURN / 10) == 0
    assert await others_turns(0, TURN * 2) > 0


async def test_after_a_wait_no_turn_is_given_away():
    clock, rests = Clock(), 0

    async with aclosing(counting(5, 1)) as items:
        turns = Turns(items, clock=clock)
        for _ in range(5):
            clock.now += TURN * 10  # the time the wait takes
            await turns.next()
            with anyio.CancelScope() as scope:
                scope.cancel()  # is noticed by whoever gives way
                await turns.yield_if_due()
                rests += 1
    assert rests == 5


async def test_what_the_iterator_raises_is_raised():
    async def failing():
        yield 1
        await anyio.lowlevel.checkpoint()
        raise ConnectionError

    turns = Turns(failing())
    assert await turns.next() == 1
    with pytest.raises(ConnectionError):
        await turns.next()
    with pytest.raises(StopAsyncIteration):
        await turns.next()


async def test_a_cancel_reaches_the_iterator_where_it_waits():
    reached = []

    async def waiting():
        try:
            await anyio.sleep_forever()
            yield 1
        finally:
            reached.append("closed")

    with anyio.move_on_after(0):
        await Turns(waiting()).next()
    assert reached == ["closed"]


async def test_an_iterator_that_is_no_generator_is_read_too():
    class Numbers:
        def __init__(self):
            self.left = [1, 2]

        def __aiter__(self):
            return self

        async def __anext__(self):
            await anyio.lowlevel.checkpoint()
            if not self.left:
                raise StopAsyncIteration
            return self.left.pop(0)

    turns = Turns(Numbers())
    assert [await turns.next(), await turns.next()] == [1, 2]
