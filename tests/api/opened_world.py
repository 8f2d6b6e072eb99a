"""An organisation in a database of its own, open for as long as a block."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from temporalio.client import Client

from activities.records.database import Database
from activities.records.identities import Identities
from tests.api.world import World, people
from tests.services import PostgresServer


@asynccontextmanager
async def opened_world(server: PostgresServer, migrated: str, client: Client) -> AsyncGenerator[World]:
    """Yield an organisation with its people, on task queues of its own; no worker runs yet."""
    urls = await asyncio.to_thread(server.new_database, template=migrated)
    database = Database(urls.app, urls.system)
    mark = uuid.uuid4().hex[:8]
    try:
        await people(Identities(database))
        yield World(database, client, f"lifecycle-{mark}", f"retrieval-{mark}")
    finally:
        await database.close()
