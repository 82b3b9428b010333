"""The records as a graph: every kind of node and of edge, each with the SQL that tells them.

Before: `schema.py`. After: `Reader.graph`, `replay.py`.

    Run ─CONTAINS→ Conversation ─HAS→ Message          an answer, with its outcome
    Message ─IN_RUN→ Run, ─UNDER→ Policy               User ─ASKED→ Message
    Message ─RETRIEVED→ Document                       rank, score, and whether who asked could see it then
    Message ─EVIDENCE→ Document                        sentence, label: what stood behind it, or against it
    Message ─MAKES→ Citation ─NAMES→ Document          a citation of nothing names none
    Message ─CITES→ Document                           the same in one step: section, finding, correct
    Message ─JUDGED_BY→ Judgment ─OF→ Criterion        Judgment ─SUPERSEDES→ Judgment
    Message ─FAILED→ Criterion                         by the judgments that count
    Document ─CAUSED→ Message                          a failure, with its reason
    Message ─EXHIBITS→ Pattern ─ROOTED_IN→ Criterion   how it went; which check saw why, in which message
    Document ─HAS_CHUNK→ Chunk, ─IN_SCOPE→ Scope       a scope is a tag

Nothing is stored twice: edges are read off the tables. None holds a text of a question or an answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from streamverify.records import schema
from streamverify.records.conditions import CONTRADICTED, could_see, counts, of_sentence
from streamverify.records.graph.kinds import EdgeKind, Graph, Kind, NodeKind, read
from streamverify.records.rows import GROUNDING

_s, _d, _j = schema.streams, schema.documents, schema.judgments
_items, _chunks, _tags = schema.retrieval_items, schema.chunks, schema.document_tags
_cited, _named = schema.citations, schema.citation_passages
_evidence, _ends = schema.evidence, schema.conclusions

_message = _s.c.id.label("message")
_document = _d.c.id.label("document")
_judged = _s.join(_j, _j.c.stream_id == _s.c.id)


def _to_documents(beside: sa.Table, through: sa.FromClause | None = None) -> sa.FromClause:
    """Streams, what is beside them, and the documents that its chunks are parts of."""
    return (
        (_s.join(beside, beside.c.stream_id == _s.c.id) if through is None else through)
        .join(_chunks, _chunks.c.id == beside.c.chunk_id)
        .join(_d, _d.c.id == _chunks.c.document_id)
    )


_retrieved = _to_documents(_items)
_making = _s.join(_cited, _cited.c.stream_id == _s.c.id)
_citing = _to_documents(
    _named,
    _making.join(_named, (_named.c.stream_id == _cited.c.stream_id) & (_named.c.citation == _cited.c.number)),
)
_resting = _to_documents(_evidence)
_pattern = (_j.c.criterion + ": " + _j.c.label).label("pattern")
_decided = counts(_j) & _j.c.passed.is_not(None)
_failing = counts(_j) & _j.c.passed.is_(False)


def _named_after(column: sa.ColumnElement[Any]) -> sa.Select[Any]:
    return sa.select(_s.c.tenant, column.label("name")).where(column.is_not(None)).distinct()


_OWN: Mapping[str, Kind] = {"tenant": "text", "name": "text"}

NODES = (
    NodeKind("Run", ("tenant", "name"), _OWN, _named_after(_s.c.run)),
    NodeKind("Conversation", ("tenant", "name"), _OWN, _named_after(_s.c.conversation)),
    NodeKind("User", ("tenant", "name"), _OWN, _named_after(_s.c.requester)),
    NodeKind("Policy", ("tenant", "name"), _OWN, _named_after(_s.c.policy)),
    NodeKind(
        "Message",
        ("message",),
        {
            "tenant": "text",
            "opened_at": "text",
            "domain": "text",
            "outcome": "text",
            "grounding_score": "number",
        },
        sa.select(
            _message, _s.c.tenant, _s.c.opened_at, _s.c.domain, _ends.c.outcome, _ends.c.grounding_score
        ).select_from(_s.outerjoin(_ends, _ends.c.stream_id == _s.c.id)),
    ),
    NodeKind(
        "Document",
        ("document",),
        {"tenant": "text", "uri": "text", "checksum": "text", "title": "text"},
        sa.select(_document, _d.c.tenant, _d.c.uri, _d.c.checksum, _d.c.title)
        .select_from(_retrieved)
        .distinct(),
        of_documents=True,
    ),
    NodeKind(
        "Chunk",
        ("chunk",),
        {"tenant": "text", "page": "text", "section": "text"},
        sa.select(_chunks.c.id.label("chunk"), _d.c.tenant, _chunks.c.page, _chunks.c.section)
        .select_from(_retrieved)
        .distinct(),
        of_documents=True,
    ),
    NodeKind(
        "Scope",
        ("tenant", "name"),
        _OWN,
        sa.select(_d.c.tenant, _tags.c.tag.label("name"))
        .select_from(_retrieved.join(_tags, _tags.c.document_id == _d.c.id))
        .distinct(),
        of_documents=True,
    ),
    NodeKind(
        "Citation",
        ("message", "number"),
        {
            "tenant": "text",
            "number": "whole",
            "sentence": "whole",
            "marker": "text",
            "finding": "text",
            "score": "number",
        },
        sa.select(
            _message,
            _s.c.tenant,
            _cited.c.number,
            _cited.c.sentence,
            _cited.c.marker,
            _cited.c.finding,
            _cited.c.score,
        ).select_from(_making),
    ),
    NodeKind(
        "Judgment",
        ("judgment",),
        {
            "tenant": "text",
            "sentence": "whole",
            "at": "text",
            "source": "text",
            "label": "text",
            "passed": "flag",
            "score": "number",
            "severity": "text",
        },
        sa.select(
            _j.c.id.label("judgment"),
            _s.c.tenant,
            *(_j.c[name] for name in ("sentence", "at", "source", "label", "passed", "score", "severity")),
        ).select_from(_judged),
    ),
    NodeKind(
        "Criterion",
        ("tenant", "name"),
        _OWN,
        sa.select(_s.c.tenant, _j.c.criterion.label("name")).select_from(_judged).distinct(),
    ),
    NodeKind(
        "Pattern",
        ("tenant", "name"),
        {**_OWN, "success": "flag"},
        sa.select(_s.c.tenant, _pattern.label("name"), _j.c.passed.label("success"))
        .select_from(_judged)
        .where(_decided)
        .distinct(),
    ),
)


_seen = _j.alias("seen")
_why = _judged.join(_seen, (_seen.c.stream_id == _j.c.stream_id) & (_seen.c.sentence == _j.c.sentence))
_WRONG = ("wrong_passage", "unsupported")
_AT_SENTENCE: Mapping[str, Kind] = {"sentence": "whole"}
_CAUSE: Mapping[str, Kind] = {**_AT_SENTENCE, "reason": "text"}

EDGES = (
    EdgeKind(
        "CONTAINS",
        ("Run", "tenant", "run"),
        ("Conversation", "tenant", "conversation"),
        sa.select(_s.c.tenant, _s.c.run, _s.c.conversation)
        .where(_s.c.run.is_not(None), _s.c.conversation.is_not(None))
        .distinct(),
    ),
    EdgeKind(
        "HAS",
        ("Conversation", "tenant", "conversation"),
        ("Message", "message"),
        sa.select(_s.c.tenant, _s.c.conversation, _message).where(_s.c.conversation.is_not(None)),
    ),
    EdgeKind(
        "IN_RUN",
        ("Message", "message"),
        ("Run", "tenant", "run"),
        sa.select(_message, _s.c.tenant, _s.c.run).where(_s.c.run.is_not(None)),
    ),
    EdgeKind(
        "UNDER",
        ("Message", "message"),
        ("Policy", "tenant", "policy"),
        sa.select(_message, _s.c.tenant, _s.c.policy),
    ),
    EdgeKind(
        "ASKED",
        ("User", "tenant", "requester"),
        ("Message", "message"),
        sa.select(_s.c.tenant, _s.c.requester, _message).where(_s.c.requester.is_not(None)),
        passing=True,
    ),
    EdgeKind(
        "HAS_CHUNK",
        ("Document", "document"),
        ("Chunk", "chunk"),
        sa.select(_document, _chunks.c.id.label("chunk")).select_from(_retrieved).distinct(),
        of_documents=True,
    ),
    EdgeKind(
        "IN_SCOPE",
        ("Document", "document"),
        ("Scope", "tenant", "tag"),
        sa.select(_document, _d.c.tenant, _tags.c.tag)
        .select_from(_retrieved.join(_tags, _tags.c.document_id == _d.c.id))
        .distinct(),
        of_documents=True,
    ),
    EdgeKind(
        "RETRIEVED",
        ("Message", "message"),
        ("Document", "document"),
        sa.select(
            _message,
            _document,
            _items.c.number,
            _items.c.rank,
            _items.c.score,
            could_see().label("could_see"),
        ).select_from(_retrieved),
        key={"number": "whole", "rank": "whole"},
        properties={"score": "number", "could_see": "flag"},
        of_documents=True,
    ),
    EdgeKind(
        "EVIDENCE",
        ("Message", "message"),
        ("Document", "document"),
        sa.select(
            _message,
            _document,
            *(_evidence.c[name] for name in ("sentence", "rank", "label", "score")),
        ).select_from(_resting),
        key={"sentence": "whole", "rank": "whole"},
        properties={"label": "text", "score": "number"},
        of_documents=True,
    ),
    EdgeKind(
        "MAKES",
        ("Message", "message"),
        ("Citation", "message", "number"),
        sa.select(_message, _cited.c.number).select_from(_making),
    ),
    EdgeKind(
        "NAMES",
        ("Citation", "message", "number"),
        ("Document", "document"),
        sa.select(_message, _cited.c.number, _document, _named.c.rank, _chunks.c.section).select_from(
            _citing
        ),
        key={"rank": "whole"},
        properties={"section": "text"},
        of_documents=True,
    ),
    EdgeKind(
        "CITES",
        ("Message", "message"),
        ("Document", "document"),
        sa.select(
            _message,
            _document,
            _cited.c.number,
            _named.c.rank,
            _cited.c.sentence,
            _chunks.c.section,
            _cited.c.finding,
            sa.case((_cited.c.finding == "correct", 1), else_=0).label("correct"),
        ).select_from(_citing),
        key={"number": "whole", "rank": "whole"},
        properties={"sentence": "whole", "section": "text", "finding": "text", "correct": "flag"},
        of_documents=True,
    ),
    EdgeKind(
        "JUDGED_BY",
        ("Message", "message"),
        ("Judgment", "judgment"),
        sa.select(_message, _j.c.id.label("judgment")).select_from(_judged),
    ),
    EdgeKind(
        "OF",
        ("Judgment", "judgment"),
        ("Criterion", "tenant", "criterion"),
        sa.select(_j.c.id.label("judgment"), _s.c.tenant, _j.c.criterion).select_from(_judged),
    ),
    EdgeKind(
        "SUPERSEDES",
        ("Judgment", "judgment"),
        ("Judgment", "supersedes"),
        sa.select(_j.c.id.label("judgment"), _j.c.supersedes)
        .select_from(_judged)
        .where(_j.c.supersedes.is_not(None)),
    ),
    EdgeKind(
        "FAILED",
        ("Message", "message"),
        ("Criterion", "tenant", "criterion"),
        sa.select(_message, _s.c.tenant, _j.c.criterion, _j.c.id.label("judgment"), _j.c.sentence)
        .select_from(_judged)
        .where(_failing),
        key={"judgment": "text"},
        properties=_AT_SENTENCE,
        passing=True,
    ),
    EdgeKind(
        "CAUSED",
        ("Document", "document"),
        ("Message", "message"),
        sa.select(
            _document,
            _message,
            _evidence.c.sentence,
            sa.literal(CONTRADICTED, type_=sa.Text()).label("reason"),
        )
        .select_from(_resting.join(_j, of_sentence(_j, _evidence)))
        .where(_evidence.c.label == CONTRADICTED, _j.c.criterion == GROUNDING, _failing)
        .distinct(),
        key=_CAUSE,
        of_documents=True,
        passing=True,
    ),
    EdgeKind(
        "CAUSED",
        ("Document", "document"),
        ("Message", "message"),
        sa.select(_document, _message, _cited.c.sentence, _cited.c.finding.label("reason"))
        .select_from(_citing)
        .where(_cited.c.finding.in_(_WRONG))
        .distinct(),
        key=_CAUSE,
        of_documents=True,
        passing=True,
    ),
    EdgeKind(
        "EXHIBITS",
        ("Message", "message"),
        ("Pattern", "tenant", "pattern"),
        sa.select(_message, _s.c.tenant, _pattern).select_from(_judged).where(_decided).distinct(),
        passing=True,
    ),
    EdgeKind(
        "ROOTED_IN",
        ("Pattern", "tenant", "pattern"),
        ("Criterion", "tenant", "criterion"),
        sa.select(_s.c.tenant, _pattern, _seen.c.criterion, _message, _j.c.sentence)
        .select_from(_why)
        .where(
            _failing,
            _j.c.criterion == GROUNDING,
            _seen.c.source == "rule",
            _seen.c.passed.is_(False),
            counts(_seen),
        )
        .distinct(),
        key={"message": "text", "sentence": "whole"},
        passing=True,
    ),
)
"""Two may have one name: edges of one kind that come from two places."""


def graph_of(
    connection: sa.Connection,
    streams: sa.ColumnElement[bool],
    documents: sa.ColumnElement[bool] | None = None,
) -> Graph:
    """The nodes and edges of some streams.

    Args:
        connection: one transaction, so that edges meet their nodes.
        streams: which, as a condition on `streams`.
        documents: which of their documents, as a condition on `documents`; all by default.
    """
    return read(connection, NODES, EDGES, streams, documents)
