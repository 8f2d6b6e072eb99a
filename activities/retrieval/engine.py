"""The retrieval engine: one interpreter for every strategy, from a stored request to a stored answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from activities.retrieval.account import not_read, notes
from activities.retrieval.candidates import in_order, present, weigh
from activities.retrieval.routes import Read, Routes
from activities.retrieval.waiting import Progress, wait_for
from contracts import limits
from contracts.candidates import Resolution, RetrievalTask
from contracts.ports import Clock, Embedder, RetrievalRecords, SearchIndex
from contracts.retrieval import Answer, RetrievalReceipt, ValidityState


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
    """

    def __init__(
        self,
        records: RetrievalRecords,
        index: SearchIndex,
        embedder: Embedder,
        clock: Clock,
        times: TimeLimits | None = None,
    ) -> None:
        self._records = records
        self._clock = clock
        self._times = times or TimeLimits()
        self._routes = Routes(records, index, embedder, self._times.route)

    async def answer(self, request_id: str) -> RetrievalReceipt:
        """Answer the request and store the answer; a repeat returns the first one (R20).

        Raises:
            UnknownRetrieval: There is no such request.
        """
        task = await self._records.load(request_id)
        if task.answer is not None:
            return _receipt(task.answer)
        progress = await wait_for(
            self._records,
            task.request.wait_for_position,
            seconds=self._times.watermark,
            every=self._times.watermark_every,
        )
        reads = await self._routes.read(task, progress.watermarks)
        answer = await self._compose(task, reads, progress)
        return _receipt(await self._records.save(task, answer))

    async def _compose(self, task: RetrievalTask, reads: Sequence[Read], progress: Progress) -> Answer:
        strategy = task.strategy
        fused = in_order(reads, strategy.rrf_k)
        resolution = await self._resolve(task, [item.target for item in fused])
        weighing = weigh(task, fused, reads, resolution)
        candidates = present(task, weighing.weighed)
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
            abstained=all(item.validity.state is ValidityState.OUT_OF_RANGE for item in candidates),
            notes=(*filter(None, [progress.note]), *notes(reads, weighing, len(candidates), wanted)),
            answered_at=self._clock.now(),
        )

    async def _resolve(self, task: RetrievalTask, targets: Sequence[str]) -> Resolution:
        if not targets:
            return Resolution({}, frozenset(), frozenset())
        return await self._records.resolve(task, targets)


def _receipt(answer: Answer) -> RetrievalReceipt:
    return RetrievalReceipt(request_id=answer.request_id, candidates=len(answer.candidates), abstained=answer.abstained)
