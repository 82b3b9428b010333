"""Values that are one to Python and another to SQL: `verify` tells them, and goes on where it can.

SQLite holds any value in any column; PostgreSQL refuses these where they are written.
"""

from __future__ import annotations

import shutil
import sqlite3
import uuid
from contextlib import closing
from hashlib import sha256

import pytest
import sqlalchemy as sa
from streams import ANSWER, AUDITOR, record

from streamverify.figure import Aggregate, Interval
from streamverify.pii import Recognisers
from streamverify.program import main
from streamverify.records import Database, Records, add_run, erase, judge, schema, spelling, verify


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Two answers, a judgment, an erasure and an evaluation; nobody changes this file."""
    path = tmp_path_factory.mktemp("written") / "r.db"
    with Records(path, keep="redacted", detector=Recognisers()) as records:
        _, second = record(
            records, [ANSWER] * 2, context={"user": "u1", "roles": ["hr"], "tags": {"é": "\0"}}
        )
        judge(records.database, AUDITOR, uuid.UUID(second), 0, "incorrect", by="ann", note="no such rule")
        record(records, context={"user": "u2"})
        erase(records.database, user="u2", reason="asked for it")
        figures = {
            "faithfulness": Aggregate(0.5, Interval(0.2, 0.8, "bca"), 9, {"no claim é": 1}),
            "cases": Aggregate(4.0, None, 9, {}),
        }
        add_run(records.database, "nightly", sha256(b"{}").hexdigest(), figures, text="{}")
    return path


@pytest.fixture
def tampered(written, tmp_path):
    """A copy after some statements of somebody who owns the file."""

    def change(*statements):
        path = tmp_path / "r.db"
        shutil.copy(written, path)
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("PRAGMA ignore_check_constraints = on")
            connection.execute("PRAGMA synchronous = off")
            found = connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall()
            for (name,) in found:
                connection.execute(f"DROP TRIGGER {name}")
            for statement in statements:
                assert connection.execute(statement).rowcount > 0, statement
        return path

    return change


def problems(path):
    """What is found, line by line."""
    database = Database(path)
    try:
        return list(map(str, verify(database).problems))
    finally:
        database.close()


def test_what_the_library_wrote_is_spelled_as_it_writes(written):
    assert problems(written) == []


def test_failures_that_are_hidden_from_every_question_are_told_by_command(tampered, capsys):
    path = str(tampered("UPDATE judgments SET passed = '' WHERE passed = 0"))
    assert main(["audit", "failed", "--records", path]) == 0
    assert capsys.readouterr() == ("", "streamverify: nothing found\n")
    assert main(["audit", "verify", "--records", path]) == 1
    told = capsys.readouterr()
    lines = told.err.splitlines()
    assert "streamverify: judgments.passed holds '', which the library does not write (" in lines[0]
    assert all(line.startswith("streamverify: ") for line in lines)
    assert f"9 entries, {len(lines)} problems, head 9:" in told.out


SAME_TO_PYTHON = {
    "judgments.passed is told apart": "UPDATE judgments SET passed = '' WHERE passed = 0",
    "any other number is true": "UPDATE judgments SET passed = 2 WHERE passed = 1",
    "a moment with a T": "UPDATE streams SET opened_at = replace(opened_at, ' ', 'T')",
    "a moment with its zone": "UPDATE conclusions SET concluded_at = concluded_at || '+00:00'",
    "capitals in an id": "UPDATE retrieval_items SET chunk_id = upper(chunk_id)",
    "blanks in JSON": "UPDATE conclusions SET figures = figures || ' '",
    "a key of JSON twice, of which SQL reads the first": """UPDATE conclusions
        SET figures = '{"counts": {"contradicted": 0}, ' || substr(figures, 2)""",
}


@pytest.mark.parametrize("statement", SAME_TO_PYTHON.values(), ids=SAME_TO_PYTHON)
def test_another_spelling_of_the_same_value_is_found(tampered, statement):
    table, column = statement.split()[1], statement.split()[3]
    assert any(f"{table}.{column} holds " in line for line in problems(tampered(statement)))


UNREADABLE = [
    ("sentences", "text", "x'ff00'"),
    ("sentences", "text", "cast(x'ff' AS text)"),
    ("sentences", "start", "'soon'"),
    ("streams", "opened_at", "'garbage'"),
    ("streams", "opened_at", "'2026-02-31 00:00:00.000000'"),
    ("streams", "opened_at", "'0000-01-01 00:00:00.000000'"),
    ("streams", "fingerprint", "'[' || hex(zeroblob(50000)) || ']'"),
    ("streams", "salt", "x'00'"),
    ("streams", "opened_at", "opened_at || char(0) || 'x'"),
    ("streams", "id", "id || char(0)"),
    ("conclusions", "figures", "'{'"),
    ("conclusions", "figures", "'NaN'"),
    ("conclusions", "figures", "replace(hex(zeroblob(50000)), '0', '[')"),
    ("conclusions", "figures", """'"\\ud800"'"""),
    ("conclusions", "outcome", "'lost'"),
    ("judgments", "score", "9e999"),
    ("judgments", "stream_id", "'zz'"),
    ("documents", "id", "'zz'"),
    ("documents", "updated_at", "5"),
    ("document_tags", "document_id", "x'00'"),
    ("accesses", "visibility", "'all'"),
    ("accesses", "document_id", "'zz'"),
    ("chunks", "id", "'zz'"),
    ("chunks", "text", "x'00'"),
    ("erased_streams", "stream_id", "'zz'"),
    ("run_figures", "not_computed", "'{'"),
    ("entries", "at", "5"),
    ("entries", "kind", "'zz'"),
    ("entries", "subject", "'zz'"),
    ("entries", "hash", "x'00'"),
    ("heads", "hash", "cast(x'ff' AS text)"),
]


@pytest.mark.parametrize(("table", "column", "value"), UNREADABLE)
def test_a_value_that_cannot_be_read_is_a_problem_and_the_walk_goes_on(tampered, table, column, value):
    path = tampered(
        f"UPDATE {table} SET {column} = {value} WHERE rowid = (SELECT min(rowid) FROM {table})",
        "UPDATE run_texts SET text = 'another'",  # its entry is the last one
    )
    found = problems(path)
    assert any(f"{table}.{column} holds " in line for line in found)
    assert any("the run was changed after it was written" in line for line in found)


def test_a_problem_names_the_stream_and_the_entry(tampered):
    with Database(tampered("UPDATE streams SET opened_at = 'garbage'")) as database:
        with database.reading() as connection:
            streams = set(connection.execute(sa.select(schema.streams.c.id)).scalars())
        found = verify(database).problems
        assert {one.subject for one in found if "holds 'garbage'" in one.what} == streams
    with Database(tampered("UPDATE entries SET at = 5 WHERE number = 3")) as database:
        told = {one.entry for one in verify(database).problems if "entries.at holds 5" in one.what}
        assert told == {3}


def test_each_row_is_told_once_and_a_long_value_is_cut(tampered):
    path = tampered(f"UPDATE judgments SET passed = '{'x' * 500}' WHERE passed = 0")
    with Database(path) as database, database.reading() as connection:
        where = "SELECT count(*) FROM judgments WHERE typeof(passed) = 'text'"
        count = connection.exec_driver_sql(where).scalar()
        found = [one.what for one in verify(database).problems if "judgments.passed" in one.what]
        assert len(found) == count > 1
        assert max(map(len, found)) < 200


def test_every_column_of_the_records_has_a_spelling():
    for table in schema.metadata.sorted_tables:
        for column in table.c:
            assert spelling.as_written(column) is not None
