"""The order of a relayed stream, on both loops, with a toy provider in place of an SDK."""

from __future__ import annotations

import asyncio
import gc
import threading
from dataclasses import dataclass, field

import anyio
import anyio.lowlevel
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify import Flag, Halt, Label, Redact, ScoringError, StreamStateError, Verifier
from streamverify.adapters.chunks import VerifiedChunks, VerifiedSyncChunks
from streamverify.adapters.multiplexer import CAPACITY
from streamverify.adapters.translator import PassThrough, Shown, TextDelta, TextEnd
from streamverify.events import TextReleased
from streamverify.testing import ScriptedScorer
from streamverify.types import Action, Span

SCRIPT = {"wrong": Label.CONTRADICTED}
PASSAGES = ["The mill was built in 1804."]


@dataclass(frozen=True)
class Chunk:
    """A text of a channel, or (without one) a mark that must keep its place."""

    key: int | None
    text: str = ""
    mark: str = ""


class Toy:
    """Marks belong to their channel, or stand before all; `end` ends a channel; repeats nothing."""

    def __init__(self):
        self.out = []

    def read(self, chunk, released):
        if chunk.text:
            yield TextDelta(chunk.key, chunk.text, lambda text: Chunk(chunk.key, text))
        elif chunk.mark == "end":
            yield TextEnd(chunk.key)
            yield PassThrough(lambda: Chunk(chunk.key, mark=f"end {released(chunk.key).text}"), chunk.key)
        else:
            yield PassThrough(lambda: chunk, chunk.key)

    def sent(self, chunk):
        self.out.append(chunk)

    def halted(self, released):
        yield Chunk(None, mark=f"halted {released(0).text}")


@dataclass
class Provider:
    """An asynchronous stream that knows whether it was closed, and how far it was read."""

    chunks: list
    endless: bool = False
    error: Exception | None = None
    read: int = 0
    closed: anyio.Event = field(default_factory=anyio.Event)

    async def __aiter__(self):
        for chunk in self.chunks:
            await anyio.lowlevel.checkpoint()
            self.read += 1
            yield chunk
        if self.error is not None:
            raise self.error
        if self.endless:
            await anyio.sleep_forever()

    async def close(self):
        self.closed.set()


def verifier_of(**options):
    return Verifier(ScriptedScorer(SCRIPT, **options.pop("scorer", {})), **options)


async def relayed(chunks, policy, **options):
    async with verifier_of(**options) as verifier:
        stream = VerifiedChunks(Provider(chunks), Toy(), PASSAGES, verifier=verifier, policy=policy)
        return [chunk async for chunk in stream], stream


async def all_of_it(chunks):
    """Held, and released whatever becomes of it."""
    return await relayed(chunks, Redact(labels=frozenset()), on_unverified="release")


SENTENCES = ["The mill stands. ", "A wrong wheel turns. ", "Barley 🌾 is ground. ", "It ends"]
moves = st.lists(
    st.one_of(
        st.builds(Chunk, st.integers(0, 2), st.sampled_from([*SENTENCES, "The ", "mill ", "wrong ", "."])),
        st.builds(Chunk, st.integers(0, 2), st.just(""), st.integers(0, 99).map(str)),
        st.builds(Chunk, st.none(), st.just(""), st.integers(100, 199).map(str)),
    ),
    max_size=25,
)  # fmt: skip


@given(moves, st.sampled_from(["asyncio", "trio"]))
def test_held_or_not_every_channel_keeps_its_order_and_nothing_is_lost(chunks, backend):
    flowing, _ = anyio.run(relayed, chunks, Flag(), backend=backend)
    held, stream = anyio.run(all_of_it, chunks, backend=backend)
    assert flowing == chunks
    assert sorted(c.mark for c in held if c.mark) == sorted(c.mark for c in chunks if c.mark)
    whole = [chunk.mark for chunk in chunks if chunk.mark and chunk.key is None]
    assert [chunk.mark for chunk in held if chunk.mark and chunk.key is None] == whole
    for key in range(3):
        own = [c for c in chunks if c.key in (key, None)]
        shown = [c for c in held if c.key in (key, None)]
        assert [c.mark for c in shown if c.mark] == [c.mark for c in own if c.mark]
        text = "".join(c.text for c in own)
        assert "".join(c.text for c in shown) == text
        before, at = {}, 0
        for c in own:
            at += len(c.text)
            before.setdefault(c.mark, []).append(at)
        at = 0
        for c in shown:
            at += len(c.text)
            if c.mark:
                assert at >= before[c.mark].pop(0)
        assert not text or stream.reports[key].answer == text


@given(moves)
def test_nothing_of_a_rejected_sentence_leaves(chunks):
    held, stream = anyio.run(relayed, chunks, Redact(placeholder="▮"))
    began = dict.fromkeys(key for key, _ in stream.events)
    assert list(stream.reports) == [key for key in began if key in stream.reports]
    for key, report in stream.reports.items():
        assert "".join(c.text for c in held if c.key == key) == report.released
        # A word by itself claims nothing, and is no rejected sentence.
        talk = [s.text for s in report.sentences if s.label is Label.NO_CLAIM]
        assert report.released.count("wrong") == "".join(talk).count("wrong")


@pytest.mark.anyio
async def test_reports_stand_in_the_order_in_which_their_texts_began():
    chunks = [Chunk(1, "The mill "), Chunk(0, "It ends."), Chunk(0, mark="end"), Chunk(2, "The river. ")]
    for policy in (Flag(), Redact()):
        async with verifier_of() as verifier:
            provider = Provider(chunks, endless=True)
            async with VerifiedChunks(provider, Toy(), PASSAGES, verifier=verifier, policy=policy) as stream:
                while not stream.reports:
                    await anyio.lowlevel.checkpoint()
                assert list(stream.reports) == [0]  # the first to end
        got, stream = await relayed([*chunks, Chunk(1, "stands.")], policy)
        assert list(stream.reports) == [1, 0, 2]
        assert stream.reports[1].answer == "The mill stands."
        assert got


@pytest.mark.anyio
async def test_an_ended_channel_tells_its_text_before_the_others_end():
    chunks = [Chunk(0, "A wrong wheel turns"), Chunk(0, mark="end"), Chunk(1, "The mill")]
    provider = Provider(chunks, endless=True)
    async with verifier_of() as verifier:
        options = {"verifier": verifier, "policy": Redact(placeholder="▮")}
        async with VerifiedChunks(provider, Toy(), PASSAGES, **options) as stream:
            assert [await anext(stream), await anext(stream)] == [Chunk(0, "▮"), Chunk(0, mark="end ▮")]
    assert provider.closed.is_set()


@pytest.mark.anyio
async def test_passages_are_prepared_before_the_first_text():
    scorer = ScriptedScorer()
    async with Verifier(scorer) as verifier:
        async with VerifiedChunks(Provider([], endless=True), Toy(), PASSAGES, verifier=verifier) as stream:
            while not scorer.prepared:
                await anyio.lowlevel.checkpoint()
        assert stream.reports == {}


@pytest.mark.anyio
async def test_a_halt_stops_the_provider_and_drops_what_waited():
    provider = Provider(
        [Chunk(0, "The mill stands. A wrong wheel turns. More"), Chunk(0, mark="7")], endless=True
    )
    async with verifier_of() as verifier:
        stream = VerifiedChunks(provider, Toy(), PASSAGES, verifier=verifier, policy=Halt())
        got = [chunk async for chunk in stream]
    assert got == [Chunk(0, "The mill stands. "), Chunk(None, mark="halted The mill stands. ")]
    assert provider.closed.is_set()
    assert stream.reports[0].outcome == "halted"


@pytest.mark.anyio
async def test_the_providers_error_arrives_as_itself_and_after_it_nothing():
    provider = Provider([Chunk(0, "The mill stands. Barley"), Chunk(0, mark="7")], error=LookupError("gone"))
    async with verifier_of() as verifier:
        stream = VerifiedChunks(provider, Toy(), PASSAGES, verifier=verifier, policy=Redact())
        got = []
        with pytest.raises(LookupError, match="gone"):
            async for chunk in stream:
                got.append(chunk)
        with pytest.raises(StopAsyncIteration):
            await anext(stream)
    assert got == [Chunk(0, "The mill stands. "), Chunk(0, "Barley"), Chunk(0, mark="7")]
    assert stream.reports[0].outcome == "failed"
    assert provider.closed.is_set()


@pytest.mark.anyio
async def test_a_source_that_waits_while_it_cleans_up_is_not_interrupted(anyio_backend_name):
    done = []

    async def source():
        try:
            yield Chunk(0, "The mill stands. ")
            await anyio.sleep_forever()
        finally:
            for step in range(3):
                with anyio.CancelScope(shield=anyio_backend_name == "trio"):
                    await anyio.lowlevel.checkpoint()
                done.append(step)

    async with verifier_of() as verifier:
        async with VerifiedChunks(source(), Toy(), PASSAGES, verifier=verifier, policy=Flag()) as stream:
            assert await anext(stream) == Chunk(0, "The mill stands. ")
        assert done == [0, 1, 2]


def test_a_source_that_is_cancelled_from_within_does_not_look_complete():
    async def source():
        yield Chunk(0, "The mill stands.")
        raise asyncio.CancelledError

    async def run():
        async with verifier_of() as verifier:
            stream = VerifiedChunks(source(), Toy(), PASSAGES, verifier=verifier, policy=Flag())
            with pytest.raises(RuntimeError, match="cancelled from within"):
                async for _ in stream:
                    pass
        assert stream.reports[0].outcome == "failed"

    asyncio.run(run())


@pytest.mark.anyio
async def test_a_second_reader_of_chunks_is_refused_and_the_first_reads_on():
    got, going = [], anyio.Event()

    class Waiting(Provider):
        async def __aiter__(self):
            await going.wait()
            yield Chunk(0, "The mill stands. ")

    async def read(stream):
        got.extend([chunk async for chunk in stream])

    provider = Waiting([])
    async with verifier_of() as verifier, anyio.create_task_group() as group:
        stream = VerifiedChunks(provider, Toy(), PASSAGES, verifier=verifier, policy=Redact())
        group.start_soon(read, stream)
        await anyio.wait_all_tasks_blocked()
        with pytest.raises(StreamStateError, match="one reader at a time"):
            await anext(stream)
        going.set()
    assert got == [Chunk(0, "The mill stands. ")]


@pytest.mark.anyio
async def test_a_stream_closed_before_its_source_has_begun_closes_it(anyio_backend_name):
    provider = Provider([Chunk(0, "The mill stands. ")], endless=True)
    async with verifier_of() as verifier:
        async with VerifiedChunks(provider, Toy(), PASSAGES, verifier=verifier):
            pass
        assert provider.closed.is_set()
        if anyio_backend_name == "asyncio":  # trio's system tasks have no list
            assert not [t for t in asyncio.all_tasks() if t.get_name().startswith("streamverify-")]


@pytest.mark.anyio
async def test_an_error_of_the_callback_is_not_swallowed():
    def tell(_key, _event):
        raise LookupError("callback")

    provider = Provider([Chunk(0, "The mill stands. ")], endless=True)
    async with verifier_of() as verifier:
        with pytest.raises(LookupError, match="callback"):
            async for _ in VerifiedChunks(provider, Toy(), PASSAGES, verifier=verifier, on_event=tell):
                pass
    assert provider.closed.is_set()


@pytest.mark.parametrize("policy", [Flag(), Redact()])
@pytest.mark.anyio
async def test_a_slow_reader_slows_the_provider(policy):
    provider = Provider([Chunk(0, "The mill stands. ")] * 20 * CAPACITY, endless=True)
    async with (
        verifier_of() as verifier,
        VerifiedChunks(provider, Toy(), PASSAGES, verifier=verifier, policy=policy) as stream,
    ):
        await anext(stream)
        read = -1
        while read != provider.read:
            read = provider.read
            for _ in range(2000):
                await anyio.lowlevel.checkpoint()
        assert read < 10 * CAPACITY


@pytest.mark.anyio
async def test_a_hanging_scorer_does_not_keep_a_stream_from_closing():
    provider = Provider([Chunk(0, "The mill stands. Barley")], endless=True)
    async with verifier_of(scorer={"hang_on": "mill"}) as verifier:
        async with VerifiedChunks(provider, Toy(), PASSAGES, verifier=verifier, policy=Redact()) as stream:
            while verifier.statistics().running == 0:
                await anyio.lowlevel.checkpoint()
        assert provider.closed.is_set()
        assert stream.reports[0].outcome == "failed"
        while verifier.statistics().running:
            await anyio.lowlevel.checkpoint()


@pytest.mark.anyio
async def test_a_failing_scorer_ends_the_stream_where_that_is_asked_for():
    provider = Provider([Chunk(0, "The mill stands. Barley")], endless=True)
    async with verifier_of(scorer={"fail_on": "mill"}, on_failure="raise") as verifier:
        with pytest.raises(ScoringError):
            await anext(VerifiedChunks(provider, Toy(), PASSAGES, verifier=verifier, policy=Redact()))
    assert provider.closed.is_set()


@pytest.mark.anyio
async def test_a_forgotten_stream_is_closed_when_collected():
    provider = Provider([Chunk(0, "The mill stands. ")], endless=True)
    async with verifier_of() as verifier:
        stream = VerifiedChunks(provider, Toy(), PASSAGES, verifier=verifier)
        async for _ in stream:
            break
        del stream
        gc.collect()
        with anyio.fail_after(60):
            await provider.closed.wait()


def test_a_synchronous_stream_is_read_in_one_thread_and_closed_there():
    threads = set()

    class Sync:
        closed = False

        def __iter__(self):
            for number in range(10_000):
                threads.add(threading.get_ident())
                yield Chunk(0, f"The mill has {number} stones. ")

        def close(self):
            self.closed = True

    source = Sync()
    with verifier_of() as verifier:
        with VerifiedSyncChunks(source, Toy(), PASSAGES, verifier=verifier, policy=Redact()) as stream:
            assert next(stream) == Chunk(0, "The mill has 0 stones. ")
        assert stream.reports[0].outcome == "failed"
        with pytest.raises(StopIteration):
            next(stream)
        for thread in threading.enumerate():
            if thread.ident in threads:
                thread.join(20)
    assert len(threads) == 1
    assert source.closed


def test_offsets_follow_what_is_shown():
    def release(text, start, end, action=Action.RELEASE):
        return TextReleased(seq=0, at_ms=0, text=text, span=Span(start, end), action=action)

    shown = Shown([release("abc", 0, 3), release("▮", 3, 9, Action.REDACT), release("de", 9, 11)])
    assert shown.text == "abc▮de"
    assert [shown.place(offset) for offset in (0, 2, 3, 5, 9, 10, 11, 50)] == [0, 2, 3, 3, 4, 5, 6, 6]
    assert [shown.place(offset, end=True) for offset in (3, 4, 9, 10, 11)] == [3, 4, 4, 5, 6]
