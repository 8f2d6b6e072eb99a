"""Nothing is served as a role that row-level security doesn't bind (R4, R21)."""

from __future__ import annotations

from collections.abc import AsyncIterator

import psycopg
import pytest

from activities.records.bound_roles import require_bound_roles
from activities.records.database import Database
from contracts.errors import RuntimeUnavailable
from tests.records.world import World, libpq
from tests.roles import new_role

_TABLE = ("CREATE TABLE IF NOT EXISTS owned_by_others (id integer)", "ALTER TABLE owned_by_others OWNER TO bound")


@pytest.fixture
async def roles(world: World) -> AsyncIterator[World]:
    """A database of one's own, and no role left behind in the cluster."""
    yield world
    with psycopg.connect(libpq(world.urls.owner), autocommit=True) as connection:
        connection.execute("DROP OWNED BY bound; DROP ROLE bound")


async def _refused(app: str, system: str) -> RuntimeUnavailable:
    database = Database(app, system)
    try:
        with pytest.raises(RuntimeUnavailable) as refused:
            await require_bound_roles(database)
        return refused.value
    finally:
        await database.close()


async def test_the_roles_of_the_migration_are_bound(shared: World) -> None:
    await require_bound_roles(shared.database)


@pytest.mark.parametrize(
    ("attributes", "statements", "why"),
    [
        ("SUPERUSER", (), "is a superuser: nothing"),
        ("BYPASSRLS", (), "bypasses row-level security: nothing"),
        ("NOINHERIT", _TABLE, "owns tables: nothing"),
        ("IN ROLE caselore_system", (), "can become a role that sees more: nothing"),
        ("BYPASSRLS", _TABLE, "bypasses row-level security and owns tables: nothing"),
    ],
)
async def test_r21_an_application_role_that_sees_past_the_policies_is_refused(
    roles: World, attributes: str, statements: tuple[str, ...], why: str
) -> None:
    refused = await _refused(new_role(roles.urls, "bound", attributes, *statements), roles.urls.system)
    assert refused.field == "database_url"
    assert why in refused.message


async def test_r21_a_system_role_that_sees_past_the_policies_is_refused(roles: World) -> None:
    refused = await _refused(roles.urls.app, new_role(roles.urls, "bound", "BYPASSRLS"))
    assert refused.field == "system_database_url"


async def test_r21_the_application_never_works_as_the_system(shared: World) -> None:
    refused = await _refused(shared.urls.system, shared.urls.system)
    assert refused.field == "database_url"
    assert "the system's role" in refused.message
