"""Activities of an erasure: each may be repeated, and only ids and counts pass through Temporal (R11)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from temporalio import activity

from activities.refusals import crossing
from contracts.erasure import ErasureEnd, ErasureStep, StoreReport
from contracts.erasure_ports import ErasureRecords, WorkflowHistories
from contracts.errors import IndexUnavailable
from contracts.index import Stored
from contracts.labels import Collection
from contracts.ports import SearchIndex

_LOOK_EVERY = 0.2
_PATIENCE = 300
"""Looks at the outbox before the projector is taken to be away."""
WORKFLOWS = 500
"""Workflows whose histories are looked through."""
CACHES = "no process keeps text between requests: there is nothing to clear"


class ErasureActivities:
    """Removes and verifies, store by store.

    Args:
        records: The record.
        index: The search index.
        histories: What Temporal keeps.
    """

    def __init__(self, records: ErasureRecords, index: SearchIndex, histories: WorkflowHistories) -> None:
        self._records = records
        self._index = index
        self._histories = histories

    @activity.defn(name="erase_records")
    async def erase_records(self, erasure_id: str) -> ErasureStep:
        """Remove what is to be erased from the record, and have experiences leave retrieval."""
        async with _step():
            return ErasureStep(done=await self._records.remove(erasure_id))

    @activity.defn(name="erase_index")
    async def erase_index(self, erasure_id: str) -> ErasureStep:
        """Wait until the projector has followed, then have the index let go of what was removed."""
        async with _step():
            await self._until_projected(erasure_id)
            for collection in Collection:
                await self._index.compact(collection)
            work = await self._records.work(erasure_id)
            looked_at = left = 0
            for collection in Collection:
                points = await self._index.stored(collection)
                looked_at += len(points)
                for point in points:
                    is_left = point.payload.target in work.gone
                    if not (is_left or work.is_of_case) and point.payload.tenant in (work.tenant_id, ""):
                        is_left = bool(work.eraser.count_json(_payload(point), free=False))
                    left += is_left
            note = "every collection was compacted: no file holds a point that was removed or overwritten"
            report = StoreReport(store="index", looked_at=looked_at, left=left, note=note)
            await self._records.report(erasure_id, report)
            return ErasureStep(done=looked_at, left=left)

    @activity.defn(name="look_through_histories")
    async def look_through_histories(self, erasure_id: str) -> ErasureStep:
        """Look for the values in what Temporal keeps of the workflows that may have dealt with them."""
        async with _step():
            ids, known = await self._records.workflows(erasure_id, WORKFLOWS)
            work = await self._records.work(erasure_id)
            looked_at, holding = await self._histories.holding(ids, work.eraser)
            note = f"{looked_at} runs of {len(ids)} workflows, of {known} there are; histories hold ids and labels only"
            if holding:
                note += f"; found in {', '.join(holding[:10])}: delete these workflows"
            report = StoreReport(store="histories", looked_at=looked_at, left=len(holding), note=note)
            await self._records.report(erasure_id, report)
            return ErasureStep(done=looked_at, left=len(holding))

    @activity.defn(name="verify_erasure")
    async def verify_erasure(self, erasure_id: str) -> ErasureStep:
        """Look through the record again, and have the database let go of dead rows."""
        async with _step():
            records = await self._records.left(erasure_id)
            files = await self._records.vacuum(erasure_id)
            caches = StoreReport(store="caches", note=CACHES)
            await self._records.report(erasure_id, records, caches, files)
            return ErasureStep(done=records.looked_at, left=records.left)

    @activity.defn(name="finish_erasure")
    async def finish_erasure(self, end: ErasureEnd) -> None:
        """End the erasure; the subject's values go when nothing is left."""
        with crossing():
            await self._records.finish(end.erasure_id, end.why)

    async def _until_projected(self, erasure_id: str) -> None:
        for _ in range(_PATIENCE):
            if not await self._records.pending(erasure_id):
                return
            await asyncio.sleep(_LOOK_EVERY)
        raise IndexUnavailable("The projector has not taken the erasure's events yet.")


@asynccontextmanager
async def _step() -> AsyncGenerator[None]:
    """Let refusals cross, and beat while a long step runs."""
    beating = asyncio.create_task(_beat())
    try:
        with crossing():
            yield
    finally:
        beating.cancel()


async def _beat() -> None:
    while True:
        activity.heartbeat()
        await asyncio.sleep(1)


def _payload(point: Stored) -> str:
    return point.payload.model_dump_json()
