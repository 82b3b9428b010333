"""Conditions that several questions share.

Before: `schema.py`. After: `reader.py`, `questions.py`, `graph/edges.py`.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import sqlalchemy as sa

from streamverify.records import schema

SUPPORTED, CONTRADICTED = "supported", "contradicted"


def counts(judgments: sa.FromClause) -> sa.ColumnElement[bool]:
    """Of `judgments` or an alias: no later one took its place."""
    later = schema.judgments.alias()
    return ~sa.exists().where(later.c.supersedes == judgments.c.id).correlate(judgments)


def of_sentence(
    judgments: sa.FromClause, table: sa.FromClause, number: str = "sentence"
) -> sa.ColumnElement[bool]:
    """Of `judgments`: about the sentence that a row of the table names, in the column `number`."""
    return (judgments.c.stream_id == table.c.stream_id) & (judgments.c.sentence == table.c[number])


def could_see() -> sa.ColumnElement[Any]:
    """Of `retrieval_items` and `streams`: whether who asked could see the document then; 1, 0 or null.

    Null where the stream's texts were erased, and with them who asked.
    """
    items, streams, accesses = schema.retrieval_items, schema.streams, schema.accesses
    named, held = schema.access_roles, schema.stream_roles
    has_role = (
        sa.exists()
        .where(
            named.c.access_id == accesses.c.id, held.c.role == named.c.role, held.c.stream_id == streams.c.id
        )
        .correlate(accesses, streams)
    )
    known = streams.c.requester.is_not(None)
    allowed = sa.or_(
        accesses.c.visibility == "public",
        sa.and_(known, accesses.c.visibility == "internal"),
        sa.and_(known, accesses.c.owner == streams.c.requester),
        has_role,
    )
    could = sa.exists().where(accesses.c.id == items.c.access_id, allowed).correlate(items, streams)
    return sa.case((streams.c.salt.is_(None), sa.null()), (could, 1), else_=0)


def opened(since: datetime | None, until: datetime | None) -> list[sa.ColumnElement[bool]]:
    """Of `streams`: opened at a moment or later, and before another; None for no bound."""
    at = schema.streams.c.opened_at
    return [
        *([] if since is None else [at >= since]),
        *([] if until is None else [at < until]),
    ]
