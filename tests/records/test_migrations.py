from __future__ import annotations

import re
import subprocess
import sys

import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import create_engine

from activities.records.migrate import migrate
from activities.records.schema import metadata
from contracts.errors import RuntimeUnavailable
from tests.records.world import World, libpq
from tests.roles import new_owner
from tests.services import PostgresServer

_MIGRATE = "import sys; from activities.records.migrate import migrate; migrate(sys.argv[1])"


def _differences(owner_url: str) -> list[object]:
    engine = create_engine(owner_url)
    try:
        with engine.connect() as connection:
            context = MigrationContext.configure(connection, opts={"compare_type": True})
            return list(compare_metadata(context, metadata))
    finally:
        engine.dispose()


def _objects(world: World) -> list[str]:
    return [
        name
        for (name,) in world.rows(
            "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relname NOT LIKE 'alembic%%'"
            " UNION ALL SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace"
            " UNION ALL SELECT polname FROM pg_policy"
        )
    ]


async def test_migrations_lead_to_exactly_the_declared_tables(shared: World) -> None:
    assert _differences(shared.urls.owner) == []


async def test_down_to_base_leaves_nothing_and_up_again_is_the_same(postgres_server: PostgresServer) -> None:
    urls = postgres_server.new_database()
    world = World(urls)
    migrate(urls.owner)
    first = sorted(_objects(world))
    migrate(urls.owner)
    assert sorted(_objects(world)) == first

    migrate(urls.owner, "base")
    assert _objects(world) == []
    assert world.rows("SELECT grantee FROM information_schema.role_table_grants WHERE grantee LIKE 'caselore%%'") == []
    migrate(urls.owner, "base")

    migrate(urls.owner)
    assert sorted(_objects(world)) == first
    assert _differences(urls.owner) == []
    await world.settle_in()
    await world.close()


def test_two_processes_can_migrate_at_once(postgres_server: PostgresServer) -> None:
    urls = postgres_server.new_database()
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", _MIGRATE, urls.owner], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        for _ in range(2)
    ]
    outputs = [process.communicate(timeout=60)[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0], outputs
    assert _differences(urls.owner) == []


async def test_a_failed_migration_leaves_nothing(postgres_server: PostgresServer) -> None:
    urls = postgres_server.new_database()
    world = World(urls)
    world.owner.execute("CREATE TABLE revisions (in_the_way int)")
    with pytest.raises(Exception, match="already exists"):
        migrate(urls.owner)
    assert world.tables() == ["revisions"]
    await world.close()


async def test_positions_and_rules_come_with_the_migration(shared: World) -> None:
    """A schema without its triggers would pass a comparison of tables."""
    triggers = {name for (name,) in shared.rows("SELECT tgname FROM pg_trigger WHERE NOT tgisinternal")}
    appending = {name for name in triggers if name.startswith("audit_")}
    assert appending >= {"audit_immutable", "audit_not_truncated", "audit_transitions_transition_insert"}
    assert triggers - appending == {
        "outbox_position",
        "review_decisions_immutable",
        "transitions_immutable",
        "revisions_immutable",
        "revisions_origin_immutable",
        "delegations_immutable",
        "delegations_revoked_once",
        "strategies_immutable",
        "feedback_owned",
        "feedback_counted",
        "strategy_adoptions_immutable",
        "strategy_adoptions_decided_once",
        "strategy_adoptions_kept",
        "profiles_pin",
    }
    assert libpq(shared.urls.app).startswith("postgresql://caselore_app@")


@pytest.mark.parametrize(
    ("attributes", "lacking"),
    [("CREATEROLE", "no BYPASSRLS."), ("BYPASSRLS", "no CREATEROLE."), ("INHERIT", "no BYPASSRLS and CREATEROLE.")],
)
def test_r21_a_role_that_the_policies_bind_can_not_own_the_schema(
    postgres_server: PostgresServer, migrated: str, attributes: str, lacking: str
) -> None:
    """Its functions would see nothing, and every grant with them."""
    urls = postgres_server.new_database()
    with pytest.raises(RuntimeUnavailable, match=re.escape(lacking)) as refused:
        migrate(new_owner(urls, f"narrow_{attributes.lower()}", attributes))
    assert refused.value.field == "owner_database_url"
    with psycopg.connect(libpq(urls.owner)) as connection:
        assert connection.execute("SELECT relname FROM pg_class WHERE relname = 'principals'").fetchall() == []


def test_a_role_that_is_no_superuser_can_own_the_schema(postgres_server: PostgresServer, migrated: str) -> None:
    urls = postgres_server.new_database()
    migrate(new_owner(urls, "wide", "BYPASSRLS CREATEROLE"))
    assert _differences(urls.owner) == []
