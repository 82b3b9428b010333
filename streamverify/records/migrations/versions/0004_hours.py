"""Sums of every hour's streams, which can be made again from the rows."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
SUMS = (
    "streams failed halted supported contradicted unsupported no_claim unverified scored grounding checked "
    "citation_accuracy citations fabricated"
)
DOCUMENT_SUMS = "cited judged correct contradicted fabricated"


def upgrade() -> None:
    """Make the tables; they fill when somebody reads them."""
    for name, keys, sums in (
        ("document_hours", ("uri",), DOCUMENT_SUMS),
        ("hours", ("domain", "run"), SUMS),
    ):
        op.create_table(
            name,
            sa.Column("tenant", sa.Text(), nullable=False),
            sa.Column("hour", NUMBER, autoincrement=False, nullable=False),
            *(sa.Column(key, sa.Text(), nullable=False) for key in keys),
            *(sa.Column(one, NUMBER, nullable=False) for one in sums.split()),
            sa.PrimaryKeyConstraint("tenant", "hour", *keys, name=f"pk_{name}"),
        )
