"""The adapters under test: embedded, server double, and a real server when one is named."""

from __future__ import annotations

import os
import tempfile
import uuid
from collections.abc import AsyncGenerator, Callable, Generator
from pathlib import Path

import pytest
from qdrant_client import AsyncQdrantClient

from activities.index.edge import EdgeIndex
from activities.index.server import ServerIndex
from contracts.ports import SearchIndex
from tests.index.samples import DIMENSIONS, MODEL
from tests.index.server_double import ServerDouble

SERVER = os.environ.get("CASELORE_TEST_QDRANT_URL", "")

Opener = Callable[..., SearchIndex]
"""Makes an adapter on the store of this test: `make(model=..., dimensions=..., aside=...)`."""

ADAPTERS = ["edge", "double", *(["server"] if SERVER else [])]


@pytest.fixture
def index_folder() -> Generator[Path]:
    """A folder for an embedded index, in memory where there is such a place: creating one syncs some 100 files."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(prefix="caselore-index-", dir=memory if memory.is_dir() else None) as folder:
        yield Path(folder)


@pytest.fixture(params=ADAPTERS)
async def make(request: pytest.FixtureRequest, index_folder: Path) -> AsyncGenerator[Opener]:
    """Adapters that share one store, so that reopening and reindexing can be tested."""
    prefix = f"test-{uuid.uuid4().hex[:12]}"
    double = ServerDouble()

    def edge(model: str = MODEL, dimensions: int = DIMENSIONS, aside: bool = False) -> SearchIndex:
        return EdgeIndex(index_folder, model, dimensions, aside=aside)

    def local(model: str = MODEL, dimensions: int = DIMENSIONS, aside: bool = False) -> SearchIndex:
        return ServerIndex(double, model, dimensions, prefix=prefix, aside=aside)

    def server(model: str = MODEL, dimensions: int = DIMENSIONS, aside: bool = False) -> SearchIndex:
        client = AsyncQdrantClient(url=SERVER)
        return ServerIndex(client, model, dimensions, prefix=prefix, aside=aside)

    yield {"edge": edge, "double": local, "server": server}[str(request.param)]

    if request.param == "server":
        client = AsyncQdrantClient(url=SERVER)
        for each in (await client.get_collections()).collections:
            if each.name.startswith(prefix):
                await client.delete_collection(each.name)
        await client.close()
    await double.close()


@pytest.fixture
async def index(make: Opener) -> AsyncGenerator[SearchIndex]:
    """An open, empty index."""
    opened = make()
    await opened.open()
    yield opened
    await opened.close()
