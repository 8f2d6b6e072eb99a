"""From found targets to candidates: what the record says now decides what is shown and how (R10, R15, R17)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from activities.retrieval.bar import FAR, HeldToBar
from activities.retrieval.budget import Head, fit, head, room
from activities.retrieval.extracts import words
from activities.retrieval.reads import Read
from contracts.candidates import CandidateRecord, Found, Resolution, RetrievalTask
from contracts.experience import Draft, Limits
from contracts.fusion import Fused, Ranking, fuse
from contracts.labels import CandidateKind, Collection, Outcome
from contracts.projection import outcome_label
from contracts.retrieval import Candidate, Match, RetrievalRequest, Superseded, Validity, ValidityState
from contracts.strategy import Route, SourceStep, Strategy
from contracts.validity import FITS, combine, judge, judge_synopsis, judge_units, lost_cover, lost_limits

_BY_SECTION = frozenset({Route.LEXICAL, Route.DENSE_BODY, Route.CONCEPT_LINKS})
"""Routes that tell the sections of an article apart."""
_UNREAD = "the statements behind its synopsis have limits or conditions of their own, which are not shown here"
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
    contrast: str = ""
    """Why it stands apart from the answer's other candidates; "" when it doesn't (R5)."""
    far: str = ""
    """`FAR` when it doesn't clear the strategy's bar (R15)."""

    @property
    def is_out_of_range(self) -> bool:
        """Whether its limits leave the request out."""
        return self.validity.state is ValidityState.OUT_OF_RANGE

    @property
    def is_apart(self) -> bool:
        """Whether it can't be used as it is: out of range or far."""
        return self.is_out_of_range or bool(self.far)

    @property
    def may_apply(self) -> bool:
        """Whether it may help as it is: a contrast speaks against a route and is never a fix (R5)."""
        return not self.is_apart and not self.contrast

    @property
    def section(self) -> int:
        """The section of an article that was found best; the first when the text has changed since."""
        places = [
            (rank, found.section)
            for read, rank, found in self.found_by
            if read.route in _BY_SECTION and found.revision == self.record.revision
        ]
        return min(places)[1] if places else 0


@dataclass(frozen=True, slots=True)
class Weighing:
    """Everything that may be shown, best first, and what was noticed on the way."""

    weighed: list[Weighed]
    stale: int
    """Found at a revision that is not the current one."""
    ineligible: list[tuple[CandidateRecord, str]]
    """Current, and not what the strategy accepts, each with why."""


def in_order(reads: Sequence[Read], k: int) -> list[Fused]:
    """Return every found target once, in the strategy's order.

    What has the request's own origin comes first, whatever resembles it more: it may be the same request (R1).
    """
    fused = fuse([Ranking(read.name, tuple(found.target for found in read.found), read.weight) for read in reads], k)
    same_origin = {found.target for read in reads for found in read.found if "origin" in found.fields}
    return sorted(fused, key=lambda item: item.target not in same_origin)


def weigh(task: RetrievalTask, fused: Sequence[Fused], reads: Sequence[Read], resolution: Resolution) -> Weighing:
    """Return what may be shown, by the record alone; what is far comes after the near, what is out of range last."""
    held = HeldToBar(task, reads)
    by_name = {read.name: (read, {found.target: found for found in reversed(read.found)}) for read in reads}
    weighed: list[Weighed] = []
    ineligible: list[tuple[CandidateRecord, str]] = []
    stale = 0
    for item in fused:
        record = resolution.records.get(item.target)
        if record is None:
            continue
        places = [(*by_name[place.ranking], place.rank) for place in item.places]
        found_by = tuple((read, rank, found[item.target]) for read, found, rank in places)
        refusals = [_refusal(record, read.step, task) for read, _, _ in found_by]
        if all(refusals):
            ineligible.append((record, refusals[0]))
            continue
        stale += any(found.revision != record.revision for _, _, found in found_by)
        # A synopsis that routing found doesn't open the text behind it.
        detail = task.strategy.show_detail and any(read.collection is not Collection.ROUTING for read, _, _ in found_by)
        gaps = _gaps(record, task.request)
        validity = _validity(record, task, gaps, detail=detail)
        contrast = contrast_of(record, task.strategy)
        far = FAR if held.is_far(record, found_by, detail=detail) else ""
        weighed.append(Weighed(record, found_by, detail, validity, gaps, contrast, far))
    weighed.sort(key=lambda item: (item.is_out_of_range, bool(item.far)))  # stable: order is kept
    return Weighing(weighed, stale, ineligible)


def contrast_of(record: CandidateRecord, strategy: Strategy) -> str:
    """Return the label of a candidate that the strategy shows apart: experience that did not succeed (R5)."""
    if not strategy.contrast or record.draft is None or record.draft.outcome is Outcome.SUCCEEDED:
        return ""
    return f"shown to contrast: {record.draft.outcome.replace('_', ' ')}"


def places_of(task: RetrievalTask) -> int:
    """Return how many candidates are listed at most."""
    return min(task.request.results or task.strategy.results, room(task.request.tokens))


def choose(task: RetrievalTask, weighed: Sequence[Weighed]) -> list[Weighed]:
    """Return what is listed, within the result and token budget: what may apply, then what contrasts with it.

    Neither crowds the other out: the strategy keeps places for what did not succeed, which takes more only where the
    others leave room (R5). What is far comes after both, what is out of range last.
    """
    room_for = places_of(task)
    fitting = [item for item in weighed if not item.is_apart]
    apart = [item for item in fitting if item.contrast]
    others = [item for item in fitting if not item.contrast]
    kept = min(task.strategy.contrast, len(apart), room_for // 2)
    first = others[: room_for - kept]
    second = apart[: room_for - len(first)]
    rest = [item for item in weighed if item.is_apart]
    return [*first, *second, *rest[: room_for - len(first) - len(second)]]


def present(task: RetrievalTask, shown: Sequence[Weighed]) -> tuple[Candidate, ...]:
    """Return what was chosen as candidates, their heads and extracts within the token budget."""
    request, places = task.request, places_of(task)
    heads = [
        head(item.record.title, item.validity, _limits(item.record), tokens=request.tokens, places=places)
        for item in shown
    ]
    extracts = fit(
        [words(item.record, request, detail=item.detail, section=item.section) for item in shown],
        request.tokens,
        [each.beside for each in heads],
    )
    return tuple(
        _candidate(rank, item, before, extract, complete)
        for rank, (item, before, (extract, complete)) in enumerate(zip(shown, heads, extracts, strict=True), start=1)
    )


def _candidate(rank: int, item: Weighed, before: Head, extract: str, complete: bool) -> Candidate:
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
        limits=before.limits,
        validity=before.validity,
        contrast=item.contrast,
        far=item.far,
        supersedes=tuple(Superseded(ref=earlier.ref, revision=earlier.revision) for earlier in record.supersedes),
        feedback=record.feedback,
    )


def _refusal(record: CandidateRecord, step: SourceStep, task: RetrievalTask) -> str:
    """Return why the step doesn't accept the record, or ""; an index may have found it by what it used to be."""
    if record.kind not in step.kinds:
        return f"the strategy doesn't read a {record.kind} here"
    domains = task.domains_of(step)
    if domains and record.owner not in domains:
        return f"it belongs to domain {record.owner}, and only {', '.join(domains)} is read here"
    if record.draft is not None and record.draft.outcome not in step.outcomes:
        return f"its outcome is {record.draft.outcome.replace('_', ' ')}"
    if step.needs_effort and (record.draft is None or record.draft.effort is None):
        return "it has no recorded effort"
    return ""


def _validity(record: CandidateRecord, task: RetrievalTask, gaps: tuple[str, ...], *, detail: bool) -> Validity:
    request, strategy = task.request, task.strategy
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
    if strategy.judges_unread:
        dropped = task.broadened.widened.dropped if task.broadened else ()
        revision = combine(revision, judge_synopsis(draft, request, dropped=dropped))
    units = judge_units(draft.units, request) if detail else _behind(draft, request, strategy)
    # Limits that fit don't turn what failed into a remedy: the label travels with the verdict (R5).
    label = Validity(state=ValidityState.OK, reasons=tuple(filter(None, [outcome_label(draft.outcome)])))
    return combine(label, revision, units, uncovered)


def _behind(draft: Draft, request: RetrievalRequest, strategy: Strategy) -> Validity:
    """Return what the statements behind a synopsis add to its validity, without a word of theirs (R14, R17)."""
    judged = judge_units(draft.units, request) if strategy.judges_unread else FITS
    return judged.model_copy(update={"reasons": (_UNREAD,) if judged.reasons else ()})


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
