"""Evaluations with the figures of their cases, so that two of them can be compared case by case."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_REFUSE = "BEGIN SELECT raise(ABORT, 'run_texts is append-only'); END"


def upgrade() -> None:
    """Make the table, whose rows stay."""
    op.create_table(
        "run_texts",
        sa.Column("run_id", sa.Uuid(), sa.ForeignKey("runs.id", name="fk_run_texts_run_id"), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("run_id", name="pk_run_texts"),
    )
    if op.get_bind().dialect.name == "postgresql":
        for event, each in (("UPDATE OR DELETE", "ROW"), ("TRUNCATE", "STATEMENT")):
            op.execute(
                f"CREATE TRIGGER append_only_{each.lower()} BEFORE {event} ON run_texts FOR EACH {each} "
                "EXECUTE FUNCTION streamverify_append_only()"
            )
    else:
        op.execute(f"CREATE TRIGGER run_texts_keep BEFORE DELETE ON run_texts {_REFUSE}")
        op.execute(f"CREATE TRIGGER run_texts_stay BEFORE UPDATE ON run_texts {_REFUSE}")
