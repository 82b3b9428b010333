from __future__ import annotations

import threading
from contextlib import contextmanager

import anyio
import pytest

from streamverify import Passage, Verifier
from streamverify.testing import ScriptedScorer

STREAMS = 12
"""More than are prepared at once."""


class _Expecting(ScriptedScorer):
    """Keeps what it is told of passages on their way; prepares nothing until the test lets go."""

    def __init__(self, error: Exception | None = None) -> None:
        super().__init__()
        self.held, self.error = threading.Event(), error
        self.waiting: list[tuple[str, ...]] = []
        self.told = 0

    @contextmanager
    def expect(self, texts):
        self.waiting.append(tuple(texts))
        self.told += 1
        try:
            yield
        finally:
            self.waiting.remove(tuple(texts))

    def prepare(self, windows, *, abort):
        assert self.held.wait(60)
        if self.error is not None:
            raise self.error
        return super().prepare(windows, abort=abort)


def passages(number):
    return [Passage("p", f"The mill is number {number}."), Passage("q", "The river is long.")]


async def answer():
    yield "The mill is old."


@pytest.mark.anyio
@pytest.mark.parametrize("error", [None, RuntimeError("broken")])
async def test_passages_are_told_of_before_the_first_are_prepared_and_no_longer_than_they_wait(error):
    scorer = _Expecting(error)
    async with Verifier(scorer, on_failure="unverified") as verifier:

        async def read(number):
            async with verifier.stream(answer(), passages(number)) as stream:
                async for _ in stream:
                    pass

        async with anyio.create_task_group() as group:
            for number in range(STREAMS):
                group.start_soon(read, number)
            while len(scorer.waiting) < STREAMS:
                await anyio.lowlevel.checkpoint()
            assert sorted(scorer.waiting) == sorted(
                tuple(one.text for one in passages(number)) for number in range(STREAMS)
            )
            scorer.held.set()
        assert scorer.waiting == []


@pytest.mark.anyio
async def test_a_stream_that_is_given_up_waits_no_more_and_known_passages_are_not_told_of_again():
    scorer = _Expecting()
    async with Verifier(scorer) as verifier:
        async with anyio.create_task_group() as group:
            group.start_soon(verifier.check, "The mill is old.", passages(0))
            while not scorer.waiting:
                await anyio.lowlevel.checkpoint()
            group.cancel_scope.cancel()
        assert scorer.waiting == []
        scorer.held.set()
        await verifier.check("The mill is old.", passages(1))
        told = scorer.told
        await verifier.check("The mill is new.", passages(1))
        assert scorer.told == told
