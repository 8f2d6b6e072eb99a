"""Brings a database to the schema that this version needs, or back."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, create_engine, text

from contracts.errors import RuntimeUnavailable

_MIGRATIONS = Path(__file__).parent / "migrations"

_ROLE = text("""
SELECT rolname, rolsuper OR rolbypassrls AS may_bypass, rolsuper OR rolcreaterole AS may_create
  FROM pg_roles WHERE rolname = current_user
""")


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

    Raises:
        RuntimeUnavailable: The role can't own the schema; nothing was changed.
    """
    engine = create_engine(owner_url)
    try:
        with engine.begin() as connection:
            connection.execute(text("SELECT pg_advisory_xact_lock(hashtext('caselore.migrate'))"))
            at = MigrationContext.configure(connection).get_current_revision()
            target = ScriptDirectory.from_config(configuration()).as_revision_number(revision)
            if at == target and revision != "base":
                return
            _require_owner(connection)
            if revision == "base":
                command.downgrade(configuration(connection), revision)
            else:
                command.upgrade(configuration(connection), revision)
    finally:
        engine.dispose()


def _require_owner(connection: Connection) -> None:
    """Refuse a role that could make the schema and then see nothing: some functions look past the policies."""
    role, may_bypass, may_create = connection.execute(_ROLE).one()
    if not (may_bypass and may_create):
        lacking = " and ".join(name for name, has in (("BYPASSRLS", may_bypass), ("CREATEROLE", may_create)) if not has)
        raise RuntimeUnavailable(
            f"The database role {role!r} can't own the schema: it has no {lacking}.",
            field="owner_database_url",
            accepted="a role with BYPASSRLS and CREATEROLE, or a superuser",
        )
