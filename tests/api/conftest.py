"""One organisation for all tests of the API, with a running lifecycle worker."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio
from temporalio.testing import WorkflowEnvironment

from tests.api.opened_world import opened_world
from tests.api.world import World
from tests.services import PostgresServer


@pytest_asyncio.fixture(scope="session")
async def world(postgres_server: PostgresServer, temporal_env: WorkflowEnvironment) -> AsyncIterator[World]:
    async with opened_world(postgres_server, temporal_env.client) as found, found.worker_on(found.queue):
        yield found
