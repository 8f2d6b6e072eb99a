"""One worker for the tests that need no worker of their own, and lifecycles that must end up healthy."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest_asyncio
from temporalio.client import Client
from temporalio.testing import WorkflowEnvironment

from tests.records.world import World
from tests.services import PostgresServer
from tests.workflows.driver import Lifecycle, Lifecycles, lifecycles_on
from tests.workflows.lifecycle_records import LifecycleMemory


@pytest_asyncio.fixture(scope="session")
async def client(temporal_env: WorkflowEnvironment) -> Client:
    """A client of the session's server."""
    return temporal_env.client


@pytest_asyncio.fixture(scope="session")
async def shared_lifecycles(client: Client) -> AsyncIterator[Lifecycles]:
    """A running worker with a record in memory."""
    async with lifecycles_on(client, LifecycleMemory()) as lifecycles:
        yield lifecycles


@pytest_asyncio.fixture
async def lifecycles(shared_lifecycles: Lifecycles) -> AsyncIterator[Lifecycles]:
    """Lifecycles under review; each must be without a failed workflow task after the test."""
    shared_lifecycles.made.clear()
    yield shared_lifecycles
    shared_lifecycles.records.let_go()
    for lifecycle in shared_lifecycles.made:
        await lifecycle.assert_healthy()


@pytest_asyncio.fixture
async def lifecycle(lifecycles: Lifecycles) -> Lifecycle:
    """A fresh proposal in curator review."""
    return await lifecycles.started()


@pytest_asyncio.fixture(scope="session")
async def settled(postgres_server: PostgresServer, migrated: str) -> str:
    """The name of a database with people and domains, to copy."""
    name = "workflows_settled"
    opened = World(await asyncio.to_thread(postgres_server.named_database, name, template=migrated))
    await opened.settle_in()
    await opened.close()
    return name


@pytest_asyncio.fixture
async def world(postgres_server: PostgresServer, settled: str) -> AsyncIterator[World]:
    """A real record of the test's own."""
    opened = World(await asyncio.to_thread(postgres_server.new_database, template=settled))
    yield opened
    await opened.close()
