"""The retrieval engine: one interpreter for every strategy, from a stored request to a stored answer."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from time import perf_counter

from activities.observation import SILENT, Telemetry
from activities.retrieval.account import broadened_note, nearest, not_read, notes
from activities.retrieval.bar import bar_note
from activities.retrieval.composing import Composed, compose, looks
from activities.retrieval.narrowing import is_crowded
from activities.retrieval.rankings import kept
from activities.retrieval.reads import Read
from activities.retrieval.routes import Routes
from activities.retrieval.waiting import Progress, wait_for
from contracts import limits
from contracts.candidates import NOTHING, Resolution, RetrievalTask
from contracts.outbox import Watermark
from contracts.ports import Clock, Embedder, RetrievalRecords, SearchIndex
from contracts.retrieval import Answer, RetrievalReceipt


@dataclass(frozen=True, slots=True)
class TimeLimits:
    """How long a retrieval waits, in seconds."""

    route: float = 1.5
    """For each route."""
    watermark: float = limits.WATERMARK_WAIT.total_seconds()
    """For the indexes to reach a position."""
    watermark_every: float = 0.1
    """Between two looks at the watermarks."""


class RetrievalEngine:
    """Answers stored requests with candidates to weigh; it finds and labels, and never decides (R15, R20).

    Args:
        records: Postgres, which has the last word on every candidate.
        index: The search index.
        embedder: Makes the objective's vector.
        clock: The time of the answer.
        times: How long to wait for what.
        telemetry: Where traces and measures go.
    """

    def __init__(
        self,
        records: RetrievalRecords,
        index: SearchIndex,
        embedder: Embedder,
        clock: Clock,
        times: TimeLimits | None = None,
        *,
        telemetry: Telemetry = SILENT,
    ) -> None:
        self._records = records
        self._telemetry = telemetry
        self._clock = clock
        self._embedder = embedder
        self._times = times or TimeLimits()
        self._routes = Routes(records, index, embedder, self._times.route, telemetry.tracing)

    async def answer(self, request_id: str) -> RetrievalReceipt:
        """Answer the request and store the answer; a repeat returns the first one (R20).

        Raises:
            UnknownRetrieval: There is no such request.
        """
        began = perf_counter()
        with self._telemetry.tracing.step("answer retrieval", retrieval_id=request_id) as step:
            task, watermarks = await asyncio.gather(self._records.load(request_id), self._records.watermarks())
            if task.answer is not None:
                return _receipt(task.answer)
            strategy = task.strategy
            step.tell(strategy=strategy.id, strategy_version=strategy.version)
            reads, answer = await self._answered(task, watermarks)
            step.tell(candidates=len(answer.candidates), abstained=answer.abstained)
        measures = self._telemetry.measures
        for read in reads:
            measures.route_ended(strategy.id, read.collection, read.route, read.state, read.seconds)
        measures.retrieval_answered(strategy.id, abstained=answer.abstained, seconds=perf_counter() - began)
        return _receipt(answer)

    async def _answered(self, task: RetrievalTask, watermarks: list[Watermark]) -> tuple[Sequence[Read], Answer]:
        """Return what the routes read, and the answer as it was stored."""
        progress = await wait_for(
            self._records,
            watermarks,
            task.request.wait_for_position,
            seconds=self._times.watermark,
            every=self._times.watermark_every,
        )
        reads = await self._routes.read(task, progress.watermarks)
        composed, resolution, looked_at = await self._composed(task, reads)
        if is_crowded(task, reads, composed):
            before, reads = reads, await self._routes.read_within(task, reads)
            if any(len(read.found) > len(first.found) for first, read in zip(before, reads, strict=True)):
                composed, resolution, looked_at = await self._composed(task, reads)
        answer = self._answer(task, reads, composed, resolution, progress, looked_at)
        return reads, await self._records.save(task, answer, kept(task, reads, resolution))

    async def _composed(self, task: RetrievalTask, reads: Sequence[Read]) -> tuple[Composed, Resolution, datetime]:
        """Return the candidates, what the record said of everything found, and when it said so."""
        *first, everything = looks(task, reads)
        found = [item.target for item in everything]
        for look in first:
            wanted = [item.target for item in look]
            others = sorted(set(found) - set(wanted))  # not parsed, and counted where they are withdrawn or barred
            resolution = await self._records.resolve(task, wanted, others)
            looked_at = self._clock.now()  # right after the record was read: the moment that the answer tells of
            composed = compose(task, reads, look, resolution)
            if composed.is_enough:
                return composed, resolution, looked_at
        resolution = await self._records.resolve(task, found) if found else NOTHING
        looked_at = self._clock.now()
        return compose(task, reads, everything, resolution), resolution, looked_at

    def _answer(
        self,
        task: RetrievalTask,
        reads: Sequence[Read],
        composed: Composed,
        resolution: Resolution,
        progress: Progress,
        answered_at: datetime,
    ) -> Answer:
        strategy = task.strategy
        weighing, candidates = composed.weighing, composed.candidates
        abstained = not any(item.may_apply for item in weighing.weighed)
        wanted = task.request.results or strategy.results
        return Answer(
            request_id=task.request.request_id,
            strategy_id=strategy.id,
            strategy_version=strategy.version,
            strategy_digest=strategy.digest(),
            candidates=candidates,
            watermarks=tuple(progress.watermarks),
            routes=tuple(read.report() for read in reads),
            not_read=not_read(task, reads, progress.watermarks),
            omitted_by_permission=len(resolution.not_permitted),
            withdrawn=len(resolution.withdrawn),
            abstained=abstained,
            nearest=nearest(weighing) if abstained else (),
            notes=(
                *filter(None, [progress.note, broadened_note(task), bar_note(strategy, self._embedder.model)]),
                *notes(reads, weighing, len(candidates), wanted),
            ),
            answered_at=answered_at,
            effort=composed.effort,
            broadened=task.broadened,
        )


def _receipt(answer: Answer) -> RetrievalReceipt:
    return RetrievalReceipt(request_id=answer.request_id, candidates=len(answer.candidates), abstained=answer.abstained)
