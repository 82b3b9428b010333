"""The hash chain: every record is an entry, and every entry holds the hash of the one before it.

Before: `writer.py` appends. After: `verifying.py` walks it.

    hash(n) = SHA-256(hash(n-1), n, moment, kind, subject, digest of the subject's rows)

The digest of rows leaves out the texts themselves, not their digests: a text can go and the chain holds.
Who appends holds the chain's head, so that two writers never append to the same place.
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from streamverify.records import schema
from streamverify.records.digests import digest, digest_of_rows, link
from streamverify.records.spelling import Spelling

_RETRIEVED = ("retrievals", "retrieval_items")
_ERASED = schema.erased_judgments.c.judgment_id == schema.judgments.c.id
_TOLD_LATER = schema.judgments.c.by.is_not(None) | sa.exists().where(_ERASED)
"""A judgment that somebody made later, whose name may be gone, and which is an entry of its own."""

PARTS: Mapping[str, Mapping[str, sa.ColumnElement[bool]]] = {
    "opening": {
        "streams": sa.true(),
        "stream_roles": sa.true(),
        "stream_tags": sa.true(),
        **{name: schema.metadata.tables[name].c.number == 0 for name in _RETRIEVED},
    },
    "conclusion": {
        "conclusions": sa.true(),
        "sentences": sa.true(),
        "actions": sa.true(),
        "evidence": sa.true(),
        "citations": sa.true(),
        "citation_passages": sa.true(),
        "judgments": ~_TOLD_LATER,
        **{name: schema.metadata.tables[name].c.number > 0 for name in _RETRIEVED},
    },
    "judgment": {"judgments": _TOLD_LATER},
    "content": {"content": sa.true()},
    "erasure": {"erasures": sa.true(), "erased_streams": sa.true(), "erased_judgments": sa.true()},
    "run": {"runs": sa.true(), "run_figures": sa.true(), "run_texts": sa.true()},
}
"""Kind of entry to its tables, and which of their rows belong to it."""

SUBJECTS = {
    "opening": ("id", "stream_id"),
    "conclusion": ("stream_id",),
    "content": ("stream_id",),
    "judgment": ("id",),
    "erasure": ("id", "erasure_id"),
    "run": ("id", "run_id"),
}
"""Kind of entry to the columns that name its subject; a table has the last of them, or the first."""


def subject_column(kind: str, table: str) -> str:
    """The column of a table that names the subject of an entry."""
    names = SUBJECTS[kind]
    columns = schema.metadata.tables[table].c
    return names[-1] if names[-1] in columns else names[0]


def content_digest(rows: Mapping[str, Iterable[Mapping[str, Any]]]) -> str:
    """The digest of one entry's rows, without texts that may go."""

    def bare(table: str, row: Mapping[str, Any]) -> dict[str, Any]:
        gone = {*schema.ERASABLE.get(table, ()), *(["salt"] if table in schema.SALTED else [])}
        # A row from before there was a `kept_digest` has the digest it had then.
        gone |= {name for name in ("kept_digest",) if row.get(name) is None}
        return {name: value for name, value in row.items() if name not in gone}

    return digest_of_rows({table: [bare(table, row) for row in held] for table, held in rows.items() if held})


def kept_digest(rows: Mapping[str, Iterable[Mapping[str, Any]]], salted: str) -> str:
    """The digest of one entry's texts as they are stored.

    Args:
        rows: of the entry, by table.
        salted: the stream's salt.
    """

    def texts(name: str, row: Mapping[str, Any]) -> dict[str, Any]:
        key = schema.metadata.tables[name].primary_key.columns.keys()
        return {column: row[column] for column in (*key, *schema.ERASABLE[name])}

    told = {
        name: [texts(name, row) for row in held] for name, held in rows.items() if name in schema.ERASABLE
    }
    return digest(digest_of_rows({name: held for name, held in told.items() if held}), salted)


def content_of(
    connection: sa.Connection, kind: str, subjects: Sequence[uuid.UUID], spelling: Spelling
) -> dict[uuid.UUID, dict[str, list[dict[str, Any]]]]:
    """The rows of entries of one kind, by subject and table, as they are in the database.

    A row that cannot be read, since a value is not spelled as the library writes it, is left out.
    """
    found: dict[uuid.UUID, dict[str, list[dict[str, Any]]]] = {one: defaultdict(list) for one in subjects}
    for name, belongs in PARTS[kind].items():
        table, column = schema.metadata.tables[name], subject_column(kind, name)
        asked = sa.select(table).where(table.c[column].in_(subjects), belongs, spelling.right(*table.c))
        for row in connection.execute(asked).mappings():
            found[row[column]][name].append(dict(row))
    return found


def head_for_appending(connection: sa.Connection) -> tuple[int, str]:
    """The last entry's number and hash; nobody else appends until this transaction has ended."""
    asked = (
        sa.select(schema.heads.c.number, schema.heads.c.hash).where(schema.heads.c.id == 1).with_for_update()
    )
    number, last = connection.execute(asked).one()
    return number, last


def append(
    connection: sa.Connection, head: tuple[int, str], at: datetime, said: Sequence[tuple[str, uuid.UUID, str]]
) -> None:
    """Add entries.

    Args:
        connection: in the transaction that took the head.
        head: as `head_for_appending` gave it.
        at: now.
        said: kind, subject and digest of the content of each.
    """
    number, last = head
    rows = []
    for kind, subject, content in said:
        number, last = number + 1, link(last, number + 1, at, kind, subject, content)
        rows.append(
            {"number": number, "at": at, "kind": kind, "subject": subject, "digest": content, "hash": last}
        )
    if rows:
        connection.execute(sa.insert(schema.entries), rows)
        connection.execute(
            sa.update(schema.heads).where(schema.heads.c.id == 1).values(number=number, hash=last)
        )
