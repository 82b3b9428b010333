"""Every question is answered by indices: nothing is looked for in a whole table."""

from __future__ import annotations

import re
import uuid
from datetime import UTC, datetime

import pytest
import sqlalchemy as sa
from streams import AUDITOR, record

from streamverify.records import Reader, Records, Requester, schema
from streamverify.records.listing import Lister

BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
QUESTIONS = {
    "streams": lambda reader, _: reader.streams(),
    "streams of a user": lambda reader, _: reader.streams(user="u1"),
    "streams of a run": lambda reader, _: reader.streams(run="r"),
    "streams since": lambda reader, _: reader.streams(since=BEGAN),
    "stream": lambda reader, stream: reader.stream(stream),
    "sentences": lambda reader, stream: reader.sentences(stream),
    "documents of a stream": lambda reader, stream: reader.documents(stream),
    "documents of a sentence": lambda reader, stream: reader.documents(stream, 0),
    "who could see": lambda reader, stream: reader.who_could_see(stream),
    "withheld": lambda reader, _: reader.withheld(),
    "withheld of a stream": lambda reader, stream: reader.withheld(stream=stream),
    "judgments": lambda reader, stream: reader.judgments(stream),
    "failed": lambda reader, _: reader.judgments(criterion="grounding", failed=True),
    "failed, of any criterion": lambda reader, _: reader.judgments(failed=True),
    "cited": lambda reader, _: reader.cited(),
    "cited since": lambda reader, _: reader.cited(since=BEGAN),
    "scopes": lambda reader, _: reader.scopes(),
    "dependencies": lambda reader, _: reader.dependencies(),
    "failures": lambda reader, _: reader.failures(),
    "blamed": lambda reader, _: reader.blamed(),
    "listed": lambda reader, _: lister(reader).streams(),
    "listed with something": lambda reader, _: lister(reader).streams(trouble="fabricated"),
    "waiting": lambda reader, _: lister(reader).waiting(),
    "behind": lambda reader, stream: lister(reader).behind([(stream, None)]),
    "markers": lambda reader, stream: lister(reader).markers(stream),
}


def lister(reader):
    return Lister(reader._database, reader._requester)


SCANNED = re.compile(r"SCAN (\w+)(?: USING (?:COVERING )?INDEX (\w+))?")
"""What SQLite's plan says of a table, an alias of one, or a part of the question that it walks through."""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    with Records(tmp_path_factory.mktemp("indices") / "r.db") as records:
        (stream,) = record(records, context={"user": "u1", "roles": ["hr"], "run": "r"})
        yield records.database, uuid.UUID(stream)


@pytest.mark.parametrize("requester", [AUDITOR, Requester(user="u1", roles=frozenset({"hr"}))])
@pytest.mark.parametrize("name", QUESTIONS)
def test_no_question_looks_through_a_whole_table(recorded, name, requester):
    database, stream = recorded
    asked = []

    def remember(_connection, _cursor, statement, parameters, _context, _many):
        if statement.startswith("SELECT"):
            asked.append((statement, parameters))

    engine = database._engines.here
    sa.event.listen(engine, "before_cursor_execute", remember)
    try:
        QUESTIONS[name](Reader(database, requester), stream)
    finally:
        sa.event.remove(engine, "before_cursor_execute", remember)
    assert asked
    tables = {table.name for table in schema.metadata.sorted_tables}
    with database.reading() as connection:
        for statement, parameters in asked:
            plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters).all()
            walked = {found.groups() for *_, step in plan if (found := SCANNED.match(step))}
            through = {(table, index) for table, index in walked if re.sub(r"_\d+$", "", table) in tables}
            # An index of failures alone, the latest first, and a limit ends it.
            assert through <= {("judgments", "ix_judgments_failed_at")}, plan
