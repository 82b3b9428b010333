"""What goes over the wire: nothing withheld, everything released, in each protocol's own words."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import anyio
import pytest
from ag_ui.core import Event as AgUiEvent
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from streamverify.errors import ScoringError
from streamverify.events import (
    PassageSummary,
    SentenceClosed,
    SentenceJudged,
    SentenceRevised,
    StreamFailed,
    StreamFinished,
    StreamHalted,
    StreamOpened,
    TextReleased,
    read_event,
)
from streamverify.policy import Flag, Halt, Observe, Redact
from streamverify.server import AgUi, AiSdk, Native, Redactor
from streamverify.server.encoding import frame
from streamverify.showing.redaction import MASK
from streamverify.testing import ScriptedScorer, pieces, stream_of
from streamverify.types import (
    Action,
    Citation,
    CitationFigures,
    CitationFinding,
    Evidence,
    Finding,
    FindingKind,
    Fingerprint,
    JudgedSentence,
    Label,
    Lag,
    Passage,
    Report,
    Sentence,
    Span,
    Timings,
    Work,
)
from streamverify.verifier import Verifier

SCRIPT = {"wrong": Label.CONTRADICTED, "unknown": Label.UNSUPPORTED}
PASSAGES = [
    Passage("p1", "The mill was built in 1804 and has two wheels. It grinds barley.", "The mill 🌾"),
    Passage("p2", "The yard is paved."),
]
SENTENCES = [
    "The mill was built in 1804 [1]. ",
    "The wrong 🛞 wheel 𝟛𝟜 turns slowly [2]. ",
    "The yard has an unknown owner. ",
    "Barley is ground 🌾.\n\n",
    "Hello! ",
    "- The wheels are two [7].\n",
    "Is it open? ",
]
POLICIES = [
    Observe(),
    Flag(),
    Redact(),
    Redact(scope="span", fabricated_citations="marker"),
    Redact(where=lambda s: "[" in s.text),
    Halt(),
    Halt(hold=False),
]

answers = st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=6).map("".join)
policies = st.sampled_from(POLICIES)
cuts = st.integers(0, 1000)


def events_of(text, policy, cut=3, error=None, scorer=None, **options):
    async def run():
        source = stream_of(pieces(text, cut), error=error)
        events = []
        async with (
            Verifier(scorer or ScriptedScorer(SCRIPT), **options) as verifier,
            verifier.stream(source, PASSAGES, policy=policy) as stream,
        ):
            with contextlib.suppress(RuntimeError, ScoringError):
                async for event in stream:
                    events.append(event)
        return events

    return anyio.run(run)


def encoded(encoding, events, passages=None):
    encoder = encoding.encoder("run", passages)
    return [message for event in events for message in encoder.encode(event)]


def seen_by(redact, events):
    return [seen for event in events for seen in redact(event)]


def released(events):
    return "".join(event.text for event in events if isinstance(event, TextReleased))


@given(answers, policies, cuts)
@settings(max_examples=40)
def test_a_redacted_run_never_holds_a_character_that_was_not_released(text, policy, cut):
    events = events_of(text, policy, cut)
    redact = Redactor()
    seen = seen_by(redact, events)
    shown = set()
    for event in events:
        if isinstance(event, TextReleased) and event.action in ("release", "flag"):
            shown |= set(range(*event.span))
    report = seen[-1].report
    answer = events[-1].report.answer
    assert report.answer == "".join(c if i in shown else MASK for i, c in enumerate(answer))
    wire = "\n".join(event.model_dump_json() for event in seen)
    for sentence in events[-1].report.sentences:
        said = sentence.text.strip()
        hidden = not shown & set(range(sentence.start, sentence.end))
        if hidden and len(said) > 10 and said not in released(events):
            assert json.dumps(said, ensure_ascii=False)[1:-1] not in wire
    for sentence in report.sentences:
        assert sentence.text == report.answer[sentence.start : sentence.end]


@given(answers, st.sampled_from([Observe(), Flag()]), cuts)
@settings(max_examples=20)
def test_the_redactor_changes_nothing_where_everything_is_released(text, policy, cut):
    events = events_of(text, policy, cut)
    redact = Redactor()
    assert seen_by(redact, events) == events


@given(answers, policies, cuts)
@settings(max_examples=40)
def test_every_event_is_told_in_order_and_what_was_released_is_never_masked(text, policy, cut):
    """A citation of a released sentence too, though its verdict comes before the sentence's text."""
    events = events_of(text, policy, cut)
    seen = seen_by(Redactor(), events)
    assert [(event.seq, event.kind) for event in seen] == [(event.seq, event.kind) for event in events]
    told = {event.index: event for event in seen if isinstance(event, SentenceJudged)}
    verbatim = {Action.RELEASE, Action.FLAG}
    for sentence in events[-1].report.sentences:
        if sentence.action in verbatim:
            assert told[sentence.index].citations == sentence.citations
            assert told[sentence.index].findings == sentence.findings


def test_a_verdict_waits_no_longer_than_for_its_text():
    events = events_of("".join(SENTENCES), Redact())
    ends = {event.sentence.end for event in events if isinstance(event, SentenceClosed)}
    redact, waiting = Redactor(), []
    for event in events:
        waiting.append(event)
        for seen in redact(event):
            assert waiting.pop(0).seq == seen.seq
        if isinstance(event, TextReleased) and event.span.end in ends:
            assert waiting == []
    assert waiting == []


SECRET = "sk-live-123 at /srv/keys, called 'wrong'"


@pytest.mark.parametrize("encoding", [Native(), AiSdk(), AgUi()])
@pytest.mark.parametrize("reveal", [False, True])
@pytest.mark.parametrize("failing", ["source", "check", "check_raised"])
def test_no_message_of_an_error_goes_to_a_reader_who_was_not_meant_to_have_it(encoding, reveal, failing):
    """A failed source, and failed checks, under both ways to treat these; the type stays."""
    error = RuntimeError(SECRET) if failing == "source" else None
    scorer = None if error else ScriptedScorer(fail_on="wheel", error=LookupError(SECRET))
    on_failure = "raise" if failing == "check_raised" else "unverified"
    events = events_of("".join(SENTENCES[:2]), Flag(), error=error, scorer=scorer, on_failure=on_failure)
    assert "sk-live" in "".join(event.model_dump_json() for event in events)
    for details in (False, True):
        redact = Redactor(reveal=reveal, error_details=details)
        wire = "".join(m.data for m in encoded(encoding, seen_by(redact, events)))
        assert ("sk-live" in wire) == details
        assert "/srv/keys" not in wire or details
    if failing != "check":
        assert events[-1].error.partition(":")[0] in wire


def test_what_an_application_says_itself_reaches_the_reader():
    events = events_of("".join(SENTENCES[:2]), Halt())
    assert seen_by(Redactor(), events)[-1].report.error == "sentence 2 is contradicted"
    failed = StreamFailed(
        seq=0, at_ms=0, report=events[-1].report, error="Stop: maintenance", code="interrupted"
    )
    assert Redactor()(failed)[0].error == "Stop: maintenance"


@given(answers, policies, cuts)
@settings(max_examples=30)
def test_ai_sdk_text_parts_are_the_released_text_and_places_point_into_them(text, policy, cut):
    events = events_of(text, policy, cut)
    messages = encoded(AiSdk(major=7), events)
    assert messages[-1].data == "[DONE]"
    chunks = [json.loads(message.data) for message in messages[:-1]]
    assert [chunks[0]["type"], chunks[-1]["type"]] == ["start", "finish"]
    parts: dict[str, str] = {}
    closed = set()
    for chunk in chunks:
        match chunk["type"]:
            case "text-start":
                assert chunk["id"] not in parts
                parts[chunk["id"]] = ""
            case "text-delta":
                assert chunk["delta"]
                assert chunk["id"] not in closed
                parts[chunk["id"]] += chunk["delta"]
            case "text-end":
                closed.add(chunk["id"])
    assert closed == set(parts)
    assert "".join(parts.values()) == released(events)
    judged = {chunk["id"]: chunk["data"] for chunk in chunks if chunk["type"] == "data-streamverify"}
    for sentence in events[-1].report.sentences:
        data = judged[f"s{sentence.index}"]
        assert data["state"] == sentence.label
        if "utf16" in data:
            units = parts[data["part"]].encode("utf-16-le")
            start, end = data["utf16"]
            assert units[2 * start : 2 * end].decode("utf-16-le") == sentence.text


def test_ai_sdk_sends_citations_only_when_asked_to():
    events = events_of("".join(SENTENCES), Redact())
    assert not any('"citations": [{"source"' in message.data for message in encoded(AiSdk(), events))
    ends = [json.loads(m.data) for m in encoded(AiSdk(major=7), events) if '"text-end"' in m.data]
    cited = [end["citations"][0] for end in ends if "citations" in end]
    assert {one["source"]["title"] for one in cited} <= {"The mill 🌾", "p2"}
    assert cited


@given(answers, policies, cuts)
@settings(max_examples=20)
def test_ag_ui_events_are_valid_and_carry_the_released_text(text, policy, cut):
    events = events_of(text, policy, cut)
    adapter = TypeAdapter(AgUiEvent)
    read = [adapter.validate_json(message.data) for message in encoded(AgUi(thread_id="t"), events, PASSAGES)]
    kinds = [event.type.value for event in read]
    assert [kinds[0], kinds[-1]] == ["RUN_STARTED", "RUN_FINISHED"]
    assert read[0].thread_id == read[-1].thread_id == "t"
    assert kinds.count("TEXT_MESSAGE_START") == kinds.count("TEXT_MESSAGE_END") == bool(released(events))
    deltas = [event.delta for event in read if event.type.value == "TEXT_MESSAGE_CONTENT"]
    assert "".join(deltas) == released(events)
    names = [event.name for event in read if event.type.value == "CUSTOM"]
    assert names[:2] == ["streamverify.passages", "streamverify.stream_opened"]
    assert names.count("streamverify.sentence_judged") == len(events[-1].report.sentences)


@pytest.mark.parametrize(("encoding", "last"), [(AiSdk(), '"error"'), (AgUi(), '"RUN_ERROR"')])
def test_a_stream_that_fails_ends_in_the_protocols_own_error(encoding, last):
    events = events_of("The mill was built in 1804. It", Flag(), error=RuntimeError("cable cut"))
    data = [message.data for message in encoded(encoding, events) if message.data != "[DONE]"]
    assert last in data[-1]
    assert "cable cut" in data[-1]


def test_native_messages_are_the_events_and_read_back_as_them():
    events = events_of("".join(SENTENCES), Flag())
    messages = encoded(Native(), events, PASSAGES)
    assert messages[0].event == "passages"
    sent = json.loads(messages[0].data)["passages"]
    assert sent[1] == {"id": "p2", "title": None, "text": "The yard is paved."}
    assert [read_event(message.data) for message in messages[1:]] == events
    assert [message.event for message in messages[1:]] == [event.kind for event in events]


FIGURES = CitationFigures(
    citations=1,
    fabricated=0,
    missing=0,
    existence=1.0,
    accuracy=1.0,
    precision=1.0,
    completeness=1.0,
    quality=1.0,
    multi_source_coverage=None,
    not_computed={"multi_source_coverage": "no claim needs several passages"},
)


def one_of_each():
    """Events built by hand: the golden file pins the wire, not what the checks find."""
    fingerprint = Fingerprint(model="m", revision="1", precision="int8", provider="cpu")
    correct = CitationFinding.CORRECT
    citation = Citation(marker="[1]", start=28, end=31, passages=("p1",), finding=correct, score=0.97)
    finding = Finding(kind=FindingKind.NUMBER_MISMATCH, start=22, end=26, detail="1804, not 1805")
    supported = Label.SUPPORTED
    text = "The mill was built in 1804."
    evidence = Evidence(passage="p1", start=0, end=27, text=text, score=0.97, label=supported)
    verdict = {"label": supported, "score": 0.97, "evidence": (evidence,), "citations": (citation,)}
    sentence = Sentence(index=0, text="The mill 🌾 was built in 1804 [1]. ", start=0, end=33)
    report = Report(
        outcome="finished",
        answer=sentence.text,
        released=sentence.text,
        sentences=(JudgedSentence(**sentence.model_dump(), **verdict, action=Action.RELEASE),),
        counts={label: int(label is Label.SUPPORTED) for label in Label},
        grounding_score=0.97,
        citation_accuracy=1.0,
        citation_figures=FIGURES,
        timings=Timings(total_ms=12.5, verdict_lag_ms=Lag(p50=1, p95=2, max=3)),
        work=Work(windows=1, claims=1),
        fingerprint=fingerprint,
    )
    passages = (PassageSummary(id="p1", title="The mill", chars=62),)
    judged = {
        "index": 0,
        **verdict,
        "findings": (finding,),
        "unsupported_spans": (Span(22, 26),),
        "reason": "",
    }
    stops = {"error": "sentence 0 is contradicted", "outcome": "halted"}
    return [
        StreamOpened(seq=0, at_ms=0, passages=passages, fingerprint=fingerprint, policy="flag"),
        TextReleased(seq=1, at_ms=1.5, text=sentence.text, span=sentence.span, action=Action.RELEASE),
        SentenceClosed(seq=2, at_ms=2, sentence=sentence),
        SentenceJudged(seq=3, at_ms=9, latency_ms=7, provisional=True, **judged),
        SentenceRevised(seq=4, at_ms=12, latency_ms=10, scorer="m2", changed=False, **judged),
        StreamFinished(seq=5, at_ms=12.5, report=report),
        StreamHalted(seq=5, at_ms=12.5, report=report.model_copy(update=stops)),
        StreamFailed(seq=5, at_ms=12.5, report=report, error="RuntimeError: cable cut"),
    ]


WIRES = [("native", Native()), ("ai_sdk", AiSdk(major=7)), ("ag_ui", AgUi())]


@pytest.mark.parametrize(("name", "encoding"), WIRES)
def test_the_wire_is_what_the_golden_file_says(name, encoding):
    """A change of these files is a change of the contract: say so in the changelog."""
    *before, finished, halted, failed = one_of_each()
    lines = []
    for last in (finished, halted, failed):
        encoder = encoding.encoder("run", PASSAGES[1:])
        whole = [frame(encoder.encode(event), f"run:{event.seq}").decode() for event in [*before, last]]
        lines += whole if last is finished else whole[-1:]
    golden = Path(__file__).parent / f"{name}.golden.txt"
    assert "".join(lines) == golden.read_text(encoding="utf-8")
