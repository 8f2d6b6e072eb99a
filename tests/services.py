"""Session fixtures with real services: one PostgreSQL, one Temporal dev server (two with time skipping).

async def test_x(postgres_server: PostgresServer, temporal_env: WorkflowEnvironment) -> None:
    urls = postgres_server.new_database()          # .owner, .app, .system
    ...
    urls = postgres_server.new_database(template=migrated)     # the fixture: with the schema
"""

from __future__ import annotations

import importlib
import importlib.util
import itertools
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from temporalio.common import SearchAttributeKey
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.testing import WorkflowEnvironment

from activities.records.migrate import migrate
from deploy.embedded.postgres import DatabaseUrls, EmbeddedPostgres
from deploy.embedded.temporal_server import DYNAMIC_CONFIG, TEST_DYNAMIC_CONFIG, dynamic_config_flags, temporal_binary

THROWAWAY = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "max_connections": "200"}
"""Settings for data that nobody keeps."""
MIGRATED = "migrated"


class PostgresServer:
    """A running PostgreSQL that gives fresh databases."""

    def __init__(self, postgres: EmbeddedPostgres) -> None:
        self.postgres = postgres
        self._numbers = itertools.count(1)

    def new_database(self, *, template: str | None = None) -> DatabaseUrls:
        """Make an empty database (or a copy of `template`) and return its addresses."""
        return self.postgres.create_database(f"test_{next(self._numbers)}", template=template)

    def named_database(self, name: str, *, template: str | None = None) -> DatabaseUrls:
        """Make a database with this name unless it exists, to fill once and copy as a template."""
        return self.postgres.create_database(name, template=template)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """One PostgreSQL for the whole session, in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="caselore-tests-") as folder:
        postgres = EmbeddedPostgres(
            Path(folder) / "postgres", log=Path(folder) / "logs" / "postgres.log", settings=THROWAWAY
        )
        postgres.start()
        try:
            yield PostgresServer(postgres)
        finally:
            postgres.stop()


@pytest.fixture(scope="session")
def migrated(postgres_server: PostgresServer) -> str:
    """Return the name of a migrated, empty database to copy."""
    migrate(postgres_server.named_database(MIGRATED).owner)
    return MIGRATED


def registered_search_attributes() -> Sequence[SearchAttributeKey[Any]]:
    """Return the product's search attributes, none before `workflows.search_attributes` exists."""
    if importlib.util.find_spec("workflows.search_attributes") is None:
        return ()
    return importlib.import_module("workflows.search_attributes").ALL


def dev_server_options() -> dict[str, Any]:
    """Return what every dev server of the tests is started with: our converter, attributes and server settings."""
    return {
        "data_converter": pydantic_data_converter,
        "search_attributes": registered_search_attributes(),
        "dev_server_existing_path": str(temporal_binary()),
        "dev_server_extra_args": dynamic_config_flags(DYNAMIC_CONFIG | TEST_DYNAMIC_CONFIG),
        "dev_server_startup_timeout": timedelta(seconds=30),
    }


@pytest_asyncio.fixture(scope="session")
async def temporal_env() -> AsyncIterator[WorkflowEnvironment]:
    """One Temporal dev server for the whole session: our converter, our search attributes, time skipping allowed.

    Use a task queue of your own in each test.
    """
    async with await WorkflowEnvironment.start_local(**dev_server_options()) as environment:
        yield environment


@pytest_asyncio.fixture(scope="session")
async def time_skipping_env() -> AsyncIterator[WorkflowEnvironment]:
    """One Temporal dev server on which each workflow that its client starts has a clock of its own, run ahead."""
    async with await WorkflowEnvironment.start_time_skipping_v2(**dev_server_options()) as environment:
        yield environment
