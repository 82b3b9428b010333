"""The name of who judged can go, and the digest of what is left stands in its place."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

_TABLE = "erased_judgments"
_GONE = ("detail", "by")


def upgrade() -> None:
    """Make the table, whose rows stay, and let the name go from something to null, as texts may."""
    op.create_table(
        _TABLE,
        sa.Column("erasure_id", sa.Uuid(), nullable=False),
        sa.Column("judgment_id", sa.Uuid(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(["erasure_id"], ["erasures.id"], name="fk_erased_judgments_erasure_id"),
        sa.ForeignKeyConstraint(["judgment_id"], ["judgments.id"], name="fk_erased_judgments_judgment_id"),
        sa.PrimaryKeyConstraint("judgment_id", name="pk_erased_judgments"),
    )
    op.create_index("ix_erased_judgments_erasure_id", _TABLE, ["erasure_id"])
    connection = op.get_bind()
    if connection.dialect.name == "postgresql":
        for event, each in (("UPDATE OR DELETE", "ROW"), ("TRUNCATE", "STATEMENT")):
            op.execute(
                f"CREATE TRIGGER append_only_{each.lower()} BEFORE {event} ON {_TABLE} FOR EACH {each} "
                "EXECUTE FUNCTION streamverify_append_only()"
            )
        names = ", ".join(f"'{name}'" for name in _GONE)
        op.execute("DROP TRIGGER append_only_row ON judgments")
        op.execute(
            "CREATE TRIGGER append_only_row BEFORE UPDATE OR DELETE ON judgments FOR EACH ROW "
            f"EXECUTE FUNCTION streamverify_append_only({names})"
        )
        return
    refuse = f"BEGIN SELECT raise(ABORT, '{_TABLE} is append-only'); END"
    op.execute(f"CREATE TRIGGER {_TABLE}_keep BEFORE DELETE ON {_TABLE} {refuse}")
    op.execute(f"CREATE TRIGGER {_TABLE}_stay BEFORE UPDATE ON {_TABLE} {refuse}")
    columns = [column["name"] for column in sa.inspect(connection).get_columns("judgments")]
    changed = [f'NEW."{name}" IS NOT OLD."{name}"' for name in columns if name not in _GONE]
    changed += [f'(NEW."{name}" IS NOT OLD."{name}" AND NEW."{name}" IS NOT NULL)' for name in _GONE]
    refuse = "BEGIN SELECT raise(ABORT, 'judgments is append-only'); END"
    op.execute("DROP TRIGGER judgments_stay")
    op.execute(
        f"CREATE TRIGGER judgments_stay BEFORE UPDATE ON judgments WHEN {' OR '.join(changed)} {refuse}"
    )
