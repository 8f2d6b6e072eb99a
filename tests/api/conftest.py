"""One organisation for each module of the API's tests, with a running lifecycle worker."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio
from temporalio.testing import WorkflowEnvironment

from tests.api.opened_world import opened_world
from tests.api.world import World
from tests.services import PostgresServer


@pytest_asyncio.fixture(scope="module")
async def world(
    postgres_server: PostgresServer, migrated: str, temporal_env: WorkflowEnvironment
) -> AsyncIterator[World]:
    """What a module leaves behind does not reach the others."""
    async with opened_world(postgres_server, migrated, temporal_env.client) as found, found.worker_on(found.queue):
        yield found
