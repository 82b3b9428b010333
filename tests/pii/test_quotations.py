"""What is quoted of a passage is hidden alike while an answer streams and behind it."""

from __future__ import annotations

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify import Flag, Passage, RedactPii, Verifier
from streamverify.evaluate import evaluate, redacted_run
from streamverify.events import StreamFinished
from streamverify.pii import Recognisers, blocked, redacted_report
from streamverify.showing.quoting import Quoting, hidden_words, without
from streamverify.testing import ScriptedScorer, collect
from streamverify.types import Evidence, Finding, FindingKind, Label, Verdict
from tests.evaluate.builders import case, verifier
from tests.pii.cases import cases

DETECT = Recognisers()
DESK = Passage("desk", "The desk is open. Tel.: 030 9018-20 is the line of the desk. It is in room four.")
ANSWER = "030 9018-20 is the line of the desk."
TEXTS = [text for half in ("dev", "held_out") for _, text, items in cases(half) if items]


def hide(text):
    return blocked(text, DETECT)


def quoting(passage):
    return Quoting(hide, [passage])


def evidence(passage, start, end):
    text = passage.text[start:end]
    return Evidence(passage=passage.id, start=start, end=end, text=text, score=0.9, label=Label.SUPPORTED)


def verdict(*pieces, detail=""):
    found = (Finding(kind=FindingKind.NUMBER_MISMATCH, start=0, end=1, detail=detail),) if detail else ()
    return Verdict(index=0, label=Label.SUPPORTED, score=0.9, evidence=pieces, findings=found)


@given(st.sampled_from(TEXTS), st.data())
def test_a_quotation_is_what_is_left_of_its_passage_wherever_it_begins(text, data):
    passage = Passage("p", text)
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    [piece] = quoting(passage).verdict(verdict(evidence(passage, start, end))).evidence
    assert piece.text == hide(text)[start:end]


def line(passage):
    start = passage.text.index("030")
    return evidence(passage, start, passage.text.index(" It is in"))


def test_a_word_of_what_was_hidden_is_hidden_in_a_finding_too():
    told = quoting(DESK).verdict(verdict(line(DESK), detail="9018 here, the desk of 1712 there"))
    assert told.findings[0].detail == "████ here, the desk of 1712 there"


@given(st.text(max_size=60), st.text(max_size=60))
def test_hiding_words_keeps_every_place(before, text):
    words = hidden_words(before, "█" * len(before))
    assert len(without(text, words)) == len(text)
    assert hidden_words(before, before) == frozenset()


@pytest.mark.parametrize("given_to", ["opening", "later"])
def test_a_stream_hides_it_in_passages_that_came_later_too(given_to):
    async def source(stream):
        if given_to == "later":
            yield "The desk is open. "
            stream[0].add_passages([DESK])
        yield ANSWER

    async def events():
        started = []
        first = [DESK] if given_to == "opening" else [Passage("other", "The desk is open.")]
        async with (
            Verifier(ScriptedScorer(), policy=RedactPii(Flag())) as made,
            made.stream(source(started), first) as stream,
        ):
            started.append(stream)
            return await collect(stream)

    last = anyio.run(events)[-1]
    assert isinstance(last, StreamFinished)
    quoted = [piece for one in last.report.sentences for piece in one.evidence if piece.passage == "desk"]
    assert any("line of the desk" in piece.text for piece in quoted)
    assert not any("9018" in piece.text for piece in quoted)


def texts(value):
    """Every text in a report: a time or an id may hold any digits by chance."""
    if isinstance(value, dict):
        value = [held for key, held in value.items() if key not in ("id", "stream")]
    if isinstance(value, list):
        return " ".join(texts(held) for held in value)
    return value if isinstance(value, str) else ""


def told(report):
    return texts(report.model_dump(mode="json"))


def report_on(answer, passage):
    with verifier() as one:
        return one.check_sync(answer, [passage])


@pytest.mark.parametrize("at_hand", [True, False])
def test_a_report_hides_what_a_label_before_the_quotation_gives_away(at_hand):
    report = report_on("The line of the desk is 5553.", DESK)
    assert "9018" in told(report)
    hidden = redacted_report(report, DETECT, [DESK] if at_hand else ())
    assert "9018" not in told(hidden)
    assert "is the line of the desk" in told(hidden)


def test_a_run_hides_it_with_and_without_its_passages():
    given_case = case(1, "The line of the desk is 5553.", passages=(DESK,))
    with verifier() as one:
        run = evaluate([given_case], verifier=one, metrics=["faithfulness"])
    for passages in (None, {given_case.id: (DESK,)}):
        [found] = redacted_run(run, passages=passages).cases
        assert found.report is not None
        assert "9018" not in told(found.report)
