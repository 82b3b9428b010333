"""What a failed stream says ended it, and ending a stream in order before its source ends; on both loops."""

from __future__ import annotations

import asyncio
import threading

import anyio
import anyio.lowlevel
import pytest

from streamverify import (
    Label,
    Passage,
    Redact,
    ScoringError,
    StreamFailed,
    StreamInterruptedError,
    StreamStateError,
    UsageError,
    Verifier,
)
from streamverify.testing import ClosableSource, ScriptedScorer, collect, pieces, stream_of

pytestmark = pytest.mark.anyio

PASSAGES = [Passage("p1", "The mill was built in 1804. It grinds barley.")]
TEXT = "The mill was built in 1804. The wrong wheel turns. Barley is gro"


async def until_failed(stream):
    """The events of a stream, and what it raised after them."""
    events = []
    try:
        async for event in stream:
            events.append(event)
    except (LookupError, ScoringError, StreamInterruptedError, UsageError) as error:
        return events, error
    return events, None


@pytest.mark.parametrize("policy", [None, Redact()])
async def test_an_interrupted_stream_judges_what_came_and_says_so(policy):
    source = ClosableSource(pieces(TEXT, 3), endless=True)
    async with Verifier(ScriptedScorer({"wrong": Label.CONTRADICTED}), policy=policy) as verifier:
        stream = verifier.stream(source, PASSAGES)
        async with stream, anyio.create_task_group() as group:

            async def interrupt():
                await source.waiting.wait()
                stream.interrupt("the server is stopping")
                stream.interrupt("again")

            group.start_soon(interrupt)
            events, error = await until_failed(stream)
        assert source.closed.is_set()
        assert verifier.statistics() == (0, 0)
    last = events[-1]
    assert isinstance(last, StreamFailed)
    assert (last.code, last.error) == ("interrupted", "StreamInterruptedError: the server is stopping")
    assert isinstance(error, StreamInterruptedError)
    assert last.report.answer == TEXT
    assert [s.label for s in last.report.sentences] == ["supported", "contradicted", "supported"]
    if policy is None:
        assert last.report.released == TEXT
    else:
        assert "wrong" not in last.report.released
        assert last.report.released.endswith("Barley is gro")


async def test_interrupting_a_stream_whose_source_has_ended_changes_nothing():
    hold = threading.Event()

    class Waits(ScriptedScorer):
        def score(self, prepared, claims, *, abort):
            hold.wait()
            return super().score(prepared, claims, abort=abort)

    ended = anyio.Event()

    async def source():
        yield TEXT
        ended.set()

    async with Verifier(Waits()) as verifier, verifier.stream(source(), PASSAGES) as stream:
        await ended.wait()
        for _ in range(20):
            await anyio.lowlevel.checkpoint()
        stream.interrupt("too late")
        hold.set()
        events, error = await until_failed(stream)
    assert (events[-1].kind, error) == ("stream_finished", None)


async def test_a_stream_can_be_interrupted_before_its_first_piece_and_from_another_thread():
    source = ClosableSource([], endless=True)
    async with Verifier(ScriptedScorer()) as verifier, verifier.stream(source, PASSAGES) as stream:
        thread = threading.Thread(target=stream.interrupt, args=("stop",))
        thread.start()
        events, error = await until_failed(stream)
        thread.join()
    assert [event.kind for event in events] == ["stream_opened", "stream_failed"]
    assert str(error) == "stop"


async def test_an_unopened_stream_cannot_be_interrupted():
    with pytest.raises(StreamStateError):
        Verifier(ScriptedScorer()).stream([], []).interrupt("stop")


@pytest.mark.parametrize(
    ("source", "options", "code", "error"),
    [
        (lambda: stream_of([TEXT], error=LookupError("gone")), {}, "source_failed", LookupError),
        (lambda: [b"bytes"], {}, "usage_error", UsageError),
        (lambda: [TEXT], {"max_answer_chars": 10}, "usage_error", UsageError),
        (lambda: [TEXT], {"on_failure": "raise"}, "check_failed", ScoringError),
    ],
)
async def test_a_failed_stream_says_who_failed(source, options, code, error):
    scorer = ScriptedScorer(fail_on="wrong")
    async with Verifier(scorer, **options) as verifier, verifier.stream(source(), PASSAGES) as stream:
        events, raised = await until_failed(stream)
    assert events[-1].code == code
    assert isinstance(raised, error)
    assert events[-1].error == f"{type(raised).__name__}: {raised}"


async def test_a_stream_that_is_closed_says_so():
    async with Verifier(ScriptedScorer()) as verifier:
        stream = verifier.stream(ClosableSource([TEXT], endless=True), PASSAGES)
        async with stream:
            pass
        last = (await collect(stream))[-1]
    assert (last.kind, last.code) == ("stream_failed", "closed")


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("threaded", [False, True])
async def test_a_source_that_raises_a_cancellation_itself_has_failed_and_cancels_nobody(threaded):
    def broken():
        yield "One here. "
        raise asyncio.CancelledError

    async def broken_too():
        for piece in broken():
            yield piece

    events = []
    source = broken() if threaded else broken_too()
    async with Verifier(ScriptedScorer()) as verifier, verifier.stream(source, PASSAGES) as stream:
        with pytest.raises(StreamInterruptedError, match="cancelled from within"):
            async for event in stream:
                events.append(event)
    assert isinstance(events[-1], StreamFailed)
    assert (events[-1].code, events[-1].report.answer) == ("source_failed", "One here. ")
    assert [s.label for s in events[-1].report.sentences] == [Label.SUPPORTED]
