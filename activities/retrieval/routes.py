"""Running a strategy's routes: all at once, each with its own time limit, each with a report (R15, R16)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import structlog

from activities.failures import failure_fields
from activities.retrieval.extracts import words
from activities.retrieval.identifier_hop import Hopping, IdentifierHop
from contracts.candidates import CanonicalLookup, Found, RetrievalTask
from contracts.errors import CaseloreError
from contracts.fusion import Ranking, fuse
from contracts.index import DenseQuery, Filter, Hit, LexicalQuery, VectorName
from contracts.labels import CandidateKind, Collection, Outcome
from contracts.outbox import Watermark
from contracts.ports import Embedder, RetrievalRecords, SearchIndex
from contracts.retrieval import RouteReport, RouteState
from contracts.strategy import Hop, Route, SourceStep

_log = structlog.get_logger()

_VECTORS = {Route.DENSE_TITLE: VectorName.TITLE, Route.DENSE_BODY: VectorName.BODY}
_MATCHED = {Route.LEXICAL: ("text",), Route.DENSE_TITLE: ("title",), Route.DENSE_BODY: ("body",)}
INDEX_ROUTES = frozenset(_MATCHED)
"""Routes that ask the search index."""


MOST_HITS = 1_000
"""Hits that one route asks for at most, to find as many targets as its step wants."""


@dataclass(frozen=True, slots=True)
class Read:
    """One route of one step, and how it ended."""

    number: int
    """Of the step in its strategy."""
    step: SourceStep
    route: Route
    weight: float
    """What a place in its ranking counts for."""
    state: RouteState = RouteState.OK
    found: tuple[Found, ...] = ()
    why: str = ""

    @property
    def collection(self) -> Collection:
        """The source that was read."""
        return self.step.collection

    @property
    def name(self) -> str:
        """The name of its ranking; a lookup for pending and one for failed routes differ by their reason."""
        return f"{self.number}/{self.collection}/{self.route}/{self.why}"

    def report(self) -> RouteReport:
        """Return what the answer says about it."""
        return RouteReport(
            route=self.route, collection=self.collection, state=self.state, found=len(self.found), why=self.why
        )


class _ObjectiveVector:
    """The objective as a vector: made at most once, in a thread, and only when a route asks for it."""

    def __init__(self, embedder: Embedder, objective: str) -> None:
        self._embedder = embedder
        self._objective = objective
        self._made: asyncio.Task[list[list[float]]] | None = None

    async def get(self) -> list[float]:
        """Return the vector; a caller that stops waiting leaves it to the others."""
        if self._made is None:
            self._made = asyncio.create_task(asyncio.to_thread(self._embedder.embed, [self._objective]))
        return (await asyncio.shield(self._made))[0]


class Routes:
    """Runs every route of a strategy; a failed or slow one is reported, never dropped.

    Args:
        records: The record, for registry and full-text reads.
        index: The search index.
        embedder: Makes the objective's vector.
        seconds: The time limit of each route.
    """

    def __init__(self, records: RetrievalRecords, index: SearchIndex, embedder: Embedder, seconds: float) -> None:
        self._records = records
        self._index = index
        self._embedder = embedder
        self._seconds = seconds
        self._hop = IdentifierHop(index)

    async def read(self, task: RetrievalTask, watermarks: Sequence[Watermark]) -> list[Read]:
        """Return how every route ended, with the record's reads in place of what the indexes lack (R16)."""
        steps = list(enumerate(task.strategy.steps, start=1))
        # What is pending is read before the indexes: an event that a projector takes in between is then in
        # one of the two reads. The other way round it could be in neither.
        lacking = await asyncio.gather(*(self._lacking(task, number, step, watermarks) for number, step in steps))
        vector = _ObjectiveVector(self._embedder, task.request.objective)
        asked = [(number, step, route) for number, step in steps for route in dict.fromkeys(step.routes)]
        reads = await asyncio.gather(*(self._run(task, *question, vector) for question in asked))
        instead = await asyncio.gather(*(self._instead(task, number, step, reads) for number, step in steps))
        hops = await asyncio.gather(
            *(self._follow(task, number, step, step.hop, reads, vector) for number, step in steps if step.hop)
        )
        return [*reads, *(read for hopped in hops for read in hopped), *_given(lacking), *_given(instead)]

    async def _run(
        self, task: RetrievalTask, number: int, step: SourceStep, route: Route, vector: _ObjectiveVector
    ) -> Read:
        read = Read(number, step, route, step.weight)
        if why := _pointless(task, step, route):
            return replace(read, state=RouteState.SKIPPED, why=why)
        if route is Route.REGISTRY:
            return await self._timed(read, lambda: self._records.registry(task, step.depth))
        if route is Route.CANONICAL:
            return await self._timed(read, lambda: self._canonical(task, step, pending_only=False))
        return await self._timed(read, lambda: self._search(task, step, route, vector))

    async def _search(
        self, task: RetrievalTask, step: SourceStep, route: Route, vector: _ObjectiveVector
    ) -> list[Found]:
        query = (
            LexicalQuery(task.request.objective)
            if route is Route.LEXICAL
            else DenseQuery(await vector.get(), _VECTORS[route])
        )
        return [Found(hit.target, hit.revision, _MATCHED[route]) for hit in await self._targets(task, step, query)]

    async def _targets(self, task: RetrievalTask, step: SourceStep, query: DenseQuery | LexicalQuery) -> list[Hit]:
        """Return the best hit of each target: the sections of one long article must not push the others out."""
        asked = step.depth
        while True:
            hits = await self._index.search(
                step.collection, query, scope=task.scope, where=_filter(task, step), limit=asked
            )
            best = {hit.target: hit for hit in reversed(hits)}
            if len(best) >= step.depth or len(hits) < asked or asked >= MOST_HITS:
                return [hit for hit in hits if best[hit.target] is hit][: step.depth]
            asked = min(asked * 4, MOST_HITS)

    async def _follow(
        self,
        task: RetrievalTask,
        number: int,
        step: SourceStep,
        hop: Hop,
        reads: Sequence[Read],
        vector: _ObjectiveVector,
    ) -> list[Read]:
        """Return what the first hits of the step's source name, each ranking as a read of its own."""
        found = [read for read in reads if read.collection is step.collection and read.found]
        order = fuse(
            [Ranking(read.name, tuple(each.target for each in read.found), read.weight) for read in found],
            task.strategy.rrf_k,
        )
        first = [item.target for item in order[: max(hop.first, hop.follow)]]
        named = Read(number, step, Route.IDENTIFIER_HOP, step.weight * hop.weight)
        if not first:
            return [replace(named, state=RouteState.SKIPPED, why="nothing was found whose names could be followed")]
        hopping = Hopping(step.collection, task.scope, _filter(task, step), {})

        async def listen() -> list[Found]:
            records = (await self._records.resolve(task, first)).records
            for record in (records[ref] for ref in first if ref in records):
                said = words(record, task.request, detail=task.strategy.show_detail)
                hopping.texts[record.target] = f"{record.title}\n{said.text}"
            return []

        async def named_in_them() -> list[Found]:
            return await self._hop.named(hopping, await vector.get(), hop)

        heard = await self._timed(named, listen)
        if heard.state is RouteState.FAILED:
            return [heard]
        sharing = [
            self._timed(
                replace(named, weight=step.weight * hop.follow_weight, why=f"names in {ref}"),
                lambda ref=ref: self._hop.sharing(hopping, ref, task.request.objective, hop),
            )
            for ref in list(hopping.texts)[: hop.follow]
        ]
        return await asyncio.gather(self._timed(named, named_in_them), *sharing)

    async def _lacking(
        self, task: RetrievalTask, number: int, step: SourceStep, watermarks: Sequence[Watermark]
    ) -> Read | None:
        """Return the record's read of what the step's index has not taken yet; None when it is current."""
        asked = [route for route in step.routes if route in INDEX_ROUTES and not _pointless(task, step, route)]
        mark = next((mark for mark in watermarks if mark.collection is step.collection), None)
        if not asked or (mark is not None and mark.is_current):
            return None
        why = f"for pending events ({mark.pending})" if mark else "for an index without a watermark"
        read = Read(number, step, Route.CANONICAL, step.weight * len(asked), why=why)
        return await self._timed(read, lambda: self._canonical(task, step, pending_only=mark is not None))

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
        return await self._timed(read, lambda: self._canonical(task, step, pending_only=False))

    async def _canonical(self, task: RetrievalTask, step: SourceStep, *, pending_only: bool) -> list[Found]:
        lookup = CanonicalLookup(
            kinds=step.kinds,
            domains=_domains(task, step),
            outcomes=step.outcomes,
            text=task.request.objective,
            limit=step.depth,
            pending_only=pending_only,
        )
        own = _own_case(task)
        return [found for found in await self._records.canonical(task, lookup) if found.target not in own]

    async def _timed(self, read: Read, find: Callable[[], Awaitable[list[Found]]]) -> Read:
        try:
            async with asyncio.timeout(self._seconds):
                found = await find()
        except TimeoutError:
            why = f"no answer within {self._seconds:g} s"
        except CaseloreError as error:
            why = str(error)
        except Exception as error:  # one broken source must not take the other sources' answers with it
            _log.error("route_failed", route=read.route, collection=read.collection, **failure_fields(error))
            why = f"unexpected {type(error).__name__}"
        else:
            return replace(read, found=tuple(found))
        return replace(read, state=RouteState.FAILED, why=f"{read.why}: {why}" if read.why else why)


def _pointless(task: RetrievalTask, step: SourceStep, route: Route) -> str:
    """Return why the route can't find anything for this caller, or ""."""
    if step.collection is Collection.CASES and not task.scope.tenants and not task.scope.cases:
        return "no tenant or case is in the caller's scope"
    if route is Route.REGISTRY and task.request.origin is None and not task.request.object_refs:
        return "the request names no origin and no object"
    return ""


def _filter(task: RetrievalTask, step: SourceStep) -> Filter:
    # Only experience has an outcome; over mixed kinds the filter would lose the others, so the record decides.
    by_outcome = step.kinds == (CandidateKind.EXPERIENCE,) and set(step.outcomes) != set(Outcome)
    return Filter(
        kinds=step.kinds,
        domains=_domains(task, step),
        outcomes=step.outcomes if by_outcome else (),
        not_targets=_own_case(task),
    )


def _domains(task: RetrievalTask, step: SourceStep) -> tuple[str, ...]:
    return (task.profile.domain_id,) if step.own_domain_only else ()


def _own_case(task: RetrievalTask) -> tuple[str, ...]:
    """Return the case that the work is for: no precedent of itself, though the registry may still name it."""
    return (f"case/{task.request.case_id}",) if task.request.case_id else ()


def _given(reads: Iterable[Read | None]) -> list[Read]:
    return [read for read in reads if read is not None]
