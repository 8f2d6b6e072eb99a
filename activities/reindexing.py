"""Rebuilding and repairing the search index from the record (R9)."""

from __future__ import annotations

from activities.reconciling import Reconciler
from contracts.labels import Collection
from contracts.ports import Projections, SearchIndex
from contracts.views import ReindexView

_BATCH = 500


class Reindexer:
    """Brings the index back to what the record says, through the outbox like every other change.

    While entries are missing, the watermarks say so and retrieval reads those entries from the record (R16).
    """

    def __init__(self, projections: Projections, index: SearchIndex, reconciler: Reconciler) -> None:
        self._projections = projections
        self._index = index
        self._reconciler = reconciler

    async def rebuild(self) -> ReindexView:
        """Drop everything and begin to build it anew; done when the watermarks have passed the new events.

        The events are added first and held, so that at no moment an empty index passes for a current one.
        """
        keys = await self._projections.every_key()
        await self._announce(keys, held=True)
        for collection in Collection:
            await self._index.drop(collection)
        await self._projections.release()
        return ReindexView(keys=len(keys))

    async def repair(self) -> ReindexView:
        """Ask anew for every key whose points are not those that the record says.

        For the start of the index's process: files may have been lost, restored or removed while it was away.
        """
        await self._projections.release()  # a rebuild may have been cut short
        report = await self._reconciler.reconcile(repair=True)
        return ReindexView(keys=report.drifting)

    async def _announce(self, keys: list[str], *, held: bool) -> None:
        for begin in range(0, len(keys), _BATCH):
            await self._projections.announce(keys[begin : begin + _BATCH], held=held)
