"""Migrations, run by Alembic."""
