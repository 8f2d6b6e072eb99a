"""One route of one step: what it read, how it ended, and the time limit that it had (R15)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field, replace
from time import perf_counter

import structlog

from activities.failures import failure_fields
from activities.observation import SILENT
from contracts.candidates import Found, RetrievalTask
from contracts.errors import CaseloreError
from contracts.index import Filter, Hit
from contracts.labels import CandidateKind, Collection, Outcome
from contracts.ports import Embedder
from contracts.projection import kinds_in
from contracts.retrieval import RouteReport, RouteState
from contracts.strategy import Route, SourceStep
from contracts.telemetry_ports import Tracing

SECTIONS = 3
"""Hits asked for each record that is wanted where more are not asked for later: see `best_of_each`."""
_log = structlog.get_logger()


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
    seconds: float = field(default=0.0, compare=False)
    """How long it took."""

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


class ObjectiveVector:
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


class Clocked:
    """Runs a read within its time limit; a failed or slow one is reported, never dropped.

    Args:
        seconds: The time limit of each read.
        tracing: Told of each read and how it ended.
    """

    def __init__(self, seconds: float, tracing: Tracing = SILENT.tracing) -> None:
        self._seconds = seconds
        self._tracing = tracing

    async def run(self, read: Read, find: Callable[[], Awaitable[list[Found]]]) -> Read:
        """Return the read with what `find` found, or with why it found nothing."""
        began = perf_counter()
        with self._tracing.step("read route", collection=read.collection, route=read.route) as step:
            ended = await self._ended(read, find)
            step.tell(state=ended.state, found=len(ended.found))
            return replace(ended, seconds=perf_counter() - began)

    async def _ended(self, read: Read, find: Callable[[], Awaitable[list[Found]]]) -> Read:
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


def filter_of(task: RetrievalTask, step: SourceStep) -> Filter:
    """Return what a step accepts, as an index may be asked for it."""
    # Only experience has an outcome; over mixed kinds the filter would lose the others, so the record decides.
    by_outcome = step.kinds == (CandidateKind.EXPERIENCE,) and set(step.outcomes) != set(Outcome)
    return Filter(
        # A condition that everything meets makes a query up to twice as long.
        kinds=() if kinds_in(step.collection) <= set(step.kinds) else step.kinds,
        domains=task.domains_of(step),
        outcomes=step.outcomes if by_outcome else (),
        not_targets=own_case(task),
    )


def best_of_each(hits: Iterable[Hit]) -> list[Hit]:
    """Return the best hit of each target, the best first: an article has one for each of its sections."""
    best: dict[str, Hit] = {}
    for hit in hits:
        best.setdefault(hit.target, hit)
    return list(best.values())


def own_case(task: RetrievalTask) -> tuple[str, ...]:
    """Return the case that the work is for: no precedent of itself, though the registry may still name it."""
    return (f"case/{task.request.case_id}",) if task.request.case_id else ()


def given(reads: Iterable[Read | None]) -> list[Read]:
    """Return the reads that there are."""
    return [read for read in reads if read is not None]
