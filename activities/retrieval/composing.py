"""From what the routes found to the candidates of an answer: the same steps when it is given and when it is rerun."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from activities.retrieval.candidates import Weighed, Weighing, choose, in_order, places_of, present, weigh
from activities.retrieval.effort import compare
from activities.retrieval.reads import Read
from contracts.candidates import Resolution, RetrievalTask
from contracts.effort import EffortSummary
from contracts.fusion import Fused
from contracts.retrieval import Candidate
from contracts.strategy import Route


@dataclass(frozen=True, slots=True)
class Composed:
    """The candidates of an answer, and what was noticed on the way to them."""

    weighing: Weighing
    candidates: tuple[Candidate, ...]
    effort: EffortSummary | None
    is_enough: bool
    """Every place is taken by what may apply and, where the strategy keeps places for it, by what contrasts."""


def looks(task: RetrievalTask, reads: Sequence[Read]) -> Iterator[list[Fused]]:
    """Yield what to look at, in the strategy's order: first what mostly is enough, then more, then everything.

    A record is parsed and weighed only when it is looked at, and routes find many more than an answer lists.
    """
    strategy = task.strategy
    order = in_order(reads, strategy.rrf_k)
    contrasting = {
        found.target for read in reads if read.route is Route.CONTRAST for found in read.found[: strategy.contrast_look]
    }
    for times in strategy.looks:
        look = contrasting | {item.target for item in order[: times * places_of(task)]}
        if len(look) < len(order):
            yield [item for item in order if item.target in look]
    yield order


def compose(task: RetrievalTask, reads: Sequence[Read], look: Sequence[Fused], resolution: Resolution) -> Composed:
    """Return the candidates among what was looked at; the record, and no score, decides what is shown (R10, R15)."""
    weighing = weigh(task, look, reads, resolution)
    chosen = choose(task, weighing.weighed)
    candidates, effort = compare(task.strategy, chosen, present(task, chosen))
    return Composed(weighing, candidates, effort, _is_enough(task, reads, chosen))


def _is_enough(task: RetrievalTask, reads: Sequence[Read], chosen: Sequence[Weighed]) -> bool:
    strategy, places = task.strategy, places_of(task)
    if len(chosen) < places or any(item.is_out_of_range for item in chosen) or all(item.is_apart for item in chosen):
        return False
    apart = sum(bool(item.contrast) for item in chosen)
    wanted = min(strategy.contrast, places // 2)
    if len(chosen) - apart < places - wanted:  # what did not succeed must not stand where a success might
        return False
    unread = any(len(read.found) > strategy.contrast_look for read in reads if read.route is Route.CONTRAST)
    return apart >= wanted or not unread
