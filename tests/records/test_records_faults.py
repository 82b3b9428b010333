"""Whatever becomes of the database: no stream fails, nothing unstored is called stored, drops are counted."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa
from streams import ANSWER, AUDITOR, PASSAGES, record, scorer

from streamverify import StreamStateError, UsageError, Verifier
from streamverify.records import Database, Reader, Records, schema, verify
from streamverify.records import store as store_module


def errors(caplog):
    return [one.getMessage() for one in caplog.records if one.levelname == "ERROR"]


def openings(database):
    with database.reading() as connection:
        return connection.execute(sa.select(sa.func.count()).select_from(schema.entries)).scalar()


@pytest.mark.slow
def test_a_full_disk_drops_counts_and_goes_on_once_there_is_room(tmp_path, caplog):
    limited, path = threading.Event(), tmp_path / "records.db"
    with Records(path, patience=0) as records:
        engine = records.database._engines.here  # told before another thread begins: it walks over the list

        @sa.event.listens_for(engine, "begin")
        def _limit(connection):
            pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
            connection.exec_driver_sql(f"PRAGMA max_page_count = {pages if limited.is_set() else 1_000_000}")

        record(records)
        stored = records.statistics.stored
        limited.set()
        with Verifier(scorer(), observers=[records]) as verifier:
            reports = [verifier.check_sync(ANSWER * 40, PASSAGES, question=str(n)) for n in range(5)]
            assert verifier.drain_observers(50)
        assert {report.outcome for report in reports} == {"finished"}
        full = records.statistics
        assert full.dropped > 0
        assert full.stored + full.dropped == stored + 10
        assert openings(records.database) == full.stored
        assert [line.partition(": ")[2] for line in errors(caplog)] == [
            "1 records were not stored: OperationalError: database or disk is full"
        ], "nothing of ends whose opening is not there"
        assert "canteen" not in caplog.text
        limited.clear()
        record(records)
        assert records.statistics == (full.stored + 2, full.dropped, 0)
        assert verify(records.database).problems == ()


def test_an_end_is_dropped_with_its_opening_and_equal_troubles_are_told_once_and_counted(tmp_path, caplog):
    with Records(tmp_path / "records.db", patience=0, live=False) as records:
        with records.database.writing() as connection:
            connection.exec_driver_sql(
                "CREATE TRIGGER full BEFORE INSERT ON streams WHEN NEW.requester <> 'u1' "
                "BEGIN SELECT raise(ABORT, 'no room'); END"
            )
        for number in range(2, 8):
            record(records, context={"user": f"u{number}"})
        assert records.statistics == (0, 12, 0)
        assert len(errors(caplog)) == 1
        record(records)
        assert records.statistics == (2, 12, 0)
        assert not records._lost
    told = [line.partition("records.db: ")[2] for line in errors(caplog)]
    why = "records were not stored: IntegrityError: no room"
    assert told == [f"1 {why}", f"11 {why}"], "the rest at the end"


def test_a_trouble_that_lasts_is_told_again_with_what_it_cost_meanwhile(tmp_path, caplog, monkeypatch):
    monkeypatch.setattr(store_module, "_TELL_EVERY", 0.0)
    troubles = store_module._Troubles("a.db")
    for _ in range(3):
        troubles.delays("no room")
        troubles.costs("no room", 2)
    assert errors(caplog) == ["a.db: 2 records were not stored: no room"] * 3
    monkeypatch.setattr(store_module, "_TELL_EVERY", 60.0)
    for number in range(100):
        troubles.costs("no room", 1)
        troubles.costs(f"trouble {number}", 1)
    assert len(troubles._found) == store_module._TROUBLES
    troubles.tell_the_rest()
    lost = sum(int(line.split()[1]) for line in errors(caplog))
    assert lost == 6 + 200


@pytest.mark.parametrize("how", ["deleted", "replaced"])
def test_what_would_go_into_a_file_that_is_gone_is_not_called_stored(how, tmp_path, caplog):
    path = tmp_path / "records.db"
    with Records(path, patience=0) as records:
        record(records)
        for file in tmp_path.iterdir():
            file.unlink()
        if how == "replaced":
            Records(path).close()
        for _ in range(3):
            record(records)
        assert records.statistics == (2, 6, 0)
        assert len(errors(caplog)) == 1
        assert "the file was deleted or replaced" in errors(caplog)[0]
    assert path.exists() == (how == "replaced"), "no empty one is left in its place"
    with Records(path) as anew:
        record(anew)
        assert anew.statistics == (2, 0, 0)
        assert openings(anew.database) == 2


def test_a_file_that_is_moved_away_and_back_loses_nothing(tmp_path):
    path, aside = tmp_path / "records.db", tmp_path / "aside.db"
    with Records(path) as records:
        record(records)
        path.rename(aside)
        timer = threading.Timer(0.3, aside.rename, [path])
        timer.start()
        record(records)
        timer.join()
        assert records.statistics == (4, 0, 0)
        assert verify(records.database).problems == ()


def test_a_file_stays_the_same_when_the_process_goes_to_another_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with Records("records.db", live=False) as records:
        record(records)
        (tmp_path / "other").mkdir()
        monkeypatch.chdir(tmp_path / "other")
        record(records)
        assert records.statistics == (4, 0, 0)


def test_a_database_that_was_closed_opens_whatever_file_is_there_then(tmp_path):
    path = tmp_path / "records.db"
    with Database(path) as database:
        assert openings(database) == 0
        database.close()
        path.unlink()
        database.open()
        assert openings(database) == 0


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "the records' name is empty"),
        (" ", "the records' name is empty"),
        (":memory:", "records in memory are no records"),
        ("sqlite://", "records in memory are no records"),
        ("sqlite:///:memory:", "records in memory are no records"),
        ("sqlite:///file::memory:?uri=true", "records in memory are no records"),
        ("sqlite:///file:a?mode=memory&uri=true", "records in memory are no records"),
    ],
)
def test_a_name_under_which_nothing_would_be_kept_is_refused(name, message):
    with pytest.raises(UsageError, match=message):
        Records(name)


def test_another_program_that_locks_the_file_for_a_while_loses_nothing(tmp_path):
    path = tmp_path / "records.db"
    with Records(path) as records:
        records.database.close()
        records.database = Database(path, busy_ms=1)
        other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        tried = threading.Event()

        class Handler(store_module.logging.Handler):
            def emit(self, message):
                if "trying again" in message.getMessage():
                    tried.set()

        handler = Handler()
        store_module._LOG.addHandler(handler)
        other.execute("BEGIN EXCLUSIVE")

        def let_go():
            tried.wait()
            other.execute("COMMIT")
            other.close()

        thread = threading.Thread(target=let_go)
        thread.start()
        record(records)
        thread.join()
        store_module._LOG.removeHandler(handler)
        assert records.statistics == (2, 0, 0)
        assert verify(records.database).problems == ()


@pytest.mark.postgres
def test_a_database_that_is_gone_and_comes_back_loses_nothing(server):
    with Records(server.new_database()) as records:
        record(records)
        with Verifier(scorer(), observers=[records]) as verifier:
            verifier.check_sync(ANSWER, PASSAGES)
            server.stop()
            reports = [verifier.check_sync(ANSWER, PASSAGES) for _ in range(5)]
            server.start()
            assert verifier.drain_observers(50)
        assert {report.outcome for report in reports} == {"finished"}
        assert records.statistics == (14, 0, 0)
        assert openings(records.database) == 14
        assert verify(records.database).problems == ()


@pytest.mark.postgres
def test_a_database_that_stays_away_drops_and_counts(server, caplog):
    records = Records(server.new_database(), patience=0)
    record(records)
    server.stop()
    try:
        record(records)
        assert records.statistics == (2, 2, 0)
        assert "records were not stored: OperationalError" in caplog.text
    finally:
        server.start()
    record(records)
    assert records.statistics == (4, 2, 0)
    assert verify(records.database).problems == ()
    records.close()


class Lost(Records):
    """Loses the answer to its first commit, which was carried out."""

    lost = False

    def _attempt(self, batch, *, retried):
        super()._attempt(batch, retried=retried)
        if not self.lost:
            self.lost = True
            raise sa.exc.OperationalError("COMMIT", {}, Exception("the connection broke"))


def test_a_commit_whose_answer_was_lost_is_not_carried_out_twice(url):
    with Lost(url) as records:
        record(records)
        assert records.statistics == (2, 0, 0)
        assert openings(records.database) == 2
        assert verify(records.database).problems == ()


def test_one_record_that_is_refused_does_not_take_others_along(tmp_path):
    with Records(tmp_path / "records.db") as records:
        record(records)
        with records.database.writing() as connection:
            connection.exec_driver_sql(
                "CREATE TRIGGER picky BEFORE INSERT ON streams WHEN NEW.requester = 'u13' "
                "BEGIN SELECT raise(ABORT, 'not him'); END"
            )
        with Verifier(scorer(), observers=[records]) as verifier:
            for number in range(10, 20):
                verifier.check_sync("So.", PASSAGES, context={"user": f"u{number}"})
            assert verifier.drain_observers(50)
        assert records.statistics == (2 + 18, 2, 0)
        assert len(Reader(records.database, AUDITOR).streams()) == 10
        assert verify(records.database).problems == ()


def test_two_writers_append_to_one_chain(url):
    with Records(url) as first, Records(url) as second:
        threads = [threading.Thread(target=record, args=(one, [ANSWER] * 10)) for one in (first, second)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert first.statistics == second.statistics == (20, 0, 0)
        found = verify(first.database)
        assert (found.entries, found.problems) == (40, ())


WRITER = """
import sys
from streams import ANSWER, PASSAGES, scorer
from streamverify import Verifier
from streamverify.records import Records

records = Records(sys.argv[1])
with Verifier(scorer(), observers=[records]) as verifier:
    while True:
        verifier.check_sync(ANSWER, PASSAGES)
        print(records.statistics.stored, flush=True)
"""


@pytest.mark.slow
def test_a_killed_process_leaves_whole_records_and_all_that_it_called_stored(tmp_path):
    path, here = tmp_path / "records.db", str(PASSAGES and __file__).rpartition("/")[0]
    script = f"import sys; sys.path.insert(0, {here!r})\n{WRITER}"
    process = subprocess.Popen([sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE, text=True)
    told = [int(process.stdout.readline()) for _ in range(10)]
    process.send_signal(signal.SIGKILL)
    told += [int(line) for line in process.stdout.read().splitlines()]
    process.wait()
    process.stdout.close()
    with Database(path) as database:
        found = verify(database)
        assert found.problems == ()
        assert found.entries >= told[-1]
        assert {one.outcome for one in Reader(database, AUDITOR).streams(limit=1_000)} <= {"finished", None}


def test_a_clock_that_goes_backwards_changes_neither_order_nor_chain(url):
    moments = iter(datetime(2026, 5, 1, tzinfo=UTC) - timedelta(days=n) for n in range(1_000))
    with Records(url, clock=lambda: next(moments)) as records:
        record(records, [ANSWER] * 5)
        with records.database.reading() as connection:
            numbers = connection.execute(
                sa.select(schema.entries.c.number).order_by(schema.entries.c.at)
            ).scalars()
            assert sorted(numbers.all(), reverse=True) != list(range(1, 11))
            ended, began = schema.conclusions.c.concluded_at, schema.streams.c.opened_at
            pairs = sa.select(ended, began).join(
                schema.streams, schema.streams.c.id == schema.conclusions.c.stream_id
            )
            assert all(end >= begin for end, begin in connection.execute(pairs))
        assert verify(records.database).problems == ()


def test_a_stream_whose_process_died_is_listed_as_never_ended(url):
    class Dies(Records):
        def event(self, stream, event):
            pass

    with Dies(url) as records:
        record(records)
        (one,) = Reader(records.database, AUDITOR).streams()
        assert (one.outcome, one.released) == (None, None)
        assert verify(records.database).problems == ()


def test_records_that_were_closed_take_nothing_and_say_so(tmp_path, caplog):
    records = Records(tmp_path / "records.db")
    records.close()
    records.close()
    with Verifier(scorer(), observers=[records]) as verifier:
        verifier.check_sync("So.", PASSAGES)
        (statistics,) = verifier.observer_statistics()
    assert statistics.failed > 0
    assert StreamStateError.__name__ in caplog.text


def test_a_stream_whose_end_was_never_told_counts_as_dropped_once_the_records_are_closed(tmp_path):
    class Opens(Records):
        def event(self, stream, event):
            pass

    records = Opens(tmp_path / "records.db")
    record(records)
    assert records.statistics == (1, 0, 0)
    records.close()
    assert records.statistics == (1, 1, 0)
