from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify.events import SentenceClosed, SentenceJudged, StreamHalted, TextReleased
from streamverify.policy import Annotate, Flag, Halt, Observe, Redact, Repair, with_numbers
from streamverify.sentences.segmenter import SentenceSegmenter, segment
from streamverify.streaming.session import StreamState
from streamverify.streaming.settlement import Settlement
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
    session = StreamState(policy=policy, segmenter=SentenceSegmenter())
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


figures = st.lists(
    st.sampled_from(["1999", "12", ".", ")", "? ", "- ", "* ", "\n", " ", "It is tall", "# ", "> "]),
    max_size=16,
).map("".join)


@given(figures)
def test_of_an_answer_rejected_whole_only_layout_is_released(text):
    events = run(text, Redact(labels=frozenset(Label), placeholder="□"))
    for event in events:
        if isinstance(event, TextReleased) and event.action is Action.RELEASE:
            assert re.fullmatch(r"\s*([-*#>]+\s*)*(\d{1,3}[.)]\s+)?", event.text)
    for sentence in events[-1].report.sentences:
        if any(map(str.isdecimal, sentence.text)):
            shown = [e.text for e in events if isinstance(e, TextReleased) and e.span.end <= sentence.end]
            assert "□" in "".join(shown)


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


def test_neighbours_share_a_placeholder_and_lists_and_paragraphs_keep_theirs():
    def shown(text):
        return run(text, Redact(placeholder="□"))[-1].report.released

    assert shown("It grew. This is wrong. Wrong is wrong. Still wrong. It fell.") == "It grew. □ It fell."
    assert shown("This is wrong. It grew. This is wrong.") == "□ It grew. □"
    assert shown("This is wrong. Also wrong.\n\nA wrong start. It grew.") == "□ \n\n□ It grew."
    assert shown("- wrong one\n- wrong two\n") == "- □\n- □\n"
    assert shown("- It is wrong. Still wrong.\n- It grew.\n") == "- □ \n- It grew.\n"


@given(prose, st.data())
def test_no_two_placeholders_stand_beside_each_other_on_a_line(text, data):
    released = run(text, Redact(placeholder="□"), data.draw(cut_places(text)))[-1].report.released
    assert not re.search("□[ \\t]*□", released)
    each = [s for s in segment(text) if "wrong" not in s.text]
    assert all(s.text in released for s in each)


async def never(request):
    raise AssertionError("nothing is repaired here")


HOLDING = [
    Redact(placeholder="□"),
    Redact(placeholder="□", scope="span"),
    Redact(placeholder="□", labels=frozenset({Label.CONTRADICTED})),
    Halt(),
    Annotate(),
    Annotate(Redact(placeholder="□")),
    Repair(never),
]


def failed(index, text):
    return Verdict(index=index, label=Label.UNVERIFIED, reason="scorer_failed", reason_text=text)


def unchecked(text, policy, **options):
    """The end of a stream in which the sentences with "wrong" could not be checked."""
    session = StreamState(policy=policy, segmenter=SentenceSegmenter(), **options)
    events = [*session.feed(text, 1.0), *session.end(2.0)]
    for closed in [event.sentence for event in events if isinstance(event, SentenceClosed)]:
        verdict = verdict_for(closed.text, closed.index)
        if verdict.label is Label.UNSUPPORTED:
            verdict = failed(closed.index, "key sk-1")
        session.settle(closed.index, Settlement(verdict, 1.0), 3.0)
    _, last = session.conclude(
        "finished", timings=Timings(total_ms=4.0), work=Work(), fingerprint=FINGERPRINT
    )
    return last.report


@given(prose, st.sampled_from(HOLDING))
def test_what_could_not_be_checked_is_not_shown_by_a_policy_that_holds(text, policy):
    report = unchecked(text, policy)
    assert "wrong" not in report.released
    for sentence in report.sentences:
        assert (sentence.label is Label.UNVERIFIED) == (sentence.action is Action.REDACT)


@given(prose, st.sampled_from(HOLDING))
def test_it_is_shown_where_somebody_chose_so(text, policy):
    assert unchecked(text, policy, on_unverified="release").released == text


def test_a_stream_in_which_nothing_could_be_checked_says_so_without_the_scorers_words():
    [warning] = unchecked("This is wrong. Wrong too, and wrong.", Redact()).warnings
    assert warning == (
        "nothing_checked: none of 2 sentences could be checked (scorer_failed); none was released"
    )
    [warning] = unchecked("This is wrong.", Flag()).warnings
    assert warning.endswith("the only sentence could not be checked (scorer_failed); it was released")
    [warning] = unchecked("This is wrong.", Redact()).warnings
    assert warning.endswith("; it was not released")
    [warning] = unchecked("This is wrong. Wrong too, and wrong.", Flag()).warnings
    assert warning.endswith("; 2 were released")
    assert unchecked("This is wrong. This is fine.", Redact()).warnings == ()
    assert unchecked("", Redact()).warnings == ()


def test_a_failed_check_is_withheld_where_asked():
    session = StreamState(policy=Redact(), segmenter=SentenceSegmenter())
    session.feed("Unchecked words.", 0.0)
    session.end(0.0)
    verdict = failed(0, "down")
    events = session.settle(0, Settlement(verdict, 1.0, withhold=True), 1.0)
    assert [e.text for e in events if isinstance(e, TextReleased)] == ["[unchecked statement withheld]"]


def test_a_repair_takes_the_place_of_its_sentence():
    session = StreamState(policy=Redact(), segmenter=SentenceSegmenter())
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
