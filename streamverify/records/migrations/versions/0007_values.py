"""Sums of each requester's hours, and how often each value occurred; made of the rows when somebody reads."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
SUMS = (
    "streams failed halted supported contradicted unsupported no_claim unverified scored grounding checked "
    "citation_accuracy citations fabricated"
)
DOCUMENT_SUMS = "cited judged correct contradicted fabricated"
TABLES = (
    ("own_hours", "tenant requester hour domain run", SUMS),
    ("own_document_hours", "tenant requester hour document_id", DOCUMENT_SUMS),
    ("hour_values", "tenant hour domain run name value", "count"),
)
KINDS: dict[str, sa.types.TypeEngine[Any]] = {"hour": NUMBER, "document_id": sa.Uuid()}


def upgrade() -> None:
    """Make the tables, and have all sums made again: the new ones are of old streams too."""
    for name, keys, sums in TABLES:
        op.create_table(
            name,
            *(
                sa.Column(key, KINDS.get(key, sa.Text()), autoincrement=False, nullable=False)
                for key in keys.split()
            ),
            *(sa.Column(one, NUMBER, nullable=False) for one in sums.split()),
            sa.PrimaryKeyConstraint(*keys.split(), name=f"pk_{name}"),
        )
    op.execute("DELETE FROM sink_positions WHERE sink = 'hours'")
    op.execute("DELETE FROM hours")
    op.execute("DELETE FROM document_hours")
