"""Everything that is recorded of one retrieval, and what composing its answer again comes to (R20)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from itertools import zip_longest
from typing import Any

from contracts.consultation import ConsultationView
from contracts.effort import Comparison
from contracts.erased_records import without_terms
from contracts.feedback import CandidateFeedback, FeedbackView
from contracts.labels import CandidateKind, Outcome, ValidityState
from contracts.model import Model
from contracts.retrieval import Answer, Candidate, CheckOutcome, MemoryUse, RetrievalRequest
from contracts.strategy import Strategy
from contracts.widening import Widening


class ReadDone(Model):
    """A candidate that its asker read in full."""

    ref: str
    revision: int
    read_at: datetime


class CheckDone(Model):
    """A fresh check of a decision; without an outcome it is still to come."""

    check_id: str
    text: str
    outcome: CheckOutcome | None = None
    note: str = ""
    settled_at: datetime | None = None
    settled_by: str | None = None
    """Who reported it; None for what was reported before that was kept."""


class UseDone(Model):
    """A cited decision, with how its checks came out and what became of what it cites."""

    use: MemoryUse
    decided_by: str
    decided_at: datetime
    checks: tuple[CheckDone, ...] = ()
    feedback: tuple[FeedbackView, ...] = ()


class BroadeningDone(Model):
    """A further retrieval that was made from one, for a reason (R18)."""

    request_id: str
    """The further retrieval."""
    reason: str
    widened: Widening
    asked_by: str
    asked_at: datetime


class RetrievalRecord(Model):
    """One retrieval from question to result, as its reader may see it."""

    request_id: str
    principal_id: str
    profile_id: str
    requested_at: datetime
    strategy: Strategy
    strategy_digest: str
    request: RetrievalRequest
    answer: Answer | None = None
    """None while there is none; without the candidates whose source is outside the reader's scope."""
    reads: tuple[ReadDone, ...] = ()
    uses: tuple[UseDone, ...] = ()
    can_rerun: bool = False
    """Whether what the routes found is kept, so that the answer can be composed again."""
    uses_left_out: int = 0
    """Decisions beyond those in `uses`, which has an end."""
    consultations: tuple[ConsultationView, ...] = ()
    """What other domains were asked for it, and what they replied (R18)."""
    broadenings: tuple[BroadeningDone, ...] = ()
    """The retrievals that broaden it and that its reader may see (R18)."""
    broadenings_left_out: int = 0
    """Broadenings beyond those in `broadenings`."""


class AgainCandidate(Model):
    """A candidate of the answer that was composed again; its text is not told, for it may be withdrawn since (R10)."""

    rank: int
    ref: str
    revision: int
    validity: ValidityState
    outcome: Outcome | None = None
    contrast: str = ""
    far: str = ""


class RerunDifference(Model):
    """A rank at which the two answers differ."""

    rank: int
    then: str | None = None
    """`<ref> revision <n>`; None: the first answer has no such rank."""
    again: str | None = None
    fields: tuple[str, ...] = ()
    """Of the same candidate: what differs."""


class Rerun(Model):
    """An answer composed again from what its routes found, with the record as it was at that time."""

    request_id: str
    as_of: datetime
    same: bool
    """No difference in anything that could be had as of then."""
    candidates: tuple[AgainCandidate, ...]
    differences: tuple[RerunDifference, ...] = ()
    unknown: tuple[str, ...] = ()
    """What could not be had as of then, and so was not compared."""


_NOT_COMPARED = {"rank", "source_case", "source_origin", "feedback"}
"""Grants and counts as they were are not kept."""
_LIVE = {"title", "extract", "extract_complete", "state", "revision", "owner"}
"""What is not kept of a case that has changed since."""


def differences(
    then: Sequence[Candidate],
    again: Sequence[Candidate],
    *,
    changed: Sequence[str] = (),
    erased: Collection[str] = (),
) -> tuple[RerunDifference, ...]:
    """Return where two lists of candidates differ.

    Args:
        then: As the answer was given.
        again: As it was composed again.
        changed: Targets whose text of that time is not kept; only that they are found, and how, is compared.
        erased: Targets whose text is no more: their places go to what comes next, which is not compared.
    """
    kept = [candidate for candidate in then if candidate.ref not in erased]
    found: list[RerunDifference] = []
    for rank, (old, new) in enumerate(zip_longest(kept, _without_next(kept, again, len(then) - len(kept))), start=1):
        if old is None or new is None or old.ref != new.ref:
            found.append(RerunDifference(rank=rank, then=_named(old), again=_named(new)))
            continue
        # The budget shares its room between all extracts: one unknown text moves where the others are cut.
        left_out = _NOT_COMPARED | (_LIVE if old.ref in changed else set())
        left_out |= {"extract", "extract_complete"} if changed else set()
        before, after = _compared(old, left_out), _compared(new, left_out)
        fields = tuple(name for name in before if before[name] != after[name])
        if fields:
            found.append(RerunDifference(rank=rank, then=_named(old), again=_named(new), fields=fields))
    return tuple(found)


def _without_next(then: Sequence[Candidate], again: Sequence[Candidate], places: int) -> list[Candidate]:
    """Return what was composed again without the first few candidates that took the places of others."""
    known = {candidate.ref for candidate in then}
    taken = [candidate.ref for candidate in again if candidate.ref not in known][:places]
    return [candidate for candidate in again if candidate.ref not in taken]


def again(candidate: Candidate) -> AgainCandidate:
    """Return what is told of a candidate of a rerun."""
    return AgainCandidate(
        rank=candidate.rank,
        ref=candidate.ref,
        revision=candidate.revision,
        validity=candidate.validity.state,
        outcome=candidate.outcome,
        contrast=candidate.contrast,
        far=candidate.far,
    )


def without_own_counts(answer: Answer | None) -> Answer | None:
    """Return an answer as somebody else than its asker reads it: what the asker may count isn't theirs (R21)."""
    if answer is None:
        return None
    return answer.model_copy(
        update={
            "candidates": tuple(
                candidate.model_copy(update={"feedback": CandidateFeedback(everywhere=candidate.feedback.everywhere)})
                for candidate in answer.candidates
            )
        }
    )


def as_shown(record: RetrievalRecord, reader_id: str) -> RetrievalRecord:
    """Return a record as a reader may see it (R21).

    Its reads, citations and feedback name only what its answer shows to the reader, and only the asker sees the
    asker's own counts.
    """
    shown = {candidate.ref for candidate in record.answer.candidates} if record.answer else set[str]()
    uses = tuple(
        use.model_copy(
            update={
                "use": use.use.model_copy(
                    update={"citations": tuple(each for each in use.use.citations if each.ref in shown)}
                ),
                "feedback": tuple(
                    given.model_copy(update={"outcomes": outcomes})
                    for given in use.feedback
                    if (outcomes := tuple(each for each in given.outcomes if each.ref in shown))
                ),
            }
        )
        for use in record.uses
    )
    answer = record.answer if record.principal_id == reader_id else without_own_counts(record.answer)
    reads = tuple(each for each in record.reads if each.ref in shown)
    return record.model_copy(update={"answer": answer, "reads": reads, "uses": uses})


def cases_in(rerun: Rerun) -> tuple[str, ...]:
    """Return the cases that a rerun names: each is somebody's identity handle (R21)."""
    named = [each.ref for each in rerun.candidates]
    named += [side.split(" ")[0] for each in rerun.differences for side in (each.then, each.again) if side]
    named += [each.partition(": ")[0] for each in rerun.unknown]
    return tuple(dict.fromkeys(ref for ref in named if ref.startswith(f"{CandidateKind.CASE}/")))


def without_cases(rerun: Rerun, hidden: Collection[str]) -> Rerun:
    """Return a rerun as a reader may see it to whom these cases don't show; whether all is the same stays told."""

    def shows(side: str | None) -> bool:
        return side is None or side.split(" ")[0] not in hidden

    return rerun.model_copy(
        update={
            "candidates": tuple(each for each in rerun.candidates if each.ref not in hidden),
            "differences": tuple(each for each in rerun.differences if shows(each.then) and shows(each.again)),
            "unknown": tuple(each for each in rerun.unknown if each.partition(": ")[0] not in hidden),
        }
    )


def _named(candidate: Candidate | None) -> str | None:
    return None if candidate is None else f"{candidate.ref} revision {candidate.revision}"


def _compared(candidate: Candidate, left_out: set[str]) -> dict[str, Any]:
    values = candidate.model_dump(mode="json", exclude=left_out)
    if candidate.effort is not None and candidate.effort.comparison is Comparison.SAME_WORK:
        # Earlier answers counted a job as often as it was told, and a job's key is no part of an answer: which of
        # the same candidates stands for a job follows from the rest.
        values["effort"]["comparison"] = Comparison.COUNTED.value
    return {**values, "reason": without_terms(values["reason"])}
