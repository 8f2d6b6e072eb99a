"""An organisation in a database of its own, open for as long as a block."""

from __future__ import annotations

import uuid
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from temporalio.client import Client

from activities.records.database import Database
from activities.records.identities import Identities
from activities.records.migrate import migrate
from tests.api.world import World, people
from tests.services import PostgresServer


@asynccontextmanager
async def opened_world(postgres_server: PostgresServer, client: Client) -> AsyncGenerator[World]:
    """Yield an organisation with its people, on task queues of its own; no worker runs yet."""
    urls = postgres_server.new_database()
    migrate(urls.owner)
    database = Database(urls.app, urls.system)
    mark = uuid.uuid4().hex[:8]
    try:
        await people(Identities(database))
        yield World(database, client, f"lifecycle-{mark}", f"retrieval-{mark}")
    finally:
        await database.close()
