"""Citations that a provider hands in beside the text."""

from __future__ import annotations

import anyio.lowlevel
import pytest

from streamverify import Flag, Label, Redact, Repair, SentenceJudged, StreamStateError, Verifier
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


async def test_a_late_check_that_fails_leaves_the_verdict_as_it_was():
    class OnceOnly(ScriptedScorer):
        def score(self, prepared, claims, *, abort):
            if claims[0].text in self.claims:
                raise LookupError("gone")
            return super().score(prepared, claims, abort=abort)

    async with Verifier(OnceOnly()) as verifier:

        async def source():
            yield TEXT
            while not told:
                await anyio.lowlevel.checkpoint()
            stream.cite(native([location(0)], block=Span(0, 26)))

        told = []
        stream = verifier.stream(source(), PASSAGES, policy=Flag())
        async with stream:
            async for event in stream:
                if isinstance(event, SentenceJudged):
                    told.append(event.label)
    assert stream.report.outcome == "finished"
    assert stream.report.sentences[0].label is Label.SUPPORTED


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
