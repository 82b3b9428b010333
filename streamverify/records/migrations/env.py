"""How Alembic runs the migrations: on the connection it is handed, without a file of settings."""

from __future__ import annotations

from alembic import context

from streamverify.records.database import VERSION_TABLE
from streamverify.records.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=VERSION_TABLE,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
