"""A share of the traffic is judged outside of it: the same everywhere, with figures kept or told missing."""

from __future__ import annotations

import threading
import uuid
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st
from recorded import AUDITOR, PASSAGES_OF_MILL, TEXTS
from starlette.responses import JSONResponse

from streamverify import Label, Verifier
from streamverify.errors import UsageError
from streamverify.figure import NotComputed
from streamverify.monitor import OnlineEvaluation, by_metric, by_verifier
from streamverify.monitor.alerts import FIGURES
from streamverify.monitor.traffic import Traffic, Window
from streamverify.records import Database, Records, schema, verify
from streamverify.testing import ScriptedScorer
from tests.evaluate.judges import judging

TODAY = Window(datetime.now(UTC) - timedelta(hours=1), datetime.now(UTC) + timedelta(days=1))
TEXT = TEXTS["en"]


@pytest.fixture
def url(tmp_path):
    return str(tmp_path / "records.db")


def judgments(database):
    asked = sa.select(schema.judgments).where(schema.judgments.c.source == "judge")
    with database.reading() as connection:
        return [dict(row) for row in connection.execute(asked).mappings()]


def online(database, scorers, **options):
    return OnlineEvaluation(database, scorers, **({"by": "judge-1", "share": 1.0} | options))


@given(st.floats(0, 1), st.floats(0, 1), st.sampled_from(["", "other"]))
def test_the_sample_depends_on_the_stream_alone_and_each_domain_has_its_share(share, own, seed):
    made = [
        OnlineEvaluation(None, {"x": len}, by="j", share=share, shares={"hr": own}, seed=seed)
        for _ in range(2)
    ]
    streams = [str(uuid.UUID(int=number)) for number in range(400)]
    for domain, asked in ((None, share), ("it", share), ("hr", own)):
        taken = [stream for stream in streams if made[0].takes(stream, domain)]
        assert taken == [stream for stream in streams if made[1].takes(stream, domain)]
        assert abs(len(taken) / len(streams) - asked) < 0.13
        larger = OnlineEvaluation(None, {"x": len}, by="j", share=1.0, seed=seed)
        assert all(larger.takes(stream, domain) for stream in taken)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"share": 1.5}, "between 0 and 1"),
        ({"shares": {"hr": -0.1}}, "between 0 and 1"),
        ({"by": " "}, "who judges"),
        ({"capacity": 0}, "capacity"),
    ],
)
def test_values_that_make_no_sense_are_refused(options, message):
    with pytest.raises(UsageError, match=message):
        online(None, {"x": len}, **options)
    with pytest.raises(UsageError, match="at least one"):
        OnlineEvaluation(None, {}, by="j")


@pytest.mark.parametrize("name", FIGURES)
def test_a_criterion_that_alerts_would_not_read_is_refused(name):
    with pytest.raises(UsageError, match=f"'{name}' is a figure .* such as online_{name}"):
        OnlineEvaluation(None, {"own": len, name: len}, by="j")


def test_figures_become_judgments_that_the_chain_and_the_alerts_know(url):
    seen = []

    def relevance(answer):
        seen.append(answer)
        return 0.75

    with Records(url) as records, Database(url) as database:
        scorers = {
            "relevance": relevance,
            "broken": lambda _: 1 / 0,
            "too_high": lambda _: 7.0,
            "none": lambda _: NotComputed("no reference"),
        }
        with online(database, scorers) as evaluation:
            with Verifier(ScriptedScorer(), observers=[records, evaluation]) as verifier:
                verifier.check_sync(TEXT, PASSAGES_OF_MILL, question="What?", context={"domain": "hr"})
                assert verifier.drain_observers(50)
            assert evaluation.drain(50)
            assert evaluation.statistics == (1, 1, 2, 0, 0, 0)
        rows = {row["criterion"]: row for row in judgments(database)}
        assert {name: (row["label"], row["score"]) for name, row in rows.items()} == {
            "relevance": ("scored", 0.75),
            "broken": ("not_computed", None),
            "too_high": ("not_computed", None),
            "none": ("not_computed", None),
        }
        assert {row["by"] for row in rows.values()} == {"judge-1"}
        assert verify(database).passed
        (answer,) = seen
        assert (answer.question, answer.context.domain, answer.report.answer) == ("What?", "hr", TEXT)
        assert [passage.id for passage in answer.passages] == ["p1"]
        scores = Traffic(database, AUDITOR).scores(TODAY, "relevance")
        assert list(scores.values()) == [0.75]


def test_no_stream_waits_for_a_scorer_and_what_does_not_fit_is_shed_and_counted(url):
    begun, let_go = threading.Event(), threading.Event()

    def slow(answer):
        begun.set()
        let_go.wait()
        return 1.0

    with Records(url) as records, Database(url) as database:
        evaluation = online(database, {"x": slow}, capacity=2)
        with Verifier(ScriptedScorer(), observers=[records, evaluation]) as verifier:
            for number in range(6):
                report = verifier.check_sync(TEXT, PASSAGES_OF_MILL)
                assert report.outcome == "finished"
                if not number:
                    assert begun.wait(50)
            assert verifier.drain_observers(50)
            statistics = evaluation.statistics
            assert (statistics.sampled, statistics.shed, statistics.waiting) == (6, 3, 3)
            let_go.set()
            assert evaluation.drain(50)
        evaluation.close()
        assert evaluation.statistics == (6, 3, 0, 3, 0, 0)
        assert len(judgments(database)) == 3


def test_an_answer_that_never_came_into_the_records_is_lost_and_counted(url):
    with Database(url) as database:
        with online(database, {"x": lambda _: 1.0}, patience=0) as evaluation:
            with Verifier(ScriptedScorer(), observers=[evaluation]) as verifier:
                verifier.check_sync(TEXT, PASSAGES_OF_MILL)
                assert verifier.drain_observers(50)
            assert evaluation.drain(50)
            assert evaluation.statistics == (1, 0, 0, 0, 1, 0)
        assert judgments(database) == []


def test_figures_come_when_their_stream_is_written_late(url):
    """The records' observer is behind: the figure waits for the stream."""
    asked = threading.Event()

    def scored(_):
        asked.set()
        return 1.0

    with Records(url) as records, Database(url) as database:
        told = []

        class Behind:
            def opened(self, opening):
                told.append(lambda: records.opened(opening))

            def retrieved(self, stream, passages):
                pass

            def event(self, stream, event):
                told.append(lambda: records.event(stream, event))

            def idle(self):
                pass

        with online(database, {"x": scored}) as evaluation:
            with Verifier(ScriptedScorer(), observers=[Behind(), evaluation]) as verifier:
                verifier.check_sync(TEXT, PASSAGES_OF_MILL)
                assert verifier.drain_observers(50)
            assert asked.wait(50)
            for tell in told:
                tell()
            records.flush()
            assert evaluation.drain(50)
            assert evaluation.statistics.scored == 1
        assert [row["score"] for row in judgments(database)] == [1.0]


def test_another_verifier_and_metrics_of_the_catalogue_score_without_scoring_twice(url):
    first, second = ScriptedScorer(), ScriptedScorer({"old": Label.CONTRADICTED})
    with Records(url) as records, Database(url) as database, Verifier(second) as slower:
        with Verifier(first, observers=[]) as plain:
            scorers = {"slower": by_verifier(slower), "again": by_metric("faithfulness", plain)}
            with online(database, scorers) as evaluation:
                with Verifier(first, observers=[records, evaluation]) as verifier:
                    verifier.check_sync(TEXT, PASSAGES_OF_MILL)
                    assert verifier.drain_observers(50)
                assert evaluation.drain(50)
        found = {row["criterion"]: row["score"] for row in judgments(database)}
        assert found["again"] == 1.0
        assert found["slower"] < 0.6
        assert len(first.claims) == len(second.claims) == 2


@pytest.mark.slow
@pytest.mark.parametrize("answers", [True, False])
def test_a_metric_that_asks_a_judge_asks_it_over_the_network_and_keeps_what_it_said(url, answers):
    behave = None if answers else lambda _body, _number: JSONResponse({"error": {"message": "no"}}, 400)
    with judging(behave) as (judge, server), Records(url) as records, Database(url) as database:
        with Verifier(ScriptedScorer()) as plain:
            scorers = {
                "relevance": by_metric("answer_relevance", plain, judge),
                "retrieval_precision": by_metric("context_precision_by_judge", plain, judge),
                "own": lambda _: 1.0,
            }
            with online(database, scorers) as evaluation:
                with Verifier(ScriptedScorer(), observers=[records, evaluation]) as verifier:
                    verifier.check_sync(TEXT, PASSAGES_OF_MILL, question="What does the mill do?")
                    assert verifier.drain_observers(50)
                assert evaluation.drain(250)
        rows = {row["criterion"]: (row["label"], row["score"]) for row in judgments(database)}
        assert verify(database).passed
        scores = Traffic(database, AUDITOR).scores(TODAY, "retrieval_precision")
    kept = [("scored", 0.75), ("scored", 1.0)] if answers else [("not_computed", None)] * 2
    assert [rows["relevance"], rows["retrieval_precision"], rows["own"]] == [*kept, ("scored", 1.0)]
    assert list(scores.values()) == ([1.0] if answers else [])
    asked = [message["content"] for body in server.requests for message in body["messages"]]
    assert any("What does the mill do?" in text for text in asked)
    assert judge.usage.calls == len(server.requests) == 2


def test_a_metric_that_cannot_be_asked_is_refused_before_any_stream():
    with Verifier(ScriptedScorer()) as plain:
        for name, said in (
            ("faithfulnes", "did you mean 'faithfulness'"),
            ("relevance_1_5", "scale of 0 to 1"),
            ("answer_relevance", "asks a judge"),
        ):
            with pytest.raises(UsageError, match=said):
                by_metric(name, plain)


def test_answers_for_which_there_was_no_thread_are_scored_with_the_next(monkeypatch, url):
    start, left = threading.Thread.start, [1]

    def refuse(thread):
        if thread.name == "streamverify-online" and left[0]:
            left[0] -= 1
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refuse)
    scored = []

    def score(answer):
        scored.append(answer.report.answer)
        return 0.5

    texts = ("The mill was built in 1804.", "It has two wheels.")
    with (
        Records(url) as records,
        Database(url) as database,
        online(database, {"x": score}) as evaluation,
        Verifier(ScriptedScorer(), observers=[records, evaluation]) as verifier,
    ):
        for text in texts:
            verifier.check_sync(text, PASSAGES_OF_MILL)
            assert verifier.drain_observers(60)
        assert evaluation.drain(60)
    assert scored == [*texts]
