"""The tables of streams, documents and judgments."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

MOMENT = sa.DateTime(timezone=True)
NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
JSON = sa.JSON().with_variant(JSONB(), "postgresql")
DIGEST = sa.String(length=64)


def _words(name: str, *words: str) -> sa.Enum:
    return sa.Enum(*words, name=name, native_enum=False, create_constraint=True, length=16)


def upgrade() -> None:
    """Make them."""
    op.create_table(
        "documents",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("uri", sa.Text(), nullable=False),
        sa.Column("checksum", sa.Text(), nullable=False),
        sa.Column("title", sa.Text()),
        sa.Column("topic", sa.Text()),
        sa.Column("updated_at", MOMENT),
        sa.PrimaryKeyConstraint("id", name="pk_documents"),
    )
    op.create_index("ix_documents_tenant_uri_checksum", "documents", ["tenant", "uri", "checksum"])
    op.create_table(
        "entries",
        sa.Column("number", NUMBER, autoincrement=False, nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.Column(
            "kind",
            _words("kind", "opening", "conclusion", "judgment", "content", "erasure", "run"),
            nullable=False,
        ),
        sa.Column("subject", sa.Uuid(), nullable=False),
        sa.Column("digest", DIGEST, nullable=False),
        sa.Column("hash", DIGEST, nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_entries"),
    )
    op.create_index("ix_entries_subject", "entries", ["subject"])
    op.create_table(
        "erasures",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.Column("by", sa.Text()),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("streams", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_erasures"),
    )
    op.create_table(
        "heads",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("number", NUMBER, nullable=False),
        sa.Column("hash", DIGEST, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_heads"),
    )
    op.create_table(
        "runs",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("digest", DIGEST, nullable=False),
        sa.Column("imported_at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_runs"),
        sa.UniqueConstraint("digest", name="uq_runs_digest"),
    )
    op.create_table(
        "sink_positions",
        sa.Column("sink", sa.Text(), nullable=False),
        sa.Column("number", NUMBER, nullable=False),
        sa.PrimaryKeyConstraint("sink", name="pk_sink_positions"),
    )
    op.create_table(
        "streams",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("tenant", sa.Text(), nullable=False),
        sa.Column("opened_at", MOMENT, nullable=False),
        sa.Column("requester", sa.Text()),
        sa.Column("requester_digest", DIGEST, nullable=False),
        sa.Column("domain", sa.Text()),
        sa.Column("conversation", sa.Text()),
        sa.Column("run", sa.Text()),
        sa.Column("policy", sa.Text(), nullable=False),
        sa.Column("fingerprint", JSON, nullable=False),
        sa.Column("kept", sa.String(length=16), nullable=False),
        sa.Column("salt", sa.String(length=32)),
        sa.Column("question", sa.Text()),
        sa.Column("question_digest", DIGEST, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_streams"),
    )
    op.create_index("ix_streams_opened_at", "streams", ["opened_at"])
    op.create_index("ix_streams_requester", "streams", ["requester"])
    op.create_index("ix_streams_run", "streams", ["run"])
    op.create_table(
        "accesses",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("document_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.Column("visibility", _words("visibility", "public", "internal", "restricted"), nullable=False),
        sa.Column("owner", sa.Text()),
        sa.ForeignKeyConstraint(["document_id"], ["documents.id"], name="fk_accesses_document_id"),
        sa.PrimaryKeyConstraint("id", name="pk_accesses"),
        sa.UniqueConstraint("document_id", "number", name="uq_accesses_document_id_number"),
    )
    op.create_table(
        "actions",
        sa.Column("stream_id", sa.Uuid(), nullable=False),
        sa.Column("sentence", sa.Integer(), nullable=False),
        sa.Column("action", sa.String(length=16), nullable=False),
        sa.Column("replacement", sa.Text()),
        sa.Column("replacement_digest", DIGEST),
        sa.ForeignKeyConstraint(["stream_id"], ["streams.id"], name="fk_actions_stream_id"),
        sa.PrimaryKeyConstraint("stream_id", "sentence", name="pk_actions"),
    )
    op.create_index("ix_actions_action", "actions", ["action"])
    op.create_table(
        "chunks",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("document_id", sa.Uuid(), nullable=False),
        sa.Column("text", sa.Text()),
        sa.Column("digest", DIGEST, nullable=False),
        sa.Column("chars", sa.Integer(), nullable=False),
        sa.Column("page", sa.Text()),
        sa.Column("section", sa.Text()),
        sa.ForeignKeyConstraint(["document_id"], ["documents.id"], name="fk_chunks_document_id"),
        sa.PrimaryKeyConstraint("id", name="pk_chunks"),
    )
    op.create_index("ix_chunks_document_id", "chunks", ["document_id"])
    op.create_table(
        "citations",
        sa.Column("stream_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("sentence", sa.Integer(), nullable=False),
        sa.Column("marker", sa.Text(), nullable=False),
        sa.Column("start", sa.Integer(), nullable=False),
        sa.Column("end", sa.Integer(), nullable=False),
        sa.Column("finding", sa.String(length=16), nullable=False),
        sa.Column("score", sa.Float()),
        sa.Column("better", sa.Text()),
        sa.ForeignKeyConstraint(["stream_id"], ["streams.id"], name="fk_citations_stream_id"),
        sa.PrimaryKeyConstraint("stream_id", "number", name="pk_citations"),
    )
    op.create_table(
        "conclusions",
        sa.Column("stream_id", sa.Uuid(), nullable=False),
        sa.Column("concluded_at", MOMENT, nullable=False),
        sa.Column("outcome", _words("outcome", "finished", "halted", "failed"), nullable=False),
        sa.Column("error", sa.Text()),
        sa.Column("error_digest", DIGEST),
        sa.Column("answer", sa.Text()),
        sa.Column("answer_digest", DIGEST, nullable=False),
        sa.Column("released", sa.Text()),
        sa.Column("released_digest", DIGEST, nullable=False),
        sa.Column("grounding_score", sa.Float()),
        sa.Column("citation_accuracy", sa.Float()),
        sa.Column("figures", JSON, nullable=False),
        sa.ForeignKeyConstraint(["stream_id"], ["streams.id"], name="fk_conclusions_stream_id"),
        sa.PrimaryKeyConstraint("stream_id", name="pk_conclusions"),
    )
    op.create_table(
        "content",
        sa.Column("stream_id", sa.Uuid(), nullable=False),
        sa.Column("domain", sa.Text(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("output", sa.Text()),
        sa.Column("output_digest", DIGEST, nullable=False),
        sa.ForeignKeyConstraint(["stream_id"], ["streams.id"], name="fk_content_stream_id"),
        sa.PrimaryKeyConstraint("stream_id", name="pk_content"),
    )
    op.create_table(
        "document_tags",
        sa.Column("document_id", sa.Uuid(), nullable=False),
        sa.Column("tag", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["document_id"], ["documents.id"], name="fk_document_tags_document_id"),
        sa.PrimaryKeyConstraint("document_id", "tag", name="pk_document_tags"),
    )
    op.create_table(
        "erased_streams",
        sa.Column("erasure_id", sa.Uuid(), nullable=False),
        sa.Column("stream_id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(["erasure_id"], ["erasures.id"], name="fk_erased_streams_erasure_id"),
        sa.ForeignKeyConstraint(["stream_id"], ["streams.id"], name="fk_erased_streams_stream_id"),
        sa.PrimaryKeyConstraint("erasure_id", "stream_id", name="pk_erased_streams"),
    )
    op.create_table(
        "judgments",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("stream_id", sa.Uuid(), nullable=False),
        sa.Column("sentence", sa.Integer()),
        sa.Column("at", MOMENT, nullable=False),
        sa.Column("source", _words("source", "model", "rule", "judge", "human"), nullable=False),
        sa.Column("by", sa.Text()),
        sa.Column("criterion", sa.Text(), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("passed", sa.Boolean()),
        sa.Column("score", sa.Float()),
        sa.Column("severity", sa.String(length=16)),
        sa.Column("detail", sa.Text()),
        sa.Column("detail_digest", DIGEST),
        sa.Column("supersedes", sa.Uuid()),
        sa.ForeignKeyConstraint(["stream_id"], ["streams.id"], name="fk_judgments_stream_id"),
        sa.ForeignKeyConstraint(["supersedes"], ["judgments.id"], name="fk_judgments_supersedes"),
        sa.PrimaryKeyConstraint("id", name="pk_judgments"),
        sa.UniqueConstraint("supersedes", name="uq_judgments_supersedes"),
    )
    op.create_index("ix_judgments_criterion", "judgments", ["criterion"])
    op.create_index("ix_judgments_stream_id", "judgments", ["stream_id"])
    op.create_table(
        "retrievals",
        sa.Column("stream_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["stream_id"], ["streams.id"], name="fk_retrievals_stream_id"),
        sa.PrimaryKeyConstraint("stream_id", "number", name="pk_retrievals"),
    )
    op.create_table(
        "run_figures",
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("metric", sa.Text(), nullable=False),
        sa.Column("value", sa.Float()),
        sa.Column("low", sa.Float()),
        sa.Column("high", sa.Float()),
        sa.Column("computed", sa.Integer(), nullable=False),
        sa.Column("not_computed", JSON, nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name="fk_run_figures_run_id"),
        sa.PrimaryKeyConstraint("run_id", "metric", name="pk_run_figures"),
    )
    op.create_table(
        "sentences",
        sa.Column("stream_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("start", sa.Integer(), nullable=False),
        sa.Column("end", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("text", sa.Text()),
        sa.Column("digest", DIGEST, nullable=False),
        sa.ForeignKeyConstraint(["stream_id"], ["streams.id"], name="fk_sentences_stream_id"),
        sa.PrimaryKeyConstraint("stream_id", "number", name="pk_sentences"),
    )
    op.create_table(
        "stream_roles",
        sa.Column("stream_id", sa.Uuid(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["stream_id"], ["streams.id"], name="fk_stream_roles_stream_id"),
        sa.PrimaryKeyConstraint("stream_id", "role", name="pk_stream_roles"),
    )
    op.create_table(
        "stream_tags",
        sa.Column("stream_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["stream_id"], ["streams.id"], name="fk_stream_tags_stream_id"),
        sa.PrimaryKeyConstraint("stream_id", "name", name="pk_stream_tags"),
    )
    op.create_table(
        "access_roles",
        sa.Column("access_id", sa.Uuid(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["access_id"], ["accesses.id"], name="fk_access_roles_access_id"),
        sa.PrimaryKeyConstraint("access_id", "role", name="pk_access_roles"),
    )
    op.create_table(
        "citation_passages",
        sa.Column("stream_id", sa.Uuid(), nullable=False),
        sa.Column("citation", sa.Integer(), nullable=False),
        sa.Column("rank", sa.Integer(), nullable=False),
        sa.Column("passage", sa.Text(), nullable=False),
        sa.Column("chunk_id", sa.Uuid()),
        sa.ForeignKeyConstraint(["chunk_id"], ["chunks.id"], name="fk_citation_passages_chunk_id"),
        sa.ForeignKeyConstraint(["stream_id"], ["streams.id"], name="fk_citation_passages_stream_id"),
        sa.PrimaryKeyConstraint("stream_id", "citation", "rank", name="pk_citation_passages"),
    )
    op.create_index("ix_citation_passages_chunk_id", "citation_passages", ["chunk_id"])
    op.create_table(
        "evidence",
        sa.Column("stream_id", sa.Uuid(), nullable=False),
        sa.Column("sentence", sa.Integer(), nullable=False),
        sa.Column("rank", sa.Integer(), nullable=False),
        sa.Column("passage", sa.Text(), nullable=False),
        sa.Column("chunk_id", sa.Uuid()),
        sa.Column("start", sa.Integer(), nullable=False),
        sa.Column("end", sa.Integer(), nullable=False),
        sa.Column("score", sa.Float(), nullable=False),
        sa.Column("label", sa.String(length=16), nullable=False),
        sa.ForeignKeyConstraint(["chunk_id"], ["chunks.id"], name="fk_evidence_chunk_id"),
        sa.ForeignKeyConstraint(["stream_id"], ["streams.id"], name="fk_evidence_stream_id"),
        sa.PrimaryKeyConstraint("stream_id", "sentence", "rank", name="pk_evidence"),
    )
    op.create_index("ix_evidence_chunk_id", "evidence", ["chunk_id"])
    op.create_table(
        "retrieval_items",
        sa.Column("stream_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("rank", sa.Integer(), nullable=False),
        sa.Column("passage", sa.Text(), nullable=False),
        sa.Column("score", sa.Float()),
        sa.Column("chunk_id", sa.Uuid(), nullable=False),
        sa.Column("access_id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(["access_id"], ["accesses.id"], name="fk_retrieval_items_access_id"),
        sa.ForeignKeyConstraint(["chunk_id"], ["chunks.id"], name="fk_retrieval_items_chunk_id"),
        sa.ForeignKeyConstraint(["stream_id"], ["streams.id"], name="fk_retrieval_items_stream_id"),
        sa.PrimaryKeyConstraint("stream_id", "number", "rank", name="pk_retrieval_items"),
    )
    op.create_index("ix_retrieval_items_chunk_id", "retrieval_items", ["chunk_id"])
