"""Sums of every hour's streams, so that a page over a hundred thousand of them need not read them again.

Before: the entries of the chain, in order. After: `monitor/hours.py`.

    hours             one row an hour, tenant, domain and run: answers, labels, scores, citations
    document_hours    one row an hour, tenant and document: how it was cited, and what it was behind
    own_hours, own_document_hours    the same of each requester, for who sees nobody else's streams
    hour_values       how often each value occurred (`histograms.py`)

The rows of streams stay the truth: these can be thrown away and come back. Whoever reads them calls `add_up`
first, which adds what the chain holds beyond the place that was reached; place and sums are of one
transaction. Scores are summed up in whole millionths, so that the order of adding changes no digit. A later
judgment of a sentence changes what a document is to blame for: its hour is summed up anew. So are a
requester's hours where their streams are erased: of who asked nothing is left there either (`leave_out`).
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from streamverify.records import questions, schema
from streamverify.records.database import Database
from streamverify.records.histograms import hour_values, rows_of, values_of
from streamverify.records.rows import GROUNDING
from streamverify.types import Label

SINK = "hours"
"""Name under which the place is kept, among the positions of sinks."""
PORTION = 2_000
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
OWN_KEY = ("tenant", "requester", "hour", "domain", "run")
OWN_DOCUMENT_KEY = ("tenant", "requester", "hour", "document_id")
DOCUMENT_SUMS = ("cited", "judged", "correct", "contradicted", "fabricated")


def _key_column(name: str) -> sa.Column[Any]:
    kinds: dict[str, sa.types.TypeEngine[Any]] = {"hour": schema.Number, "document_id": sa.Uuid()}
    kind = kinds.get(name, sa.Text())
    return sa.Column(name, kind, primary_key=True, autoincrement=False)


def _sums(name: str, key: tuple[str, ...], sums: tuple[str, ...]) -> sa.Table:
    return sa.Table(name, schema.metadata, *map(_key_column, key), *map(_count, sums))


hours = _sums("hours", KEY, SUMS)
document_hours = _sums("document_hours", DOCUMENT_KEY, DOCUMENT_SUMS)
own_hours = _sums("own_hours", OWN_KEY, SUMS)
own_document_hours = _sums("own_document_hours", OWN_DOCUMENT_KEY, DOCUMENT_SUMS)
TABLES = (hours, document_hours, own_hours, own_document_hours, hour_values)

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


def of_streams(*which: sa.ColumnElement[bool], own: bool = False) -> sa.Select[Any]:
    """The sums, from the rows of the ended streams that fit; columns as in `hours`, or in `own_hours`."""
    told, cited = _c.c.figures["counts"], _c.c.figures["citations"]
    # PostgreSQL takes two equal expressions with parameters for different ones: they are written once.
    names = OWN_KEY if own else KEY
    one = (
        sa.select(
            _s.c.tenant,
            _s.c.requester,
            hour_of_stream.label("hour"),
            _key(_s.c.domain).label("domain"),
            _key(_s.c.run).label("run"),
            *(sa.case((_c.c.outcome == word, 1), else_=0).label(word) for word in ("failed", "halted")),
            *(told[label].as_integer().label(label) for label in LABELS),
            *(cited[name].as_integer().label(name) for name in ("citations", "fabricated")),
            *(_millionths(_c.c[name]).label(name) for name in ("grounding_score", "citation_accuracy")),
        )
        .join(_c, _c.c.stream_id == _s.c.id)
        .where(*which, *([_s.c.requester.is_not(None)] if own else []))
        .subquery()
    )
    key = [one.c[name] for name in names]

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


def of_documents(*which: sa.ColumnElement[bool], own: bool = False) -> sa.Select[Any]:
    """The sums by document, from the rows of the streams that fit; columns as in `document_hours`.

    Args:
        which: conditions of `streams`.
        own: by requester and version of a document, whose rights are asked for when somebody reads; columns
            as in `own_document_hours`.
    """
    by = schema.documents.c.id if own else schema.documents.c.uri
    citing = questions.citing(*which, by=by).subquery()
    behind = questions.behind(*which, by=by, few=True).subquery()
    nothing = [sa.literal(0, sa.Integer())] * 3

    def one(condition: sa.ColumnElement[bool]) -> sa.ColumnElement[int]:
        return sa.case((condition, 1), else_=0)

    found = sa.union_all(
        sa.select(
            citing.c.document,
            citing.c.stream,
            sa.literal(1, sa.Integer()).label("cited"),
            one(citing.c.finding != "unverified").label("judged"),
            one(citing.c.finding == "correct").label("correct"),
            nothing[0].label("contradicted"),
            nothing[1].label("fabricated"),
        ),
        sa.select(
            behind.c.document,
            behind.c.stream,
            *nothing,
            one(behind.c.kind == questions.AGAINST),
            one(behind.c.kind == questions.INVENTED),
        ),
    ).subquery()
    rows = (
        sa.select(
            _s.c.tenant,
            _s.c.requester,
            hour_of_stream.label("hour"),
            found.c.document.label("document_id" if own else "uri"),
            *(found.c[name] for name in DOCUMENT_SUMS),
        )
        .join_from(found, _s, _s.c.id == found.c.stream)
        .where(*([_s.c.requester.is_not(None)] if own else []))
        .subquery()
    )
    key = [rows.c[name] for name in (OWN_DOCUMENT_KEY if own else DOCUMENT_KEY)]
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
        for table in TABLES:
            connection.execute(sa.delete(table))


def _add(connection: sa.Connection, portion: int) -> int:
    place = _held_place(connection)
    until = min(place + portion, _head(connection))
    if until <= place:  # somebody else was here
        return 0
    new = (_e.c.number > place) & (_e.c.number <= until)
    ended = _s.c.id.in_(sa.select(_e.c.subject).where(new, _e.c.kind == "conclusion"))
    _merge(connection, hours, of_streams(ended))
    _merge(connection, own_hours, of_streams(ended, own=True))
    key = [_s.c.tenant, hour_of_stream, _key(_s.c.domain), _key(_s.c.run)]
    _insert(connection, hour_values, rows_of(values_of(connection, key, ended)))
    said = sa.select(_e.c.subject).where(new, _e.c.kind == "judgment")
    changed = connection.execute(
        sa.select(_s.c.tenant, hour_of_stream)
        .join(_j, _j.c.stream_id == _s.c.id)
        # By the id alone: an index on the criterion leads over nearly every judgment there is.
        .where(_j.c.id.in_(said), _j.c.criterion.concat("") == GROUNDING, _j.c.sentence.is_not(None))
        .distinct()
    ).all()
    anew = [(_s.c.tenant == tenant) & _within(hour) for tenant, hour in changed]
    for table, own in ((document_hours, False), (own_document_hours, True)):
        _merge(connection, table, of_documents(ended, *(~one for one in anew), own=own))
        for one, (tenant, hour) in zip(anew, changed, strict=True):
            connection.execute(sa.delete(table).where(table.c.tenant == tenant, table.c.hour == hour))
            _merge(connection, table, of_documents(one, _known(until), own=own))
    positions = schema.sink_positions
    connection.execute(sa.update(positions).where(positions.c.sink == SINK).values(number=until))
    return until - place


def requesters(connection: sa.Connection, streams: Sequence[uuid.UUID]) -> list[tuple[str, str, int]]:
    """Tenant, requester and hour of streams, each once; nobody adds to sums until the transaction ends."""
    _held_place(connection)
    asked = sa.select(_s.c.tenant, _s.c.requester, hour_of_stream)
    found = connection.execute(asked.where(_s.c.id.in_(streams), _s.c.requester.is_not(None)).distinct())
    return [(tenant, requester, hour) for tenant, requester, hour in found]


def leave_out(connection: sa.Connection, whose: Iterable[tuple[str, str, int]]) -> None:
    """Sum up hours of requesters anew, some of whose streams do not say any more who asked.

    Args:
        connection: in the transaction that took the requesters out.
        whose: as `requesters` gave them before.
    """
    place = _place(connection)
    for tenant, requester, hour in whose:
        theirs = (_s.c.tenant == tenant) & (_s.c.requester == requester) & _within(hour)
        for table, made in ((own_hours, of_streams), (own_document_hours, of_documents)):
            own = table.c
            gone = (own.tenant == tenant) & (own.requester == requester) & (own.hour == hour)
            connection.execute(sa.delete(table).where(gone))
            _merge(connection, table, made(theirs, _known(place), own=True))


def _known(until: int) -> sa.ColumnElement[bool]:
    """Of `streams`: their end is among the entries that were added."""
    return sa.exists().where(_e.c.subject == _s.c.id, _e.c.kind == "conclusion", _e.c.number <= until)


def _within(hour: int) -> sa.ColumnElement[bool]:
    return (_s.c.opened_at >= moment_of(hour)) & (_s.c.opened_at < moment_of(hour + 1))


def _merge(connection: sa.Connection, table: sa.Table, found: sa.Select[Any]) -> None:
    """Add what a question finds to the rows of the same key."""
    connection.execute(_adding(connection, table, found))


def _insert(connection: sa.Connection, table: sa.Table, rows: list[dict[str, Any]]) -> None:
    """Add rows to those of the same key."""
    if rows:
        connection.execute(_adding(connection, table, None), rows)


def _adding(connection: sa.Connection, table: sa.Table, found: sa.Select[Any] | None) -> Any:
    dialect: Any = postgresql if connection.dialect.name == "postgresql" else sqlite
    key = [column.name for column in table.primary_key]
    sums = [column.name for column in table.c if column.name not in key]
    adding = dialect.insert(table)
    if found is not None:
        adding = adding.from_select([*key, *sums], found)
    told = {name: table.c[name] + adding.excluded[name] for name in sums}
    return adding.on_conflict_do_update(index_elements=key, set_=told)


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
