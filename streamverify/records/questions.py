"""Questions that join many streams: who is cited, refused, leaned on, failing, to blame.

Before: `reader.py` adds what its requester may see. After: SQL. `graph/cypher.py` asks the same of a graph.

Documents are told apart by their `uri`, whatever their version. `which` are conditions of `streams`: each of
these reads all that fit.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from streamverify.records import schema
from streamverify.records.conditions import CONTRADICTED, SUPPORTED, could_see, counts, of_sentence
from streamverify.records.requester import Requester
from streamverify.records.rows import GROUNDING

_s, _d, _j = schema.streams, schema.documents, schema.judgments
_chunks, _items, _tags = schema.chunks, schema.retrieval_items, schema.document_tags
_cited, _named, _evidence = schema.citations, schema.citation_passages, schema.evidence


def cited(requester: Requester, *which: sa.ColumnElement[bool]) -> sa.Select[Any]:
    """Each cited document: citations that name it, those that were judged, those that are correct."""
    once = citing(requester.sees_stream(), requester.sees_document(), *which).subquery()
    correct = _count(once.c.finding == "correct")
    judged = _count(once.c.finding != "unverified")
    return (
        sa.select(
            once.c.document.label("uri"),
            sa.func.count().label("citations"),
            judged.label("judged"),
            correct.label("correct"),
        )
        .group_by(once.c.document)
        .order_by(correct.desc(), sa.func.count().desc(), once.c.document)
    )


def citing(*which: sa.ColumnElement[bool], by: sa.ColumnElement[Any] = _d.c.uri) -> sa.Select[Any]:
    """Each citation and document that it names, once: `document`, `stream`, `number`, `finding`.

    Args:
        which: conditions of `streams` and `documents`.
        by: column that tells documents apart.
    """
    return (
        sa.select(by.label("document"), _s.c.id.label("stream"), _cited.c.number, _cited.c.finding)
        .select_from(_of_documents(_named, _citations()))
        .where(*which)
        .distinct()
    )


def scopes(requester: Requester, *which: sa.ColumnElement[bool]) -> sa.Select[Any]:
    """Each scope: in how many answers a document of it was retrieved, and in how many by who may not see it.

    Streams whose texts were erased do not count: nobody knows any more who asked.
    """
    pairs = (
        sa.select(
            _tags.c.tag.label("scope"),
            _s.c.id.label("stream"),
            _d.c.id.label("document"),
            sa.func.min(could_see()).label("seen"),
        )
        .select_from(
            _of_documents(_items, _s.join(_items, _items.c.stream_id == _s.c.id)).join(
                _tags, _tags.c.document_id == _d.c.id
            )
        )
        .where(requester.sees_stream(), requester.sees_document(), _s.c.salt.is_not(None), *which)
        .group_by(_tags.c.tag, _s.c.id, _d.c.id)
        .subquery()
    )
    refused = _count(pairs.c.seen == 0)
    return (
        sa.select(pairs.c.scope, sa.func.count().label("retrieved"), refused.label("refused"))
        .group_by(pairs.c.scope)
        .order_by(refused.desc(), sa.func.count().desc(), pairs.c.scope)
    )


def dependencies(requester: Requester, *which: sa.ColumnElement[bool]) -> sa.Select[Any]:
    """Pairs of documents: sentences that cite the one and are supported by the other, or cite both."""
    by = (
        sa.select(_cited.c.stream_id, _cited.c.sentence, _d.c.uri)
        .select_from(_of_documents(_named, _citations()))
        .where(requester.sees_stream(), requester.sees_document(), *which)
        .distinct()
    )
    citing, beside = by.subquery("citing"), by.subquery("beside")
    supporting = (
        sa.select(_evidence.c.stream_id, _evidence.c.sentence, _d.c.uri)
        .select_from(_of_documents(_evidence, _s.join(_evidence, _evidence.c.stream_id == _s.c.id)))
        .where(requester.sees_stream(), requester.sees_document(), _evidence.c.label == SUPPORTED, *which)
        .distinct()
        .subquery("supporting")
    )

    def pairs(other: sa.Subquery, supported: int) -> sa.Select[Any]:
        same = (citing.c.stream_id == other.c.stream_id) & (citing.c.sentence == other.c.sentence)
        return sa.select(
            citing.c.uri, other.c.uri.label("on"), sa.literal(supported).label("supported")
        ).select_from(citing.join(other, same & (citing.c.uri != other.c.uri)))

    found = sa.union_all(pairs(supporting, 1), pairs(beside, 0)).subquery("found")
    supported, together = _count(found.c.supported == 1), _count(found.c.supported == 0)
    return (
        sa.select(found.c.uri, found.c.on, supported.label("supported"), together.label("together"))
        .group_by(found.c.uri, found.c.on)
        .order_by(supported.desc(), together.desc(), found.c.uri, found.c.on)
    )


def failures(
    requester: Requester, *which: sa.ColumnElement[bool], criterion: str | None = None
) -> sa.Select[Any]:
    """Each run and criterion, the earliest run first: judgments that count, and what they say."""
    first = (
        sa.select(_s.c.run, sa.func.min(_s.c.opened_at).label("since"))
        .where(requester.sees_stream(), _s.c.run.is_not(None), *which)
        .group_by(_s.c.run)
        .subquery()
    )
    asked = (
        sa.select(
            first.c.run,
            first.c.since,
            _j.c.criterion,
            _count(_j.c.passed.is_(True)).label("passed"),
            _count(_j.c.passed.is_(False)).label("failed"),
            _count(_j.c.passed.is_(None)).label("undecided"),
        )
        .select_from(_s.join(_j, _j.c.stream_id == _s.c.id).join(first, first.c.run == _s.c.run))
        .where(requester.sees_stream(), counts(_j), *which)
        .group_by(first.c.run, first.c.since, _j.c.criterion)
        .order_by(first.c.since, first.c.run, _j.c.criterion)
    )
    return asked if criterion is None else asked.where(_j.c.criterion == criterion)


def blamed(requester: Requester, *which: sa.ColumnElement[bool]) -> sa.Select[Any]:
    """Documents that contradict sentences, and those behind sentences with a fabricated citation."""
    found = behind(requester.sees_stream(), requester.sees_document(), *which).subquery("found")
    contradicted, fabricated = _count(found.c.kind == AGAINST), _count(found.c.kind == INVENTED)
    return (
        sa.select(
            found.c.document.label("uri"), contradicted.label("contradicted"), fabricated.label("fabricated")
        )
        .group_by(found.c.document)
        .order_by(sa.func.count().desc(), contradicted.desc(), found.c.document)
    )


AGAINST, INVENTED = 1, 0
"""Kinds of what a document is behind: a sentence that it contradicts, a citation of nothing."""


def behind(
    *which: sa.ColumnElement[bool], by: sa.ColumnElement[Any] = _d.c.uri, few: bool = False
) -> sa.CompoundSelect[Any]:
    """What went wrong, each with a document behind it, once: `document`, `stream`, `place`, `kind`.

    Args:
        which: conditions of `streams` and `documents`.
        by: column that tells documents apart.
        few: whether they name a few streams, from which judgments are then looked for; else from those that
            failed.
    """
    # An index on the criterion would lead over every failed judgment there is.
    criterion = _j.c.criterion.concat("") if few else _j.c.criterion
    resting = _of_documents(_evidence, _s.join(_evidence, _evidence.c.stream_id == _s.c.id))
    against = (
        sa.select(
            by.label("document"),
            _s.c.id.label("stream"),
            _evidence.c.sentence.label("place"),
            sa.literal(AGAINST).label("kind"),
        )
        .select_from(resting.join(_j, of_sentence(_j, _evidence)))
        .where(
            *which,
            _evidence.c.label == CONTRADICTED,
            criterion == GROUNDING,
            _j.c.passed.is_(False),
            counts(_j),
        )
    )
    same = (_cited.c.stream_id == _evidence.c.stream_id) & (_cited.c.sentence == _evidence.c.sentence)
    invented = (
        sa.select(by, _s.c.id, _cited.c.number, sa.literal(INVENTED))
        .select_from(resting.join(_cited, same))
        .where(*which, _cited.c.finding == "fabricated", _evidence.c.label.in_((SUPPORTED, CONTRADICTED)))
    )
    return sa.union(against, invented)


def _citations() -> sa.FromClause:
    named = (_named.c.stream_id == _cited.c.stream_id) & (_named.c.citation == _cited.c.number)
    return _s.join(_cited, _cited.c.stream_id == _s.c.id).join(_named, named)


def _of_documents(beside: sa.Table, through: sa.FromClause) -> sa.FromClause:
    """Joined to the documents that the chunks of a table are parts of."""
    return through.join(_chunks, _chunks.c.id == beside.c.chunk_id).join(_d, _d.c.id == _chunks.c.document_id)


def _count(condition: sa.ColumnElement[bool]) -> sa.ColumnElement[int]:
    return sa.func.count(sa.case((condition, 1)))
