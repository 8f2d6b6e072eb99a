"""The account of an answer: what was not read, and why, so that no gap looks like an absence (R16)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from activities.retrieval.candidates import Weighing
from activities.retrieval.reads import Read
from activities.retrieval.routes import INDEX_ROUTES
from contracts.candidates import RetrievalTask
from contracts.labels import CandidateKind, Collection
from contracts.outbox import Watermark
from contracts.retrieval import Nearest, RouteState
from contracts.strategy import Route

NEAREST = 3
"""How many are named when an answer abstains."""


def not_read(task: RetrievalTask, reads: Sequence[Read], watermarks: Sequence[Watermark]) -> tuple[str, ...]:
    """Return every source that was not, or not fully, read, each with the reason."""
    return tuple(dict.fromkeys([*_behind(reads, watermarks), *_ended_early(reads), *_never_asked(task)]))


def nearest(weighing: Weighing) -> tuple[Nearest, ...]:
    """Return what came nearest to an answer that abstains, each with why it doesn't apply (R15).

    Only published text is named: a live case is a fact to compare, and stands among the candidates.
    """
    outside = [
        Nearest(
            ref=item.record.target,
            revision=item.record.revision,
            why=tuple(
                filter(None, [item.contrast, item.far, *(item.validity.reasons if item.is_out_of_range else ())])
            ),
        )
        for item in weighing.weighed
        if item.record.kind is not CandidateKind.CASE and not item.may_apply
    ]
    refused = [
        Nearest(ref=record.target, revision=record.revision, why=(why,))
        for record, why in weighing.ineligible
        if record.kind is not CandidateKind.CASE
    ]
    return (*outside, *refused)[:NEAREST]


def broadened_note(task: RetrievalTask) -> str:
    """Return which retrieval this one broadens, and in what; "" for one that stands by itself (R18)."""
    if task.broadened is None:
        return ""
    return f"Broadened from retrieval {task.broadened.request_id}: {task.broadened.widened.described()}."


def notes(reads: Sequence[Read], weighing: Weighing, listed: int, wanted: int) -> tuple[str, ...]:
    """Return what else a reader has to know about the answer."""
    lines = [
        f"{read.collection}: read from the record by full text {read.why}."
        for read in reads
        if read.route is Route.CANONICAL and read.state is RouteState.OK and read.why
    ]
    asked = {read.collection for read in reads if read.route in INDEX_ROUTES and read.state is not RouteState.SKIPPED}
    found = {read.collection for read in reads if read.route in INDEX_ROUTES and read.found}
    lines += [
        f"{collection}: its index had no hit; that is not proof of absence." for collection in sorted(asked - found)
    ]
    if weighing.stale:
        lines.append(f"{weighing.stale} of those looked at found at another revision; shown as the record holds them.")
    lines += [f"Superseded: {gap}." for item in weighing.weighed for gap in item.gaps]
    if weighing.ineligible:
        lines.append(f"{len(weighing.ineligible)} of those looked at are left out: the strategy doesn't accept them.")
    if listed < min(wanted, len(weighing.weighed)):
        lines.append(f"The token budget has room for {listed} candidates.")
    return tuple(dict.fromkeys(lines))


def _behind(reads: Sequence[Read], watermarks: Sequence[Watermark]) -> Iterator[str]:
    asked = {read.collection for read in reads if read.route in INDEX_ROUTES}
    known = {mark.collection: mark for mark in watermarks}
    for collection in sorted(asked):
        mark = known.get(collection)
        if mark is None:
            yield f"{collection}: the index has no watermark, so anything may be missing from it"
        elif not mark.is_current:
            yield f"{collection}: pending events not in the index yet: {mark.pending}, oldest {mark.lag_seconds:.0f} s"


def _ended_early(reads: Sequence[Read]) -> Iterator[str]:
    for read in reads:
        if read.state is not RouteState.OK:
            yield f"{read.collection} by {read.route}: {read.why}"
        elif read.route is Route.REGISTRY and len(read.found) >= read.step.depth:
            yield f"{read.collection} by registry: the newest {read.step.depth} were read; there may be more"


def _never_asked(task: RetrievalTask) -> Iterator[str]:
    """Name what the strategy leaves unread by its own definition."""
    strategy = task.strategy
    for collection in Collection:
        steps = [step for step in strategy.steps if step.collection is collection]
        if not steps:
            yield f"{collection}: {strategy.id} version {strategy.version} doesn't read it"
        elif all(domains := [task.domains_of(step) for step in steps]):
            read = ", ".join(dict.fromkeys(domain for each in domains for domain in each))
            yield f"{collection}: only domain {read} was read"
