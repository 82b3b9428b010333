"""What callers write (scorer, rewrite, segmenter, policy) may raise anything: no stream ends in silence."""

from __future__ import annotations

import asyncio
import itertools

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted_streams import PASSAGES, SCRIPT, TEXT

from streamverify import Flag, Label, Redact, StreamInterruptedError, UsageError, Verifier
from streamverify.policy import Decision, Repair
from streamverify.sentences.segmenter import SentenceSegmenter
from streamverify.showing.releases import whole
from streamverify.testing import ScriptedScorer, pieces, stream_of
from streamverify.types import Action, Passage

pytestmark = pytest.mark.anyio

ENDING = [asyncio.CancelledError, GeneratorExit]
"""They end the task in which they are raised, and are no `Exception`."""


async def told(verifier, policy=None, source=None):
    """The events, and what was raised after them."""
    source = source if source is not None else stream_of(pieces(TEXT, 7))
    events, raised = [], None
    async with verifier, verifier.stream(source, PASSAGES, policy=policy) as stream:
        try:
            async for event in stream:
                events.append(event)
        except Exception as error:  # noqa: BLE001 - looked at by the test
            raised = error
    return events, raised


def assert_whole(events):
    """The contract of every stream, however it ends."""
    assert [event.seq for event in events] == list(range(len(events)))
    assert events[0].kind == "stream_opened"
    lasts = [event for event in events if event.kind in ("stream_finished", "stream_halted", "stream_failed")]
    assert lasts == [events[-1]]
    report = events[-1].report
    assert "".join(e.text for e in events if e.kind == "text_released") == report.released
    closed = [event.sentence.index for event in events if event.kind == "sentence_closed"]
    judged = [event.index for event in events if event.kind == "sentence_judged"]
    assert closed == judged == [sentence.index for sentence in report.sentences]
    assert "".join(sentence.text for sentence in report.sentences) == report.answer
    return report


@pytest.mark.parametrize("error", ENDING)
@pytest.mark.parametrize("policy", [Flag(), Redact()])
async def test_a_scorer_that_raises_what_ends_tasks_has_failed_for_its_sentence_alone(error, policy):
    scorer = ScriptedScorer(fail_on="yard", error=error())
    events, raised = await told(Verifier(scorer), policy)
    report = assert_whole(events)
    assert (raised, report.outcome) == (None, "finished")
    assert [s.reason for s in report.sentences if s.label is Label.UNVERIFIED] == ["scorer_failed"]
    assert len(report.sentences) == 4


@pytest.mark.parametrize("error", ENDING)
async def test_passages_whose_preparing_raises_what_ends_tasks_could_not_be_prepared(error):
    class Broken(ScriptedScorer):
        def prepare(self, windows, *, abort):
            raise error

    events, raised = await told(Verifier(Broken()), Redact())
    report = assert_whole(events)
    assert (raised, report.outcome) == (None, "finished")
    assert {s.reason for s in report.sentences} == {"scorer_failed"}


async def _cancelled(request):
    raise asyncio.CancelledError


async def _closed(request):
    raise GeneratorExit


@pytest.mark.parametrize("rewrite", [_cancelled, _closed])
async def test_a_rewrite_that_raises_what_ends_tasks_fails_its_stream_as_any_error_of_it_does(rewrite):
    events, raised = await told(Verifier(ScriptedScorer(SCRIPT)), Repair(rewrite))
    assert_whole(events)
    assert isinstance(raised, StreamInterruptedError)
    assert isinstance(raised.__cause__, asyncio.CancelledError | GeneratorExit)
    assert (events[-1].kind, events[-1].code) == ("stream_failed", "internal_error")


def test_a_whole_answer_whose_rewrite_is_cancelled_from_within_is_no_empty_answer():
    with (
        Verifier(ScriptedScorer(SCRIPT), policy=Repair(_cancelled)) as verifier,
        pytest.raises(StreamInterruptedError, match="cancelled from within"),
    ):
        verifier.check_sync(TEXT, PASSAGES)


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_stream_that_is_cancelled_for_real_is_cancelled_while_it_repairs():
    waiting = anyio.Event()

    async def rewrite(request):
        waiting.set()
        await anyio.sleep_forever()

    async with asyncio.TaskGroup() as group:
        task = group.create_task(told(Verifier(ScriptedScorer(SCRIPT)), Repair(rewrite)))
        await waiting.wait()
        task.cancel()
    assert task.cancelled()


class BrokenSource:
    """A text, then what ends tasks, raised as it goes on or as it is closed."""

    def __init__(self, goes_on, closes):
        self._goes_on, self._closes, self._given = goes_on, closes, False

    def __aiter__(self):
        return self

    async def __anext__(self):
        if not self._given:
            self._given = True
            return "The mill was built in 1804. "
        raise self._goes_on

    async def aclose(self):
        if self._closes is not None:
            raise self._closes


@pytest.mark.parametrize(
    ("goes_on", "closes"),
    [
        (GeneratorExit, None),
        (StopAsyncIteration, GeneratorExit),
        (StopAsyncIteration, asyncio.CancelledError),
    ],
)
async def test_a_source_that_raises_what_ends_tasks_has_failed(goes_on, closes):
    events, raised = await told(Verifier(ScriptedScorer()), Flag(), BrokenSource(goes_on, closes))
    assert assert_whole(events).answer == "The mill was built in 1804. "
    assert isinstance(raised, StreamInterruptedError)
    assert events[-1].kind == "stream_failed"


class BreakingSegmenter:
    """Cuts sentences until it is fed some word, or without one until the end."""

    def __init__(self, error, word):
        self._error, self._word, self._inner = error, word, SentenceSegmenter()

    def feed(self, text):
        if self._word is not None and self._word in text:
            raise self._error
        return self._inner.feed(text)

    def flush(self):
        if self._word is None:
            raise self._error
        return self._inner.flush()


@pytest.mark.parametrize("error", [*ENDING, LookupError])
@pytest.mark.parametrize("word", ["wheel", None])
@pytest.mark.parametrize("policy", [Flag(), Redact()])
async def test_a_segmenter_that_fails_ends_its_stream_with_a_report(error, word, policy):
    verifier = Verifier(ScriptedScorer(), segmenter=lambda: BreakingSegmenter(error, word))
    events, raised = await told(verifier, policy, TEXT.split(" turns")[:2])
    report = assert_whole(events)
    assert isinstance(raised, LookupError if error is LookupError else StreamInterruptedError)
    assert (report.outcome, events[-1].code) == ("failed", "internal_error")
    assert report.sentences[-1].label is Label.UNVERIFIED


class ForgetfulSegmenter(BreakingSegmenter):
    """Keeps the last sentence to itself."""

    def __init__(self):
        super().__init__(None, "\0")

    def flush(self):
        return super().flush()[:-1]


@pytest.mark.parametrize("policy", [Flag(), Redact()])
async def test_text_that_a_segmenter_leaves_out_fails_its_stream_and_is_told_as_unverified(policy):
    events, raised = await told(Verifier(ScriptedScorer(), segmenter=ForgetfulSegmenter), policy)
    report = assert_whole(events)
    assert isinstance(raised, UsageError)
    assert "segmenter" in str(raised)
    assert (report.outcome, events[-1].code) == ("failed", "internal_error")
    assert report.sentences[-1].label is Label.UNVERIFIED


class OwnPolicy:
    """Somebody's own, which goes wrong at the sentence of some number."""

    name = "own"

    def __init__(self, at, holds_text, where, error):
        self._at, self.holds_text, self._where, self._error = at, holds_text, where, error

    def _maybe(self, sentence, where):
        if (sentence.index, where) == (self._at, self._where):
            if self._error is None:
                return True
            raise self._error
        return False

    def holds(self, sentence):
        self._maybe(sentence, "holds")
        return True

    def decide(self, sentence, verdict, tally):
        if self._maybe(sentence, "decide"):
            return None
        release = (None,) if self._maybe(sentence, "release") else whole(sentence, Action.RELEASE)
        return Decision(Action.RELEASE, release)


FAILURES = st.one_of(
    st.tuples(st.sampled_from(["holds", "decide"]), st.sampled_from([LookupError, *ENDING])),
    st.tuples(st.sampled_from(["decide", "release"]), st.none()),
)


@given(st.integers(0, 3), st.booleans(), FAILURES, st.integers(0, 99), st.sampled_from(["asyncio", "trio"]))
def test_a_policy_that_fails_anywhere_ends_its_stream_with_its_last_event(at, holds, failure, cuts, backend):
    policy = OwnPolicy(at, holds, *failure)
    source = stream_of(pieces(TEXT, cuts))
    events, raised = anyio.run(told, Verifier(ScriptedScorer()), policy, source, backend=backend)
    report = assert_whole(events)
    if not holds and failure[0] in ("holds", "release"):
        assert (raised, report.outcome) == (None, "finished")  # nobody asked
        return
    assert (report.outcome, events[-1].code) == ("failed", "internal_error")
    if failure == ("decide", None):
        assert isinstance(raised, UsageError)
        assert "'own' is to give a Decision, and gave NoneType" in str(raised)
    elif failure[1] in (LookupError, None):
        assert isinstance(raised, LookupError | AttributeError)
    else:
        assert isinstance(raised, StreamInterruptedError)
    if holds:  # nothing of the sentence that was not decided about, and nothing behind it
        before = itertools.takewhile(lambda s: s.index < at, report.sentences)
        assert report.released == "".join(s.text for s in before)
        assert {s.action for s in report.sentences[at:]} <= {Action.REDACT}


class BrokenFilter:
    """Shows what it is fed, up to the sentence with some word, or without one up to the end."""

    quoted = staticmethod(str)

    def __init__(self, word):
        self._word = word

    def feed(self, releases, generated):
        if self._word is not None and self._word in generated:
            raise LookupError(self._word)
        return releases

    def flush(self):
        raise LookupError("at the end")


@pytest.mark.parametrize(("word", "shown"), [("yard", TEXT[: TEXT.index("The yard")]), (None, TEXT)])
async def test_a_filter_that_fails_shows_no_more(word, shown):
    class Filtered(Redact):
        def release_filter(self):
            return BrokenFilter(word)

    events, raised = await told(Verifier(ScriptedScorer()), Filtered())
    report = assert_whole(events)
    assert isinstance(raised, LookupError)
    assert (report.released, report.outcome) == (shown, "failed")


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"title": 5}, "title must be a string, not int"),
        ({"metadata": [1]}, "metadata must be a mapping, not list"),
        ({"metadata": None}, "metadata must be a mapping, not NoneType"),
    ],
)
def test_a_passage_that_no_report_could_tell_of_is_refused_where_it_is_made(fields, problem):
    with pytest.raises(UsageError, match=f"passage 'a': {problem}"):
        Passage("a", "x", **fields)
