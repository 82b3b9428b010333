"""Passages that become known while a stream runs."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import AsyncGenerator, AsyncIterable

import anyio
import pytest

from streamverify import (
    Label,
    Passage,
    PassageError,
    Redact,
    StreamOpened,
    StreamStateError,
    VerifiedStream,
    Verifier,
    retrieved,
)
from streamverify.adapters.chunks import VerifiedChunks, VerifiedSyncChunks
from streamverify.adapters.translator import TextDelta
from streamverify.testing import ScriptedScorer, collect, stream_of

P1, P2 = Passage("p1", "The tower opened in 1889."), Passage("p2", "It is 330 metres tall.")


class Texts:
    """Every chunk is text of one channel."""

    def read(self, chunk: str, released: object):
        yield TextDelta(0, chunk, lambda text: text)

    def sent(self, chunk: str) -> None: ...

    def halted(self, released: object):
        return ()


@pytest.mark.anyio
async def test_a_stream_takes_passages_while_it_runs():
    scorer = ScriptedScorer()

    async def answer(told: list[VerifiedStream]) -> AsyncGenerator[str, None]:
        yield "It opened in 1889. "
        told[0].add_passages([P1, P2])
        yield "It is 330 metres tall. Yes it is."

    told: list[VerifiedStream] = []
    async with Verifier(scorer).stream(answer(told), [P1]) as stream:
        told.append(stream)
        await collect(stream)
    assert set(scorer.prepared) == {(P1.text,), (P1.text, P2.text)}
    assert stream.report.counts[Label.SUPPORTED] == 3


def test_passages_are_taken_between_two_pieces_under_a_bare_asyncio_run():
    """A test runner tells anyio which loop runs; a plain `asyncio.run` leaves callbacks without that."""

    class Noticed(ScriptedScorer):
        def prepare(self, windows, *, abort):
            prepared.set()
            return super().prepare(windows, abort=abort)

    prepared, scorer = threading.Event(), Noticed()

    async def answer() -> AsyncGenerator[str, None]:
        retrieved([P1])
        await asyncio.to_thread(prepared.wait)
        yield "It opened in 1889."

    async def run() -> None:
        async with Verifier(scorer).stream(answer(), None) as stream:
            await collect(stream)
        assert stream.report.counts[Label.SUPPORTED] == 1

    asyncio.run(run())


@pytest.mark.anyio
async def test_a_stream_that_is_not_open_takes_none():
    stream = Verifier(ScriptedScorer()).stream("Yes.", [])
    with pytest.raises(StreamStateError):
        stream.add_passages([P1])


@pytest.mark.anyio
async def test_chunks_are_judged_against_what_was_told_before_them():
    async def source(box: list[VerifiedChunks[str]]) -> AsyncIterable[str]:
        box[0].add_passages([P1])
        box[0].add_passages([P1])
        yield "It opened in 1889. It is tall."

    scorer, box = ScriptedScorer(), []
    chunks = VerifiedChunks(source(box), Texts(), None, verifier=Verifier(scorer, policy=Redact()))
    box.append(chunks)
    async with chunks:
        assert "".join([c async for c in chunks]) == "It opened in 1889. It is tall."
    assert scorer.prepared == [(P1.text,)]
    opened = [event for _, event in chunks.events if isinstance(event, StreamOpened)]
    assert [summary.id for event in opened for summary in event.passages] == ["p1"]


@pytest.mark.anyio
async def test_an_id_told_twice_with_two_texts_is_refused_where_it_is_told():
    chunks = VerifiedChunks(stream_of(["Yes."]), Texts(), [P1], verifier=Verifier(ScriptedScorer()))
    with pytest.raises(PassageError):
        chunks.add_passages([Passage("p1", "Another text.")])
    await chunks.aclose()


def test_a_synchronous_source_tells_passages_in_its_own_thread():
    box: list[VerifiedSyncChunks[str]] = []

    def source():
        box[0].add_passages([P1])
        yield "It opened in 1889. "
        box[0].add_passages([P2])
        yield "It is 330 metres tall."

    scorer = ScriptedScorer()
    with Verifier(scorer, policy=Redact()) as verifier:
        box.append(VerifiedSyncChunks(source(), Texts(), None, verifier=verifier))
        assert "".join(box[0]) == "It opened in 1889. It is 330 metres tall."
    assert set(scorer.prepared) == {(P1.text,), (P1.text, P2.text)}


@pytest.mark.anyio
async def test_passages_that_several_threads_add_at_once_are_all_known():
    added, together = anyio.Event(), threading.Barrier(4)
    ids = [f"p{number:03d}" for number in range(200)]

    async def source():
        yield "It begins. "
        await added.wait()
        for one in ids:
            yield f"The mill was built in 1804 [{one}]. "

    def add(stream, mine):
        together.wait(60)
        for one in mine:
            stream.add_passages([Passage(one, "The mill was built in 1804.")])

    async with Verifier(ScriptedScorer()) as verifier, verifier.stream(source(), []) as stream:
        interval = sys.getswitchinterval()
        sys.setswitchinterval(1e-6)  # threads take turns often enough to meet
        try:
            async with anyio.create_task_group() as group:
                for number in range(4):
                    group.start_soon(anyio.to_thread.run_sync, add, stream, ids[number::4])
        finally:
            sys.setswitchinterval(interval)
        added.set()
        report = (await collect(stream))[-1].report
    figures = report.citation_figures
    assert (figures.citations, figures.fabricated) == (200, 0)
