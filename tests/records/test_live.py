"""What an answer says while it is written is there to be watched, is no record, and goes with its end."""

from __future__ import annotations

import sqlite3
import threading
import uuid
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st

from streamverify import Action, Flag, Label, Redact, Sentence, Span, Verifier
from streamverify.events import SentenceClosed, SentenceJudged, SentenceRevised, TextReleased
from streamverify.records import Database, Reader, Records, Requester, erase, live, verify
from streamverify.records.listing import Lister
from tests.records.streams import AUDITOR, PASSAGES, record, scorer

SENTENCES = ("Employees have 30 days of leave. ", "The wrong canteen opens at midnight. ", "It is said so. ")
LABELS = ("supported", "contradicted", "unsupported")
OWN = Requester(user="u1", roles=frozenset({"hr"}))


def rows(database):
    with database.reading() as connection:
        found = connection.execute(sa.select(live.live_sentences)).mappings().all()
    return {(row["stream_id"], row["number"]): row for row in found}


def until(true):
    """Wait for what another thread brings about."""
    pause = threading.Event()
    while not true():
        pause.wait(0.01)


class Running:
    """A stream that goes on when the test says so."""

    def __init__(self, records, *, policy=None, **context):
        self.go = threading.Semaphore(0)
        self.report = None
        given = {"user": "u1", "roles": ["hr"], **context}

        async def source():
            import anyio.to_thread

            for sentence in SENTENCES:
                await anyio.to_thread.run_sync(self.go.acquire)
                yield sentence
            await anyio.to_thread.run_sync(self.go.acquire)

        async def read(verifier):
            asked = {"question": "How much leave?", "context": given}
            async with verifier.stream(source(), PASSAGES, **asked) as stream:
                self.id = uuid.UUID(stream.id)
                async for _ in stream:
                    pass
                self.report = stream.report

        def run():
            with Verifier(scorer(), policy=policy or Redact(), observers=[records]) as verifier:
                verifier.portal.run(lambda: read(verifier))
                assert verifier.drain_observers(50)

        self.thread = threading.Thread(target=run, name="a stream")
        self.thread.start()

    def say(self, count=1):
        for _ in range(count):
            self.go.release()

    def end(self):
        self.say(len(SENTENCES) + 1)
        self.thread.join()


@pytest.fixture
def running():
    started = []

    def start(records, **options):
        started.append(Running(records, **options))
        return started[-1]

    yield start
    for one in started:
        one.end()


def test_a_verdict_is_there_for_another_process_while_the_answer_is_written(url, running):
    with Records(url) as records, Database(url) as other:
        one = running(records)
        one.say(2)  # the first sentence closes when the second one begins
        until(lambda: [row["label"] for row in rows(other).values()] == ["supported"])
        (listed,) = Lister(other, AUDITOR).streams().streams
        assert (listed.stream.outcome, listed.labels) == (None, ("supported",))
        assert [said.text for said in listed.live] == [SENTENCES[0]]
        assert verify(other).passed  # what is said so far is no record
        one.say()
        until(lambda: [row["label"] for row in rows(other).values()] == ["supported", "contradicted"])
        texts = {
            who: [said.text for said in Lister(other, requester).streams().streams[0].live]
            for who, requester in (("auditor", AUDITOR), ("own", OWN))
        }
        assert texts == {"auditor": [*SENTENCES[:2]], "own": [SENTENCES[0], None]}  # it was withheld
        assert Lister(other, Requester(user="u2")).streams().streams == ()
        assert live.said_so_far(other, Requester(user="u2"), [one.id]) == {}
        one.end()
        assert rows(other) == {}
        (listed,) = Lister(other, AUDITOR).streams().streams
        assert (listed.labels, listed.live) == (LABELS, ())
        assert verify(other).passed


@pytest.mark.parametrize(("keep", "kept"), [("text", SENTENCES[0]), ("redacted", None), ("hashes", None)])
def test_nothing_is_kept_before_the_end_that_is_not_kept_after_it(tmp_path, running, keep, kept):
    with Records(tmp_path / "r.db", keep=keep) as records:
        one = running(records, policy=Flag())
        one.say(2)
        until(lambda: [row["label"] for row in rows(records.database).values()] == ["supported"])
        assert [row["text"] for row in rows(records.database).values()] == [kept]


def test_an_erasure_takes_what_was_said_so_far(url, running):
    with Records(url) as records:
        one = running(records)
        one.say(2)
        until(lambda: rows(records.database))
        assert erase(records.database, user="u1", reason="asked for") == 1
        assert rows(records.database) == {}


def test_a_database_that_somebody_holds_delays_no_stream_and_loses_no_record(tmp_path, running):
    path = tmp_path / "r.db"
    with Records(path) as records:
        holder = sqlite3.connect(path, isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        one = running(records)
        one.say(len(SENTENCES) + 1)
        until(lambda: one.report is not None)  # the stream has ended, and nothing could be written
        assert one.report.outcome == "finished"
        holder.execute("ROLLBACK")
        holder.close()
        one.end()
        assert records.statistics == (2, 0, 0)
        assert rows(records.database) == {}
        assert Reader(records.database, AUDITOR).streams()[0].outcome == "finished"
        assert verify(records.database).passed


def test_who_wants_no_sentences_before_the_end_has_none(tmp_path, running):
    with Records(tmp_path / "r.db", live=False) as records:
        one = running(records)
        one.say(2)
        until(lambda: records.statistics.stored == 1)
        assert (rows(records.database), live.mark(records.database)) == ({}, (0, 0))
        one.end()
        assert Lister(records.database, AUDITOR).streams().streams[0].labels == LABELS


@pytest.mark.slow
def test_sentences_that_do_not_fit_are_counted_and_forgotten_with_their_stream(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(live, "WAITING", 2)
    with Database(tmp_path / "r.db") as database:
        board = live.LiveBoard(database)
        board._thread = threading.current_thread()  # nobody writes
        stream = opened(uuid.uuid4())
        for number in range(5):
            board.told(stream, closed(number))
        assert board.missed == 3
        assert len([one for one in caplog.messages if "not shown" in one]) == 1
        board.ended(stream.id)
        board._write()
        assert rows(database) == {}


def opened(identity, keep="text"):
    """As much of an open stream as is asked for."""
    return SimpleNamespace(id=identity, keep=keep, kept=lambda text: text)


def closed(number, text="So. "):
    start = number * len(text)
    sentence = Sentence(index=number, text=text, start=start, end=start + len(text))
    return SentenceClosed(seq=0, at_ms=0.0, sentence=sentence)


def judged(number, label, *, later=False):
    told = {"seq": 0, "at_ms": 0.0, "index": number, "label": label, "score": 0.5, "latency_ms": 1.0}
    return SentenceRevised(**told, scorer="m", changed=True) if later else SentenceJudged(**told)


def released(start, end, action):
    return TextReleased(seq=0, at_ms=0.0, text="", span=Span(start, end), action=action)


STEP = st.one_of(
    st.tuples(st.just("close")),
    st.tuples(st.just("judge"), st.integers(0, 9), st.sampled_from(list(Label)), st.booleans()),
    st.tuples(st.just("release"), st.sampled_from([Action.RELEASE, Action.FLAG, Action.REDACT])),
    st.tuples(st.just("write")),
    st.tuples(st.just("other stream")),
)


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    with Database(tmp_path_factory.mktemp("live") / "r.db") as database:
        yield database


@settings(max_examples=30)
@given(st.lists(STEP, max_size=25))
def test_the_table_says_what_was_told_last_whatever_was_written_when(shared, steps):
    board, stream, other = live.LiveBoard(shared), opened(uuid.uuid4()), opened(uuid.uuid4())
    board._thread = threading.current_thread()  # written when the test says so
    told, seen, others = {}, 0, 0
    for what, *rest in steps:
        if what == "close":
            told[len(told)] = [None, False]
            board.told(stream, closed(len(told) - 1))
        elif what == "judge" and told:
            number, label, later = rest[0] % len(told), *rest[1:]
            told[number][0] = label.value
            board.told(stream, judged(number, label, later=later))
        elif what == "release" and seen < len(told):
            told[seen][1] = rest[0] is not Action.REDACT
            board.told(stream, released(4 * seen, 4 * seen + 4, rest[0]))
            seen += 1
        elif what == "write":
            board._write()
        elif what == "other stream":
            board.told(other, closed(others))
            others += 1
    board._write()
    found = {number: row for (one, number), row in rows(shared).items() if one == stream.id}
    assert {number: [row["label"], row["shown"]] for number, row in found.items()} == told
    assert all(row["text"] == "So. " for row in found.values())
    before = live.mark(shared)
    board.told(other, closed(others))
    board._write()
    assert live.mark(shared) != before
    with shared.writing() as connection:
        live.forget(connection, [stream.id])
    assert not [key for key in rows(shared) if key[0] == stream.id]


def test_after_a_migration_old_records_stand_beside_what_runs(tmp_path, running):
    with Records(tmp_path / "r.db") as records:
        record(records)
        one = running(records)
        one.say(2)
        until(lambda: rows(records.database))
        first, second = Lister(records.database, AUDITOR).streams().streams
        assert (first.stream.outcome, second.stream.outcome) == (None, "finished")
        assert (second.labels, second.live) == (LABELS, ())
        assert first.stream.opened_at <= datetime.now(UTC)
