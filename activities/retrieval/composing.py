"""From what the routes found to the candidates of an answer: the same steps when it is given and when it is rerun."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from activities.retrieval.candidates import Weighing, choose, in_order, present, weigh
from activities.retrieval.effort import compare
from activities.retrieval.reads import Read
from contracts.candidates import Resolution, RetrievalTask
from contracts.effort import EffortSummary
from contracts.retrieval import Candidate


@dataclass(frozen=True, slots=True)
class Composed:
    """The candidates of an answer, and what was noticed on the way to them."""

    weighing: Weighing
    candidates: tuple[Candidate, ...]
    effort: EffortSummary | None


def targets_of(task: RetrievalTask, reads: Sequence[Read]) -> list[str]:
    """Return every target that was found, in the strategy's order."""
    return [item.target for item in in_order(reads, task.strategy.rrf_k)]


def compose(task: RetrievalTask, reads: Sequence[Read], resolution: Resolution) -> Composed:
    """Return the candidates; the record, and no score, decides what may be shown (R10, R15)."""
    weighing = weigh(task, in_order(reads, task.strategy.rrf_k), reads, resolution)
    chosen = choose(task, weighing.weighed)
    candidates, effort = compare(task.strategy, chosen, present(task, chosen))
    return Composed(weighing, candidates, effort)
