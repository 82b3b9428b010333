"""The order of a stream whose verdicts come in several words, whatever the interleaving and the policy."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from streamverify.events import (
    FinalEvent,
    SentenceClosed,
    SentenceJudged,
    SentenceRevised,
    TextReleased,
    read_event,
)
from streamverify.policy import Flag, Halt, Observe, Redact, with_numbers
from streamverify.sentences.segmenter import SentenceSegmenter
from streamverify.streaming.session import StreamState
from streamverify.streaming.settlement import Settlement
from streamverify.types import Action, FindingKind, Fingerprint, Label, Timings, Verdict, Work

MARK = Fingerprint(model="first")
POLICIES = [
    Observe(),
    Flag(),
    Redact(placeholder="□"),
    Redact(placeholder="□", where=with_numbers),
    Halt(),
    Halt(hold=False),
]
NAMES = ("first", "second", "judge")
labels = st.sampled_from([Label.SUPPORTED, Label.CONTRADICTED, Label.UNSUPPORTED])
words = st.lists(labels, min_size=1, max_size=3)
"""What the scorers say about one sentence, in the order they are asked."""


def settlements(index: int, said: list[Label]) -> list[Settlement]:
    return [
        Settlement(
            Verdict(index=index, label=label, score=0.5),
            float(step),
            scorer=NAMES[step],
            asking=NAMES[step + 1] if step + 1 < len(said) else None,
        )
        for step, label in enumerate(said)
    ]


def run(said: list[list[Label]], policy, order: list[int], stop: int | None):
    """The events of an answer with so many sentences, whose words are heard in some order.

    Args:
        said: by sentence.
        policy: of the stream.
        order: which sentence speaks next, by its place among those that have something left to say.
        stop: words after which the stream fails; None for the end.
    """
    state = StreamState(policy=policy, segmenter=SentenceSegmenter())
    events = state.open([], MARK, 0.0)
    text = "".join(f"Sentence {n} says a thing. " for n in range(len(said)))
    events += [*state.feed(text, 1.0), *state.end(1.0)]
    left = {index: settlements(index, one) for index, one in enumerate(said)}
    heard = 0
    while left and state.halted is None and heard != stop:
        index = sorted(left)[order[heard % len(order)] % len(left)]
        events += state.settle(index, left[index].pop(0), 2.0)
        heard += 1
        if not left[index]:
            del left[index]
    if state.halted is None:
        assert state.settled == (not left)
    ending = "halted" if state.halted is not None else "finished" if state.settled else "failed"
    more, last = state.conclude(
        ending, timings=Timings(total_ms=3.0), work=Work(), fingerprint=MARK, error=state.halted
    )
    return [*events, *more, last]


streams = st.tuples(
    st.lists(words, min_size=1, max_size=5),
    st.sampled_from(POLICIES),
    st.lists(st.integers(0, 9), min_size=1, max_size=12),
    st.none() | st.integers(0, 8),
)


@given(streams)
def test_every_verdict_is_told_in_order_and_the_report_holds_the_last_word(given_):
    said, policy, order, stop = given_
    events = run(said, policy, order, stop)
    assert [event.seq for event in events] == list(range(len(events)))
    assert [isinstance(event, FinalEvent) for event in events] == [False] * (len(events) - 1) + [True]
    judged = [event for event in events if isinstance(event, SentenceJudged)]
    assert [event.index for event in judged] == list(range(len(said)))
    last = {}
    for event in events:
        if isinstance(event, SentenceJudged):
            last[event.index] = event
        elif isinstance(event, SentenceRevised):
            before = last[event.index]  # never before the first
            assert before.provisional
            assert event.changed == (event.label is not before.label)
            last[event.index] = event
    for sentence in events[-1].report.sentences:
        told = last[sentence.index]
        assert not told.provisional
        assert {name: getattr(sentence, name) for name in Verdict.model_fields} == {
            name: getattr(told, name) for name in Verdict.model_fields
        }
    for event in events:
        assert read_event(event.model_dump_json()) == event


@given(streams)
def test_at_most_one_revision_a_sentence_and_later_scorer(given_):
    said, policy, order, stop = given_
    revised = [event for event in run(said, policy, order, stop) if isinstance(event, SentenceRevised)]
    for index, one in enumerate(said):
        assert sum(event.index == index for event in revised) <= len(one) - 1
    if policy.holds_text:
        assert revised == []


@given(streams)
def test_a_policy_that_holds_text_acts_on_the_last_word_alone(given_):
    said, policy, order, stop = given_
    events = run(said, policy, order, stop)
    if not policy.holds_text:
        return
    final, spoken = events[-1].report.sentences, set()
    for event in events:
        if isinstance(event, SentenceJudged):
            assert not event.provisional
            spoken.add(event.index)
        elif isinstance(event, TextReleased) and event.text.strip():
            [sentence] = [s for s in final if s.start <= event.span.start < s.end]
            assert sentence.index in spoken or not policy.holds(sentence)
            if event.action is Action.RELEASE and isinstance(policy, Redact):
                assert sentence.label is Label.SUPPORTED


@given(st.lists(words, min_size=1, max_size=5), st.lists(st.integers(0, 9), min_size=1, max_size=12))
def test_the_last_words_and_actions_do_not_depend_on_who_speaks_when(said, order):
    for policy in POLICIES:
        one, other = (run(said, policy, how, None)[-1].report for how in ([0], order))
        assert one.outcome == other.outcome
        if one.outcome == "finished":
            assert [(s.label, s.action, s.scorer) for s in one.sentences] == [
                (s.label, s.action, s.scorer) for s in other.sentences
            ]
            assert [s.label for s in one.sentences] == [each[-1] for each in said]
            assert one.released == other.released


@given(streams)
def test_halting_waits_for_the_last_word_of_every_sentence_before(given_):
    said, policy, order, stop = given_
    report = run(said, policy, order, stop)[-1].report
    if report.outcome == "halted":
        first = next(index for index, one in enumerate(said) if one[-1] is Label.CONTRADICTED)
        assert report.error == f"sentence {first + 1} is contradicted"


@given(streams)
def test_what_a_stream_left_open_says_so(given_):
    said, policy, order, stop = given_
    events = run(said, policy, order, stop)
    closed = sum(isinstance(event, SentenceClosed) for event in events)
    assert closed == len(events[-1].report.sentences)
    for sentence in events[-1].report.sentences:
        standing = [one for one in sentence.findings if one.kind is FindingKind.UNCONFIRMED]
        spoke = sentence.label is not Label.UNVERIFIED and sentence.scorer is not None
        complete = spoke and sentence.scorer == NAMES[len(said[sentence.index]) - 1]
        assert bool(standing) == (spoke and not complete)
