"""Asking again within the limits that a request states, when what doesn't apply has crowded out what may (R15, R17).

Limits are judged on the record, after the search: a range of versions is no condition that an index could hold. A
product and a system are, and so is whether there are hours to compare. They are asked for only where the first
answer of an index ended at its depth and left places that nothing may fill: most answers pay nothing for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from activities.retrieval.candidates import places_of
from activities.retrieval.composing import Composed
from activities.retrieval.reads import Read, filter_of
from contracts.candidates import RetrievalTask
from contracts.index import UNLIMITED, Filter
from contracts.keys import label_key
from contracts.retrieval import RouteState, ValidityState
from contracts.strategy import SourceStep

AGAIN = "asked again within the limits that the request states"
"""What a route says that was asked a second time."""


def narrower(task: RetrievalTask, step: SourceStep) -> Filter | None:
    """Return the step's filter with what the request states beside it; None when that adds nothing."""
    stated = {
        "within_products": _within(task.request.product),
        "within_systems": _within(task.request.system),
        "has_effort": ("yes",) if step.needs_effort else (),
    }
    return replace(filter_of(task, step), **stated) if any(stated.values()) else None


def is_crowded(task: RetrievalTask, reads: Sequence[Read], composed: Composed) -> bool:
    """Whether places stay empty, or hold what is out of range, though an index may know more that fits."""
    fitting = sum(each.validity.state is not ValidityState.OUT_OF_RANGE for each in composed.candidates)
    return fitting < places_of(task) and any(ended_at_its_depth(read) and narrower(task, read.step) for read in reads)


def ended_at_its_depth(read: Read) -> bool:
    """Whether a route may know more than it was asked for."""
    return read.state is RouteState.OK and len(read.found) >= read.step.depth


def also(read: Read, more: Read) -> Read:
    """Return a read with what the narrower one found behind it; one that failed is named, and takes nothing away."""
    if more.state is not RouteState.OK:
        return replace(read, why=f"{AGAIN}: {more.why}")
    known = {found.target for found in read.found}
    return replace(read, found=(*read.found, *(each for each in more.found if each.target not in known)), why=AGAIN)


def _within(label: str) -> tuple[str, ...]:
    key = label_key(label)
    return (key, UNLIMITED) if key else ()
