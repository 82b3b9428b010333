"""Streams' rows into the database, many streams in one transaction.

Before: `rows.py`. After: `chain.py` appends an entry for each.
"""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from streamverify.records import chain, live, schema
from streamverify.records.rows import Rows, Written
from streamverify.records.sources import SourceChunk

_MANY = 500
"""Values in one list of a question."""

Access = tuple[int, datetime, uuid.UUID]
"""Number, moment and id of the access in force."""


def write(connection: sa.Connection, batch: Sequence[Written], now: datetime) -> None:
    """Add the rows of a batch and their entries.

    Args:
        connection: in a writing transaction of its own.
        batch: in the order in which it happened.
        now: the moment of the entries.
    """
    head = chain.head_for_appending(connection)
    given = [chunk for written in batch for _, chunks in written.retrieved for chunk in chunks]
    _add_documents(connection, given)
    in_force = _accesses(connection, given)
    rows: Rows = {table.name: [] for table in schema.metadata.sorted_tables}
    said = []
    for written in batch:
        own = dict(written.rows)
        own["retrievals"], own["retrieval_items"] = [], []
        for number, chunks in written.retrieved:
            own["retrievals"].append({"stream_id": written.subject, "number": number})
            for rank, chunk in enumerate(chunks):
                access = _access(rows, in_force, chunk, now)
                own["retrieval_items"].append(_item(written.subject, number, rank, chunk, access))
        said.append((written.kind, written.subject, chain.content_digest(own)))
        for name, held in own.items():
            rows[name] += held
    _add_chunks(connection, batch)
    for table in schema.metadata.sorted_tables:
        if rows[table.name]:
            connection.execute(sa.insert(table), rows[table.name])
    chain.append(connection, head, now, said)
    live.forget(connection, [written.subject for written in batch if written.kind == "conclusion"])


def present(connection: sa.Connection, batch: Sequence[Written]) -> set[tuple[str, uuid.UUID]]:
    """Kind and subject of those that are in the database already."""
    found = set()
    for some in _portions([written.subject for written in batch]):
        asked = sa.select(schema.entries.c.kind, schema.entries.c.subject).where(
            schema.entries.c.subject.in_(some)
        )
        found |= {(kind, subject) for kind, subject in connection.execute(asked)}
    return found


def _item(stream: uuid.UUID, number: int, rank: int, chunk: SourceChunk, access: uuid.UUID) -> dict[str, Any]:
    return {
        "stream_id": stream,
        "number": number,
        "rank": rank,
        "passage": chunk.passage,
        "score": chunk.score,
        "chunk_id": chunk.id,
        "access_id": access,
    }


def _add_documents(connection: sa.Connection, given: Sequence[SourceChunk]) -> None:
    documents = {chunk.document.id: chunk.document for chunk in given}
    rows = [
        {
            "id": identity,
            "tenant": document.tenant,
            "uri": document.uri,
            "checksum": document.checksum,
            "title": document.title,
            "topic": document.topic,
            "updated_at": document.updated_at,
        }
        for identity, document in documents.items()
    ]
    tags = [
        {"document_id": identity, "tag": tag}
        for identity, document in documents.items()
        for tag in sorted(document.tags)
    ]
    _add_new(connection, schema.documents, rows)
    _add_new(connection, schema.document_tags, tags)


def _add_chunks(connection: sa.Connection, batch: Sequence[Written]) -> None:
    rows: dict[uuid.UUID, dict[str, Any]] = {}
    for written in batch:
        for chunk in (chunk for _, chunks in written.retrieved for chunk in chunks):
            stored = chunk.text if chunk.redacted is None else chunk.redacted
            row = {
                "id": chunk.id,
                "document_id": chunk.document.id,
                "text": None if written.keep == "hashes" else stored,
                "digest": chunk.digest,
                "chars": len(chunk.text),
                "page": chunk.page,
                "section": chunk.section,
                "kept_digest": chunk.kept_digest,
            }
            rows.setdefault(chunk.id, row)
    _add_new(connection, schema.chunks, list(rows.values()))


def _accesses(connection: sa.Connection, given: Sequence[SourceChunk]) -> dict[uuid.UUID, Access]:
    """Document to the access that was told last."""
    table, found = schema.accesses, {}
    for some in _portions({chunk.document.id for chunk in given}):
        asked = sa.select(table.c.document_id, table.c.number, table.c.at, table.c.id)
        for document, *access in connection.execute(
            asked.where(table.c.document_id.in_(some)).order_by(table.c.number)
        ):
            found[document] = tuple(access)
    return found


def _access(rows: Rows, in_force: dict[uuid.UUID, Access], chunk: SourceChunk, now: datetime) -> uuid.UUID:
    """The access a passage tells: the one in force, or a new one where it differs."""
    document, told = chunk.document.id, chunk.access
    number, at, known = in_force.get(document, (0, now, None))
    if known is not None and told.id(document, number, at) == known:
        return known
    identity = told.id(document, number + 1, now)
    in_force[document] = (number + 1, now, identity)
    rows["accesses"].append(
        {
            "id": identity,
            "document_id": document,
            "number": number + 1,
            "at": now,
            "visibility": told.visibility,
            "owner": told.owner,
        }
    )
    rows["access_roles"] += [{"access_id": identity, "role": role} for role in sorted(told.roles)]
    return identity


def _add_new(connection: sa.Connection, table: sa.Table, rows: list[dict[str, Any]]) -> None:
    """Add the rows that are not there."""
    if rows:
        dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
        connection.execute(dialect.insert(table).on_conflict_do_nothing(), rows)


def _portions(values: Iterable[uuid.UUID]) -> Iterable[list[uuid.UUID]]:
    remaining = iter(values)
    while some := list(itertools.islice(remaining, _MANY)):
        yield some
