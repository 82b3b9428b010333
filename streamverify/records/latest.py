"""The latest of what went wrong, without reading years of records: withheld sentences, failed judgments.

Before: `reader.py`. After: SQL.

Pages of streams or of judgments are taken off an index, the latest first, until there are enough that the
requester may see. Where few sentences were ever withheld they are found by their actions.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import sqlalchemy as sa

from streamverify.records import schema
from streamverify.records.answers import WithheldRow
from streamverify.records.conditions import counts
from streamverify.records.requester import Requester

WITHHELD = ("redact", "halt", "repair")
"""Actions after which a reader did not see the sentence as it was generated."""
PAGE = 1_000
"""Streams that are looked through at once."""

Rows = Callable[[sa.Select[Any]], Sequence[dict[str, Any]]]
"""Asks the database."""

_s, _actions, _sentences = schema.streams, schema.actions, schema.sentences


def withheld(
    rows: Rows, requester: Requester, limit: int, stream: uuid.UUID | None = None
) -> list[WithheldRow]:
    """The latest of them.

    Args:
        rows: asks the database.
        requester: who asks.
        limit: how many, 1 or more.
        stream: of this one alone.
    """
    found: list[WithheldRow] = []
    for streams in [[stream]] if stream is not None else _streams(rows, requester):
        left = limit - len(found)
        found += [WithheldRow(**row) for row in rows(_of(streams, requester, left))]
        if len(found) >= limit:
            break
    return found


def failures(rows: Rows, criterion: str | None) -> Iterator[list[uuid.UUID]]:
    """Judgments that say that something failed, whoever may see them, in pages, the latest first."""
    judgments = schema.judgments
    asked = sa.select(judgments.c.id, judgments.c.at).where(judgments.c.passed.is_(False))
    if criterion is not None:
        asked = asked.where(judgments.c.criterion == criterion)
    asked = asked.order_by(judgments.c.at.desc(), judgments.c.id).limit(PAGE)
    return _pages(rows, asked, judgments.c.at, judgments.c.id)


def said(requester: Requester, *, known: bool = False) -> sa.FromClause:
    """Sentences with their actions, of streams the requester may see; `known` as for `sees_stream`."""
    same = (_actions.c.stream_id == _sentences.c.stream_id) & (_actions.c.sentence == _sentences.c.number)
    sees = requester.sees_stream(known=known)
    return _sentences.join(_actions, same).join(_s, (_s.c.id == _sentences.c.stream_id) & sees)


def _streams(rows: Rows, requester: Requester) -> Iterator[list[uuid.UUID]]:
    """Streams that may hold some, the latest first."""
    few = rows(sa.select(_actions.c.stream_id).where(_actions.c.action.in_(WITHHELD)).limit(PAGE + 1))
    if len(few) <= PAGE:
        yield list({row["stream_id"] for row in few})
        return
    asked = sa.select(_s.c.id, _s.c.opened_at).where(requester.sees_stream())
    asked = asked.order_by(_s.c.opened_at.desc(), _s.c.id).limit(PAGE)
    yield from _pages(rows, asked, _s.c.opened_at, _s.c.id)


def _pages(
    rows: Rows, asked: sa.Select[Any], at: sa.Column[Any], identity: sa.Column[Any]
) -> Iterator[list[uuid.UUID]]:
    """Ids, in pages; `asked` is ordered by the moment, the latest first, and then by the id."""
    page = rows(asked)
    while page:
        yield [row[identity.name] for row in page]
        last = page[-1]
        behind = (at < last[at.name]) | (identity > last[identity.name])
        page = rows(asked.where(at <= last[at.name], behind)) if len(page) == PAGE else ()


def _of(streams: Sequence[uuid.UUID], requester: Requester, limit: int) -> sa.Select[Any]:
    judgments, latest = schema.judgments, (_s.c.opened_at.desc(), _s.c.id, _sentences.c.number)
    # The sentences first, and only then their judgments: of these there is one for every sentence said.
    kept = (
        sa.select(
            _s.c.id.label("stream"),
            _s.c.opened_at,
            _s.c.requester,
            _sentences.c.number.label("sentence"),
            _actions.c.action,
            sa.case((requester.sees_text(), _sentences.c.text)).label("text"),
        )
        .select_from(said(requester, known=True))
        .where(_s.c.id.in_(streams), _actions.c.action.in_(WITHHELD))
        .order_by(*latest)
        .limit(limit)
        .subquery("kept")
    )
    of_it = (judgments.c.stream_id == kept.c.stream) & (judgments.c.sentence == kept.c.sentence)
    return (
        sa.select(kept, judgments.c.label)
        .select_from(kept)
        .join(judgments, of_it & (judgments.c.criterion == "grounding") & counts(judgments))
        .order_by(kept.c.opened_at.desc(), kept.c.stream, kept.c.sentence)
    )
