"""A retrieval worker beside the API, over the record alone: what is canonical answers, no index does."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

from temporalio.worker import Worker

from activities.records.retrievals import RetrievalsTable
from activities.retrieval.activity import RetrievalActivities
from activities.retrieval.engine import RetrievalEngine
from contracts.retrieval import RetrievalRequest
from tests.api.world import AwayIndex, World, fresh
from workflows.retrieval import Retrieval


class FlatEmbedder:
    model = "flat"
    dimensions = 4

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [[1.0, 0.0, 0.0, 0.0] for _ in texts]


class Now:
    def now(self) -> datetime:
        return datetime.now(UTC)


def asking(**given: Any) -> RetrievalRequest:
    values: dict[str, Any] = {
        "request_id": fresh(),
        "profile_id": "investigator",
        "purpose": "find the cause",
        "objective": "A letter type without its register row is not printed",
        "product": "Policy",
        "version": "7.3",
    }
    return RetrievalRequest(**{**values, **given})


@asynccontextmanager
async def answering_retrievals(world: World) -> AsyncGenerator[World]:
    """Yield the world while its retrievals are answered."""
    engine = RetrievalEngine(RetrievalsTable(world.database), AwayIndex(), FlatEmbedder(), Now())
    async with Worker(
        world.client,
        task_queue=world.retrieval_queue,
        workflows=[Retrieval],
        activities=[RetrievalActivities(engine).answer_retrieval],
    ):
        yield world
