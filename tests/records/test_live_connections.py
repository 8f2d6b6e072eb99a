"""A transaction gets a living connection, also right after Postgres closed all of them (R23)."""

from __future__ import annotations

import asyncio

import pytest
from sqlalchemy import text
from sqlalchemy.exc import OperationalError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from activities.records.live_connections import keep_alive
from tests.records.world import World

_END_OTHERS = text(
    "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
    " WHERE datname = current_database() AND usename = current_user AND pid <> pg_backend_pid()"
)


async def test_r23_after_the_server_ended_all_connections_every_transaction_holds(world: World) -> None:
    async def read(number: int) -> int:
        async with world.database.as_system() as connection:
            # Long enough for each to have a connection of its own.
            return (
                await connection.execute(text("SELECT :n + length(pg_sleep(0.05)::text)"), {"n": number})
            ).scalar_one()

    assert await asyncio.gather(*map(read, range(8))) == list(range(8))
    other = create_async_engine(world.urls.system)
    try:
        async with other.connect() as connection:
            assert (await connection.execute(_END_OTHERS)).scalar_one() >= 8
    finally:
        await other.dispose()
    await asyncio.sleep(0.1)  # until their ends have come
    assert await asyncio.gather(*map(read, range(8))) == list(range(8))


@pytest.mark.parametrize(("idle", "is_asked"), [(0.0, True), (60.0, False)])
async def test_r23_a_connection_that_lay_idle_for_long_is_asked(world: World, idle: float, is_asked: bool) -> None:
    engine = create_async_engine(world.urls.system, pool_size=1, max_overflow=0)
    keep_alive(engine, idle)
    asked = 0
    ping = engine.sync_engine.dialect.do_ping

    def counted(connection: object) -> bool:
        nonlocal asked
        asked += 1
        if asked == 2:
            raise OperationalError("SELECT 1", {}, Exception("nobody answers"))
        return ping(connection)  # type: ignore[arg-type]

    engine.sync_engine.dialect.do_ping = counted  # type: ignore[method-assign]
    try:
        backends = [await _backend(engine) for _ in range(4)]
    finally:
        await engine.dispose()
    assert (asked > 0) is is_asked
    # The second was told dead, and another took its place.
    assert len(set(backends)) == (2 if is_asked else 1)


async def _backend(engine: AsyncEngine) -> int:
    async with engine.begin() as connection:
        return (await connection.execute(text("SELECT pg_backend_pid()"))).scalar_one()
