"""Checks that failed, hung or had nothing to look at: `unverified`, with the reason, and never a pass."""

from __future__ import annotations

import pytest
from scripted_streams import PASSAGES, TEXT, events_of, verifier

from streamverify.errors import ScoringError, UsageError
from streamverify.policy import (
    Flag,
    Redact,
)
from streamverify.types import Label, Passage

pytestmark = pytest.mark.anyio


async def test_a_failed_check_is_unverified_and_never_a_pass():
    events = await events_of(TEXT, scorer={"fail_on": "owner"})
    sentence = events[-1].report.sentences[2]
    assert (sentence.label, sentence.score) == (Label.UNVERIFIED, None)
    assert sentence.reason == "scorer_failed"
    assert events[-1].report.outcome == "finished"


async def test_an_unexpected_error_of_a_scorer_is_unverified_too():
    events = await events_of(TEXT, scorer={"fail_on": "owner", "error": ZeroDivisionError("bug")})
    assert "ZeroDivisionError: bug" in events[-1].report.sentences[2].reason_text


async def test_a_failed_check_raises_where_asked():
    with pytest.raises(ScoringError, match="scripted failure"):
        await events_of(TEXT, scorer={"fail_on": "owner"}, on_failure="raise")


async def test_a_failed_check_withholds_its_sentence_where_asked():
    events = await events_of(TEXT, Redact(), scorer={"fail_on": "owner"}, on_failure="withhold")
    assert "owner" not in events[-1].report.released
    assert "withheld" in events[-1].report.released


@pytest.mark.parametrize("policy", ["redact", "halt", "annotate"])
async def test_without_passages_a_policy_that_holds_shows_nothing_and_says_why(policy, caplog):
    async with verifier() as made:
        report = await made.check(TEXT, [], policy=policy)
    assert not {"mill", "wheel", "owner", "Barley"} & set(report.released.replace(".", " ").split())
    [warning] = report.warnings
    assert "(no_passages)" in warning
    assert [(r.name, r.levelname, r.getMessage()) for r in caplog.records] == [
        ("streamverify", "WARNING", warning)
    ]


async def test_unchecked_text_is_released_where_somebody_chose_so():
    async with verifier(on_unverified="release", policy="redact") as made:
        assert (await made.check(TEXT, [])).released == TEXT
    with pytest.raises(UsageError, match="'release' or 'withhold'"):
        verifier(on_unverified="drop")


@pytest.mark.parametrize("question", [5, b"who?", ["who?"]])
async def test_a_question_that_is_no_text_is_refused_before_anything_runs(question):
    with pytest.raises(UsageError, match="question is the text that was asked"):
        verifier().stream("x", PASSAGES, question=question)


async def test_withholding_needs_a_policy_that_holds():
    made = verifier(on_failure="withhold")
    with pytest.raises(UsageError, match="holds text"):
        made.stream("x", PASSAGES, policy=Flag())


async def test_a_hanging_scorer_is_unverified_after_its_deadline_and_the_rest_goes_on():
    options = {"scorer": {"hang_on": "owner", "concurrency": 1}, "verdict_timeout": 1.0}
    report = (await events_of(TEXT, **options))[-1].report
    assert [s.label for s in report.sentences] == ["supported", "contradicted", "unverified", "supported"]
    assert "1 s" in report.sentences[2].reason_text


async def test_without_passages_every_claim_is_unverified():
    async with verifier() as made:
        report = await made.check(TEXT, [])
        blank = await made.check(TEXT, [Passage("p1", " \n ")])
    assert report.counts[Label.UNVERIFIED] == blank.counts[Label.UNVERIFIED] == 4
    assert report.sentences[0].reason == "no_passages"
    assert report.grounding_score is None
