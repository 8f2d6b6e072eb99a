"""One organisation for all tests of the API, with a running lifecycle worker."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator

import pytest_asyncio
from temporalio.testing import WorkflowEnvironment

from activities.records.database import Database
from activities.records.identities import Identities
from activities.records.migrate import migrate
from tests.api.world import World, people
from tests.services import PostgresServer


@pytest_asyncio.fixture(scope="session")
async def world(postgres_server: PostgresServer, temporal_env: WorkflowEnvironment) -> AsyncIterator[World]:
    urls = postgres_server.new_database()
    migrate(urls.owner)
    database = Database(urls.app, urls.system)
    mark = uuid.uuid4().hex[:8]
    try:
        await people(Identities(database))
        found = World(database, temporal_env.client, f"lifecycle-{mark}", f"retrieval-{mark}")
        async with found.worker_on(found.queue):
            yield found
    finally:
        await database.close()
