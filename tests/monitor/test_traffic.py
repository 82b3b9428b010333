"""What windows hold is the same on SQLite and PostgreSQL, and nobody sees more than the records allow."""

from __future__ import annotations

import uuid
from datetime import timedelta

import pytest
from recorded import AUDITOR, START, TEXTS, label, write

from streamverify.errors import UsageError
from streamverify.monitor.traffic import Traffic, Window
from streamverify.records import Database, Requester
from streamverify.records.scoring import add_scores
from streamverify.types import Label

DAY = Window(START, START + timedelta(days=1))


def test_answers_sentences_languages_labels_and_scores_of_a_window(database_url):
    english = write(database_url, 6, domain="hr", run="r1", passages=3, good=1.0)
    german = write(database_url, 4, seed=1, hours=4, language="de", good=0.0, failing=1.0)
    write(database_url, 3, since=START + timedelta(days=2), seed=2)
    with Database(database_url) as database:
        traffic = Traffic(database)
        answers = traffic.answers(DAY)
        assert {answer.stream for answer in answers} == {*english, *german}
        assert answers == sorted(answers, key=lambda answer: (answer.opened_at, answer.stream))
        told = {answer.stream: answer for answer in answers}
        one, other = told[english[0]], told[german[0]]
        assert (one.domain, one.run, one.requester, one.outcome) == ("hr", "r1", None, "finished")
        assert (one.passages, other.passages) == (3, 1)
        assert (one.chars, other.chars) == (len(TEXTS["en"]), len(TEXTS["de"]))
        assert one.labels == dict.fromkeys(Label, 0) | {Label.SUPPORTED: 2}
        assert (one.faithfulness, other.faithfulness, other.outcome) == (1.0, 0.0, "failed")
        assert one.opened_at.utcoffset() == timedelta()
        judged = traffic.judged(DAY)
        assert len(judged) == 20
        assert {(row.label, row.score > 0.5) for row in judged} == {
            ("supported", True),
            ("unsupported", False),
        }
        for hours in (1, 5, 24):
            series = traffic.series(DAY, timedelta(hours=hours))
            sums = {}
            for answer in answers:
                place = START + timedelta(hours=hours) * (
                    (answer.opened_at - START) // timedelta(hours=hours)
                )
                sums.setdefault(place, []).append(answer)
            assert [bucket.since for bucket in series] == sorted(sums)
            for bucket in series:
                own = sums[bucket.since]
                assert bucket.streams == len(own)
                assert bucket.failed == sum(answer.outcome == "failed" for answer in own)
                for name in Label:
                    assert bucket.labels[name] == sum(answer.labels[name] for answer in own)
                mean = sum(answer.grounding_score for answer in own) / len(own)
                assert bucket.grounding == pytest.approx(mean)
        assert traffic.values(DAY)["language"] == {"de": 4, "en": 6}

        label(database, judged, lambda row: "incorrect" if row.stream in english[:2] else None)
        label(database, judged, lambda row: "correct" if row.stream == english[0] else None)
        people = traffic.human_labels(DAY)
        assert {(row.stream, row.grounded) for row in people} == {(english[0], True), (english[1], False)}
        assert {row.model for row in people} == {"scripted"}
        assert all(0.6 <= row.score <= 1 for row in people)

        assert add_scores(database, english[0], {"relevance": 0.25}, by="judge", at=START)
        assert add_scores(database, english[0], {"relevance": 0.75}, by="judge")  # the later one counts
        assert not add_scores(database, uuid.UUID(int=1), {"relevance": 0.75}, by="judge")
        assert traffic.scores(DAY, "relevance") == {english[0]: 0.75}

        assert {answer.stream for answer in Traffic(database, domain="hr").answers(DAY)} == set(english)
        assert {answer.stream for answer in Traffic(database, run="r1").answers(DAY)} == set(english)
        for stranger in (Requester(user="eve"), Requester(roles=AUDITOR.roles, tenant="another")):
            own = Traffic(database, stranger)
            assert (own.answers(DAY), own.judged(DAY), own.values(DAY)) == ([], [], {})
            assert (own.human_labels(DAY), own.scores(DAY, "relevance")) == ([], {})


def test_a_window_has_a_zone_and_an_order():
    with pytest.raises(UsageError, match="time zone"):
        Window(START.replace(tzinfo=None), START)
    with pytest.raises(UsageError, match="later comes second"):
        Window(START, START)
