"""From found targets to candidates: what the record says now decides what is shown and how (R10, R15, R17)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from activities.retrieval.budget import fit, room
from activities.retrieval.extracts import words
from activities.retrieval.routes import Read
from contracts.candidates import CandidateRecord, Found, Resolution, RetrievalTask
from contracts.experience import Limits
from contracts.fusion import Fused, Ranking, fuse
from contracts.labels import CandidateKind, Collection
from contracts.projection import outcome_label
from contracts.retrieval import Candidate, Match, RetrievalRequest, Superseded, Validity, ValidityState
from contracts.strategy import SourceStep
from contracts.validity import FITS, combine, judge, judge_units, lost_cover, lost_limits

_CASE_NOTE = "a live case, not reviewed experience: compare its facts"


@dataclass(frozen=True, slots=True)
class Weighed:
    """A record that may be shown, with why it was found and whether it fits."""

    record: CandidateRecord
    found_by: tuple[tuple[Read, int, Found], ...]
    """Each read that found it, its rank there, and how it was found."""
    detail: bool
    validity: Validity
    gaps: tuple[str, ...] = ()
    """What its supersession left without a successor, of what the request states (R10)."""


@dataclass(frozen=True, slots=True)
class Weighing:
    """Everything that may be shown, best first, and what was noticed on the way."""

    weighed: list[Weighed]
    stale: int
    """Found at a revision that is not the current one."""
    ineligible: int
    """Current, and not what the strategy accepts."""


def in_order(reads: Sequence[Read], k: int) -> list[Fused]:
    """Return every found target once, in the strategy's order.

    What has the request's own origin comes first, whatever resembles it more: it may be the same request (R1).
    """
    fused = fuse([Ranking(read.name, tuple(found.target for found in read.found), read.weight) for read in reads], k)
    same_origin = {found.target for read in reads for found in read.found if "origin" in found.fields}
    return sorted(fused, key=lambda item: item.target not in same_origin)


def weigh(task: RetrievalTask, fused: Sequence[Fused], reads: Sequence[Read], resolution: Resolution) -> Weighing:
    """Return what may be shown, by the record alone; candidates that are out of range come last."""
    by_name = {read.name: (read, {found.target: found for found in reversed(read.found)}) for read in reads}
    weighed: list[Weighed] = []
    stale = ineligible = 0
    for item in fused:
        record = resolution.records.get(item.target)
        if record is None:
            continue
        places = [(*by_name[place.ranking], place.rank) for place in item.places]
        found_by = tuple((read, rank, found[item.target]) for read, found, rank in places)
        if not any(_eligible(record, read.step, task) for read, _, _ in found_by):
            ineligible += 1
            continue
        stale += any(found.revision != record.revision for _, _, found in found_by)
        # A synopsis that routing found doesn't open the text behind it.
        detail = task.strategy.show_detail and any(read.collection is not Collection.ROUTING for read, _, _ in found_by)
        gaps = _gaps(record, task.request)
        validity = _validity(record, task.request, gaps, detail=detail)
        weighed.append(Weighed(record, found_by, detail, validity, gaps))
    weighed.sort(key=lambda item: item.validity.state is ValidityState.OUT_OF_RANGE)  # stable: order is kept
    return Weighing(weighed, stale, ineligible)


def present(task: RetrievalTask, weighed: Sequence[Weighed]) -> tuple[Candidate, ...]:
    """Return the best as candidates, within the result and token budget."""
    request = task.request
    shown = weighed[: min(request.results or task.strategy.results, room(request.tokens))]
    extracts = fit([words(item.record, request, detail=item.detail) for item in shown], request.tokens)
    return tuple(
        _candidate(rank, item, extract, complete)
        for rank, (item, (extract, complete)) in enumerate(zip(shown, extracts, strict=True), start=1)
    )


def _candidate(rank: int, item: Weighed, extract: str, complete: bool) -> Candidate:
    record = item.record
    return Candidate(
        rank=rank,
        kind=record.kind,
        owner=record.owner,
        ref=record.target,
        revision=record.revision,
        title=record.title,
        extract=extract,
        extract_complete=complete,
        source_case=record.source_case,
        source_origin=record.source_origin,
        state=record.state,
        outcome=record.draft.outcome if record.draft else None,
        proof_level=record.draft.proof_level if record.draft else None,
        reason=tuple(
            Match(route=read.route, collection=read.collection, rank=rank, fields=found.fields)
            for read, rank, found in item.found_by
        ),
        limits=_limits(record),
        validity=item.validity,
        supersedes=tuple(Superseded(ref=earlier.ref, revision=earlier.revision) for earlier in record.supersedes),
    )


def _eligible(record: CandidateRecord, step: SourceStep, task: RetrievalTask) -> bool:
    """Return whether the step accepts the record; an index may have found it by what it used to be."""
    if record.kind not in step.kinds:
        return False
    if step.own_domain_only and record.owner != task.profile.domain_id:
        return False
    if record.draft is not None and record.draft.outcome not in step.outcomes:
        return False
    return not step.needs_effort or (record.draft is not None and record.draft.effort is not None)


def _validity(record: CandidateRecord, request: RetrievalRequest, gaps: tuple[str, ...], *, detail: bool) -> Validity:
    if record.kind is CandidateKind.CASE:
        opened = record.case.opened_at if record.case else None
        note = Validity(state=ValidityState.REVALIDATE, reasons=(_CASE_NOTE,))
        return combine(note, judge(Limits(), request, proof_level=None, dated=opened))
    draft = record.draft
    proof = draft.proof_level if draft else None
    revision = judge(_limits(record), request, proof_level=proof, dated=record.published_at)
    uncovered = Validity(state=ValidityState.REVALIDATE, reasons=gaps) if gaps else FITS
    if draft is None:
        return combine(revision, uncovered)
    units = judge_units(draft.units, request) if detail else FITS
    # Limits that fit don't turn what failed into a remedy: the label travels with the verdict (R5).
    label = Validity(state=ValidityState.OK, reasons=tuple(filter(None, [outcome_label(draft.outcome)])))
    return combine(label, revision, units, uncovered)


def _gaps(record: CandidateRecord, request: RetrievalRequest) -> tuple[str, ...]:
    """Return what the request states and the record doesn't cover though something that it superseded did."""
    lost = (", ".join(_lost(record, earlier.limits, request)) for earlier in record.supersedes)
    return tuple(
        f"{facts}: covered by {earlier.ref} until {record.target} superseded it; nothing current took that over"
        for facts, earlier in zip(lost, record.supersedes, strict=True)
        if facts
    )


def _lost(record: CandidateRecord, earlier: Limits, request: RetrievalRequest) -> tuple[str, ...]:
    if record.draft is None:
        return lost_limits(record.limits, earlier, request)
    return lost_cover(record.draft, earlier, request)


def _limits(record: CandidateRecord) -> Limits:
    return record.draft.limits if record.draft else record.limits
