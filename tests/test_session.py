from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify.events import SentenceClosed, SentenceJudged, StreamHalted, TextReleased
from streamverify.policy import Flag, Halt, Observe, Redact, with_numbers
from streamverify.segment import SentenceSegmenter, segment
from streamverify.session import Session, Settlement
from streamverify.types import Action, Fingerprint, Label, Replacement, Timings, Verdict, Work

FINGERPRINT = Fingerprint(model="none")
POLICIES = [Observe(), Flag(), Redact(placeholder="□"), Redact(placeholder="□", where=with_numbers), Halt()]

word = st.sampled_from(["the", "tower", "wrong", "3.5", "Dr.", "e.g.", "grew", "東京", "🙂", "é", "a\u0301"])
stop = st.sampled_from([". ", ".\n", "? ", "! ", "。", ".\r\n", "\n\n", "\n- ", ".[2] ", " ", ". [1] ", "…"])
prose = st.lists(st.tuples(st.lists(word, min_size=1, max_size=6), stop), max_size=8).map(
    lambda parts: "".join(" ".join(words) + end for words, end in parts)
)


def verdict_for(text: str, index: int) -> Verdict:
    label = Label.UNSUPPORTED if "wrong" in text else Label.SUPPORTED
    return Verdict(index=index, label=label, score=0.1 if label is Label.UNSUPPORTED else 0.9)


def run(text, policy, cuts=(), order=None, *, settle=True):
    """Feed the text cut anywhere, settle in the given order as sentences close, conclude."""
    session = Session(policy=policy, segmenter=SentenceSegmenter())
    events = session.open([], FINGERPRINT, 0.0)
    borders = [0, *sorted(cuts), len(text)]
    for start, end in itertools.pairwise(borders):
        events += session.feed(text[start:end], 1.0)
    events += session.end(2.0)
    closed = [event.sentence for event in events if isinstance(event, SentenceClosed)]
    ranked = sorted(closed, key=lambda s: (order[s.index % len(order)], s.index)) if order else closed
    for sentence in ranked if settle else ():
        events += session.settle(
            sentence.index, Settlement(verdict_for(sentence.text, sentence.index), 1.0), 3.0
        )
    ending = "halted" if session.halted is not None else "finished" if settle else "failed"
    more, last = session.conclude(
        ending, timings=Timings(total_ms=4.0), work=Work(), fingerprint=FINGERPRINT, error=session.halted
    )
    return [*events, *more, last]


def cut_places(text):
    return st.lists(st.integers(0, len(text)), max_size=12)


@given(prose, st.data(), st.sampled_from(POLICIES))
def test_the_released_text_and_the_verdicts_do_not_depend_on_the_cuts(text, data, policy):
    whole, cut = run(text, policy)[-1].report, run(text, policy, data.draw(cut_places(text)))[-1].report
    assert (whole.released, whole.sentences, whole.counts) == (cut.released, cut.sentences, cut.counts)


@given(prose, st.data(), st.sampled_from([Observe(), Flag()]))
def test_nothing_is_lost_when_nothing_is_held(text, data, policy):
    report = run(text, policy, data.draw(cut_places(text)))[-1].report
    assert report.released == text == report.answer


@given(prose, st.data())
def test_nothing_is_lost_when_nothing_is_redacted(text, data):
    harmless = text.replace("wrong", "right")
    report = run(harmless, Redact(), data.draw(cut_places(harmless)))[-1].report
    assert report.released == harmless


@given(prose, st.data(), st.sampled_from(POLICIES), st.lists(st.integers(0, 9), min_size=1, max_size=9))
def test_every_character_is_judged_once_and_events_keep_their_order(text, data, policy, order):
    events = run(text, policy, data.draw(cut_places(text)), order)
    report = events[-1].report
    assert "".join(sentence.text for sentence in report.sentences) == text
    assert [event.seq for event in events] == list(range(len(events)))
    closed = [event.sentence.index for event in events if isinstance(event, SentenceClosed)]
    judged = [event.index for event in events if isinstance(event, SentenceJudged)]
    assert closed == judged == list(range(len(report.sentences)))
    assert sum(report.counts.values()) == len(report.sentences)
    assert "".join(event.text for event in events if isinstance(event, TextReleased)) == report.released
    starts = [event.span.start for event in events if isinstance(event, TextReleased)]
    assert starts == sorted(starts)


@given(prose, st.data(), st.lists(st.integers(0, 9), min_size=1, max_size=9))
def test_not_one_character_of_a_rejected_sentence_leaves(text, data, order):
    events = run(text, Redact(placeholder="□"), data.draw(cut_places(text)), order)
    rejected = [s for s in events[-1].report.sentences if s.label is Label.UNSUPPORTED]
    for event in events:
        if isinstance(event, TextReleased) and event.action is Action.RELEASE and event.text.strip():
            for sentence in rejected:
                overlap = text[max(event.span.start, sentence.start) : min(event.span.end, sentence.end)]
                assert (
                    event.span.end <= sentence.start
                    or event.span.start >= sentence.end
                    or not overlap.strip(" \r\n\t-")
                )
    assert "wrong" not in events[-1].report.released


@given(prose, st.data())
def test_held_text_never_leaves_before_its_verdict(text, data):
    seen: set[int] = set()
    sentences = segment(text)
    for event in run(text, Redact(), data.draw(cut_places(text))):
        if isinstance(event, SentenceJudged):
            seen.add(event.index)
        elif isinstance(event, TextReleased):
            assert all(
                s.index in seen for s in sentences if s.start < event.span.end and event.span.start < s.end
            )


def test_halting_stops_at_the_sentence_and_leaves_no_sentence_without_a_verdict():
    events = run("Fine here. This is wrong. And more. Tail", Halt(labels=frozenset({Label.UNSUPPORTED})))
    last = events[-1]
    assert isinstance(last, StreamHalted)
    assert last.report.released == "Fine here. "
    assert [s.label for s in last.report.sentences] == [
        Label.SUPPORTED,
        Label.UNSUPPORTED,
        Label.UNVERIFIED,
        Label.UNVERIFIED,
    ]
    assert [s.action for s in last.report.sentences][1:] == [Action.HALT] * 3


@pytest.mark.parametrize("policy", [Flag(), Redact()])
def test_a_stream_that_fails_marks_what_was_not_checked(policy):
    report = run("One here. Two here. Tail", policy, settle=False)[-1].report
    assert report.outcome == "failed"
    assert report.counts[Label.UNVERIFIED] == 3
    assert report.released == ("One here. Two here. Tail" if policy.name == "flag" else "")
    assert report.grounding_score is None


def test_a_failed_check_is_withheld_where_asked():
    session = Session(policy=Redact(), segmenter=SentenceSegmenter())
    session.feed("Unchecked words.", 0.0)
    session.end(0.0)
    verdict = Verdict(index=0, label=Label.UNVERIFIED, reason="scorer_failed: down")
    events = session.settle(0, Settlement(verdict, 1.0, withhold=True), 1.0)
    assert [e.text for e in events if isinstance(e, TextReleased)] == ["[unchecked statement withheld]"]


def test_a_repair_takes_the_place_of_its_sentence():
    session = Session(policy=Redact(), segmenter=SentenceSegmenter())
    session.feed("Wrong words. Next.", 0.0)
    session.end(0.0)
    bad = Verdict(index=0, label=Label.UNSUPPORTED, score=0.1)
    replacement = Replacement(text="Right words.", attempts=1, verdicts=())
    events = session.settle(0, Settlement(bad, 1.0, replacement=replacement), 1.0)
    told = [(e.text, e.action) for e in events if isinstance(e, TextReleased)]
    assert told == [("Right words.", Action.REPAIR), (" ", Action.RELEASE)]


def test_the_grounding_score_is_the_mean_over_claims_and_absent_without_any():
    assert run("Fine here. This is wrong.", Flag())[-1].report.grounding_score == pytest.approx(0.5)
    assert run("", Flag())[-1].report.grounding_score is None
