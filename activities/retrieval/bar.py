"""Holding what was found to the strategy's bar: what is far from the objective says so, and nothing counts on it (R15).

What is far is listed behind what is near, and never left out. What could not be measured is never called far: an index
lags or failed, a ranking ended above the bar, the text has changed since it was projected.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property

from activities.retrieval.concept_links import CONCEPTS_FOLLOWED
from activities.retrieval.extracts import words
from activities.retrieval.identifier_hop import NAMED_IN
from activities.retrieval.reads import Read
from contracts.candidates import CandidateRecord, Found, RetrievalTask
from contracts.likeness import Wanted, answers, wanted_of
from contracts.strategy import Bar, Route, SourceStep, Strategy

FAR = "far from the objective"
"""The label of a candidate below the bar."""
_MEASURED = frozenset({Route.DENSE_TITLE, Route.DENSE_BODY})
"""Routes over everything that a step accepts; what none of them has near is not near."""


def bar_of(strategy: Strategy, model: str) -> Bar | None:
    """Return the bar that an embedding model's cosines are held to; None where there is none to hold them to."""
    bar = strategy.bar
    return bar if bar is not None and model.partition("@")[0] == bar.model else None


def bar_note(strategy: Strategy, model: str) -> str:
    """Return that the strategy's bar is not applied, and why; "" when it is, or when there is none."""
    if strategy.bar is None or bar_of(strategy, model) is not None:
        return ""
    return f"Nothing is called far: the strategy's bar is measured with {strategy.bar.model}, and {model} is used."


class HeldToBar:
    """Tells what is far from the objective.

    Args:
        task: Its objective and its strategy's bar.
        reads: Everything that the routes found.
    """

    def __init__(self, task: RetrievalTask, reads: Sequence[Read]) -> None:
        self._task = task
        told = {(read.number, read.route) for read in reads if read.route in _MEASURED and _tells(read)}
        self._told = [step for number, step in enumerate(task.strategy.steps, start=1) if _is_told(number, step, told)]
        self._near = {found.target for read in reads for found in read.found if found.near}
        self._leads = {
            read.collection for read in reads if read.route in _MEASURED and read.found and read.found[0].near
        }

    def is_far(self, record: CandidateRecord, found_by: Sequence[tuple[Read, int, Found]], *, detail: bool) -> bool:
        """Return whether nothing of a record answers to the objective.

        Args:
            record: The target as the record holds it.
            found_by: Every read that found it, its rank there, and how.
            detail: Whether the text behind a synopsis may be read.
        """
        if any(self._clears(read, found) for read, _, found in found_by):
            return False
        if not all(self._is_measured(record, read, found) for read, _, found in found_by):
            return False  # nothing is measured where the strategy has no bar
        said = words(record, self._task.request, detail=detail or record.case is not None)
        return not answers(f"{record.title}\n{said.text[said.best :]}", self._wanted)

    @cached_property
    def _wanted(self) -> Wanted:
        return wanted_of(self._task.request.objective)  # asked for seldom: most of what is listed is near

    def _clears(self, read: Read, found: Found) -> bool:
        if read.route is Route.IDENTIFIER_HOP:  # what only shares a name was found by words
            naming = [field.removeprefix(NAMED_IN) for field in found.fields if field.startswith(NAMED_IN)]
            return bool(naming) and (read.collection in self._leads or not self._near.isdisjoint(naming))
        if read.route is Route.CONCEPT_LINKS:
            return read.collection in self._leads and found.fields != (CONCEPTS_FOLLOWED,)
        return found.near is True or read.route is Route.REGISTRY

    def _is_measured(self, record: CandidateRecord, read: Read, found: Found) -> bool:
        """Whether what a read found was held to the bar, as it is now, by every dense route of its source."""
        if read.route is Route.CANONICAL or found.revision != record.revision:  # the index may not have it, or not yet
            return False
        return any(step.collection is read.collection and record.kind in step.kinds for step in self._told)


def _is_told(number: int, step: SourceStep, told: AbstractSet[tuple[int, Route]]) -> bool:
    """Whether what none of a step's dense routes has near is not near: each of them answered, down to the bar."""
    measuring = _MEASURED.intersection(step.routes)
    return bool(measuring) and all((number, route) in told for route in measuring)


def _tells(read: Read) -> bool:
    if not read.found or any(found.near is None for found in (read.found[0], read.found[-1])):
        return False
    return len(read.found) < read.step.depth or read.found[-1].near is False
