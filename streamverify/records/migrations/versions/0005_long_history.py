"""Indices for years of records: an auditor's questions begin with the streams of a tenant and a time."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_GONE = (
    # From a tenant's documents to their chunks and on is the longest way round.
    ("ix_documents_tenant_uri_checksum", "documents"),
    ("ix_streams_opened_at", "streams"),
    # Every sentence ever judged has a criterion: a sentence's judgments are found by its stream.
    ("ix_judgments_criterion", "judgments"),
)
_OF_FAILURES = (
    ("ix_judgments_failed_at", ["at"]),
    ("ix_judgments_failed_criterion_at", ["criterion", "at"]),
)


def upgrade() -> None:
    """Take indices away and make others; the rows stay as they are."""
    for name, table in _GONE:
        op.drop_index(name, table_name=table)
    op.create_index("ix_streams_tenant_opened_at", "streams", ["tenant", "opened_at"])
    failed = sa.column("passed", sa.Boolean()).is_(False)
    for name, columns in _OF_FAILURES:
        op.create_index(name, "judgments", columns, sqlite_where=failed, postgresql_where=failed)
