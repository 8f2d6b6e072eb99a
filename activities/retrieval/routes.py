"""Running a strategy's routes: all at once, each with its own time limit, each with a report (R15, R16)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from activities.observation import SILENT
from activities.retrieval.bar import bar_of
from activities.retrieval.following import Following
from activities.retrieval.narrowing import also, ended_at_its_depth, narrower
from activities.retrieval.reads import Clocked, ObjectiveVector, Read, best_of_each, filter_of, given, own_case
from contracts.candidates import CanonicalLookup, Found, RetrievalTask
from contracts.index import DenseQuery, Filter, Hit, LexicalQuery, VectorName
from contracts.labels import Collection
from contracts.outbox import Watermark
from contracts.ports import Embedder, RetrievalRecords, SearchIndex
from contracts.retrieval import RouteState
from contracts.strategy import Route, SourceStep
from contracts.telemetry_ports import Tracing

_VECTORS = {
    Route.DENSE_TITLE: VectorName.TITLE,
    Route.DENSE_BODY: VectorName.BODY,
    Route.CONTRAST: VectorName.BODY,
}
_MATCHED = {
    Route.LEXICAL: ("text",),
    Route.DENSE_TITLE: ("title",),
    Route.DENSE_BODY: ("body",),
    Route.CONTRAST: ("body",),
}
INDEX_ROUTES = frozenset(_MATCHED)
"""Routes that ask the search index."""


_PENDING = "for pending events"
MOST_HITS = 1_000
"""Hits that one route asks for at most, to find as many targets as its step wants."""


class Routes:
    """Runs every route of a strategy; a failed or slow one is reported, never dropped.

    Args:
        records: The record, for registry and full-text reads.
        index: The search index.
        embedder: Makes the objective's vector.
        seconds: The time limit of each route.
        tracing: Follows each route.
    """

    def __init__(
        self,
        records: RetrievalRecords,
        index: SearchIndex,
        embedder: Embedder,
        seconds: float,
        tracing: Tracing = SILENT.tracing,
    ) -> None:
        self._records = records
        self._index = index
        self._embedder = embedder
        self._clocked = Clocked(seconds, tracing)
        self._following = Following(records, index, self._clocked)

    async def read(self, task: RetrievalTask, watermarks: Sequence[Watermark]) -> list[Read]:
        """Return how every route ended, with the record's reads in place of what the indexes lack (R16)."""
        steps = list(enumerate(task.strategy.steps, start=1))
        # What is pending is read before the indexes: an event that a projector takes in between is then in
        # one of the two reads. The other way round it could be in neither.
        lacking = await asyncio.gather(*(self._lacking(task, number, step, watermarks) for number, step in steps))
        vector = ObjectiveVector(self._embedder, task.request.objective)
        asked = [(number, step, route) for number, step in steps for route in dict.fromkeys(step.routes)]
        reads = await asyncio.gather(*(self._run(task, *question, vector) for question in asked))
        instead = await asyncio.gather(*(self._instead(task, number, step, reads) for number, step in steps))
        recorded = given([*lacking, *instead])
        current = [_without_pending(read, recorded) for read in reads]
        followed = await asyncio.gather(
            *(
                self._following.read(task, number, step, [*current, *recorded], vector)
                for number, step in steps
                if step.hop or step.links
            )
        )
        return [*current, *(read for each in followed for read in each), *recorded]

    async def _run(
        self, task: RetrievalTask, number: int, step: SourceStep, route: Route, vector: ObjectiveVector
    ) -> Read:
        read = Read(number, step, route, step.weight)
        if why := _pointless(task, step, route):
            return replace(read, state=RouteState.SKIPPED, why=why)
        if route is Route.REGISTRY:
            return await self._clocked.run(read, lambda: self._records.registry(task, step.depth))
        if route is Route.CANONICAL:
            return await self._clocked.run(read, lambda: self._canonical(task, step, pending_only=False))
        return await self._clocked.run(read, lambda: self._search(task, step, route, vector, filter_of(task, step)))

    async def read_within(self, task: RetrievalTask, reads: Sequence[Read]) -> list[Read]:
        """Return the reads, those that ended at their depth asked again within the limits that the request states."""
        vector = ObjectiveVector(self._embedder, task.request.objective)
        return await asyncio.gather(*(self._within(task, read, vector) for read in reads))

    async def _within(self, task: RetrievalTask, read: Read, vector: ObjectiveVector) -> Read:
        where = narrower(task, read.step)
        if read.route not in INDEX_ROUTES or where is None or not ended_at_its_depth(read):
            return read
        return also(
            read, await self._clocked.run(read, lambda: self._search(task, read.step, read.route, vector, where))
        )

    async def _search(
        self, task: RetrievalTask, step: SourceStep, route: Route, vector: ObjectiveVector, where: Filter
    ) -> list[Found]:
        query = (
            LexicalQuery(task.request.objective)
            if route is Route.LEXICAL
            else DenseQuery(await vector.get(), _VECTORS[route])
        )
        hits = await self._targets(task, step, query, where)
        bar = bar_of(task.strategy, self._embedder.model) if isinstance(query, DenseQuery) else None
        return [
            Found(
                hit.target,
                hit.revision,
                _MATCHED[route],
                hit.section,
                near=None if bar is None else hit.score >= bar.cosine,
            )
            for hit in hits
        ]

    async def _targets(
        self, task: RetrievalTask, step: SourceStep, query: DenseQuery | LexicalQuery, where: Filter
    ) -> list[Hit]:
        """Return the best hit of each target: the sections of one long article must not push the others out."""
        asked = step.depth
        while True:
            hits = await self._index.search(step.collection, query, scope=task.scope, where=where, limit=asked)
            best = best_of_each(hits)
            if len(best) >= step.depth or len(hits) < asked or asked >= MOST_HITS:
                return best[: step.depth]
            asked = min(asked * 4, MOST_HITS)

    async def _lacking(
        self, task: RetrievalTask, number: int, step: SourceStep, watermarks: Sequence[Watermark]
    ) -> Read | None:
        """Return the record's read of what the step's index has not taken yet; None when it is current."""
        asked = [route for route in step.routes if route in INDEX_ROUTES and not _pointless(task, step, route)]
        mark = next((mark for mark in watermarks if mark.collection is step.collection), None)
        if not asked or (mark is not None and mark.is_current):
            return None
        why = f"{_PENDING} ({mark.pending})" if mark else "for an index without a watermark"
        read = Read(number, step, Route.CANONICAL, step.weight * len(asked), why=why)
        return await self._clocked.run(read, lambda: self._canonical(task, step, pending_only=mark is not None))

    async def _instead(self, task: RetrievalTask, number: int, step: SourceStep, reads: Sequence[Read]) -> Read | None:
        """Return the record's read in place of the step's failed index routes; None when none failed."""
        failed = [
            read.route
            for read in reads
            if read.number == number and read.route in INDEX_ROUTES and read.state is RouteState.FAILED
        ]
        if not failed:
            return None
        # It stands in for the failed routes, so it counts for as much as they would have.
        read = Read(number, step, Route.CANONICAL, step.weight * len(failed), why=f"instead of {', '.join(failed)}")
        return await self._clocked.run(read, lambda: self._canonical(task, step, pending_only=False))

    async def _canonical(self, task: RetrievalTask, step: SourceStep, *, pending_only: bool) -> list[Found]:
        lookup = CanonicalLookup(
            kinds=step.kinds,
            domains=task.domains_of(step),
            outcomes=step.outcomes,
            text=task.request.objective,
            limit=step.depth,
            pending_only=pending_only,
        )
        own = own_case(task)
        return [found for found in await self._records.canonical(task, lookup) if found.target not in own]


def _without_pending(read: Read, recorded: Sequence[Read]) -> Read:
    """Return an index read without what the record was read for: its place there is an outdated one, and counts."""
    pending = {
        found.target
        for other in recorded
        if other.number == read.number and read.route in INDEX_ROUTES and other.why.startswith(_PENDING)
        for found in other.found
    }
    return replace(read, found=tuple(each for each in read.found if each.target not in pending)) if pending else read


def _pointless(task: RetrievalTask, step: SourceStep, route: Route) -> str:
    """Return why the route can't find anything for this caller, or ""."""
    if step.collection is Collection.CASES and not task.scope.tenants and not task.scope.cases:
        return "no tenant or case is in the caller's scope"
    request = task.request
    if route is Route.REGISTRY and request.origin is None and request.case_id is None and not request.object_refs:
        return "the request names no origin, no object and no case"
    return ""
