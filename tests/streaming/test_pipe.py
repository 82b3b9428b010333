"""Pipes, and what is built on them: following a stream in place of iterating it."""

from __future__ import annotations

import anyio
import anyio.lowlevel
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify import Flag, Label, PieceError, Redact, StreamStateError, UsageError, Verifier
from streamverify.streaming.pipe import Pipe
from streamverify.testing import ScriptedScorer

pytestmark = pytest.mark.anyio

PASSAGES = ["The mill was built in 1804."]
TEXT = "The mill was built in 1804. A wrong wheel turns slowly. Barley is ground there"


async def filled(pipe, items, pauses, error):
    for item, pause in zip(items, pauses, strict=True):
        await pipe.room()
        pipe.put(item)
        for _ in range(pause):
            await anyio.lowlevel.checkpoint()
    pipe.end(error)


async def handed_over(capacity, items, pauses, error, follows):
    pipe, got, raised = Pipe(capacity), [], None
    async with anyio.create_task_group() as group:
        group.start_soon(filled, pipe, items, pauses, error)
        try:
            if follows:
                await pipe.run_callback(got.append)
            else:
                async for item in pipe:
                    assert len(pipe._items) < capacity
                    got.append(item)
        except ValueError as caught:
            raised = caught
    with pytest.raises(StopAsyncIteration):
        await anext(pipe)
    return got, raised


@given(
    st.integers(1, 3),
    st.lists(st.tuples(st.integers(), st.integers(0, 2)), max_size=8),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["asyncio", "trio"]),
)
def test_everything_arrives_in_order_and_the_end_once(capacity, steps, fails, follows, backend):
    items, pauses = [item for item, _ in steps], [pause for _, pause in steps]
    error = ValueError("the end") if fails else None
    told = anyio.run(handed_over, capacity, items, pauses, error, follows, backend=backend)
    assert told == (items, error)


async def test_a_full_pipe_holds_up_whoever_asks_for_room_until_something_is_taken():
    pipe: Pipe[int] = Pipe(1)
    pipe.put(1)
    with anyio.move_on_after(0) as waited:
        await pipe.room()
    assert waited.cancelled_caught
    assert await anext(pipe) == 1
    await pipe.room()


async def test_a_closed_pipe_drops_everything_and_holds_up_nobody():
    pipe: Pipe[int] = Pipe(1)
    pipe.put(1)
    async with anyio.create_task_group() as group:
        group.start_soon(pipe.room)
        await anyio.wait_all_tasks_blocked()
        await pipe.aclose()
    pipe.put(2)
    await pipe.room()
    assert [item async for item in pipe] == []


async def test_a_call_that_raises_ends_the_following_and_not_who_fills_it():
    pipe: Pipe[int] = Pipe(1)

    def refuse(item):
        if item == 2:
            raise ValueError(item)

    async with anyio.create_task_group() as group:
        group.start_soon(filled, pipe, [1, 2, 3, 4], [1] * 4, None)
        with pytest.raises(ValueError, match="2"):
            await pipe.run_callback(refuse)


async def test_an_item_that_is_refused_waits_and_ends_the_following():
    pipe: Pipe[int] = Pipe(9)
    told = []

    def take(item):
        told.append(item)
        return item < 3

    async with anyio.create_task_group() as group:
        group.start_soon(filled, pipe, [1, 2, 3, 4, 1], [0] * 5, None)
        await pipe.run_callback(take)
        assert await anext(pipe) == 3
        await pipe.run_callback(take)
        assert await anext(pipe) == 4
        await pipe.run_callback(take)
    assert told == [1, 2, 3, 4, 1]


async def test_reading_a_pipe_that_is_listened_to_waits_for_its_end():
    pipe: Pipe[int] = Pipe(9)
    told = []
    pipe.put(1)
    pipe.add_listener(told.append)
    async with anyio.create_task_group() as group:
        group.start_soon(filled, pipe, [2, 3], [1, 1], ValueError("the end"))
        with pytest.raises(ValueError, match="the end"):
            await anext(pipe)
    assert told == [1, 2, 3]


async def test_what_a_listener_raises_is_raised_to_the_reader():
    pipe: Pipe[int] = Pipe(9)
    pipe.add_listener(lambda item: 1 // item)
    pipe.put(1)
    pipe.put(0)
    pipe.put(1)
    with pytest.raises(ZeroDivisionError):
        await anext(pipe)
    assert [item async for item in pipe] == []


async def test_who_stops_following_leaves_the_rest_to_be_read():
    pipe: Pipe[int] = Pipe(9)
    with anyio.move_on_after(0):
        await pipe.run_callback(lambda _: None)
    pipe.put(1)
    pipe.end()
    assert [item async for item in pipe] == [1]


def shape(events):
    return [event.model_dump(exclude={"at_ms", "latency_ms", "report"}) for event in events]


@pytest.mark.parametrize("policy", [Flag(), Redact()])
async def test_following_a_stream_tells_what_iterating_it_gives(policy):
    async with Verifier(ScriptedScorer({"wrong": Label.CONTRADICTED}, concurrency=1)) as verifier:
        async with verifier.stream(TEXT, PASSAGES, policy=policy) as stream:
            given = [event async for event in stream]
        told = []
        async with verifier.stream(TEXT, PASSAGES, policy=policy) as stream:
            await stream.run_callback(told.append)
            assert stream.report.released == given[-1].report.released
        heard = []
        async with verifier.stream(TEXT, PASSAGES, policy=policy) as stream:
            stream.add_listener(heard.append)
            assert [event async for event in stream] == []
    assert shape(told) == shape(heard) == shape(given)


async def test_following_raises_what_the_source_raised_after_its_last_event():
    async def source():
        yield "The mill stands. "
        raise ConnectionError("gone")

    told = []
    async with Verifier(ScriptedScorer()) as verifier, verifier.stream(source(), PASSAGES) as stream:
        with pytest.raises(ConnectionError, match="gone"):
            await stream.run_callback(told.append)
    assert told[-1].kind == "stream_failed"


async def test_a_listener_that_raises_is_heard_and_the_stream_closes():
    closed = anyio.Event()

    async def source():
        try:
            yield "The mill stands. It turns. "
            await anyio.sleep_forever()
        finally:
            closed.set()

    def refuse(event):
        if event.kind == "sentence_judged":
            raise ValueError("no more")

    async with Verifier(ScriptedScorer()) as verifier, verifier.stream(source(), PASSAGES) as stream:
        with pytest.raises(ValueError, match="no more"):
            await stream.run_callback(refuse)
    assert closed.is_set()


@pytest.mark.parametrize("follows", [False, True])
async def test_a_second_reader_is_refused_and_the_first_reads_on(follows):
    pipe: Pipe[int] = Pipe(9)
    got = []

    async def first():
        if follows:
            await pipe.run_callback(got.append)
        else:
            got.extend([item async for item in pipe])

    async with anyio.create_task_group() as group:
        group.start_soon(first)
        await anyio.wait_all_tasks_blocked()
        for second in (lambda: anext(pipe), lambda: pipe.run_callback(print)):
            with pytest.raises(StreamStateError, match="one reader at a time"):
                await second()
        pipe.put(1)
        pipe.end()
    assert got == [1]


async def test_a_reader_that_gave_up_makes_room_for_the_next():
    pipe: Pipe[int] = Pipe(9)
    with anyio.move_on_after(0):
        await anext(pipe)
    async with anyio.create_task_group() as group:
        group.start_soon(filled, pipe, [1], [0], None)
        assert await anext(pipe) == 1


async def test_two_readers_of_one_stream_are_told_apart_and_neither_hangs():
    ended = []

    async def read(stream):
        try:
            ended.append([event.seq async for event in stream])
        except StreamStateError as error:
            ended.append(str(error))

    async with (
        Verifier(ScriptedScorer()) as verifier,
        verifier.stream(TEXT, PASSAGES) as stream,
        anyio.create_task_group() as group,
    ):
        group.start_soon(read, stream)
        group.start_soon(read, stream)
    refused, whole = sorted(ended, key=lambda end: isinstance(end, list))
    assert "one reader at a time" in refused
    assert whole == list(range(len(whole)))
    assert stream.report.outcome == "finished"


async def test_a_stream_must_be_open_to_be_followed():
    async with Verifier(ScriptedScorer()) as verifier:
        with pytest.raises(StreamStateError):
            await verifier.stream(TEXT, PASSAGES).run_callback(print)
        with pytest.raises(StreamStateError):
            verifier.stream(TEXT, PASSAGES).add_listener(print)


WORDS = ["The mill ", "was built in 1804. ", "A wrong ", "wheel turns. ", "Barley " * 400, "🌾", "\n"]


async def streamed(source, filling):
    async with (
        Verifier(ScriptedScorer({"wrong": Label.CONTRADICTED})) as verifier,
        anyio.create_task_group() as group,
        verifier.stream(source, PASSAGES, policy=Redact()) as stream,
    ):
        if filling is not None:
            group.start_soon(filled, source, *filling, None)
        await stream.run_callback(lambda _: None)
        return stream.report


@pytest.mark.slow
@given(
    st.lists(st.tuples(st.sampled_from(WORDS), st.integers(0, 2)), max_size=30),
    st.sampled_from(["asyncio", "trio"]),
)
def test_a_stream_of_a_pipe_judges_what_a_stream_of_its_pieces_does(steps, backend):
    pieces = [piece for piece, _ in steps]
    pauses = [pause for _, pause in steps]
    report = anyio.run(streamed, Pipe(3), (pieces, pauses), backend=backend)
    whole = anyio.run(streamed, pieces, None, backend=backend)
    assert (report.answer, report.released) == (whole.answer, whole.released)
    assert [(s.text, s.label, s.action) for s in report.sentences] == [
        (s.text, s.label, s.action) for s in whole.sentences
    ]


@pytest.mark.parametrize(
    ("piece", "error"), [("\ud800", PieceError), (b"bytes", PieceError), ("x" * 101, UsageError)]
)
async def test_a_piece_that_cannot_be_taken_ends_the_stream_and_not_who_put_it(piece, error):
    source: Pipe[str] = Pipe(9)
    async with Verifier(ScriptedScorer(), max_answer_chars=100) as verifier:
        async with verifier.stream(source, PASSAGES) as stream:
            await anyio.wait_all_tasks_blocked()
            source.put("The mill stands. ")
            source.put(piece)
            with pytest.raises(error):
                await stream.run_callback(lambda _: None)
            source.put("Nobody reads this.")
            await source.room()
        assert stream.report.answer == "The mill stands. "


async def test_all_who_wait_for_room_get_it():
    pipe = Pipe(1)
    pipe.put("x")

    async def fill(item):
        await pipe.room()
        pipe.put(item)

    async with anyio.create_task_group() as group:
        for item in "ab":
            group.start_soon(fill, item)
        await anyio.wait_all_tasks_blocked()
        with anyio.fail_after(20):
            assert sorted([await anext(pipe), await anext(pipe), await anext(pipe)]) == ["a", "b", "x"]
