"""Rows are added, never changed and never deleted; the chain gets its start."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

KEPT = (
    "documents document_tags access_roles accesses stream_roles stream_tags retrievals retrieval_items "
    "evidence citations citation_passages erasures erased_streams runs run_figures entries"
).split()
ERASABLE = {
    "streams": ("question", "requester", "salt"),
    "chunks": ("text",),
    "conclusions": ("answer", "released", "error"),
    "sentences": ("text",),
    "actions": ("replacement",),
    "judgments": ("detail",),
    "content": ("output",),
}

_FUNCTION = """
CREATE OR REPLACE FUNCTION streamverify_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    erasable text[] := coalesce(TG_ARGV, '{}');
    name text;
BEGIN
    IF TG_OP = 'UPDATE' AND to_jsonb(NEW) - erasable = to_jsonb(OLD) - erasable THEN
        FOREACH name IN ARRAY erasable LOOP
            IF to_jsonb(NEW) -> name IS DISTINCT FROM to_jsonb(OLD) -> name
                AND to_jsonb(NEW) ->> name IS NOT NULL THEN
                RAISE EXCEPTION '%.% is append-only', TG_TABLE_NAME, name;
            END IF;
        END LOOP;
        RETURN NEW;
    END IF;
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME;
END $$
"""


def upgrade() -> None:
    """Make the triggers and the head of the chain."""
    connection = op.get_bind()
    tables = dict.fromkeys(KEPT, ()) | ERASABLE
    if connection.dialect.name == "postgresql":
        op.execute(sa.text(_FUNCTION))
        for table, erasable in tables.items():
            _guard_in_postgres(table, erasable)
    else:
        for table, erasable in tables.items():
            columns = [column["name"] for column in sa.inspect(connection).get_columns(table)]
            _guard_in_sqlite(table, erasable, columns)
    op.execute(
        sa.text("INSERT INTO heads (id, number, hash) VALUES (1, 0, :start)").bindparams(start="0" * 64)
    )


def _guard_in_postgres(table: str, erasable: tuple[str, ...]) -> None:
    names = ", ".join(f"'{name}'" for name in erasable)
    for event, each, given in (("UPDATE OR DELETE", "ROW", names), ("TRUNCATE", "STATEMENT", "")):
        name = f"append_only_{each.lower()}"
        op.execute(
            f"CREATE TRIGGER {name} BEFORE {event} ON {table} FOR EACH {each} "
            f"EXECUTE FUNCTION streamverify_append_only({given})"
        )


def _guard_in_sqlite(table: str, erasable: tuple[str, ...], columns: list[str]) -> None:
    refuse = f"BEGIN SELECT raise(ABORT, '{table} is append-only'); END"
    op.execute(f"CREATE TRIGGER {table}_keep BEFORE DELETE ON {table} {refuse}")
    changed = [f'NEW."{name}" IS NOT OLD."{name}"' for name in columns if name not in erasable]
    changed += [f'(NEW."{name}" IS NOT OLD."{name}" AND NEW."{name}" IS NOT NULL)' for name in erasable]
    op.execute(f"CREATE TRIGGER {table}_stay BEFORE UPDATE ON {table} WHEN {' OR '.join(changed)} {refuse}")
