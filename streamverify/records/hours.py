"""Sums of every hour's streams, so that a page over a hundred thousand of them need not read them again.

Before: the entries of the chain, in order. After: `monitor/hours.py`.

    hours             one row an hour, tenant, domain and run: answers, labels, scores, citations
    document_hours    one row an hour, tenant and document: how it was cited, and what it was behind

The rows of streams stay the truth: these can be thrown away and come back. Whoever reads them calls `add_up`
first, which adds what the chain holds beyond the place that was reached; place and sums are of one
transaction. Scores are summed up in whole millionths, so that the order of adding changes no digit. A later
judgment of a sentence changes what a document is to blame for: its hour is summed up anew.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from streamverify.records import questions, schema
from streamverify.records.database import Database
from streamverify.records.rows import GROUNDING
from streamverify.types import Label

SINK = "hours"
"""Name under which the place is kept, among the positions of sinks."""
PORTION = 5_000
"""Entries in one transaction: other writers wait for it."""
SCALE = 1_000_000
_KEY_CHARS = 200
_HOUR = 3_600


def _count(name: str) -> sa.Column[int]:
    return sa.Column(name, schema.Number, nullable=False)


KEY = ("tenant", "hour", "domain", "run")
LABELS = tuple(label.value for label in Label)
SUMS = (
    *("streams", "failed", "halted", *LABELS),
    *("scored", "grounding", "checked", "citation_accuracy", "citations", "fabricated"),
)
"""`scored` answers have a grounding score, `checked` ones a citation accuracy; scores are in millionths."""
DOCUMENT_KEY = ("tenant", "hour", "uri")
DOCUMENT_SUMS = ("cited", "judged", "correct", "contradicted", "fabricated")

hours = sa.Table(
    "hours",
    schema.metadata,
    sa.Column("tenant", sa.Text(), primary_key=True),
    sa.Column("hour", schema.Number, primary_key=True, autoincrement=False),
    sa.Column("domain", sa.Text(), primary_key=True),
    sa.Column("run", sa.Text(), primary_key=True),
    *(_count(name) for name in SUMS),
)

document_hours = sa.Table(
    "document_hours",
    schema.metadata,
    sa.Column("tenant", sa.Text(), primary_key=True),
    sa.Column("hour", schema.Number, primary_key=True, autoincrement=False),
    sa.Column("uri", sa.Text(), primary_key=True),
    *(_count(name) for name in DOCUMENT_SUMS),
)

_s, _c, _e, _j = schema.streams, schema.conclusions, schema.entries, schema.judgments
hour_of_stream = sa.cast(sa.func.floor(sa.extract("epoch", _s.c.opened_at) / _HOUR), schema.Number)


def hour_of(moment: datetime) -> int:
    """Hours from 1970 to a moment, the one it lies in."""
    return int(moment.timestamp()) // _HOUR


def moment_of(hour: int) -> datetime:
    """When an hour begins."""
    return datetime.fromtimestamp(0, UTC) + timedelta(hours=hour)


def key_of(name: str | None) -> str:
    """A domain or a run as the table has it: empty for none."""
    return "" if name is None else f"={name[:_KEY_CHARS]}"


def name_of(key: str) -> str | None:
    """The domain or run of a key."""
    return key[1:] or "" if key else None


def of_streams(*which: sa.ColumnElement[bool]) -> sa.Select[Any]:
    """The sums, from the rows of the ended streams that fit; columns as in `hours`."""
    told, cited = _c.c.figures["counts"], _c.c.figures["citations"]
    # PostgreSQL takes two equal expressions with parameters for different ones: they are written once.
    one = (
        sa.select(
            _s.c.tenant,
            hour_of_stream.label("hour"),
            _key(_s.c.domain).label("domain"),
            _key(_s.c.run).label("run"),
            *(sa.case((_c.c.outcome == word, 1), else_=0).label(word) for word in ("failed", "halted")),
            *(told[label].as_integer().label(label) for label in LABELS),
            *(cited[name].as_integer().label(name) for name in ("citations", "fabricated")),
            *(_millionths(_c.c[name]).label(name) for name in ("grounding_score", "citation_accuracy")),
        )
        .join(_c, _c.c.stream_id == _s.c.id)
        .where(*which)
        .subquery()
    )
    key = [one.c[name] for name in KEY]

    def total(name: str) -> sa.ColumnElement[int]:
        return sa.func.coalesce(sa.func.sum(one.c[name]), 0)

    return sa.select(
        *key,
        sa.func.count().label("streams"),
        *(total(name).label(name) for name in ("failed", "halted", *LABELS)),
        sa.func.count(one.c.grounding_score).label("scored"),
        total("grounding_score").label("grounding"),
        sa.func.count(one.c.citation_accuracy).label("checked"),
        *(total(name).label(name) for name in ("citation_accuracy", "citations", "fabricated")),
    ).group_by(*key)


def of_documents(*which: sa.ColumnElement[bool]) -> sa.Select[Any]:
    """The sums by document, from the rows of the streams that fit; columns as in `document_hours`."""
    citing, behind = questions.citing(*which).subquery(), questions.behind(*which, few=True).subquery()
    nothing = [sa.literal(0, sa.Integer())] * 3

    def one(condition: sa.ColumnElement[bool]) -> sa.ColumnElement[int]:
        return sa.case((condition, 1), else_=0)

    found = sa.union_all(
        sa.select(
            citing.c.uri,
            citing.c.stream,
            sa.literal(1, sa.Integer()).label("cited"),
            one(citing.c.finding != "unverified").label("judged"),
            one(citing.c.finding == "correct").label("correct"),
            nothing[0].label("contradicted"),
            nothing[1].label("fabricated"),
        ),
        sa.select(
            behind.c.uri,
            behind.c.stream,
            *nothing,
            one(behind.c.kind == questions.AGAINST),
            one(behind.c.kind == questions.INVENTED),
        ),
    ).subquery()
    rows = (
        sa.select(_s.c.tenant, hour_of_stream.label("hour"), found)
        .join_from(found, _s, _s.c.id == found.c.stream)
        .subquery()
    )
    key = [rows.c[name] for name in DOCUMENT_KEY]
    return sa.select(*key, *(sa.func.sum(rows.c[name]).label(name) for name in DOCUMENT_SUMS)).group_by(*key)


def behind_by(database: Database) -> int:
    """Entries that the sums do not hold yet."""
    with database.reading() as connection:
        return _head(connection) - _place(connection)


def add_up(database: Database, *, portion: int = PORTION) -> int:
    """Bring the sums up to the records; again does nothing.

    Args:
        database: of records.
        portion: entries in one transaction, 1 or more.

    Returns:
        How many entries were read.
    """
    read = 0
    while behind_by(database):
        with database.writing() as connection:
            read += _add(connection, portion)
    return read


def forget(database: Database) -> None:
    """Throw the sums away; the next `add_up` makes all of them anew."""
    with database.writing() as connection:
        connection.execute(sa.delete(schema.sink_positions).where(schema.sink_positions.c.sink == SINK))
        for table in (hours, document_hours):
            connection.execute(sa.delete(table))


def _add(connection: sa.Connection, portion: int) -> int:
    place = _held_place(connection)
    until = min(place + portion, _head(connection))
    if until <= place:  # somebody else was here
        return 0
    new = (_e.c.number > place) & (_e.c.number <= until)
    ended = _s.c.id.in_(sa.select(_e.c.subject).where(new, _e.c.kind == "conclusion"))
    _merge(connection, hours, of_streams(ended))
    said = sa.select(_e.c.subject).where(new, _e.c.kind == "judgment")
    changed = connection.execute(
        sa.select(_s.c.tenant, hour_of_stream)
        .join(_j, _j.c.stream_id == _s.c.id)
        # By the id alone: an index on the criterion leads over nearly every judgment there is.
        .where(_j.c.id.in_(said), _j.c.criterion.concat("") == GROUNDING, _j.c.sentence.is_not(None))
        .distinct()
    ).all()
    anew = [(_s.c.tenant == tenant) & _within(hour) for tenant, hour in changed]
    _merge(connection, document_hours, of_documents(ended, *(~one for one in anew)))
    known = sa.exists().where(_e.c.subject == _s.c.id, _e.c.kind == "conclusion", _e.c.number <= until)
    for one, (tenant, hour) in zip(anew, changed, strict=True):
        table = document_hours
        connection.execute(sa.delete(table).where(table.c.tenant == tenant, table.c.hour == hour))
        _merge(connection, table, of_documents(one, known))
    positions = schema.sink_positions
    connection.execute(sa.update(positions).where(positions.c.sink == SINK).values(number=until))
    return until - place


def _within(hour: int) -> sa.ColumnElement[bool]:
    return (_s.c.opened_at >= moment_of(hour)) & (_s.c.opened_at < moment_of(hour + 1))


def _merge(connection: sa.Connection, table: sa.Table, found: sa.Select[Any]) -> None:
    """Add rows to those of the same key."""
    dialect: Any = postgresql if connection.dialect.name == "postgresql" else sqlite
    key = [column.name for column in table.primary_key]
    sums = [column.name for column in table.c if column.name not in key]
    adding = dialect.insert(table).from_select([*key, *sums], found)
    told = {name: table.c[name] + adding.excluded[name] for name in sums}
    connection.execute(adding.on_conflict_do_update(index_elements=key, set_=told))


def _head(connection: sa.Connection) -> int:
    asked = sa.select(schema.heads.c.number).where(schema.heads.c.id == 1)
    return int(connection.execute(asked).scalar_one())


def _place(connection: sa.Connection) -> int:
    positions = schema.sink_positions
    asked = sa.select(positions.c.number).where(positions.c.sink == SINK)
    return connection.execute(asked).scalar() or 0


def _held_place(connection: sa.Connection) -> int:
    """The place, which nobody else moves until this transaction has ended."""
    dialect: Any = postgresql if connection.dialect.name == "postgresql" else sqlite
    positions = schema.sink_positions
    connection.execute(dialect.insert(positions).values(sink=SINK, number=0).on_conflict_do_nothing())
    asked = sa.select(positions.c.number).where(positions.c.sink == SINK).with_for_update()
    return int(connection.execute(asked).scalar_one())


def _millionths(score: sa.ColumnElement[Any]) -> sa.ColumnElement[int]:
    return sa.cast(sa.func.round(score * SCALE), schema.Number)


def _key(column: sa.ColumnElement[Any]) -> sa.ColumnElement[str]:
    return sa.func.coalesce(sa.literal("=") + sa.func.substr(column, 1, _KEY_CHARS), "")
