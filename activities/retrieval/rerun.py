"""Composing a past answer again, from what its routes found and the record as it was then (R20)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from activities.retrieval.composing import compose, looks
from activities.retrieval.rankings import reads_of
from activities.retrieval.reads import Read
from contracts.candidates import Past, RetrievalTask
from contracts.errors import UnknownRetrieval
from contracts.ports import RetrievalHistory
from contracts.rankings import Rankings
from contracts.retrieval import Answer, Candidate
from contracts.retrieval_record import Rerun, again, differences

NOT_AS_OF = (
    "grants: who could see which source case is taken from then, not derived again",
    "feedback: counts are those of now and are not compared",
)
"""What is never had as of then."""


class Rerunner:
    """Composes past answers again. It searches nothing: what was found is a part of the state of that time.

    Args:
        history: The record as it was.
    """

    def __init__(self, history: RetrievalHistory) -> None:
        self._history = history

    async def rerun(self, request_id: str) -> Rerun:
        """Return how the answer comes out again, as of the moment at which it was given.

        Raises:
            UnknownRetrieval: There is no such retrieval, it has no answer, or what it found is not kept.
        """
        task = await self._history.load(request_id)
        rankings = await self._history.rankings(request_id)
        answer = task.answer
        if answer is None or rankings is None:
            raise UnknownRetrieval(
                "Nothing is kept to compose this answer from.",
                field="request_id",
                accepted="a retrieval that was answered since rankings are kept",
            )
        task = _as_asked(task, rankings.domain_id)
        reads = reads_of(task.strategy, rankings)
        past, composed = await self._composed(task, reads, rankings, answer.answered_at)
        found = differences(answer.candidates, composed, changed=tuple(past.unknown), erased=past.erased)
        return Rerun(
            request_id=request_id,
            as_of=answer.answered_at,
            same=not found and _same_strategy(task, answer),
            candidates=tuple(again(candidate) for candidate in composed),
            differences=found,
            unknown=(*(f"{ref}: {why}" for ref, why in sorted(past.unknown.items())), *NOT_AS_OF),
        )

    async def _composed(
        self, task: RetrievalTask, reads: Sequence[Read], rankings: Rankings, at: datetime
    ) -> tuple[Past, tuple[Candidate, ...]]:
        *first, everything = looks(task, reads)
        shown = {*(rankings.current() or ()), *rankings.cases}
        for look in first:
            if rankings.resolved is not None and not shown <= {item.target for item in look}:
                continue  # the engine looked at more
            past = await self._history.as_of(task, [item.target for item in look], rankings, at)
            composed = compose(task, reads, look, past.resolution)
            if composed.is_enough:
                return past, composed.candidates
        past = await self._history.as_of(task, [item.target for item in everything], rankings, at)
        return past, compose(task, reads, everything, past.resolution).candidates


def _as_asked(task: RetrievalTask, domain_id: str) -> RetrievalTask:
    return replace(task, profile=task.profile.model_copy(update={"domain_id": domain_id}))


def _same_strategy(task: RetrievalTask, answer: Answer) -> bool:
    return task.strategy.digest() == answer.strategy_digest
