"""What a stream's events said is in the database: the same on SQLite and PostgreSQL."""

from __future__ import annotations

import subprocess
import sys
import uuid
from datetime import UTC, datetime

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from streams import ANSWER, AUDITOR, PASSAGES, record, scorer

from streamverify import Flag, Passage, UsageError, Verifier
from streamverify.records import Database, Reader, Records, Requester, schema, verify
from streamverify.records.database import VERSION_TABLE


@pytest.fixture
def records(url):
    with Records(url) as kept:
        yield kept


def rows(database, table):
    with database.reading() as connection:
        return [dict(row) for row in connection.execute(sa.select(table)).mappings()]


def test_a_stream_is_read_back_as_it_was_told(url):
    with Records(url) as records:
        context = {"user": "u1", "roles": ["hr", "it"], "domain": "company_expert", "conversation": "c1"}
        (stream,) = record(
            records, context={**context, "run": "r1", "tags": {"app": "desk"}, "scores": {"p2": 0.4}}
        )
        assert records.statistics == (2, 0, 0)
        reader = Reader(records.database, AUDITOR)
        told = reader.stream(uuid.UUID(stream))
        assert (told.requester, told.domain, told.run, told.policy) == (
            "u1",
            "company_expert",
            "r1",
            "redact",
        )
        assert (told.outcome, told.question) == ("finished", "How much leave?")
        assert told.released == "Employees have 30 days of leave [p1]. [statement removed] "
        assert told.opened_at.utcoffset().total_seconds() == 0
        said = reader.sentences(uuid.UUID(stream))
        assert "".join(sentence.text for sentence in said) == ANSWER
        assert [(one.action, one.label, one.source) for one in said] == [
            ("release", "supported", "model"),
            ("redact", "contradicted", "model"),
            ("redact", "unsupported", "model"),
        ]
        retrieved = reader.documents(uuid.UUID(stream))
        assert [(one.passage, one.uri, one.rank, one.score) for one in retrieved] == [
            ("p1", "hr/leave", 0, 0.9), ("p2", "canteen", 1, 0.4), ("p3", "office", 2, None),
        ]  # fmt: skip
        assert (retrieved[0].checksum, retrieved[0].title, retrieved[0].page) == ("v1", "Leave", "3")
        behind = reader.documents(uuid.UUID(stream), 0)
        assert [(one.role, one.uri, one.label) for one in behind if one.role == "cited"] == [
            ("cited", "hr/leave", "correct")
        ]
        assert [one for one in behind if one.role == "evidence"]
        document = next(row for row in rows(records.database, schema.documents) if row["uri"] == "hr/leave")
        assert document["updated_at"] == datetime(2026, 10, 1, tzinfo=UTC)


def test_a_citation_of_nothing_keeps_its_marker_and_has_no_document(url):
    with Records(url) as records:
        record(records)
        cited = {row["marker"]: row for row in rows(records.database, schema.citations)}
        assert cited["[9]"]["finding"] == "fabricated"
        passages = rows(records.database, schema.citation_passages)
        assert {row["citation"] for row in passages} == {cited["[p1]"]["number"], cited["[p2]"]["number"]}


def test_streams_share_documents_and_keep_their_own_ranks(url):
    with Records(url) as records:
        record(records, [ANSWER] * 3)
        assert len(rows(records.database, schema.documents)) == 3
        assert len(rows(records.database, schema.chunks)) == 3
        assert len(rows(records.database, schema.accesses)) == 3
        assert len(rows(records.database, schema.retrieval_items)) == 9


def test_hashes_alone_hold_no_text_of_anybody(url):
    with Records(url, keep="hashes") as records:
        (stream,) = record(records)
        for table in schema.metadata.sorted_tables:
            for row in rows(records.database, table):
                said = " ".join(map(str, row.values()))
                assert not any(word in said for word in ("leave.", "canteen opens", "How much", "days of"))
        said = Reader(records.database, AUDITOR).sentences(uuid.UUID(stream))
        assert [(one.text, one.label) for one in said] == [
            (None, "supported"), (None, "contradicted"), (None, "unsupported"),
        ]  # fmt: skip
        assert verify(records.database).passed


@pytest.mark.slow
@pytest.mark.timeout(600)
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    answer=st.text(alphabet=st.characters(), max_size=60),
    question=st.none() | st.text(alphabet=st.characters(), max_size=20),
    metadata=st.dictionaries(
        st.sampled_from(
            ["uri", "checksum", "visibility", "owner", "roles", "tags", "updated_at", "page", "score"]
        ),
        st.none()
        | st.text(max_size=5)
        | st.integers()
        | st.floats()
        | st.lists(st.text(max_size=3), max_size=2),
    ),
    context=st.fixed_dictionaries({}, optional={"user": st.text(), "tenant": st.text(max_size=4)}),
)
def test_whatever_is_said_is_stored_and_verifies(records, answer, question, metadata, context):
    before = records.statistics.stored
    with Verifier(scorer(), observers=[records]) as verifier:
        passages = [Passage("p\0", answer or "x", metadata=metadata), Passage("p2", "b")]
        report = verifier.check_sync(answer, passages, question=question, context=context)
        assert verifier.drain_observers(50)
    assert report.answer == answer
    assert records.statistics == (before + 2, 0, 0)
    found = verify(records.database)
    assert found.problems == ()
    assert found.entries == before + 2


def test_a_document_that_says_nothing_of_itself_is_for_auditors(url):
    with Records(url) as records, Verifier(scorer(), observers=[records]) as verifier:
        verifier.check_sync("It is so.", ["It is so."], context={"user": "u1"})
    with Database(url) as database:
        (stream,) = Reader(database, AUDITOR).streams()
        assert len(Reader(database, AUDITOR).documents(stream.id)) == 1
        assert Reader(database, Requester(user="u1", roles={"hr"})).documents(stream.id) == []


def test_access_as_told_last_counts_and_what_it_was_stays(url):
    changed = Passage(
        "p2", PASSAGES[1].text, metadata={"uri": "canteen", "visibility": "restricted", "roles": ["it"]}
    )
    with Records(url) as records:
        (first,) = record(records)
        with Verifier(scorer(), observers=[records]) as verifier:
            verifier.check_sync("So.", [changed], context={"user": "u1", "roles": ["hr"]})
        reader = Reader(records.database, Requester(user="u1", roles={"hr"}))
        assert [one.uri for one in reader.documents(uuid.UUID(first))] == ["hr/leave", "office"]
        told = {one.uri: one for one in Reader(records.database, AUDITOR).who_could_see(uuid.UUID(first))}
        assert (told["canteen"].visibility, told["canteen"].could_see) == ("public", True)
        assert (told["hr/leave"].roles, told["hr/leave"].could_see) == (("hr",), True)


@pytest.mark.parametrize(
    ("requester", "uris"),
    [
        (Requester(), []),
        (Requester(user="u2", roles=frozenset({"hr"})), []),
        (Requester(user="u1"), ["canteen", "office"]),
        (Requester(user="u1", roles=frozenset({"it"})), ["canteen", "office"]),
        (Requester(user="u1", roles=frozenset({"hr"})), ["hr/leave", "canteen", "office"]),
        (Requester(user="u1", roles=frozenset({"hr"}), tenant="other"), []),
        (AUDITOR, ["hr/leave", "canteen", "office"]),
        (Requester(user="audrey", roles=frozenset({"auditor"}), tenant="other"), []),
    ],
)
def test_everybody_sees_what_they_may_and_nothing_else(url, requester, uris):
    with Records(url) as records:
        (stream,) = record(records)
        reader, stream = Reader(records.database, requester), uuid.UUID(stream)
        assert [one.uri for one in reader.documents(stream)] == uris
        assert [one.uri for one in reader.who_could_see(stream)] == uris
        assert {one.uri for one in reader.documents(stream, 0)} <= set(uris)
        sees = bool(uris)
        assert len(reader.streams()) == len(reader.sentences(stream)) // 3 == sees
        assert len(reader.withheld()) == 2 * sees
        texts = [sentence.text for sentence in reader.sentences(stream)]
        if sees and not requester.audits:  # what was withheld from a reader stays withheld in the records
            assert texts == ["Employees have 30 days of leave [p1]. ", None, None]
            assert [one.text for one in reader.withheld()] == [None, None]
            assert {one.detail for one in reader.judgments(stream)} == {None}
        if not sees:
            assert reader.judgments() == []
            with pytest.raises(UsageError, match="no stream"):
                reader.stream(stream)


def test_failures_are_the_judgments_that_count(url):
    with Records(url) as records:
        (stream,) = record(records, policy=Flag())
        reader = Reader(records.database, AUDITOR)
        failed = reader.judgments(criterion="grounding", failed=True)
        assert [(one.sentence, one.label) for one in failed] == [(1, "contradicted"), (2, "unsupported")]
        assert [one for one in reader.judgments(uuid.UUID(stream)) if one.passed is None] == []


def test_what_was_not_checked_has_not_passed(url):
    from streamverify.testing import ScriptedScorer

    with Records(url) as records, Verifier(ScriptedScorer(fail_on="30"), observers=[records]) as verifier:
        verifier.check_sync("Employees have 30 days. Hello!", PASSAGES)
    with Database(url) as database:
        judged = Reader(database, AUDITOR).judgments(criterion="grounding")
        assert [(one.label, one.passed) for one in judged] == [("unverified", None), ("no_claim", None)]


def test_migrations_make_the_tables_that_the_library_knows(url):
    with Database(url) as database, database.reading() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
        assert compare_metadata(context, schema.metadata) == []


def test_a_schema_of_another_version_is_refused(url):
    with Database(url) as database:
        with database.writing() as connection:
            connection.exec_driver_sql(f"UPDATE {VERSION_TABLE} SET version_num = '0001'")
        with pytest.raises(UsageError, match=r"schema 0001, this version .* audit upgrade"):
            database.prepare()


def changes(table):
    """Statements that would change what a table holds."""
    yield f'DELETE FROM "{table.name}"'
    for column in table.c:
        if column.name == "salt":
            continue
        if isinstance(column.type, sa.Text | sa.String) and not isinstance(column.type, sa.Enum):
            yield f'UPDATE "{table.name}" SET "{column.name}" = \'something else\''
        elif isinstance(column.type, sa.Integer | sa.Float):
            yield f'UPDATE "{table.name}" SET "{column.name}" = -1'


def test_rows_are_neither_deleted_nor_changed(url):
    with Records(url) as records:
        record(records)
        tried = 0
        for table in schema.metadata.sorted_tables:
            if table.name in schema.CHANGING or not rows(records.database, table):
                continue
            for statement in changes(table):
                with (
                    pytest.raises(sa.exc.DBAPIError, match="append-only"),
                    records.database.writing() as connection,
                ):
                    connection.exec_driver_sql(statement)
                tried += 1
        assert tried > 60
        assert verify(records.database).passed


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("mysql://root@localhost/x", "in SQLite or PostgreSQL, not in mysql"),
        ("sqlite://", "name a file"),
        ("://", "cannot be read"),
    ],
)
def test_a_url_that_means_nothing_is_refused(given, problem):
    with pytest.raises(UsageError, match=problem):
        Database(given)


def test_options_out_of_range_are_refused(tmp_path):
    with pytest.raises(UsageError, match="keep must be one of text, redacted, hashes"):
        Records(tmp_path / "r.db", keep="some")
    with pytest.raises(UsageError, match="patience"):
        Records(tmp_path / "r.db", patience=-1)
    with pytest.raises(UsageError, match="roles must be a set"):
        Requester(roles="hr")
    assert not (tmp_path / "r.db").exists()


def test_a_password_is_not_in_the_name():
    assert "secret" not in Database("postgresql://u:secret@127.0.0.1/x").name


def test_without_the_extra_the_error_is_the_command_that_installs_it():
    script = (
        "import sys; sys.modules['sqlalchemy'] = None\n"
        "from streamverify.errors import MissingExtraError\n"
        "try:\n    import streamverify.records\nexcept MissingExtraError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("pip install 'streamverify[records]'")
