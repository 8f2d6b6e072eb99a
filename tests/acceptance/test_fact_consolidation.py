"""Of many revisions of a fact the newest is found, whatever order their events come in (R8, R9)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from activities.embedding.fastembed_model import FastEmbedEmbedder
from tests.acceptance.consolidation import Report, consolidation
from tests.records.world import World
from tests.services import PostgresServer

KEYS, REVISIONS = 24, 5
pytestmark = pytest.mark.timeout(180)


@pytest_asyncio.fixture(scope="module")
async def consolidated(postgres_server: PostgresServer, migrated: str, folder: Path) -> AsyncIterator[Report]:
    world = World(postgres_server.new_database(template=migrated))
    try:
        await world.settle_in()
        embedder = FastEmbedEmbedder(folder / "models", threads=1)
        report = Report(KEYS, REVISIONS)
        async with consolidation(world, folder / "index", embedder, report) as run:
            yield await run()
    finally:
        await world.close()


async def test_r9_the_highest_revision_is_returned_for_every_key(consolidated: Report) -> None:
    """Also the index holds one point for each key and collection, and no watermark was ahead: a fault each."""
    assert consolidated.faults == []
    assert consolidated.counts["highest revision returned"] == KEYS
    assert consolidated.publications == KEYS * REVISIONS


async def test_r9_what_should_go_wrong_on_the_way_did(consolidated: Report) -> None:
    """A run without collisions, repeats and lost leases would show nothing."""
    assert consolidated.counts["looks behind"] > 20
    for happened in (
        "events twice in a batch",
        "delivered events replayed",
        "batches projected late",
        "events without a change",
        "decisions that came too late",
        "decisions repeated",
        "answers meanwhile",
    ):
        assert consolidated.counts[happened] > 0, happened
