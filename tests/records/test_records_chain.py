"""Nothing in the records can be changed, taken out or put in without `verify` finding it."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from hashlib import sha256

import pytest
import sqlalchemy as sa
from streams import ANSWER, AUDITOR, record

from streamverify import UsageError
from streamverify.figure import Aggregate, Interval
from streamverify.records import (
    Database,
    Head,
    Reader,
    Records,
    Requester,
    add_run,
    erase,
    judge,
    schema,
    verify,
)
from streamverify.records.changes import erase_judge
from streamverify.records.verifying import _Walk

NO_RECORD = schema.CHANGING - {"heads"}
"""Tables whose rows may come and go: places, and sums that can be made again."""


def free(connection):
    """Take the guards away, as somebody does who owns the database."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("SET LOCAL session_replication_role = replica")
        return
    connection.exec_driver_sql("PRAGMA defer_foreign_keys = on")
    for (name,) in connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'trigger'").all():
        connection.exec_driver_sql(f'DROP TRIGGER "{name}"')


def problems_after(database, *statements):
    """What is found after these changes, which are then undone."""
    with database.writing() as connection:
        free(connection)
        for statement in statements:
            connection.execute(statement)
        found = [str(problem) for problem in _Walk(connection, None).problems()]
        connection.rollback()
    return found


def other(column, value):
    """A value of the same kind that is not this one."""
    if isinstance(column.type, sa.Enum):
        return next(word for word in column.type.enums if word != value)
    kinds = {
        sa.Boolean: not value,
        sa.Integer | sa.Float: value + 1_000 if isinstance(value, int | float) else 1_000,
        sa.Uuid: uuid.uuid4(),
        schema.Moment: (value if isinstance(value, datetime) else datetime.now(UTC)) + timedelta(seconds=1),
        sa.JSON: {"changed": True},
        object: "changed" if value != "changed" else "again",
    }
    return next(new for kind, new in kinds.items() if isinstance(column.type, kind))


def filled(url):
    """Records with a row in every table but that of structured content."""
    records = Records(url)
    _, second, _ = record(records, [ANSWER] * 3, context={"user": "u1", "roles": ["hr"], "tags": {"a": "b"}})
    judge(records.database, AUDITOR, uuid.UUID(second), 0, "incorrect", by="ann", note="no such rule")
    judge(records.database, AUDITOR, uuid.UUID(second), 1, "correct", by="u2")
    record(records, context={"user": "u2"})
    erase(records.database, user="u2", reason="asked for it")
    figures = {"faithfulness": Aggregate(0.5, Interval(0.2, 0.8, "bca"), 9, {"no claim": 1})}
    add_run(records.database, "nightly", sha256(b"{}").hexdigest(), figures, text="{}")
    return records


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_every_value_is_guarded(url):
    with filled(url) as records:
        database = records.database
        assert verify(database).problems == ()
        tried, missed = 0, []
        for table in schema.metadata.sorted_tables:
            with database.reading() as connection:
                row = connection.execute(sa.select(table)).mappings().first()
            if row is None or table.name in NO_RECORD:
                assert table.name in ("content", *NO_RECORD)
                continue
            this = sa.and_(*(column == row[column.name] for column in table.primary_key))
            for column in table.c:
                changed = sa.update(table).where(this).values({column.name: other(column, row[column.name])})
                tried += 1
                if not problems_after(database, changed):
                    missed.append(f"{table.name}.{column.name}")
        assert missed == []
        assert tried > 100
        assert verify(database).problems == ()


def test_no_row_can_be_taken_out(url):
    with filled(url) as records:
        for table in schema.metadata.sorted_tables:
            if table.name in ("content", *NO_RECORD):
                continue
            with records.database.reading() as connection:
                row = connection.execute(sa.select(table)).mappings().first()
            this = sa.and_(*(column == row[column.name] for column in table.primary_key))
            assert problems_after(records.database, sa.delete(table).where(this)) != [], table.name


def test_no_row_can_be_put_in(url):
    with filled(url) as records:
        for table in schema.metadata.sorted_tables:
            if table.name in ("content", "heads", *NO_RECORD):
                continue
            with records.database.reading() as connection:
                row = dict(connection.execute(sa.select(table)).mappings().first())
            key = table.primary_key.columns.values()[-1]
            row[key.name] = other(key, row[key.name]) if not isinstance(row[key.name], int) else 10_000
            for unique in {"supersedes", "number"} & row.keys() - {key.name}:
                row[unique] = None if unique == "supersedes" else 10_000
            if table is schema.runs:
                row["digest"] = "b" * 64
            assert problems_after(records.database, sa.insert(table).values(row)) != [], table.name


def test_the_end_of_the_chain_cannot_be_cut_off(url):
    with filled(url) as records:
        entries, last = schema.entries, verify(records.database).head
        cut = sa.delete(entries).where(entries.c.number == last.number)
        assert any("entries at its end are missing" in one for one in problems_after(records.database, cut))


def test_a_head_kept_elsewhere_finds_a_chain_that_was_written_anew(url, tmp_path):
    with filled(url) as records, Records(tmp_path / "anew.db") as anew:
        head = verify(records.database).head
        assert verify(records.database, head).passed
        record(records)
        assert verify(records.database, head).passed
        record(anew, [ANSWER] * 8)
        assert verify(anew.database).passed
        assert "written anew" in str(verify(anew.database, head).problems[0])
        assert "shorter" in str(verify(records.database, Head(10_000, head.hash)).problems[0])


def test_a_text_that_is_gone_without_an_erasure_is_found(url):
    with filled(url) as records:
        sentences = schema.sentences
        with records.database.writing() as connection:  # the guards let a text go
            connection.execute(sa.update(sentences).where(sentences.c.number == 0).values(text=None))
        found = [str(problem) for problem in verify(records.database).problems]
        assert len(found) == 3
        assert all("sentences.text is gone, and no erasure says so" in one for one in found)


def test_a_person_judges_and_the_model_s_verdict_stays(url):
    with Records(url) as records:
        (stream,) = map(uuid.UUID, record(records))
        reader, at = Reader(records.database, AUDITOR), datetime.now(UTC) + timedelta(hours=1)
        first = judge(records.database, AUDITOR, stream, 1, "correct", by="ann", note="it was moved", at=at)
        second = judge(
            records.database,
            AUDITOR,
            stream,
            1,
            "incorrect",
            by="ben",
            severity="major",
            at=at + timedelta(1),
        )
        judged = [one for one in reader.judgments(stream, criterion="grounding") if one.sentence == 1]
        assert [(one.source, one.by, one.label, one.passed, one.current) for one in judged] == [
            ("model", None, "contradicted", False, False),
            ("human", "ann", "correct", True, False),
            ("human", "ben", "incorrect", False, True),
        ]
        assert [one.supersedes for one in judged] == [None, judged[0].id, first]
        assert (judged[1].detail, judged[2].severity, judged[2].id) == ("it was moved", "major", second)
        assert reader.sentences(stream)[1].label == "incorrect"
        assert [one.sentence for one in reader.judgments(criterion="grounding", failed=True)] == [1, 2]
        assert verify(records.database).passed


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"sentence": 9}, "no sentence 9"),
        ({"requester": Requester(user="u2")}, "no sentence 0"),
        ({"opinion": "fine"}, "'fine' is none of correct, incorrect"),
        ({"severity": "bad"}, "'bad' is none of minor, major, critical"),
        ({"by": " "}, "say who judges"),
    ],
)
def test_a_judgment_that_cannot_stand_is_refused(tmp_path, given, problem):
    with Records(tmp_path / "r.db") as records:
        (stream,) = map(uuid.UUID, record(records))
        asked = {"requester": AUDITOR, "sentence": 0, "opinion": "correct", "by": "ann", **given}
        given = [asked.pop(name) for name in ("requester", "sentence", "opinion")]
        with pytest.raises(UsageError, match=problem):
            judge(records.database, given[0], stream, *given[1:], **asked)


def everything(database):
    with database.reading() as connection:
        tables = schema.metadata.sorted_tables
        return " ".join(str(row) for table in tables for row in connection.execute(sa.select(table)))


def test_one_user_s_texts_go_and_the_rest_stays(url):
    with Records(url) as records:
        record(records, ["I, Zoe, have 30 days."], question="I am Zoe", context={"user": "zoe"})
        (kept,) = record(records, ["Employees have 30 days."])
        judge(
            records.database,
            Requester(user="zoe"),
            _of(records, "zoe"),
            0,
            "correct",
            by="ann",
            note="Zoe says so",
        )
        assert "Zoe" in everything(records.database)
        assert erase(records.database, user="zoe", reason="request 17", by="ops") == 1
        assert erase(records.database, user="zoe", reason="again") == 0
        left = everything(records.database)
        assert "Zoe" not in left
        assert "zoe" not in left
        assert verify(records.database).problems == ()
        reader = Reader(records.database, AUDITOR)
        assert [one.requester for one in reader.streams()] == ["u1", None]
        assert reader.sentences(uuid.UUID(kept))[0].text == "Employees have 30 days."
        erased = reader.streams()[1]
        assert [(one.text, one.label) for one in reader.sentences(erased.id)] == [(None, "correct")]
        assert erased.grounding_score is not None


def _of(records, user):
    return Reader(records.database, Requester(user=user)).streams()[0].id


@pytest.mark.slow
def test_the_name_of_who_judged_goes_and_the_judgment_stays(url):
    with Records(url) as records:
        (own,) = map(uuid.UUID, record(records, context={"user": "ann.smith"}))
        (bens,) = map(uuid.UUID, record(records, context={"user": "ben"}))
        database = records.database
        for stream, sentence, by in ((own, 0, "ann.smith"), (bens, 0, "ann.smith"), (bens, 1, "ben")):
            judge(database, AUDITOR, stream, sentence, "incorrect", by=by, note="no")
        judge(database, AUDITOR, bens, 0, "correct", by="ann.smith")
        head = verify(database).head
        assert erase(database, user="ann.smith", reason="request 17", by="ops") == 1
        assert "ann.smith" not in everything(database)
        told = verify(database, head)
        assert told.passed, told.problems
        reader = Reader(database, AUDITOR)
        judged = [one for one in reader.judgments(bens) if one.source == "human"]
        assert [(one.by, one.label, one.detail, one.current) for one in judged] == [
            (None, "incorrect", "no", False),
            ("ben", "incorrect", "no", True),
            (None, "correct", None, True),
        ]
        # Another one of the same name later, and no name twice.
        judge(database, AUDITOR, bens, 2, "correct", by="ann.smith")
        assert erase_judge(database, user="ann.smith", reason="request 18") == 1
        assert erase_judge(database, user="ann.smith", reason="request 19") == 0
        assert verify(database).passed
        with pytest.raises(UsageError, match="say why"):
            erase_judge(database, user="ben", reason=" ")


def test_a_name_that_is_gone_without_an_erasure_is_found(url):
    with filled(url) as records:
        table = schema.judgments
        with records.database.writing() as connection:  # the guards let a name go
            connection.execute(sa.update(table).where(table.c.by == "ann").values(by=None))
        assert not verify(records.database).passed


def test_retention_takes_the_texts_of_documents_that_only_old_streams_retrieved(url):
    with Records(url) as records:
        record(records, [ANSWER] * 2)
        after = datetime.now(UTC)
        assert erase(records.database, before=after, reason="90 days") == 2
        with records.database.reading() as connection:
            assert set(connection.execute(sa.select(schema.chunks.c.text)).scalars()) == {None}
        assert verify(records.database).problems == ()
        assert erase(records.database, before=after, reason="90 days") == 0
        # a stream that retrieves them later finds them without their texts: rows are never changed back
        (later,) = record(records)
        assert {one.text for one in Reader(records.database, AUDITOR).documents(uuid.UUID(later))} == {None}
        assert verify(records.database).problems == ()


def test_texts_of_documents_stay_while_another_stream_needs_them(url):
    with Records(url) as records:
        record(records)
        middle = datetime.now(UTC)
        record(records)
        assert erase(records.database, before=middle, reason="90 days") == 1
        with records.database.reading() as connection:
            assert None not in set(connection.execute(sa.select(schema.chunks.c.text)).scalars())


def test_an_erasure_needs_a_reason_and_says_whose(tmp_path):
    with Database(tmp_path / "r.db") as database:
        with pytest.raises(UsageError, match="say why"):
            erase(database, user="u1", reason=" ")
        with pytest.raises(UsageError, match="whose texts"):
            erase(database, reason="so")
