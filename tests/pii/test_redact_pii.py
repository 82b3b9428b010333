"""No personal item leaves a stream under `RedactPii`, by whatever way out."""

from __future__ import annotations

import anyio
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from streamverify import Halt, Observe, Redact, RedactPii, Repair, Verifier
from streamverify.events import SentenceClosed, SentenceJudged, StreamOpened, TextReleased
from streamverify.pii import PiiItem, Recognisers, marked
from streamverify.policy import Annotate, Flag, repair_plan
from streamverify.sentences.segmenter import SentenceSegmenter
from streamverify.server import AgUi, AiSdk, Native
from streamverify.server.encoding import frame
from streamverify.showing.redaction import Redactor
from streamverify.streaming.session import StreamState
from streamverify.streaming.settlement import Settlement
from streamverify.testing import ScriptedScorer, collect, pieces, stream_of
from streamverify.types import Action, Fingerprint, Label, Passage, Replacement, Timings, Verdict, Work
from tests.pii.cases import cases

detect = Recognisers()
TEXTS = [(text, items) for half in ("dev", "held_out") for _, text, items in cases(half)]

sentences = st.sampled_from(
    [text for text, _ in TEXTS] + ["The wrong wheel turns.", "Born on", "Tel.:", "5 Elm", "+44"]
)
joints = st.sampled_from([" ", "\n", "\n\n", " [1]. ", "\n- ", ", "])
answers = st.lists(st.tuples(sentences, joints), max_size=5).map(
    lambda parts: "".join(a + b for a, b in parts)
)
cuts = st.integers(1, 40)


REWRITTEN = "Ask Dr. Grace Hopper, grace@navy.example.mil."


async def _rewritten(request):
    return REWRITTEN


BASES = [
    Observe(),
    Flag(),
    Redact(placeholder="□"),
    Redact(placeholder="□", fabricated_citations="marker"),
    Halt(),
    Annotate(),
    Repair(_rewritten),
]


PASSAGES = [Passage("p1", "The mill is old.")]


def run(text, policy, cut=7, passages=PASSAGES):
    async def events():
        source = stream_of(pieces(text, cut))
        scorer = ScriptedScorer({"wrong": Label.CONTRADICTED})
        async with Verifier(scorer) as made, made.stream(source, passages, policy=policy) as stream:
            return await collect(stream)

    return anyio.run(events)


def state(text, policy, cut, *, settled=None):
    """The same without a loop: the first `settled` sentences get a verdict, and all by default."""
    session = StreamState(policy=policy, segmenter=SentenceSegmenter())
    events = session.open([], Fingerprint(model="none"), 0.0)
    for piece in pieces(text, cut):
        events += session.feed(piece, 1.0)
    events += session.end(2.0)
    for sentence in [event.sentence for event in events if isinstance(event, SentenceClosed)][:settled]:
        wrong = "wrong" in sentence.text
        label = Label.CONTRADICTED if wrong else Label.SUPPORTED
        verdict = Verdict(index=sentence.index, label=label, score=0.1 if wrong else 0.9)
        repair = Replacement(text=REWRITTEN, attempts=1, verdicts=(verdict,))
        replacement = repair if wrong and repair_plan(policy, sentence, verdict) else None
        events += session.settle(sentence.index, Settlement(verdict, 1.0, replacement=replacement), 3.0)
    ending = "halted" if session.halted is not None else "finished" if session.settled else "failed"
    more, last = session.conclude(
        ending, timings=Timings(total_ms=4.0), work=Work(), fingerprint=Fingerprint(model="none")
    )
    return [*events, *more, last]


def shown(events):
    return "".join(event.text for event in events if isinstance(event, TextReleased))


@given(answers, cuts, st.sampled_from([Observe(), Flag()]))
def test_the_released_text_is_the_answer_with_its_items_marked_however_it_was_cut(text, cut, base):
    report = state(text, RedactPii(base), cut)[-1].report
    assert report.answer == text
    assert report.released == marked(text, detect)


@given(answers, cuts, st.sampled_from(BASES), st.none() | st.integers(0, 4))
def test_nothing_is_found_in_what_was_released_whatever_the_base_decides(text, cut, base, settled):
    events = state(text, RedactPii(base), cut, settled=settled)
    assert shown(events) == events[-1].report.released
    assert detect(events[-1].report.released) == ()
    assert REWRITTEN not in shown(events)


@given(answers, cuts)
def test_spans_stand_for_the_characters_they_name(text, cut):
    at = 0
    for event in state(text, RedactPii(Observe()), cut):
        if isinstance(event, TextReleased):
            assert event.span.start == at
            at = event.span.end
            if event.action is Action.RELEASE:
                assert event.text == text[slice(*event.span)]
    assert at == len(text)


@given(st.lists(st.sampled_from(TEXTS), min_size=1, max_size=3), cuts, st.sampled_from(BASES))
@example([("Sra. Lucía Fernández llamó ayer.", ())], 7, Annotate())  # two sentences
@example([("Sra. Lucía Fernández llamó ayer.", ())], 7, Redact(placeholder="□"))
@settings(max_examples=15)
def test_no_item_goes_over_the_wire(chosen, cut, base):
    """Neither as text nor where an event quotes the answer or a passage that says the same."""
    answer = "\n".join(text for text, _ in chosen)
    passages = [Passage(f"p{at}", text, title=text) for at, (text, _) in enumerate(chosen)]
    events = run(answer, RedactPii(base), cut, passages)
    redactor = Redactor()
    seen = [one for event in events for one in redactor(event)]
    for encoding in (Native(), AiSdk(), AgUi()):
        encoder = encoding.encoder("run", None)
        wire = b"".join(frame(encoder.encode(event), "1") for event in seen).decode()
        for item in detect(answer):
            said = answer[item.start : item.end]
            if len(said) > 3:  # a shorter one is a part of other words
                assert said not in wire


def test_a_quotation_that_begins_behind_the_word_that_says_what_it_is_shows_nothing():
    text = "Tel.: 030 9018-20, Zimmer 4."  # the sentence that is shown begins behind "Tel."
    events = run(text, RedactPii(Observe()), 1, [Passage("p", text, title="Office")])
    [judged] = [event for event in events if isinstance(event, SentenceJudged)]
    [piece] = judged.evidence
    assert "9018" in text[piece.start : piece.end]
    assert "9018" not in piece.text


@pytest.mark.parametrize("base", [Observe(), Redact()])
def test_a_sentence_of_which_a_part_was_hidden_counts_as_redacted(base):
    report = run("Ann is here. Write to ann@example.org. She is tall.", RedactPii(base))[-1].report
    assert [sentence.action for sentence in report.sentences] == [
        Action.RELEASE,
        Action.REDACT,
        Action.RELEASE,
    ]
    assert report.released == "Ann is here. Write to [email]. She is tall."


def test_an_item_that_is_cut_in_two_by_the_longest_sentence_is_not_shown_by_half():
    text = "word " * 398 + "card 4111 1111 1111 1111 " + "word " * 300
    report = run(text, RedactPii(Observe()), 50)[-1].report
    assert len(report.sentences) > 1
    assert report.released == text.replace("4111 1111 1111 1111", "[card]")


def test_an_item_that_only_what_was_taken_out_made_is_not_shown():
    policy = RedactPii(Redact(fabricated_citations="marker"))
    report = run("The card is 4111 1111 [9] 1111 1111 today.", policy, passages=[Passage("p1", "A card.")])[
        -1
    ].report
    assert "1111 1111" not in report.released
    assert "[card]" in report.released


def test_a_repair_is_searched_too():
    report = run("The wrong wheel turns.", RedactPii(Repair(_rewritten)))[-1].report
    assert report.released == "Ask Dr. [person], [email]."
    [sentence] = report.sentences
    assert sentence.action is Action.REPAIR
    assert sentence.replacement is not None
    assert "grace@" not in sentence.model_dump_json()


def test_a_base_that_lets_text_flow_shows_a_sentence_before_its_verdict():
    events = run("The mill is old. The yard is wide. The end comes.", RedactPii(Flag()))
    kinds = [type(event) for event in events if isinstance(event, TextReleased | SentenceJudged)]
    assert kinds[0] is TextReleased


def test_a_base_that_holds_text_still_holds_it():
    report = run("The mill is old. The wrong wheel turns.", RedactPii(Redact(placeholder="□")))[-1].report
    assert report.released == "The mill is old. □"


def test_passages_are_quoted_with_their_places_kept():
    passage = Passage("p1", "Ann's mail is ann@example.org in the book.", title="Of ann@example.org")
    opened, *events = run("Her mail is ann@example.org in the book.", RedactPii(), passages=[passage])
    assert isinstance(opened, StreamOpened)
    assert opened.passages[0].title == "Of [email████████]"
    assert opened.policy == "redact_pii+flag"
    for evidence in events[-1].report.sentences[0].evidence:
        assert len(evidence.text) == evidence.end - evidence.start
        assert "ann@" not in evidence.text


def test_a_detector_of_ones_own_decides_what_is_hidden():
    class Mills:
        name = "mills"

        def __call__(self, text):
            at = text.find("mill")
            return (PiiItem("building", at, at + 4),) if at >= 0 else ()

    report = run("The mill is old.", RedactPii(Observe(), detector=Mills()))[-1].report
    assert report.released == "The [building] is old."
