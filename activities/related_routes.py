"""Likeness of cases: every route over the index of cases at once, and the record for what the index lacks (R16)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import structlog

from activities.failures import failure_fields
from contracts.cases import Case
from contracts.errors import CaseloreError
from contracts.index import DenseQuery, Filter, Hit, LexicalQuery, VectorName
from contracts.labels import CandidateKind, Collection
from contracts.outbox import Watermark
from contracts.ports import Embedder, SearchIndex
from contracts.projection import whole_text
from contracts.related import Asked, RelatedRead, RelatedRecords, RelatedTask
from contracts.retrieval import RouteState
from contracts.strategy import Route

_log = structlog.get_logger()

DEPTH = 200
"""Hits of each route that take part in the fusion."""
CHARACTERS = 20_000
"""Of a case's text at most that a route looks for."""
WORDS = 60
"""That full text looks for at most: each of them is one more list of cases to rank."""
_VECTORS = {Route.DENSE_TITLE: VectorName.TITLE, Route.DENSE_BODY: VectorName.BODY}
_SHORT = 3
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Ranked:
    """One route, what it looked for, and what it found, best first."""

    route: Route
    asked: Asked
    weight: float
    state: RouteState = RouteState.OK
    found: tuple[str, ...] = ()
    """Ids of cases."""
    hits: tuple[Hit, ...] = ()
    """The same with their scores; none where the record was read instead."""
    why: str = ""

    @property
    def name(self) -> str:
        """The name of its ranking."""
        return f"{self.route}/{self.asked}/{self.why}"

    def report(self) -> RelatedRead:
        """Return what the answer says about it."""
        return RelatedRead(route=self.route, asked=self.asked, state=self.state, found=len(self.found), why=self.why)


ROUTES = (
    Ranked(Route.LEXICAL, Asked.WHOLE, 1.0),
    Ranked(Route.LEXICAL, Asked.TITLE, 1.0),
    Ranked(Route.DENSE_TITLE, Asked.TITLE, 0.5),
    Ranked(Route.DENSE_BODY, Asked.WHOLE, 1.0),
    Ranked(Route.DENSE_BODY, Asked.TITLE, 0.5),
)
"""The routes with their weights. One matter's title may be told by the other's body, so titles are looked for in the
whole text too. Chosen as `activities.related.NEARNESS` was."""


def weighted(weights: Mapping[tuple[Route, Asked], float]) -> tuple[Ranked, ...]:
    """Return the routes of `weights`, those that count for nothing left out."""
    return tuple(Ranked(route, asked, weight) for (route, asked), weight in weights.items() if weight)


class Likeness:
    """Looks for cases that are alike; a failed or slow route is reported, and the record is read in its stead.

    Args:
        records: The record, for full text.
        index: The search index.
        embedder: Makes the case's vectors.
        routes: What to ask, with the weights.
        seconds: The time limit of each route.
    """

    def __init__(
        self,
        records: RelatedRecords,
        index: SearchIndex,
        embedder: Embedder,
        routes: Sequence[Ranked],
        seconds: float,
    ) -> None:
        self._routes = routes
        self._records = records
        self._index = index
        self._embedder = embedder
        self._seconds = seconds

    async def read(self, task: RelatedTask, watermark: Watermark) -> list[Ranked]:
        """Return how every route ended, with the record's reads for what the index lacks (R16)."""
        pending = [] if watermark.is_current else [await self._by_text(task, self._routes, "for pending changes", True)]
        texts = texts_of(task.case)
        vectors = _Vectors(self._embedder, texts)
        reads = await asyncio.gather(*(self._ask(route, task, texts, vectors) for route in self._routes))
        failed = [each for each in reads if each.state is RouteState.FAILED]
        instead = [await self._by_text(task, failed, "instead of the routes that failed", False)] if failed else []
        return [*reads, *pending, *instead]

    async def _ask(self, route: Ranked, task: RelatedTask, texts: Mapping[Asked, str], vectors: _Vectors) -> Ranked:
        words = texts[route.asked]
        if not words:
            return replace(route, state=RouteState.SKIPPED, why=f"the case has no {route.asked}")

        async def find() -> Ranked:
            vector = _VECTORS.get(route.route)
            query = LexicalQuery(words) if vector is None else DenseQuery(await vectors.get(route.asked), vector)
            hits = await self._index.search(Collection.CASES, query, scope=task.scope, where=_where(task), limit=DEPTH)
            return replace(route, found=tuple(hit.target.partition("/")[2] for hit in hits), hits=tuple(hits))

        return await self._timed(route, find)

    async def _by_text(self, task: RelatedTask, stands_for: Sequence[Ranked], why: str, pending_only: bool) -> Ranked:
        # It stands in for whole routes, so it counts for as much as they would have.
        weight = sum(route.weight for route in stands_for)
        read = Ranked(Route.CANONICAL, Asked.WHOLE, weight, why=why)
        words = words_of(task.case)
        if not words:
            return replace(read, state=RouteState.SKIPPED, why=f"{why}: the case has no words")

        async def find() -> Ranked:
            found = await self._records.by_text(task, words, limit=DEPTH, pending_only=pending_only)
            return replace(read, found=tuple(found))

        return await self._timed(read, find)

    async def _timed(self, read: Ranked, find: Callable[[], Awaitable[Ranked]]) -> Ranked:
        try:
            async with asyncio.timeout(self._seconds):
                return await find()
        except TimeoutError:
            why = f"no answer within {self._seconds:g} s"
        except CaseloreError as error:
            why = error.type  # its words may name folders and addresses
        except Exception as error:  # one broken source must not take the others' answers with it
            _log.error("related_route_failed", route=read.route, **failure_fields(error))
            why = f"unexpected {type(error).__name__}"
        return replace(read, state=RouteState.FAILED, why=f"{read.why}: {why}" if read.why else why)


class _Vectors:
    """The case's texts as vectors: made at most once, in a thread, and only when a route asks for one."""

    def __init__(self, embedder: Embedder, texts: Mapping[Asked, str]) -> None:
        self._embedder = embedder
        self._texts = {asked: words for asked, words in texts.items() if words}
        self._made: asyncio.Task[list[list[float]]] | None = None

    async def get(self, asked: Asked) -> list[float]:
        """Return a vector; a caller that stops waiting leaves it to the others."""
        if self._made is None:
            self._made = asyncio.create_task(asyncio.to_thread(self._embedder.embed, list(self._texts.values())))
        vectors = await asyncio.shield(self._made)
        return vectors[list(self._texts).index(asked)]


def texts_of(case: Case) -> dict[Asked, str]:
    """Return what a route can look for; "" where the case has no such text."""
    return {Asked.TITLE: case.title.strip(), Asked.WHOLE: whole_text(case.title, case.body[:CHARACTERS])}


def words_of(case: Case) -> str:
    """Return the first distinct words of a case that may tell it from others, for full text.

    Short words without a digit are in nearly every case, and would make full text rank all of them.
    """
    words = dict.fromkeys(_WORD.findall(f"{case.title} {case.body[:CHARACTERS]}".casefold()))
    telling = [word for word in words if len(word) > _SHORT or any(letter.isdigit() for letter in word)]
    return " ".join((telling or list(words))[:WORDS])


def _where(task: RelatedTask) -> Filter:
    return Filter(kinds=(CandidateKind.CASE,), not_targets=(f"case/{task.case.id}",), opened_before=task.opened_before)
