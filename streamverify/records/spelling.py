"""Whether values are stored as the library writes them.

Before: `verifying.py`. After: SQLite; PostgreSQL's columns are typed and hold nothing else.

SQLite holds any value in any column, and two that Python reads as one are not one to SQL: `''` and 0 are
both False to Python, and only 0 is a failure to `audit failed`; a moment with a T sorts behind one with a
blank. Digests are made of what Python reads. Whoever changes the spelling alone could so hide rows from
every question, and no digest would tell. Hence a value must be what its column's type would have written.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from streamverify.records import schema
from streamverify.records.digests import canonical

TABLES = tuple(
    table
    for table in schema.metadata.sorted_tables
    if table.name == "heads" or table.name not in schema.CHANGING
)
"""That hold records, and the chain's head."""

_LONGEST = 60
"""Characters of a value that are shown."""
_DAY = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]"
_MOMENT = f"{_DAY} [0-9][0-9]:[0-9][0-9]:[0-9][0-9].{'[0-9]' * 6}"
_GREATEST = 1.7976931348623157e308
_KEY = ("stream_id", "id", "document_id", "access_id", "erasure_id", "run_id", "subject")
"""Columns that say whose a row is, the best first."""


@dataclass(frozen=True, slots=True)
class Misspelled:
    """A value that the library would not have written."""

    table: str
    column: str
    value: str
    """As SQL spells it, cut where it is long."""
    subject: uuid.UUID | None
    """Id of the stream, document … the row belongs to; None where it cannot be read, or there is none."""
    entry: int | None
    """Number of the entry, of one."""


class Spelling:
    """What is spelled otherwise in one database."""

    def __init__(self, connection: sa.Connection) -> None:
        """Looks through all tables.

        Args:
            connection: of records, in a transaction.
        """
        self._connection = connection
        self._wrong: tuple[sa.Table, ...] = ()
        if connection.dialect.name == "sqlite":
            _teach(connection)
            self._wrong = tuple(table for table in TABLES if self._any(table))

    def right(self, *columns: sa.ColumnElement[Any]) -> sa.ColumnElement[bool]:
        """The condition under which these can be read: that all are spelled as the library writes them."""
        doubtful = [column for column in columns if isinstance(column, sa.Column)]
        return sa.and_(sa.true(), *(as_written(column) for column in doubtful if column.table in self._wrong))

    def wrong(self) -> Iterator[Misspelled]:
        """Every value that is spelled otherwise."""
        for table in self._wrong:
            columns = list(table.c)
            flags = [_wrong(column) for column in columns]
            shown = [_shown(column) for column in columns]
            asked = sa.select(_subject(table), _entry(table), *flags, *shown).where(sa.or_(*flags))
            for subject, entry, *told in self._connection.execute(asked):
                found = zip(columns, told[: len(columns)], told[len(columns) :], strict=True)
                for column, wrong, value in found:
                    if wrong:
                        spelled = value.decode("utf-8", "replace")
                        owner = None if subject is None else uuid.UUID(subject)
                        yield Misspelled(table.name, column.name, spelled, owner, entry)

    def _any(self, table: sa.Table) -> bool:
        asked = sa.select(sa.literal(1)).select_from(table).where(sa.or_(*map(_wrong, table.c))).limit(1)
        return self._connection.execute(asked).first() is not None


def as_written(column: sa.Column[Any]) -> sa.ColumnElement[bool]:
    """Whether a value of SQLite is one that the column's type writes; never null."""
    right = _of_kind(column)
    if column.nullable:
        right = sa.or_(column.is_(None), right)
    return sa.func.coalesce(right, sa.false())


def _of_kind(column: sa.Column[Any]) -> sa.ColumnElement[bool]:
    stored, kind = sa.func.typeof(column), column.type
    raw: sa.ColumnElement[Any] = sa.type_coerce(column, sa.String())
    if isinstance(kind, sa.Boolean):
        return sa.and_(stored == "integer", sa.type_coerce(column, sa.Integer()).in_((0, 1)))
    if isinstance(kind, sa.Integer):
        return stored == "integer"
    if isinstance(kind, sa.Float):  # an infinite number has no spelling in a digest
        return sa.and_(stored == "real", sa.func.abs(column) <= _GREATEST)
    size = sa.func.length(sa.cast(raw, sa.LargeBinary()))  # of a text it ends at a NUL
    if isinstance(kind, sa.Uuid):
        form = sa.and_(size == 32, ~raw.op("GLOB", is_comparison=True)("*[^0-9a-f]*"))
    elif isinstance(kind, schema.Moment):
        form = sa.and_(size == 26, _moment(raw))
    elif isinstance(kind, sa.JSON):
        form = sa.func.streamverify_json(sa.cast(raw, sa.LargeBinary()), type_=sa.Boolean()).is_(True)
    elif isinstance(kind, sa.Enum):
        form = raw.in_(kind.enums)
    else:
        form = sa.func.streamverify_text(sa.cast(raw, sa.LargeBinary()), type_=sa.Boolean()).is_(True)
    return sa.and_(stored == "text", form)


def _moment(raw: sa.ColumnElement[Any]) -> sa.ColumnElement[bool]:
    """A day that there is, in a year that Python knows: SQLite makes another one of any that there is not."""
    seconds = sa.func.substr(raw, 1, 19)
    there_is = sa.func.strftime("%Y-%m-%d %H:%M:%S", seconds, "+0 days") == seconds
    return sa.and_(raw.op("GLOB", is_comparison=True)(_MOMENT), sa.func.substr(raw, 1, 4) != "0000", there_is)


def _wrong(column: sa.Column[Any]) -> sa.ColumnElement[bool]:
    return sa.not_(as_written(column))


def _shown(column: sa.Column[Any]) -> sa.ColumnElement[bytes]:
    """As SQL spells it; as bytes, since a text need not be one."""
    spelled = sa.func.quote(sa.type_coerce(column, sa.String()))
    return sa.cast(sa.func.substr(spelled, 1, _LONGEST), sa.LargeBinary())


def _subject(table: sa.Table) -> sa.ColumnElement[Any]:
    names = [name for name in _KEY if name in table.c]
    if not names or table.name == "heads":
        return sa.null()
    column = table.c[names[0]]
    return sa.case((as_written(column), sa.type_coerce(column, sa.String())))


def _entry(table: sa.Table) -> sa.ColumnElement[Any]:
    if table is not schema.entries:
        return sa.null()
    return sa.case((as_written(table.c.number), table.c.number))


def _teach(connection: sa.Connection) -> None:
    """Give SQLite what it cannot tell by itself."""
    driver = connection.connection.driver_connection
    assert driver is not None
    driver.create_function("streamverify_text", 1, _is_text, deterministic=True)
    driver.create_function("streamverify_json", 1, _is_json, deterministic=True)


def _is_text(raw: bytes | None) -> bool:
    """SQLite asks of null too, whatever stands before it in the condition."""
    try:
        (raw or b"").decode()
    except UnicodeDecodeError:
        return False
    return True


def _is_json(raw: bytes | None) -> bool:
    """Whether it is spelled as SQLAlchemy spells it: no key twice, of which SQL would read the other one."""
    try:
        text = (raw or b"").decode()
        value = json.loads(text)
        canonical(value).encode()  # what no digest can be made of was not written either
        return json.dumps(value) == text
    except (ValueError, RecursionError):
        return False
