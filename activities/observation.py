"""What activities tell operators of their work, and to whom: to nobody, unless the deployment wires somebody (R12)."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter

from contracts.index import DenseQuery, Filter, Hit, IndexChange, LexicalQuery, Scope, Stored
from contracts.labels import Collection
from contracts.ports import SearchIndex
from contracts.retrieval import RouteState
from contracts.strategy import Route
from contracts.telemetry_ports import Label, Measures, Step, Tracing


class _Nothing:
    """`Step`, `Tracing` and `Measures` that keep nothing."""

    def tell(self, **labels: Label) -> None:
        """See `contracts.telemetry_ports.Step.tell`."""

    def rename(self, name: str) -> None:
        """See `contracts.telemetry_ports.Step.rename`."""

    def fail(self, kind: str) -> None:
        """See `contracts.telemetry_ports.Step.fail`."""

    @contextmanager
    def step(
        self,
        name: str,  # noqa: ARG002
        *,
        after: Mapping[str, str] | None = None,  # noqa: ARG002
        apart: bool = False,  # noqa: ARG002
        **labels: Label,  # noqa: ARG002
    ) -> Generator[Step]:
        """See `contracts.telemetry_ports.Tracing.step`."""
        yield self

    def request_answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """See `contracts.telemetry_ports.Measures.request_answered`."""

    def retrieval_answered(self, strategy: str, *, abstained: bool, seconds: float) -> None:
        """See `contracts.telemetry_ports.Measures.retrieval_answered`."""

    def route_ended(
        self, strategy: str, collection: Collection, route: Route, state: RouteState, seconds: float
    ) -> None:
        """See `contracts.telemetry_ports.Measures.route_ended`."""

    def index_asked(self, collection: Collection, query: str, seconds: float) -> None:
        """See `contracts.telemetry_ports.Measures.index_asked`."""

    def batch_projected(self, events: int, seconds: float) -> None:
        """See `contracts.telemetry_ports.Measures.batch_projected`."""

    def projection_failed(self, events: int, *, dead: bool) -> None:
        """See `contracts.telemetry_ports.Measures.projection_failed`."""


_NOTHING = _Nothing()


@dataclass(frozen=True, slots=True)
class Telemetry:
    """Where traces and measures go."""

    tracing: Tracing = _NOTHING
    measures: Measures = _NOTHING


SILENT = Telemetry()
"""To nobody."""


class ObservedIndex:
    """`contracts.ports.SearchIndex` whose searches are traced and timed."""

    def __init__(self, index: SearchIndex, telemetry: Telemetry) -> None:
        self._index = index
        self._telemetry = telemetry

    async def open(self) -> None:
        """See `contracts.ports.SearchIndex.open`."""
        await self._index.open()

    async def close(self) -> None:
        """See `contracts.ports.SearchIndex.close`."""
        await self._index.close()

    async def apply(self, changes: Sequence[IndexChange]) -> None:
        """See `contracts.ports.SearchIndex.apply`."""
        await self._index.apply(changes)

    async def search(
        self,
        collection: Collection,
        query: DenseQuery | LexicalQuery,
        *,
        scope: Scope,
        where: Filter,
        limit: int,
    ) -> list[Hit]:
        """See `contracts.ports.SearchIndex.search`."""
        kind = "lexical" if isinstance(query, LexicalQuery) else "dense"
        began = perf_counter()
        with self._telemetry.tracing.step("search index", collection=collection, query=kind, limit=limit) as step:
            try:
                hits = await self._index.search(collection, query, scope=scope, where=where, limit=limit)
            finally:
                self._telemetry.measures.index_asked(collection, kind, perf_counter() - began)
            step.tell(found=len(hits))
            return hits

    async def stored(self, collection: Collection) -> list[Stored]:
        """See `contracts.ports.SearchIndex.stored`."""
        return await self._index.stored(collection)

    async def drop(self, collection: Collection) -> None:
        """See `contracts.ports.SearchIndex.drop`."""
        await self._index.drop(collection)

    async def compact(self, collection: Collection) -> None:
        """See `contracts.ports.SearchIndex.compact`."""
        await self._index.compact(collection)
