"""A cascade in whole streams: what is decided by whom, and what happens when a later scorer gives no word."""

from __future__ import annotations

import zlib

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamverify import Cascade, Verifier
from streamverify.calibration import Calibration, DoubtBand, logit
from streamverify.errors import (
    ModelContractError,
    ModelNotFoundError,
    ScoringError,
    StreamInterruptedError,
    UsageError,
)
from streamverify.evaluate.rows import recording_of
from streamverify.events import SentenceClosed, SentenceJudged, SentenceRevised, StreamFinished
from streamverify.policy import Flag, Halt, Observe, Redact, Repair
from streamverify.scorers.function import FunctionScorer
from streamverify.streaming.cascade import PATIENCE
from streamverify.testing import ClosableSource, ScriptedScorer, collect
from streamverify.types import Action, FindingKind, Label, Passage

PASSAGES = [
    Passage("mill", "The mill was built in 1804 and has two wheels. It grinds barley for the village."),
    Passage("yard", "The yard belongs to the parish. Its gate was painted green in 1950."),
]
SENTENCES = [
    "The mill was built in 1804.",
    "The mill has seven wheels [1].",
    "It grinds barley for the village [2].",
    "The gate was painted green in 1950 [2][1].",
    "The parish owns the yard [9].",
    "Nobody knows who painted the wheels.",
    "What does the mill grind?",
    "## The yard",
    "The passages do not say who painted the gate.",
    "Great question!",
]
CLAIMS = SENTENCES[:6]
answers = st.lists(st.sampled_from(SENTENCES), max_size=6).map("\n\n".join)
claims = st.lists(st.sampled_from(CLAIMS), max_size=6).map("\n\n".join)
probabilities = st.floats(0, 1)
bands = st.tuples(probabilities, probabilities).map(lambda ends: tuple(sorted(ends)))


def overlap(claim, passages):
    """Share of the claim's words that the passages hold."""
    words = set(claim.lower().strip(".").split())
    return len(words & set(" ".join(passages).lower().split())) / max(len(words), 1)


def drawn(claim, passages):
    """A probability that has nothing to do with meaning, the same for the same question."""
    return zlib.crc32(f"{claim}|{passages}".encode()) / 2**32


def doubtful(claim, passages):
    """Never sure."""
    return 0.4


def told(scorer, text, policy=None, backend="asyncio", **options):
    """Every event of a stream of this text."""

    async def whole():
        async with (
            Verifier(scorer, **options) as verifier,
            verifier.stream(text, PASSAGES, policy=policy) as stream,
        ):
            return await collect(stream)

    return anyio.run(whole, backend=backend)


def verdicts(report):
    """What a report says of each sentence, but for times and names."""
    return [
        sentence.model_dump(exclude={"latency_ms", "scorer", "action"}, mode="json")
        for sentence in report.sentences
    ]


def checked(scorer, text, policy=None):
    return told(scorer, text, policy)[-1].report


@pytest.mark.slow
@given(claims, bands)
@settings(max_examples=15)
def test_the_second_decides_in_the_band_and_the_first_elsewhere(text, band):
    first, second = verdicts(checked(overlap, text)), verdicts(checked(drawn, text))
    both = checked(Cascade(overlap, drawn, band=band), text)
    low, high = band
    asked = 0
    for one, other, final in zip(first, second, verdicts(both), strict=True):
        scores = [one["score"], *(citation["score"] for citation in one["citations"])]
        doubt = low < high and any(score is not None and low <= score <= high for score in scores)
        assert final == (other if doubt else one)
        asked += doubt
    [opinion] = both.second_opinions
    assert (opinion.asked, opinion.unconfirmed) == (asked, 0)


@pytest.mark.slow
@given(answers, probabilities)
@settings(max_examples=15)
def test_an_empty_band_is_the_first_alone_and_a_full_one_the_second(text, place):
    first, second = verdicts(checked(overlap, text)), verdicts(checked(drawn, text))
    assert verdicts(checked(Cascade(overlap, drawn, band=(place, place)), text)) == first
    assert verdicts(checked(Cascade(overlap, drawn, band=(0, 1)), text)) == second
    assert verdicts(checked(Cascade(overlap, doubtful, judge=drawn, band=(0, 1)), text)) == second


@pytest.mark.slow
@given(answers, bands, st.sampled_from(["asyncio", "trio"]))
@settings(max_examples=15)
def test_policies_that_hold_text_and_those_that_let_it_flow_hear_the_same(text, band, backend):
    cascade = Cascade(overlap, drawn, judge=doubtful, band=band)
    reports = []
    for policy in (Observe(), Flag(), Redact(), Redact(labels=frozenset())):
        events = told(cascade, text, policy, backend)
        reports.append(events[-1].report)
        provisional = {e.index for e in events if isinstance(e, SentenceJudged) and e.provisional}
        revised = [e for e in events if isinstance(e, SentenceRevised)]
        assert {e.index for e in revised if not e.provisional} == provisional
        if policy.holds_text:
            assert not provisional
        assert isinstance(events[-1], StreamFinished)
        assert recording_of([e.model_dump_json() for e in events], None).report == events[-1].report
    for report in reports[1:]:
        assert verdicts(report) == verdicts(reports[0])
        assert report.second_opinions == reports[0].second_opinions or report.work == reports[0].work
    assert reports[0].released == reports[1].released == reports[3].released == text


TEXT = (
    "The mill was built in 1804. The wrong wheel turns slowly. The yard has an unknown owner in the village."
)


def cascade(second, **options):
    return Cascade(doubtful, second, band=(0, 1), **options)


def standing(report):
    """The findings that say that a verdict stands without a later word."""
    return [
        finding.detail
        for sentence in report.sentences
        for finding in sentence.findings
        if finding.kind is FindingKind.UNCONFIRMED
    ]


@pytest.mark.parametrize("policy", [Flag(), Redact()])
@pytest.mark.parametrize("on_failure", ["unverified", "raise"])
@pytest.mark.parametrize("error", [ScoringError("key sk-1"), ValueError("key sk-1")])
def test_a_second_scorer_that_fails_leaves_the_first_verdict_and_says_so(policy, on_failure, error):
    second = ScriptedScorer({"unknown": Label.SUPPORTED}, fail_on="wrong", error=error)
    report = told(cascade(second), TEXT, policy, on_failure=on_failure)[-1].report
    first = checked(doubtful, TEXT)
    assert [s.label for s in report.sentences] == ["supported", "unsupported", "supported"]
    assert report.sentences[1].score == first.sentences[1].score
    [detail] = standing(report)
    assert detail == "scripted was to decide and failed: the verdict before it stands"
    assert report.warnings == ("unconfirmed: scripted was to decide 3 verdicts and gave no word on 1",)
    assert "sk-1" not in report.model_dump_json()
    assert [s.scorer for s in report.sentences] == ["scripted", report.fingerprint.model, "scripted"]


def test_a_judge_is_asked_where_the_second_failed_or_is_in_doubt():
    broken = ScriptedScorer(fail_on="wrong")
    judge = ScriptedScorer({"wrong": Label.CONTRADICTED})
    report = checked(cascade(broken, judge=judge, judge_band=(0.3, 0.5)), TEXT)
    assert [s.label for s in report.sentences] == ["supported", "contradicted", "supported"]
    assert standing(report) == []
    assert judge.claims == ["The wrong wheel turns slowly."]
    assert [(o.asked, o.unconfirmed) for o in report.second_opinions] == [(3, 1), (1, 0)]


@pytest.mark.parametrize("policy", [Flag(), Redact()])
def test_a_second_scorer_that_hangs_costs_a_stream_a_few_deadlines_and_not_one_a_sentence(policy):
    second = ScriptedScorer(hang_on="thing", concurrency=1)
    text = " ".join(f"The thing number {n} has a wheel." for n in range(24))
    report = told(cascade(second), text, policy, verdict_timeout=0.5)[-1].report
    assert {s.label for s in report.sentences} == {Label.UNSUPPORTED}
    assert len(standing(report)) == 24
    assert all("did not answer in time" in detail for detail in standing(report))
    assert PATIENCE <= len(second.claims) < 12  # a slot that is freed takes up the next before anybody knows
    assert report.second_opinions[0].unconfirmed == 24


def test_a_first_scorer_that_fails_is_replaced_by_the_second():
    first = ScriptedScorer(fail_on="wrong")
    second = ScriptedScorer({"wrong": Label.CONTRADICTED})
    events = told(Cascade(first, second, band=(0.1, 0.2)), TEXT, on_failure="raise")
    report = events[-1].report
    assert [s.label for s in report.sentences] == ["supported", "contradicted", "supported"]
    assert second.claims == ["The wrong wheel turns slowly."]
    assert not any(isinstance(event, SentenceRevised) for event in events)


def test_where_both_fail_the_sentence_is_unverified():
    both = [ScriptedScorer(fail_on="wrong") for _ in range(2)]
    report = checked(Cascade(*both, band=(0.1, 0.2)), TEXT)
    assert [s.label for s in report.sentences] == ["supported", "unverified", "supported"]


class Short(ScriptedScorer):
    """Reads claims of up to four words."""

    @property
    def traits(self):
        from dataclasses import replace

        return replace(super().traits, claim_tokens=4)


def test_what_one_scorer_cannot_read_another_may():
    report = checked(Cascade(Short(), ScriptedScorer({"wrong": Label.CONTRADICTED}), band=(0.1, 0.2)), TEXT)
    assert [s.label for s in report.sentences] == ["supported", "contradicted", "supported"]
    report = checked(Cascade(doubtful, Short(), band=(0, 1)), TEXT)
    assert {s.label for s in report.sentences} == {Label.UNSUPPORTED}
    assert all("could not read this sentence" in detail for detail in standing(report))


def test_nothing_is_prepared_for_a_second_scorer_before_a_sentence_is_in_doubt():
    second = ScriptedScorer()
    report = checked(Cascade(doubtful, second, band=(0.5, 0.6)), TEXT)
    assert second.prepared == []
    assert report.second_opinions[0].asked == 0
    checked(Cascade(doubtful, second, band=(0.3, 0.6)), TEXT)
    assert len(second.prepared) == 1  # once, however many sentences ask


class Unready(ScriptedScorer):
    """Cannot prepare anything."""

    def prepare(self, windows, *, abort):
        raise ScoringError("no memory")


def test_a_second_scorer_that_cannot_be_prepared_leaves_every_first_verdict():
    report = checked(cascade(Unready()), TEXT)
    assert len(standing(report)) == 3
    assert report.second_opinions[0].unconfirmed == 3


def test_halting_waits_for_the_last_word():
    contradicts = {"wrong": Label.CONTRADICTED}
    hasty = Cascade(ScriptedScorer(contradicts), ScriptedScorer(), band=(0, 1))
    assert checked(hasty, TEXT, Halt(hold=False)).outcome == "finished"
    sure = Cascade(ScriptedScorer(), ScriptedScorer(contradicts), band=(0, 1))
    for policy in (Halt(), Halt(hold=False)):
        report = checked(sure, TEXT, policy)
        assert (report.outcome, report.error) == ("halted", "sentence 2 is contradicted")


def test_a_repair_is_held_to_the_last_word():
    async def rewrite(request):
        return "Still wrong." if request.attempt == 1 else "The wheel turns."

    second = ScriptedScorer({"wrong": Label.CONTRADICTED})
    report = checked(Cascade(ScriptedScorer(), second, band=(0, 1)), TEXT, Repair(rewrite))
    assert [s.action for s in report.sentences] == [Action.RELEASE, Action.REPAIR, Action.RELEASE]
    assert report.sentences[1].replacement.text == "The wheel turns."


@pytest.mark.anyio
async def test_the_second_scorers_queue_keeps_no_first_verdict_of_any_stream_waiting():
    second = ScriptedScorer(hang_on="The", concurrency=1)
    source = ClosableSource([TEXT], endless=True)
    async with Verifier(cascade(second), verdict_timeout=3600) as verifier:
        async with verifier.stream(source, PASSAGES) as busy:
            shown = []
            while len(shown) < 2:  # the tail is open
                event = await anext(busy)
                shown += [event] if isinstance(event, SentenceJudged) else []
            assert all(event.provisional for event in shown)
            async with verifier.stream(ClosableSource([TEXT], endless=True), PASSAGES) as other:
                seen = []
                while len(seen) < 2:
                    event = await anext(other)
                    seen += [event] if isinstance(event, SentenceJudged) else []
        # Closed while the second scorer hangs: both streams have ended, and say what is missing.
        assert busy.report.outcome == other.report.outcome == "failed"
        assert standing(busy.report)
        assert source.closed.is_set()


@pytest.mark.anyio
async def test_an_interrupted_stream_waits_for_the_words_it_asked_for():
    second = ScriptedScorer({"wrong": Label.CONTRADICTED})
    events = []
    async with (
        Verifier(cascade(second)) as verifier,
        verifier.stream(ClosableSource([TEXT], endless=True), PASSAGES) as stream,
    ):
        with pytest.raises(StreamInterruptedError):
            async for event in stream:
                events.append(event)
                if isinstance(event, SentenceClosed):
                    stream.interrupt("enough")
    assert [s.label for s in stream.report.sentences] == ["supported", "contradicted", "supported"]
    assert standing(stream.report) == []


def test_the_fingerprint_tells_every_scorer_its_calibration_and_band():
    with Verifier(Cascade("lexical", drawn, judge=doubtful, band=(0.25, 0.75))) as verifier:
        mark = verifier.fingerprint
        report = verifier.check_sync("The mill was built.", PASSAGES)
    assert report.fingerprint == mark
    assert "lexical" in mark.model
    assert [one.band for one in mark.later] == [(0.25, 0.75), (0.25, 0.75)]
    assert all(one.calibration for one in (mark, *mark.later))
    with Verifier(Cascade("lexical", drawn, band=(0.25, 0.7))) as other:
        assert other.fingerprint != mark
    with Verifier("lexical") as alone:
        assert alone.fingerprint.later == ()


def test_a_cascade_without_its_second_model_names_the_command_that_brings_it(monkeypatch):
    monkeypatch.setattr("streamverify.scorers.installed.entry_points", lambda group: ())  # whatever is here
    for given_ in ({"model": "cascade"}, {"scorer": "cascade"}):
        with pytest.raises(ModelNotFoundError, match="pip install ./models/accurate"):
            Verifier(**given_)


@pytest.mark.parametrize("band", [(0.6, 0.4), (-0.1, 0.5), (0.5, 1.1), (0.5,), "no", (float("nan"), 1.0)])
def test_a_band_that_is_none_is_refused(band):
    with pytest.raises(UsageError, match="a band is two probabilities"):
        Cascade(overlap, drawn, band=band)


def test_what_cannot_be_a_cascade_is_refused():
    with pytest.raises(UsageError, match="judge_band is for a cascade with a judge"):
        Cascade(overlap, drawn, band=(0, 1), judge_band=(0, 1))
    with pytest.raises(UsageError, match="have a calibration each"):
        Verifier(Cascade(overlap, drawn, band=(0, 1)), calibration=Calibration(threshold=0.6))
    with pytest.raises(UsageError, match="is no scorer"):
        Verifier(Cascade(Cascade(overlap, drawn), drawn))
    closed = ScriptedScorer()
    with pytest.raises(ModelContractError, match=r"no band of doubt was fitted for .*: give Cascade"):
        Verifier(Cascade(lambda: closed, drawn)).open()
    assert closed.closed  # what was loaded before the mistake was seen


class Fitted(ScriptedScorer):
    """Brings a band with its calibration."""

    def __init__(self, first: str, kept: float = 0.0) -> None:
        super().__init__({"wrong": Label.CONTRADICTED})
        self._band = DoubtBand(low=0.3, high=0.5, first=first, kept=kept)

    @property
    def traits(self):
        from dataclasses import replace

        base = super().traits
        return replace(base, calibration=base.calibration.model_copy(update={"band": self._band}))


def test_the_band_comes_with_the_seconds_calibration_and_only_for_the_first_it_was_fitted_for():
    scale = FunctionScorer(doubtful).traits.calibration.scale
    report = checked(Cascade(doubtful, Fitted(scale)), TEXT)
    assert [s.label for s in report.sentences] == ["supported", "contradicted", "supported"]
    assert report.fingerprint.later[0].band == (0.3, 0.5)
    with pytest.raises(ModelContractError, match="fitted for other probabilities"):
        Verifier(Cascade(doubtful, Fitted("0" * 12))).open()


@given(claims, st.floats(0, 0.99))
@settings(max_examples=10)
def test_a_second_that_weighs_the_first_lies_between_them(text, kept):
    first, second = (checked(one, text).sentences for one in (drawn, doubtful))
    both = checked(Cascade(drawn, doubtful, band=(0, 1), kept=kept), text).sentences
    for one, other, weighed in zip(first, second, both, strict=True):
        if other.score is None or one.score is None:
            assert weighed.score == other.score
            continue
        expected = kept * logit(one.score) + (1 - kept) * logit(other.score)
        assert logit(weighed.score) == pytest.approx(expected, abs=1e-6)


def test_the_share_of_the_first_comes_with_the_band_and_a_judge_decides_by_itself():
    scale = FunctionScorer(doubtful).traits.calibration.scale
    with Verifier(Cascade(doubtful, Fitted(scale, kept=0.5), judge=drawn, judge_band=(0, 1))) as verifier:
        assert [one.kept for one in verifier.fingerprint.later] == [0.5, 0.0]
    with Verifier(Cascade(doubtful, Fitted("0" * 12, kept=0.5), band=(0, 1))) as verifier:
        assert [one.kept for one in verifier.fingerprint.later] == [0.0]  # fitted for another first
    with pytest.raises(UsageError, match="kept is a share of the first's log-odds, 0 to below 1, not 1"):
        Cascade(doubtful, drawn, band=(0, 1), kept=1)
