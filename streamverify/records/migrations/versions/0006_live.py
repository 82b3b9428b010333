"""The sentences of answers that are being written; no record, and gone with their end."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "live_sentences",
        sa.Column("stream_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("text", sa.Text()),
        sa.Column("label", sa.String(16)),
        sa.Column("score", sa.Float()),
        sa.Column("shown", sa.Boolean(), nullable=False),
        sa.Column("changed", NUMBER, nullable=False),
        sa.PrimaryKeyConstraint("stream_id", "number", name="pk_live_sentences"),
    )
