"""What is asked of years of records: the latest first, page by page, and of a time."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from streams import AUDITOR, PASSAGES

from streamverify import Label, Redact, Verifier
from streamverify.observe import Observer
from streamverify.records import Reader, Records, Requester, latest
from streamverify.testing import ScriptedScorer

BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
RIGHT, WRONG = "Employees have 30 days.", "The wrong mill stands here [p1]."
ANN = Requester(user="ann")


class Dated(Observer):
    """Tells records of streams as if each had been opened an hour after the one before."""

    def __init__(self, records: Records) -> None:
        self._records, self._number = records, 0

    def opened(self, opening):
        moment = BEGAN + timedelta(hours=self._number)
        self._number += 1
        changed = {name: getattr(opening, name) for name in opening.__slots__} | {"at": moment}
        self._records.opened(type(opening)(**changed))

    def event(self, stream, event):
        self._records.event(stream, event)

    def idle(self):
        self._records.idle()


def recorded(records, answers):
    scorer = ScriptedScorer({"wrong": Label.CONTRADICTED})
    with Verifier(scorer, policy=Redact(), observers=[Dated(records)]) as verifier:
        for number, answer in enumerate(answers):
            context = {"user": ("ann", "ben")[number % 2], "run": f"r{number % 2}"}
            verifier.check_sync(answer, PASSAGES, context=context)
        assert verifier.drain_observers(60)


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    with Records(tmp_path_factory.mktemp("long") / "r.db") as records:
        recorded(records, [WRONG if number % 3 else RIGHT for number in range(12)])
        yield Reader(records.database, AUDITOR), Reader(records.database, ANN)


@pytest.mark.slow
@settings(max_examples=20)
@given(st.integers(1, 5), st.integers(1, 12))
def test_pages_of_any_size_give_the_same_the_latest_first(reader, page, limit):
    for one in reader:
        whole = one.withheld(limit=100), one.judgments(failed=True, limit=100)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(latest, "PAGE", page)
            assert one.withheld(limit=limit) == whole[0][:limit]
            assert one.judgments(failed=True, limit=limit) == whole[1][:limit]
        assert [row.opened_at for row in whole[0]] == sorted((r.opened_at for r in whole[0]), reverse=True)
        assert [row.at for row in whole[1]] == sorted((row.at for row in whole[1]), reverse=True)


def test_everybody_sees_but_their_own(reader):
    auditor, ann = reader
    assert len(auditor.withheld(limit=100)) == 8
    assert {row.requester for row in ann.withheld(limit=100)} == {"ann"}
    own = {row.id for row in ann.streams()}
    assert {row.stream for row in ann.judgments(failed=True)} <= own
    assert len(ann.judgments(failed=True)) < len(auditor.judgments(failed=True))


@pytest.mark.parametrize("question", ["cited", "scopes", "dependencies", "failures", "blamed"])
def test_a_time_is_that_of_its_streams_and_its_parts_make_the_whole(reader, question):
    ask = getattr(reader[0], question)
    middle = BEGAN + timedelta(hours=5)
    assert ask(since=BEGAN, until=BEGAN + timedelta(hours=12)) == ask()
    assert ask(until=BEGAN) == ask(since=BEGAN + timedelta(hours=12)) == []
    if question == "cited":
        [all_of_it], [before], [after] = ask(), ask(until=middle), ask(since=middle)
        assert before.citations + after.citations == all_of_it.citations
    if question == "failures":
        counted = [sum(row.failed for row in rows) for rows in (ask(until=middle), ask(since=middle), ask())]
        assert counted[0] + counted[1] == counted[2] > counted[0] > 0


def test_a_stream_of_somebody_else_is_not_told_by_its_id(reader):
    auditor, ann = reader
    other = next(row.stream for row in auditor.withheld(limit=100) if row.requester == "ben")
    assert ann.withheld(stream=other) == []
    assert ann.withheld(stream=uuid.uuid4()) == []
