"""Where sentences come quicker than the cores check them: oldest first, in a hurry, or told as unchecked."""

from __future__ import annotations

import threading

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamverify import Label, Passage, Redact, Verifier
from streamverify.errors import OverloadedError, UsageError
from streamverify.events import SentenceJudged, TextReleased
from streamverify.judging.assessor import VerifierConfig
from streamverify.scorers.premise_cached import PremiseCachedScorer
from streamverify.scorers.protocol import Abort
from streamverify.sentences.segmenter import segment
from streamverify.streaming.overload import haste
from streamverify.streaming.workers import Workers, WorkersStatistics
from streamverify.testing import ScriptedScorer

seconds = st.floats(0, 1e4)


@given(seconds, seconds, st.floats(0.001, 1e3))
def test_who_waits_longer_is_never_in_less_of_a_hurry(one, other, max_lag):
    order = ("none", "hurried", "too_late")
    shorter, longer = sorted((one, other))
    assert order.index(haste(shorter, max_lag)) <= order.index(haste(longer, max_lag))
    assert haste(longer, None) == "none"
    assert (haste(longer, max_lag) == "too_late") == (longer >= max_lag)


@pytest.mark.anyio
@given(order=st.permutations(range(6)))
async def test_what_came_up_first_is_done_first_whoever_asked_first(order):
    workers = Workers(1, "w-oldest")
    release, done = threading.Event(), []
    async with anyio.create_task_group() as group:
        group.start_soon(workers.run, lambda: release.wait(60), Abort())
        while workers.statistics().running == 0:
            await anyio.lowlevel.checkpoint()

        async def ask(since: int) -> None:
            await workers.run(lambda: done.append(since), Abort(), since=float(since))

        for asked, since in enumerate(order, 1):
            group.start_soon(ask, since)
            while workers.statistics().waiting < asked:
                await anyio.lowlevel.checkpoint()
        release.set()
    assert done == sorted(order)


@pytest.mark.anyio
async def test_a_call_that_nobody_takes_up_in_time_never_runs_and_leaves_no_trace():
    workers = Workers(1, "w-patience")
    release, ran = threading.Event(), []
    async with anyio.create_task_group() as group:
        group.start_soon(workers.run, lambda: release.wait(60), Abort())
        while workers.statistics().running == 0:
            await anyio.lowlevel.checkpoint()
        for number in range(200):
            with pytest.raises(OverloadedError, match="no core was free for this check within 0 s"):
                await workers.run(lambda: ran.append(number), Abort(), patience=0)  # noqa: B023 - never runs
        assert workers.statistics() == WorkersStatistics(running=1, waiting=0)
        release.set()
    assert await workers.run(lambda: "next", Abort(), patience=60) == "next"
    assert ran == []


class _Busy(ScriptedScorer):
    """One core, held by the first claim until the test lets go."""

    def __init__(self) -> None:
        super().__init__(concurrency=1)
        self.held = threading.Event()

    def _score(self, prepared, claim, abort):
        if "first" in claim.text:
            assert self.held.wait(60)
        return super()._score(prepared, claim, abort)


@pytest.mark.slow  # it waits out two limits
@pytest.mark.anyio
async def test_a_sentence_that_waits_too_long_is_told_as_unchecked_and_held_back_and_counted():
    scorer, given_up = _Busy(), anyio.Event()

    async def until(waiting: int) -> None:
        # The queue changes in this loop only, and never twice in one turn of it.
        while verifier.statistics().waiting != waiting:
            await anyio.lowlevel.checkpoint()

    async def watch() -> None:
        await until(1)
        await until(0)
        given_up.set()
        await until(1)
        await until(0)
        scorer.held.set()

    async def answer():
        yield "The mill was the first of its kind. The river"
        while verifier.statistics().running == 0:  # sentences that close at once are begun in any order
            await anyio.lowlevel.checkpoint()
        yield " is long. The dam"
        await given_up.wait()
        yield " is high."

    async with (
        Verifier(scorer, max_lag=3.0, policy=Redact()) as verifier,
        verifier.stream(answer(), [Passage("p", "The mill is old.")]) as stream,
        anyio.create_task_group() as group,
    ):
        group.start_soon(watch)
        shown = "".join([event.text async for event in stream if isinstance(event, TextReleased)])
        report = stream.report
    labels = [one.label for one in report.sentences]
    assert labels == [Label.SUPPORTED, Label.UNVERIFIED, Label.UNVERIFIED]
    assert [one.reason for one in report.sentences[1:]] == ["overloaded", "overloaded"]
    assert "within 3 s" in report.sentences[1].reason_text
    assert report.work.overloaded == 2
    assert "first of its kind" in shown
    assert "river" not in shown
    assert "dam" not in shown


class _Encoding(ScriptedScorer):
    """Passages that are not encoded until the test lets go."""

    def __init__(self) -> None:
        super().__init__()
        self.held = threading.Event()

    def prepare(self, windows, *, abort):
        assert self.held.wait(60)
        return super().prepare(windows, abort=abort)


@pytest.mark.anyio
async def test_a_sentence_does_not_wait_longer_for_its_passages_than_for_a_core():
    scorer, shown, judged = _Encoding(), [], []

    async def answer():
        yield "The mill is old. The river is long. The"
        while len(judged) < 2:
            await anyio.lowlevel.checkpoint()
        scorer.held.set()  # only now, when both have been given up
        yield " dam is high."

    async with (
        Verifier(scorer, max_lag=0.05, policy=Redact()) as verifier,
        verifier.stream(answer(), [Passage("p", "The mill is old.")]) as stream,
    ):
        async for event in stream:
            if isinstance(event, SentenceJudged):
                judged.append(event.reason)
            elif isinstance(event, TextReleased):
                shown.append(event.text)
    assert judged[:2] == ["overloaded", "overloaded"]
    assert stream.report.work.overloaded >= 2
    assert "mill" not in "".join(shown)


def test_without_a_limit_every_sentence_is_checked():
    with pytest.raises(UsageError, match="max_lag must be above 0 seconds"):
        Verifier(max_lag=0)
    with Verifier(ScriptedScorer(concurrency=1)) as verifier:
        report = verifier.check_sync("The mill is old. " * 200, ["The mill is old."])
    assert report.counts[Label.UNVERIFIED] == 0


@pytest.mark.model
def test_in_a_hurry_one_pass_gives_a_verdict_that_tells_so():
    passages = [Passage(f"p{n}", f"The mill of village {n} was built in {1700 + n}.") for n in range(5)]
    [sentence] = segment("The mill of village 3 was built in 1703.")
    scorer = PremiseCachedScorer()
    try:
        assessor = VerifierConfig(scorer, scorer.traits.calibration).assessor(passages, None, Abort())
        hurried = assessor.assess(sentence, (), Abort(), hurried=True)
        whole = assessor.assess(sentence, (), Abort())
        again = assessor.assess(sentence, (), Abort(), hurried=True)
    finally:
        scorer.close()
    assert (hurried.verdict.passes, hurried.work.passes, hurried.work.hurried) == (1, 1, 1)
    assert (whole.verdict.passes, whole.work.hurried) == (None, 0)
    assert whole.work.passes > 1
    assert hurried.verdict.label is whole.verdict.label is Label.SUPPORTED
    assert again.verdict == whole.verdict  # known by now, and whole
