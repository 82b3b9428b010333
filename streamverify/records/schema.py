"""The tables, one metadata for SQLite and PostgreSQL.

Before: `writer.py` and `reader.py`. After: the database.

    documents ─ document_tags                  a version of a document
        ├ accesses ─ access_roles              who may see it, as told over time
        └ chunks                               its parts that were retrieved
    streams ─ stream_roles, stream_tags        one answer: who asked what, under which policy
        ├ retrievals ─ retrieval_items         what was retrieved, with rank, score and the access in force
        ├ conclusions                          how it ended: answer, released text, figures
        ├ sentences ─ evidence, actions        what was said, what stood behind it, what became of it
        ├ citations ─ citation_passages        what was cited, and what came of checking that
        ├ judgments                            by model, rule, judge or human; a later one supersedes
        └ content                              structured output of a domain
    erasures ─ erased_streams                  whose texts are gone, when and why
        └ erased_judgments                     without the name of who judged; the digest of what is left
    runs ─ run_figures, run_texts              figures of evaluations, over all cases and of each
    entries                                    the hash chain over all of it, and the outbox of sinks
    sink_positions                             how far a sink has read the entries
    hours, document_hours, own_hours, own_document_hours, hour_values
                                               sums, made of the rows and thrown away at will (`hours.py`)
    live_sentences                             of answers that are being written, until their end (`live.py`)

Rows are added, never changed and never deleted: triggers refuse it. Only a text or a name can go, which
`erasures` tells. Ids of documents, accesses and chunks are digests of what they hold, so a change shows.
"""

from __future__ import annotations

from datetime import UTC, datetime

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.types import TypeDecorator

_NAMES = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s",
    "pk": "pk_%(table_name)s",
}
metadata = sa.MetaData(naming_convention=_NAMES)


class Moment(TypeDecorator[datetime]):
    """A moment in UTC; SQLite, which forgets the zone, gets it back on reading."""

    impl = sa.DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: sa.Dialect) -> datetime | None:  # noqa: ARG002
        """To the database."""
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: sa.Dialect) -> datetime | None:  # noqa: ARG002
        """From the database."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


Json = sa.JSON().with_variant(JSONB(), "postgresql")
Number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
Digest = sa.String(64)


def _kept_digest() -> sa.Column[str]:
    return sa.Column("kept_digest", Digest)


VISIBILITIES = ("public", "internal", "restricted")
SOURCES = ("model", "rule", "judge", "human")
KINDS = ("opening", "conclusion", "judgment", "content", "erasure", "run")


def _words(name: str, words: tuple[str, ...]) -> sa.Enum:
    return sa.Enum(*words, name=name, native_enum=False, create_constraint=True, length=16)


def _stream(*, key: bool = True) -> sa.Column[object]:
    return sa.Column("stream_id", sa.Uuid(), sa.ForeignKey("streams.id"), primary_key=key, nullable=False)


documents = sa.Table(
    "documents",
    metadata,
    sa.Column("id", sa.Uuid(), primary_key=True),
    sa.Column("tenant", sa.Text(), nullable=False),
    sa.Column("uri", sa.Text(), nullable=False),
    sa.Column("checksum", sa.Text(), nullable=False),
    sa.Column("title", sa.Text()),
    sa.Column("topic", sa.Text()),
    sa.Column("updated_at", Moment()),
)

document_tags = sa.Table(
    "document_tags",
    metadata,
    sa.Column("document_id", sa.Uuid(), sa.ForeignKey("documents.id"), primary_key=True),
    sa.Column("tag", sa.Text(), primary_key=True),
)

accesses = sa.Table(
    "accesses",
    metadata,
    sa.Column("id", sa.Uuid(), primary_key=True),
    sa.Column("document_id", sa.Uuid(), sa.ForeignKey("documents.id"), nullable=False),
    sa.Column("number", sa.Integer(), nullable=False),
    sa.Column("at", Moment(), nullable=False),
    sa.Column("visibility", _words("visibility", VISIBILITIES), nullable=False),
    sa.Column("owner", sa.Text()),
    sa.UniqueConstraint("document_id", "number"),
)

access_roles = sa.Table(
    "access_roles",
    metadata,
    sa.Column("access_id", sa.Uuid(), sa.ForeignKey("accesses.id"), primary_key=True),
    sa.Column("role", sa.Text(), primary_key=True),
)

chunks = sa.Table(
    "chunks",
    metadata,
    sa.Column("id", sa.Uuid(), primary_key=True),
    sa.Column("document_id", sa.Uuid(), sa.ForeignKey("documents.id"), nullable=False, index=True),
    sa.Column("text", sa.Text()),
    sa.Column("digest", Digest, nullable=False),
    sa.Column("chars", sa.Integer(), nullable=False),
    sa.Column("page", sa.Text()),
    sa.Column("section", sa.Text()),
    _kept_digest(),
)

streams = sa.Table(
    "streams",
    metadata,
    sa.Column("id", sa.Uuid(), primary_key=True),
    sa.Column("tenant", sa.Text(), nullable=False),
    sa.Column("opened_at", Moment(), nullable=False),
    sa.Column("requester", sa.Text(), index=True),
    sa.Column("requester_digest", Digest, nullable=False),
    sa.Column("domain", sa.Text()),
    sa.Column("conversation", sa.Text()),
    sa.Column("run", sa.Text(), index=True),
    sa.Column("policy", sa.Text(), nullable=False),
    sa.Column("fingerprint", Json, nullable=False),
    sa.Column("kept", sa.String(16), nullable=False),
    sa.Column("salt", sa.String(32)),
    sa.Column("question", sa.Text()),
    sa.Column("question_digest", Digest, nullable=False),
    _kept_digest(),
    sa.Index("ix_streams_tenant_opened_at", "tenant", "opened_at"),
)

stream_roles = sa.Table("stream_roles", metadata, _stream(), sa.Column("role", sa.Text(), primary_key=True))

stream_tags = sa.Table(
    "stream_tags",
    metadata,
    _stream(),
    sa.Column("name", sa.Text(), primary_key=True),
    sa.Column("value", sa.Text(), nullable=False),
)

retrievals = sa.Table("retrievals", metadata, _stream(), sa.Column("number", sa.Integer(), primary_key=True))

retrieval_items = sa.Table(
    "retrieval_items",
    metadata,
    _stream(),
    sa.Column("number", sa.Integer(), primary_key=True),
    sa.Column("rank", sa.Integer(), primary_key=True),
    sa.Column("passage", sa.Text(), nullable=False),
    sa.Column("score", sa.Float()),
    sa.Column("chunk_id", sa.Uuid(), sa.ForeignKey("chunks.id"), nullable=False, index=True),
    sa.Column("access_id", sa.Uuid(), sa.ForeignKey("accesses.id"), nullable=False),
)

conclusions = sa.Table(
    "conclusions",
    metadata,
    _stream(),
    sa.Column("concluded_at", Moment(), nullable=False),
    sa.Column("outcome", _words("outcome", ("finished", "halted", "failed")), nullable=False),
    sa.Column("error", sa.Text()),
    sa.Column("error_digest", Digest),
    sa.Column("answer", sa.Text()),
    sa.Column("answer_digest", Digest, nullable=False),
    sa.Column("released", sa.Text()),
    sa.Column("released_digest", Digest, nullable=False),
    sa.Column("grounding_score", sa.Float()),
    sa.Column("citation_accuracy", sa.Float()),
    sa.Column("figures", Json, nullable=False),
    _kept_digest(),
)

sentences = sa.Table(
    "sentences",
    metadata,
    _stream(),
    sa.Column("number", sa.Integer(), primary_key=True),
    sa.Column("start", sa.Integer(), nullable=False),
    sa.Column("end", sa.Integer(), nullable=False),
    sa.Column("kind", sa.String(16), nullable=False),
    sa.Column("text", sa.Text()),
    sa.Column("digest", Digest, nullable=False),
)

evidence = sa.Table(
    "evidence",
    metadata,
    _stream(),
    sa.Column("sentence", sa.Integer(), primary_key=True),
    sa.Column("rank", sa.Integer(), primary_key=True),
    sa.Column("passage", sa.Text(), nullable=False),
    sa.Column("chunk_id", sa.Uuid(), sa.ForeignKey("chunks.id"), index=True),
    sa.Column("start", sa.Integer(), nullable=False),
    sa.Column("end", sa.Integer(), nullable=False),
    sa.Column("score", sa.Float(), nullable=False),
    sa.Column("label", sa.String(16), nullable=False),
)

actions = sa.Table(
    "actions",
    metadata,
    _stream(),
    sa.Column("sentence", sa.Integer(), primary_key=True),
    sa.Column("action", sa.String(16), nullable=False, index=True),
    sa.Column("replacement", sa.Text()),
    sa.Column("replacement_digest", Digest),
)

citations = sa.Table(
    "citations",
    metadata,
    _stream(),
    sa.Column("number", sa.Integer(), primary_key=True),
    sa.Column("sentence", sa.Integer(), nullable=False),
    sa.Column("marker", sa.Text(), nullable=False),
    sa.Column("start", sa.Integer(), nullable=False),
    sa.Column("end", sa.Integer(), nullable=False),
    sa.Column("finding", sa.String(16), nullable=False),
    sa.Column("score", sa.Float()),
    sa.Column("better", sa.Text()),
)

citation_passages = sa.Table(
    "citation_passages",
    metadata,
    _stream(),
    sa.Column("citation", sa.Integer(), primary_key=True),
    sa.Column("rank", sa.Integer(), primary_key=True),
    sa.Column("passage", sa.Text(), nullable=False),
    sa.Column("chunk_id", sa.Uuid(), sa.ForeignKey("chunks.id"), index=True),
)

judgments = sa.Table(
    "judgments",
    metadata,
    sa.Column("id", sa.Uuid(), primary_key=True),
    sa.Column("stream_id", sa.Uuid(), sa.ForeignKey("streams.id"), nullable=False, index=True),
    sa.Column("sentence", sa.Integer()),
    sa.Column("at", Moment(), nullable=False),
    sa.Column("source", _words("source", SOURCES), nullable=False),
    sa.Column("by", sa.Text()),
    sa.Column("criterion", sa.Text(), nullable=False),
    sa.Column("label", sa.Text(), nullable=False),
    sa.Column("passed", sa.Boolean()),
    sa.Column("score", sa.Float()),
    sa.Column("severity", sa.String(16)),
    sa.Column("detail", sa.Text()),
    sa.Column("detail_digest", Digest),
    sa.Column("supersedes", sa.Uuid(), sa.ForeignKey("judgments.id"), unique=True),
    _kept_digest(),
)
_FAILED = judgments.c.passed.is_(False)
for _name, _columns in (
    ("ix_judgments_failed_at", ("at",)),
    ("ix_judgments_failed_criterion_at", ("criterion", "at")),
):  # few of very many rows
    sa.Index(_name, *(judgments.c[name] for name in _columns), sqlite_where=_FAILED, postgresql_where=_FAILED)

content = sa.Table(
    "content",
    metadata,
    _stream(),
    sa.Column("domain", sa.Text(), nullable=False),
    sa.Column("version", sa.Text(), nullable=False),
    sa.Column("output", sa.Text()),
    sa.Column("output_digest", Digest, nullable=False),
    _kept_digest(),
)

erasures = sa.Table(
    "erasures",
    metadata,
    sa.Column("id", sa.Uuid(), primary_key=True),
    sa.Column("at", Moment(), nullable=False),
    sa.Column("by", sa.Text()),
    sa.Column("reason", sa.Text(), nullable=False),
    sa.Column("streams", sa.Integer(), nullable=False),
)

erased_streams = sa.Table(
    "erased_streams",
    metadata,
    sa.Column("erasure_id", sa.Uuid(), sa.ForeignKey("erasures.id"), primary_key=True),
    _stream(),
)

erased_judgments = sa.Table(
    "erased_judgments",
    metadata,
    sa.Column("erasure_id", sa.Uuid(), sa.ForeignKey("erasures.id"), nullable=False, index=True),
    sa.Column("judgment_id", sa.Uuid(), sa.ForeignKey("judgments.id"), primary_key=True),
    sa.Column("digest", Digest, nullable=False),
)

runs = sa.Table(
    "runs",
    metadata,
    sa.Column("id", sa.Uuid(), primary_key=True),
    sa.Column("name", sa.Text(), nullable=False),
    sa.Column("digest", Digest, nullable=False, unique=True),
    sa.Column("imported_at", Moment(), nullable=False),
)

run_figures = sa.Table(
    "run_figures",
    metadata,
    sa.Column("run_id", sa.Uuid(), sa.ForeignKey("runs.id"), primary_key=True),
    sa.Column("metric", sa.Text(), primary_key=True),
    sa.Column("value", sa.Float()),
    sa.Column("low", sa.Float()),
    sa.Column("high", sa.Float()),
    sa.Column("computed", sa.Integer(), nullable=False),
    sa.Column("not_computed", Json, nullable=False),
)

run_texts = sa.Table(
    "run_texts",
    metadata,
    sa.Column("run_id", sa.Uuid(), sa.ForeignKey("runs.id"), primary_key=True),
    sa.Column("text", sa.Text(), nullable=False),
)

entries = sa.Table(
    "entries",
    metadata,
    sa.Column("number", Number, primary_key=True, autoincrement=False),
    sa.Column("at", Moment(), nullable=False),
    sa.Column("kind", _words("kind", KINDS), nullable=False),
    sa.Column("subject", sa.Uuid(), nullable=False, index=True),
    sa.Column("digest", Digest, nullable=False),
    sa.Column("hash", Digest, nullable=False),
)

heads = sa.Table(
    "heads",
    metadata,
    sa.Column("id", sa.Integer(), primary_key=True, autoincrement=False),
    sa.Column("number", Number, nullable=False),
    sa.Column("hash", Digest, nullable=False),
)

sink_positions = sa.Table(
    "sink_positions",
    metadata,
    sa.Column("sink", sa.Text(), primary_key=True),
    sa.Column("number", Number, nullable=False),
)

ERASABLE = {
    "streams": ("question", "requester"),
    "chunks": ("text",),
    "conclusions": ("answer", "released", "error"),
    "sentences": ("text",),
    "actions": ("replacement",),
    "judgments": ("detail",),
    "content": ("output",),
}
"""Columns whose text may go, by table: from something to null and never back.

The digest of each stays, in the column `…_digest`, or `digest` for `text`."""

KEPT = {"opening": "streams", "conclusion": "conclusions", "judgment": "judgments", "content": "content"}
"""Kind of entry to the table whose row has in `kept_digest` the digest of the entry's texts as they are
stored, where these are not the original ones: personal data was taken out of them."""

SALTED = frozenset({"streams"})
"""Tables that hold the salt of their texts' digests, which goes with the texts."""

CHANGING = frozenset(
    "heads sink_positions live_sentences "
    "hours document_hours own_hours own_document_hours hour_values".split()
)
"""Tables that hold no record: where the chain is appended, where sinks stand, sums (`hours.py`), and what is
said of streams that run (`live.py`)."""
