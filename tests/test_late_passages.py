"""Passages that become known while a stream runs."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import AsyncGenerator, AsyncIterable

import anyio
import anyio.lowlevel
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
from streamverify.passages import passages_from
from streamverify.streaming import retrieval
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
    # The thread is ahead: what it tells before the first is being prepared is prepared with it.
    assert (P1.text, P2.text) in scorer.prepared
    assert set(scorer.prepared) <= {(P1.text,), (P1.text, P2.text)}


class Held(ScriptedScorer):
    """Prepares nothing until the test lets go."""

    def __init__(self):
        super().__init__()
        self.held, self.begun = threading.Event(), threading.Event()

    def prepare(self, windows, *, abort):
        self.begun.set()
        assert self.held.wait(60)
        return super().prepare(windows, abort=abort)


MANY = [Passage(f"d{number}", f"The mill number {number} was built in 1804.") for number in range(60)]


@pytest.mark.anyio
async def test_passages_told_one_by_one_are_prepared_together_and_those_told_again_not_at_all():
    scorer = Held()

    async def answer() -> AsyncGenerator[str, None]:
        for passage in MANY:
            retrieved([passage])
            await anyio.lowlevel.checkpoint()
            while not scorer.begun.is_set():
                await anyio.lowlevel.checkpoint()
        scorer.held.set()
        while len(scorer.prepared) < 2:
            await anyio.lowlevel.checkpoint()
        for _ in range(9):
            retrieved(MANY)
            await anyio.lowlevel.checkpoint()
        yield "The mill number 5 was built in 1804 [d5]. "
        retrieved(MANY[:3])
        yield "The mill number 7 was built in 1804 [d59]. So it is."

    async with Verifier(scorer).stream(answer(), None) as stream:
        await collect(stream)
    assert [len(texts) for texts in scorer.prepared] == [1, len(MANY)]
    assert stream.report.citation_figures.fabricated == 0


@pytest.mark.anyio
async def test_a_sentence_is_judged_against_all_that_was_told_though_the_rest_is_still_prepared():
    scorer = Held()

    async def answer() -> AsyncGenerator[str, None]:
        retrieved(MANY[:1])
        while not scorer.begun.is_set():
            await anyio.lowlevel.checkpoint()
        retrieved(MANY[1:2])
        yield "The mill number 1 was built in 1804 [d1]. "
        yield "It stands. "
        scorer.held.set()

    async with Verifier(scorer).stream(answer(), None) as stream:
        await collect(stream)
    first, second = stream.report.sentences
    assert first.citations[0].passages == ("d1",)
    assert sorted(map(len, scorer.prepared)) == [1, 2]
    assert second.label is Label.SUPPORTED


@pytest.mark.anyio
async def test_a_stream_knows_what_was_told_before_it_failed():
    async def answer() -> AsyncGenerator[str, None]:
        retrieved(MANY[:1])
        yield "It stands [d0]. Open"
        retrieved(MANY)
        yield " to all [d30]"
        raise LookupError

    async with Verifier(ScriptedScorer()).stream(answer(), None) as stream:
        with pytest.raises(LookupError):
            await collect(stream)
    assert stream.report.citation_figures.fabricated == 0


def test_each_telling_costs_what_it_brings(monkeypatch):
    read = []

    def counted(passages):
        read.extend(passages)
        return passages_from(passages)

    monkeypatch.setattr(retrieval, "passages_from", counted)
    gathered = retrieval.Gathered()
    for passage in MANY:
        assert gathered.add([passage])
        assert not gathered.add(MANY[: len(gathered)])
    assert read == MANY
    assert gathered.since(58) == tuple(MANY[58:])


def test_an_id_with_another_text_brings_in_nothing():
    gathered = retrieval.Gathered(MANY)
    with pytest.raises(PassageError, match="'d7' stands for two"):
        gathered.add([Passage("new", "x"), Passage("d7", "Another.")])
    assert gathered.since(0) == tuple(MANY)


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
