"""Citations that a provider hands in beside the text."""

from __future__ import annotations

import contextlib
import threading

import anyio
import anyio.lowlevel
import pytest

from streamverify import (
    Flag,
    Label,
    Redact,
    Repair,
    ScoringError,
    SentenceJudged,
    StreamStateError,
    Verifier,
)
from streamverify.citations import native
from streamverify.testing import ScriptedScorer, collect, stream_of
from streamverify.types import Passage, Span

pytestmark = pytest.mark.anyio

PASSAGES = [Passage("a", "The mill was built in 1804."), Passage("b", "Barley is ground in it.")]
TEXT = "The mill was built in 1804. Barley is ground in it."


def location(document):
    return {"type": "char_location", "document_index": document}


async def test_a_citation_in_time_is_in_the_event_and_in_the_report():
    scorer = ScriptedScorer()
    async with Verifier(scorer) as verifier:

        async def source():
            yield TEXT[:20]
            stream.cite(native([location(0)], block=Span(0, 26)))
            yield TEXT[20:]

        stream = verifier.stream(source(), PASSAGES)
        async with stream:
            events = await collect(stream)
    [first] = [e for e in events if isinstance(e, SentenceJudged) and e.index == 0]
    assert [(c.passages, c.finding) for c in first.citations] == [(("a",), "correct")]
    assert stream.report.sentences[0].citations == first.citations
    assert stream.report.citation_accuracy == 1
    assert len(scorer.claims) == 2


async def test_a_late_citation_is_in_the_report_though_its_sentence_was_told():
    async with Verifier(ScriptedScorer()) as verifier:
        told = anyio.Event()

        async def source():
            yield TEXT
            await told.wait()
            stream.cite(native([location(0)], block=Span(0, 26)))
            stream.cite(native([location(7)], block=Span(0, 26)))
            yield " It stands."

        stream = verifier.stream(source(), PASSAGES, policy=Redact())
        async with stream:
            async for event in stream:
                if isinstance(event, SentenceJudged) and event.index == 0:
                    assert event.citations == ()
                    told.set()
    first = stream.report.sentences[0]
    assert [(c.passages, c.finding) for c in first.citations] == [(("a",), "correct"), ((), "fabricated")]
    assert stream.report.citation_accuracy == 0.5


class SecondCallOf(ScriptedScorer):
    """Does `then` when it is asked about a claim for the second time."""

    def __init__(self, then):
        super().__init__()
        self.then = then

    def score(self, prepared, claims, *, abort):
        if claims[0].text in self.claims:
            self.then(abort)
        return super().score(prepared, claims, abort=abort)


def gone(_abort):
    raise LookupError("gone")


async def until_judged(told, index=0):
    while index not in told:
        await anyio.lowlevel.checkpoint()


async def read(stream, told):
    async with stream:
        async for event in stream:
            if isinstance(event, SentenceJudged):
                told[event.index] = event
    return stream.report


async def test_a_late_citation_whose_check_fails_is_unverified_beside_those_told():
    told = {}

    async def source():
        yield TEXT[:20]
        stream.cite(native([location(0)], block=Span(0, 26)))
        yield TEXT[20:]
        await until_judged(told)
        stream.cite(native([location(1)], block=Span(0, 26)))
        stream.cite(native([location(7)], block=Span(0, 26)))

    async with Verifier(SecondCallOf(gone)) as verifier:
        stream = verifier.stream(source(), PASSAGES, policy=Flag())
        report = await read(stream, told)
    first = report.sentences[0]
    assert [(c.passages, c.finding) for c in told[0].citations] == [(("a",), "correct")]
    assert [(c.passages, c.finding) for c in first.citations] == [
        (("a",), "correct"),
        (("b",), "unverified"),
        ((), "fabricated"),
    ]
    assert (report.outcome, first.label) == ("finished", Label.SUPPORTED)
    assert (report.citation_figures.citations, report.citation_figures.fabricated) == (3, 1)


async def test_a_late_check_that_fails_before_the_verdict_is_there_is_in_the_report_too():
    failed, told = threading.Event(), {}

    class FirstWaits(ScriptedScorer):
        def score(self, prepared, claims, *, abort):
            again = claims[0].text in self.claims
            scores = super().score(prepared, claims, abort=abort)
            if again:
                failed.set()
                raise LookupError("gone")
            if "1804" in claims[0].text:
                failed.wait()
            return scores

    scorer = FirstWaits()

    async def source():
        yield TEXT
        while not scorer.claims:
            await anyio.lowlevel.checkpoint()
        stream.cite(native([location(0)], block=Span(0, 26)))

    async with Verifier(scorer) as verifier:
        stream = verifier.stream(source(), PASSAGES)
        report = await read(stream, told)
    assert told[0].citations == ()
    assert [(c.passages, c.finding) for c in report.sentences[0].citations] == [(("a",), "unverified")]
    assert report.sentences[0].label is Label.SUPPORTED


async def test_a_late_citation_whose_check_was_cut_off_is_unverified():
    begun, told = threading.Event(), {}

    def hang(abort):
        released = threading.Event()
        abort.attach(released.set)
        begun.set()
        released.wait()
        raise ScoringError("aborted")

    async def source():
        yield TEXT
        await until_judged(told)
        stream.cite(native([location(0)], block=Span(0, 26)))
        while not begun.is_set():
            await anyio.lowlevel.checkpoint()
        raise RuntimeError("cable cut")

    async with Verifier(SecondCallOf(hang)) as verifier:
        stream = verifier.stream(source(), PASSAGES)
        async with anyio.create_task_group() as group:
            group.start_soon(read_to_failure, stream, told)
            while not begun.is_set():
                await anyio.lowlevel.checkpoint()
            await stream.aclose()
    [citation] = stream.report.sentences[0].citations
    assert (stream.report.outcome, citation.passages, citation.finding) == ("failed", ("a",), "unverified")


async def read_to_failure(stream, told):
    with contextlib.suppress(RuntimeError):
        await read(stream, told)


async def test_a_late_check_that_fails_fails_the_stream_where_failures_are_raised():
    told = {}

    async def source():
        yield TEXT
        await until_judged(told)
        stream.cite(native([location(0)], block=Span(0, 26)))

    async with Verifier(SecondCallOf(gone), on_failure="raise") as verifier:
        stream = verifier.stream(source(), PASSAGES)
        with pytest.raises(ScoringError, match="gone"):
            await read(stream, told)
    assert [c.finding for c in stream.report.sentences[0].citations] == ["unverified"]


@pytest.mark.parametrize("fate", ["fails", "takes too long", "is cut off"])
async def test_the_citations_of_a_sentence_that_was_not_checked_are_unverified_or_fabricated(fate):
    scorer = ScriptedScorer(**{"fail_on" if fate == "fails" else "hang_on": "mill"})
    timeout = 0.05 if fate == "takes too long" else 60

    async def source():
        yield "The mill was built in 1804 [1]"
        stream.cite(native([location(1)], block=Span(0, 30)))
        yield "[9]. "

    async with Verifier(scorer, on_failure="unverified", verdict_timeout=timeout) as verifier:
        stream = verifier.stream(source(), PASSAGES)
        async with anyio.create_task_group() as group:
            group.start_soon(read, stream, {})
            while not scorer.claims:
                await anyio.lowlevel.checkpoint()
            if fate == "is cut off":
                await stream.aclose()
    [sentence] = stream.report.sentences
    assert (sentence.label, stream.report.outcome == "failed") == (Label.UNVERIFIED, fate == "is cut off")
    assert [(c.marker, c.passages, c.finding) for c in sentence.citations] == [
        ("[1]", ("a",), "unverified"),
        ("", ("b",), "unverified"),
        ("[9]", (), "fabricated"),
    ]


async def test_the_citation_of_a_sentence_is_not_taken_for_one_of_its_replacement():
    async def rewrite(_request):
        return "The mill stands."

    scorer = ScriptedScorer({"wrong": Label.CONTRADICTED})
    async with Verifier(scorer) as verifier:

        async def source():
            yield "A wrong wheel"
            stream.cite(native([location(1)], block=Span(0, 13)))
            yield " turns."

        stream = verifier.stream(source(), PASSAGES, policy=Repair(rewrite))
        async with stream:
            await collect(stream)
    [sentence] = stream.report.sentences
    assert sentence.replacement.verdicts[0].citations == ()
    assert [c.passages for c in sentence.citations] == [("b",)]


async def test_citing_before_opening_is_refused():
    stream = Verifier(ScriptedScorer()).stream(stream_of([TEXT]), PASSAGES)
    with pytest.raises(StreamStateError):
        stream.cite([])
