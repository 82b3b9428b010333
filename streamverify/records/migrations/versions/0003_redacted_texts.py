"""Texts that are stored without their personal data have a digest of their own beside the original's."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

TABLES = ("chunks", "conclusions", "content", "judgments", "streams")


def upgrade() -> None:
    """Add the column; in SQLite the triggers name columns, so that they are told of it."""
    sqlite = op.get_bind().dialect.name == "sqlite"
    for table in TABLES:
        op.add_column(table, sa.Column("kept_digest", sa.String(length=64)))
        if sqlite:
            refuse = f"BEGIN SELECT raise(ABORT, '{table} is append-only'); END"
            changed = "NEW.kept_digest IS NOT OLD.kept_digest"
            op.execute(f"CREATE TRIGGER {table}_kept BEFORE UPDATE ON {table} WHEN {changed} {refuse}")
