"""Whole hours as the dashboard reads them are those of the rows, for an auditor and for anybody else."""

from __future__ import annotations

from datetime import timedelta

import pytest
from recorded import AUDITOR, START, write

from streamverify.monitor.hours import HOUR, HourlyTraffic, hours_before
from streamverify.monitor.traffic import Traffic, Window
from streamverify.records import Database, Reader, Records, Requester, add_up
from tests.records.streams import ANSWER, record

DAY = Window(START, START + timedelta(days=1))


def test_the_sums_of_hours_are_those_of_traffic(database_url):
    write(database_url, 12, domain="hr", run="r1", good=0.7, failing=0.3)
    write(database_url, 5, seed=1, hours=5, good=0.2)
    with Database(database_url) as database:
        add_up(database)
        for length in (HOUR, 5 * HOUR, 24 * HOUR):
            told = HourlyTraffic(database, AUDITOR).series(DAY, length)
            assert [one.since for one in told] == [
                START + place * length for place in range(-(-24 * HOUR // length))
            ]
            filled = [one for one in told if one.streams]
            rows = Traffic(database).series(DAY, length)
            assert [(one.since, one.streams, one.failed, one.labels) for one in filled] == [
                (one.since, one.streams, one.failed, one.labels) for one in rows
            ]
            assert [one.grounding for one in filled] == pytest.approx(
                [one.grounding for one in rows], abs=1e-6
            )
        whole = HourlyTraffic(database, AUDITOR).total(DAY)
        assert (whole.streams, whole.claims) == (17, 34)
        answers = Traffic(database, domain="hr").answers(DAY)
        own = HourlyTraffic(database, AUDITOR, domain="hr").total(DAY)
        assert own.faithfulness == sum(one.labels["supported"] for one in answers) / (2 * len(answers))
        assert HourlyTraffic(database, AUDITOR, run="r1").total(DAY) == own
        assert HourlyTraffic(database, AUDITOR, run="other").total(DAY).streams == 0
        parts = HourlyTraffic(database, AUDITOR).domains(DAY)
        assert [(one.name, one.told.streams) for one in parts] == [("hr", 12), (None, 5)]
        assert [one.name for one in HourlyTraffic(database, AUDITOR).runs(DAY, 1)] == ["r1"]


@pytest.mark.slow
def test_who_sees_a_part_of_the_streams_gets_the_sums_of_that_part(tmp_path):
    url = str(tmp_path / "r.db")
    with Records(url) as records:
        for user in ("u1", "u2", "u2"):
            record(records, [ANSWER], context={"user": user, "roles": ["hr"]})
        add_up(records.database)
        latest = Reader(records.database, AUDITOR).streams(limit=1)[0].opened_at
        window = hours_before(latest, 2)
        auditor = HourlyTraffic(records.database, AUDITOR)
        own = [HourlyTraffic(records.database, Requester(user=user)) for user in ("u1", "u2", "u3")]
        assert [one.total(window).streams for one in own] == [1, 2, 0]
        assert auditor.total(window).streams == 3
        assert [one.total(window).contradicted for one in (auditor, *own)] == [3, 1, 2, 0]
        seen = {one.uri: one for one in own[1].documents(window)}
        assert "hr/leave" not in seen  # a document for a role that was not named
        assert seen["canteen"].contradicted == 2
        assert {one.uri: one.cited for one in auditor.documents(window)}["hr/leave"] == 3


def test_the_last_hours_end_with_the_one_that_runs():
    window = hours_before(START + timedelta(minutes=59), 24)
    assert (window.since, window.until) == (START - 23 * HOUR, START + HOUR)
