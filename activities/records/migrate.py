"""Brings a database to the schema that this version needs, or back."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, create_engine, text

_MIGRATIONS = Path(__file__).parent / "migrations"


def configuration(connection: Connection | None = None) -> Config:
    """Return Alembic's configuration for our migrations."""
    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS))
    if connection is not None:
        config.attributes["connection"] = connection
    return config


def migrate(owner_url: str, revision: str = "head") -> None:
    """Bring the database to `revision`; safe to run from several processes at once.

    Args:
        owner_url: A connection as the schema's owner.
        revision: An Alembic revision; `head` for the newest, `base` to take everything down.
    """
    engine = create_engine(owner_url)
    try:
        with engine.begin() as connection:
            connection.execute(text("SELECT pg_advisory_xact_lock(hashtext('caselore.migrate'))"))
            at = MigrationContext.configure(connection).get_current_revision()
            target = ScriptDirectory.from_config(configuration()).as_revision_number(revision)
            if at == target and revision != "base":
                return
            if revision == "base":
                command.downgrade(configuration(connection), revision)
            else:
                command.upgrade(configuration(connection), revision)
    finally:
        engine.dispose()
