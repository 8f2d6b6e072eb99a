"""Following what the first hits say: the names in them, and their concepts and intents (R10, R15)."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from dataclasses import replace

from activities.retrieval.concept_links import ConceptLinks, links_of_record
from activities.retrieval.extracts import words
from activities.retrieval.identifier_hop import Hopping, IdentifierHop
from activities.retrieval.reads import Clocked, ObjectiveVector, Read, filter_of, given
from contracts.candidates import CandidateRecord, Found, RetrievalTask
from contracts.fusion import Ranking, fuse
from contracts.labels import Collection
from contracts.ports import RetrievalRecords, SearchIndex
from contracts.retrieval import RouteState
from contracts.strategy import Hop, Links, Route, SourceStep


class Following:
    """Reads the first hits as the caller may see them, and follows them through the index.

    Args:
        records: The record, which says what the first hits say now.
        index: The search index.
        clocked: Runs each read within its time limit.
    """

    def __init__(self, records: RetrievalRecords, index: SearchIndex, clocked: Clocked) -> None:
        self._records = records
        self._clocked = clocked
        self._hop = IdentifierHop(index)
        self._links = ConceptLinks(index)

    async def read(
        self, task: RetrievalTask, number: int, step: SourceStep, reads: Sequence[Read], vector: ObjectiveVector
    ) -> list[Read]:
        """Return what the first hits of the step's source lead to, each ranking as a read of its own."""
        found = [read for read in reads if read.collection is step.collection and read.found]
        order = fuse(
            [Ranking(read.name, tuple(each.target for each in read.found), read.weight) for read in found],
            task.strategy.rrf_k,
        )
        most = max(max(step.hop.first, step.hop.follow) if step.hop else 0, step.links.first if step.links else 0)
        first = [item.target for item in order[:most]]
        heard: dict[str, CandidateRecord] = {}

        async def listen() -> list[Found]:
            records = await self._records.seen(task, first)
            heard.update({ref: records[ref] for ref in first if ref in records})
            return []

        named = Read(number, step, Route.IDENTIFIER_HOP, step.weight * step.hop.weight) if step.hop else None
        linked = Read(number, step, Route.CONCEPT_LINKS, step.weight * step.links.weight) if step.links else None
        if first:
            listened = await self._clocked.run(given([named, linked])[0], listen)
            if listened.state is RouteState.FAILED:
                return [replace(read, state=listened.state, why=listened.why) for read in given([named, linked])]
        hopped, shared = await asyncio.gather(
            self._hops(task, step, step.hop, named, heard, vector) if step.hop and named else _nothing(),
            self._shares(task, step, step.links, linked, heard, vector) if step.links and linked else _nothing(),
        )
        return [*hopped, *shared]

    async def _hops(
        self,
        task: RetrievalTask,
        step: SourceStep,
        hop: Hop,
        named: Read,
        heard: Mapping[str, CandidateRecord],
        vector: ObjectiveVector,
    ) -> list[Read]:
        """Return what the first hits name, and what shares their names."""
        if not heard:
            return [replace(named, state=RouteState.SKIPPED, why="nothing was found whose names could be followed")]
        hopping = Hopping(step.collection, task.scope, filter_of(task, step), {})
        for record in heard.values():
            said = words(record, task.request, detail=task.strategy.show_detail)
            hopping.texts[record.target] = f"{record.title}\n{said.text}"

        async def named_in_them() -> list[Found]:
            return await self._hop.named(hopping, await vector.get(), hop)

        sharing = [
            self._clocked.run(
                replace(named, weight=step.weight * hop.follow_weight, why=f"names in {ref}"),
                lambda ref=ref: self._hop.sharing(hopping, ref, task.request.objective, hop),
            )
            for ref in list(hopping.texts)[: hop.follow]
        ]
        return await asyncio.gather(
            self._clocked.run(named, named_in_them), *sharing, *self._into_cases(task, hop, hopping, vector)
        )

    def _into_cases(
        self, task: RetrievalTask, hop: Hop, hopping: Hopping, vector: ObjectiveVector
    ) -> Iterator[Coroutine[None, None, Read]]:
        """Give the read of the live cases that the first hits name, as one of the first step that reads cases."""
        steps = enumerate(task.strategy.steps, start=1)
        number, step = next(((n, each) for n, each in steps if each.collection is Collection.CASES), (0, None))
        if step is None or not hop.into_cases or not (task.scope.tenants or task.scope.cases):
            return
        among_cases = replace(hopping, collection=step.collection, where=filter_of(task, step))

        async def named_cases() -> list[Found]:
            return await self._hop.named(among_cases, await vector.get(), hop, numbered=True)

        read = Read(number, step, Route.IDENTIFIER_HOP, step.weight * hop.weight, why="cases that are named")
        yield self._clocked.run(read, named_cases)

    async def _shares(
        self,
        task: RetrievalTask,
        step: SourceStep,
        links: Links,
        linked: Read,
        heard: Mapping[str, CandidateRecord],
        vector: ObjectiveVector,
    ) -> list[Read]:
        """Return what shares a concept or an intent with the first hits or the objective's words."""
        start = {ref: links_of_record(record) for ref, record in list(heard.items())[: links.first]}

        async def sharing() -> list[Found]:
            return await self._links.sharing(
                step.collection,
                task.scope,
                filter_of(task, step),
                start=start,
                objective=task.request.objective,
                vector=await vector.get(),
                links=links,
            )

        return [await self._clocked.run(linked, sharing)]


async def _nothing() -> list[Read]:
    return []
