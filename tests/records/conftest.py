"""A migrated and settled database, copied for each module or test."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

import pytest_asyncio

from deploy.embedded.postgres import DatabaseUrls
from tests.records.world import World
from tests.services import PostgresServer

SETTLED = "records_settled"


@pytest_asyncio.fixture(scope="session")
async def settled(postgres_server: PostgresServer, migrated: str) -> str:
    """Return the name of a database with people, domains and strategies to copy."""
    world = World(await asyncio.to_thread(postgres_server.named_database, SETTLED, template=migrated))
    await world.settle_in()
    await world.close()
    return SETTLED


@pytest_asyncio.fixture(scope="module")
async def shared(postgres_server: PostgresServer, settled: str) -> AsyncIterator[World]:
    """One database for a module; tests there don't rely on what else it holds."""
    async with _opened(await _copy(postgres_server, settled)) as world:
        yield world


@pytest_asyncio.fixture
async def world(postgres_server: PostgresServer, settled: str) -> AsyncIterator[World]:
    """A database of the test's own."""
    async with _opened(await _copy(postgres_server, settled)) as opened:
        yield opened


async def _copy(server: PostgresServer, template: str) -> DatabaseUrls:
    return await asyncio.to_thread(server.new_database, template=template)


@asynccontextmanager
async def _opened(urls: DatabaseUrls) -> AsyncGenerator[World]:
    world = World(urls)
    try:
        yield world
    finally:
        await world.close()
