"""The stream as a whole, on both loops, with a scripted scorer in place of the model."""

from __future__ import annotations

import gc
import threading
import weakref

import anyio
import pytest
from scripted_streams import PASSAGES, TEXT, events_of, verifier

from streamverify.errors import PassageError, PieceError, StreamStateError, UsageError
from streamverify.events import (
    SentenceClosed,
    SentenceJudged,
    StreamFailed,
    StreamFinished,
    StreamOpened,
    TextReleased,
)
from streamverify.policy import (
    Flag,
    Halt,
    Observe,
    Redact,
)
from streamverify.streaming.retrieval import retrieved
from streamverify.testing import ClosableSource, ScriptedScorer, collect, pieces, stream_of
from streamverify.types import Label, Passage
from streamverify.verifier import Verifier

pytestmark = pytest.mark.anyio


async def test_the_events_of_a_stream_come_in_order_and_once():
    events = await events_of(TEXT)
    assert isinstance(events[0], StreamOpened)
    assert isinstance(events[-1], StreamFinished)
    assert [event.seq for event in events] == list(range(len(events)))
    judged = [event for event in events if isinstance(event, SentenceJudged)]
    assert [event.label for event in judged] == ["supported", "contradicted", "unsupported", "supported"]
    assert events[-1].report.released == TEXT
    assert [s.action for s in events[-1].report.sentences] == ["release", "flag", "flag", "release"]


@pytest.mark.parametrize("policy", [Observe(), Flag(), Redact()])
async def test_the_report_does_not_depend_on_the_cuts(policy):
    reports = [
        (await events_of(TEXT, policy, cuts))[-1].report for cuts in (0, 1, 2, [], list(range(len(TEXT))))
    ]
    for report in reports[1:]:
        assert report.released == reports[0].released
        assert [(s.text, s.label, s.score, s.action) for s in report.sentences] == [
            (s.text, s.label, s.score, s.action) for s in reports[0].sentences
        ]


async def test_a_stream_and_a_check_of_the_whole_text_agree():
    live = (await events_of(TEXT))[-1].report
    async with verifier() as made:
        whole = await made.check(TEXT, PASSAGES)
    timing = {"timings", "sentences"}
    assert live.model_dump(exclude=timing) == whole.model_dump(exclude=timing)
    for one, other in zip(live.sentences, whole.sentences, strict=True):
        assert one.model_dump(exclude={"latency_ms"}) == other.model_dump(exclude={"latency_ms"})


async def test_each_sentence_is_scored_once_and_each_passage_prepared_once():
    scorer = ScriptedScorer()
    async with Verifier(scorer) as made, made.stream(stream_of(pieces(TEXT, 3)), PASSAGES) as stream:
        events = await collect(stream)
    assert len(scorer.claims) == len([e for e in events if isinstance(e, SentenceClosed)])
    assert len(scorer.prepared) == 1
    work = stream.report.work
    assert work.claims == len(scorer.claims)
    assert work.tokens_scored <= work.tokens_generated * 1.2


async def test_flagged_text_flows_before_any_verdict():
    gate = {"hang_on": "mill"}
    async with (
        verifier(scorer=gate) as made,
        made.stream(ClosableSource([TEXT], endless=True), PASSAGES) as stream,
    ):
        released = ""
        async for event in stream:
            if isinstance(event, TextReleased):
                released += event.text
                if released == TEXT:
                    break
            assert not isinstance(event, SentenceJudged)


async def test_breaking_out_closes_the_source_and_leaves_nothing():
    source = ClosableSource(pieces(TEXT, 4), endless=True)
    async with verifier() as made:
        async with made.stream(source, PASSAGES) as stream:
            async for event in stream:
                if isinstance(event, SentenceJudged):
                    break
        assert source.closed.is_set()
        assert stream.report.outcome == "failed"
        assert made.statistics() == (0, 0)


async def test_a_forgotten_stream_ends_its_source():
    source = ClosableSource(pieces(TEXT, 4), endless=True)
    made = verifier()
    stream = made.stream(source, PASSAGES)
    await stream.__aenter__()
    await anext(stream)
    del stream
    gc.collect()
    with anyio.fail_after(60):
        await source.closed.wait()


async def test_cancelling_the_reader_closes_the_source():
    source = ClosableSource(pieces(TEXT, 4), endless=True)
    async with verifier() as made:
        with anyio.CancelScope() as scope:
            async with made.stream(source, PASSAGES) as stream:
                async for event in stream:
                    if isinstance(event, SentenceJudged):
                        scope.cancel()
        assert source.closed.is_set()


async def test_a_source_error_arrives_as_itself_after_what_came_before():
    error = KeyError("upstream")
    async with (
        verifier() as made,
        made.stream(stream_of(["One here. ", "Two"], error=error), PASSAGES) as stream,
    ):
        events = []
        with pytest.raises(KeyError) as caught:
            async for event in stream:
                events.append(event)
        assert caught.value is error
        assert isinstance(events[-1], StreamFailed)
        assert events[-1].report.answer == "One here. Two"
        assert events[-1].report.counts[Label.SUPPORTED] == 2
        with pytest.raises(StopAsyncIteration):
            await anext(stream)


@pytest.mark.parametrize("piece", [b"bytes", None, 7, "\udc80"])
async def test_a_piece_that_is_no_text_ends_the_stream_and_loses_nothing(piece):
    async with (
        verifier() as made,
        made.stream(stream_of(["One here. ", "Two ", piece, "never"]), PASSAGES) as stream,
    ):
        events = []
        with pytest.raises(PieceError, match="piece 2"):
            async for event in stream:
                events.append(event)
    report = events[-1].report
    assert (report.outcome, report.answer) == ("failed", "One here. Two ")
    assert [s.label for s in report.sentences] == [Label.SUPPORTED] * 2


async def test_an_empty_answer_has_an_empty_report():
    async with verifier() as made:
        report = await made.check("", PASSAGES)
    assert (report.outcome, report.sentences, report.released) == ("finished", (), "")


async def test_halting_stops_the_source():
    source = ClosableSource(pieces(TEXT + " More. " * 50, 4), endless=True)
    async with verifier() as made, made.stream(source, PASSAGES, policy=Halt()) as stream:
        events = await collect(stream)
    assert source.closed.is_set()
    assert events[-1].kind == "stream_halted"
    assert stream.report.released == "The mill was built in 1804. "
    assert "sentence 2 is contradicted" in stream.report.error


async def test_redacting_tells_text_beside_events_and_only_what_passed():
    async with (
        verifier() as made,
        made.stream(stream_of(pieces(TEXT, 9)), PASSAGES, policy=Redact()) as stream,
    ):
        text = "".join([part async for part in stream.text()])
    assert text == stream.report.released
    assert "wrong" not in text
    assert "unknown" not in text


async def test_a_slow_reader_slows_the_source():
    source = ClosableSource(["word "] * 5000)
    async with verifier() as made, made.stream(source, PASSAGES) as stream:
        await anext(stream)
        for _ in range(50):
            await anyio.lowlevel.checkpoint()
        behind = source.yielded
        await collect(stream)
    assert behind < 600
    assert source.yielded == 5000


async def test_streams_share_a_verifier_and_nothing_else():
    texts = [f"The mill number {n} is wrong. Mill {n} grinds." for n in range(8)]
    reports = {}

    async def run(number: int) -> None:
        own = [Passage(f"own{number}", f"Mill {number} grinds barley.")]
        async with made.stream(stream_of(pieces(texts[number], number)), own) as stream:
            await collect(stream)
        reports[number] = stream.report

    async with verifier() as made, anyio.create_task_group() as group:
        for number in range(8):
            group.start_soon(run, number)
    for number, report in reports.items():
        assert report.answer == texts[number]
        assert {e.passage for s in report.sentences for e in s.evidence} == {f"own{number}"}


async def test_passages_told_while_running_are_used_from_then_on():
    async def source():
        retrieved(PASSAGES)
        yield "The mill was built in 1804. "
        retrieved([Passage("p2", "The owner is a miller from the village.")])
        yield "The owner is a miller. Tail"

    scorer = ScriptedScorer()
    async with Verifier(scorer) as made, made.stream(source(), None) as stream:
        events = await collect(stream)
    assert [summary.id for summary in events[0].passages] == ["p1"]
    assert sorted(map(len, scorer.prepared)) == [1, 2]
    assert stream.report.counts[Label.SUPPORTED] == 3


async def test_passages_told_by_a_synchronous_source_are_used():
    def source():
        retrieved(PASSAGES)
        yield "The mill was built in 1804."

    async with verifier() as made, made.stream(source(), None) as stream:
        await collect(stream)
    assert stream.report.counts[Label.SUPPORTED] == 1


async def test_retrieved_outside_of_a_stream_is_refused():
    with pytest.raises(StreamStateError, match="outside"):
        retrieved(PASSAGES)


async def test_an_id_told_twice_with_other_text_reaches_the_function_that_told_it():
    async def source():
        yield "One. "
        retrieved([Passage("p1", "other text")])

    async with verifier() as made, made.stream(source(), PASSAGES) as stream:
        with pytest.raises(PassageError, match="p1"):
            await collect(stream)


async def test_a_stream_is_used_once_and_only_while_open():
    async with verifier() as made:
        stream = made.stream("One.", PASSAGES)
        with pytest.raises(StreamStateError, match="async with"):
            await anext(stream)
        async with stream:
            with pytest.raises(StreamStateError, match="ended"):
                _ = stream.report
            await collect(stream)
            with pytest.raises(StopAsyncIteration):
                await anext(stream)
        with pytest.raises(StreamStateError, match="before"):
            await stream.__aenter__()


async def test_an_answer_beyond_the_limit_stops_its_source_with_an_error():
    source = ClosableSource(["word "] * 100, endless=True)
    async with verifier(max_answer_chars=50) as made, made.stream(source, PASSAGES) as stream:
        with pytest.raises(UsageError, match="max_answer_chars=50"):
            await collect(stream)
    assert source.closed.is_set()
    assert len(stream.report.answer) == 50


async def test_the_event_loop_is_free_while_the_scorer_works():
    made = verifier(scorer={"hang_on": "mill"}, verdict_timeout=3600)
    ticks = 0
    async with made, made.stream(ClosableSource([TEXT], endless=True), PASSAGES) as stream:
        await anext(stream)
        while made.statistics().running == 0:
            await anyio.lowlevel.checkpoint()
        for _ in range(1000):
            await anyio.lowlevel.checkpoint()
            ticks += 1
        assert made.statistics().running > 0
    assert ticks == 1000


async def test_a_soak_of_streams_leaves_no_thread_and_no_task():
    before = {thread.ident for thread in threading.enumerate()}
    async with verifier() as made:
        for round_ in range(20):
            async with made.stream(ClosableSource(pieces(TEXT, round_), endless=True), PASSAGES) as stream:
                async for event in stream:
                    if isinstance(event, SentenceJudged) and event.index >= round_ % 3:
                        break
    for thread in threading.enumerate():
        if thread.ident not in before and thread.name.startswith("streamverify"):
            thread.join(20)
    left = [
        t.name for t in threading.enumerate() if t.ident not in before and t.name.startswith("streamverify")
    ]
    assert left == []


@pytest.mark.parametrize("closed", [True, False])
async def test_a_stream_whose_error_reached_its_reader_is_forgotten_with_it(closed):
    async def broken():
        yield "The mill was built in 1804. "
        raise OSError("the model went away")

    async def read(made):
        stream = made.stream(broken(), PASSAGES)
        await stream.__aenter__()
        with pytest.raises(OSError, match="went away"):
            async for _ in stream:
                pass
        if closed:
            await stream.aclose()
        return weakref.ref(stream), weakref.ref(stream._pump)

    async with verifier() as made:
        left = [ref for _ in range(3) for ref in await read(made)]
        await anyio.wait_all_tasks_blocked()
        gc.collect()
        assert [ref() for ref in left] == [None] * 6
