"""Alembic's entry point: runs migrations on the connection that `activities.records.migrate` hands over."""

from __future__ import annotations

from alembic import context

from activities.records.schema import metadata

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=metadata, compare_type=True)
with context.begin_transaction():
    context.run_migrations()
