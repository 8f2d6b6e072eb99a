"""Effort of the candidates that an answer shows: each with its own figures, and the ranges over them (R19)."""

from __future__ import annotations

from collections.abc import Sequence

from activities.retrieval.budget import cut
from activities.retrieval.candidates import Weighed
from contracts import limits
from contracts.effort import ComparedEffort, EffortSummary, Finished, compared, summary
from contracts.retrieval import Candidate
from contracts.strategy import Strategy


def compare(
    strategy: Strategy, weighed: Sequence[Weighed], candidates: Sequence[Candidate]
) -> tuple[tuple[Candidate, ...], EffortSummary | None]:
    """Return the candidates with their own effort, and the ranges over it; unchanged where no effort is compared.

    Only hours of the approved text count, and only of what is shown: a reader sees every row behind a range. The
    registry's own hours are no effort: a case that is open is not being worked on all the time.

    Args:
        strategy: Says how many items a range needs.
        weighed: What may be shown, best first.
        candidates: What is shown: the first of `weighed`, in the same order.
    """
    if strategy.effort_minimum is None:
        return tuple(candidates), None
    finished = [item for item in map(_finished, weighed[: len(candidates)]) if item is not None]
    own = {item.ref: row for item, row in zip(finished, compared(finished), strict=True)}
    return (
        tuple(_with_effort(candidate, own.get(candidate.ref)) for candidate in candidates),
        summary(finished, strategy.effort_minimum),
    )


def _finished(item: Weighed) -> Finished | None:
    draft = item.record.draft
    if draft is None or draft.effort is None or not item.detail:
        return None
    return Finished(
        ref=item.record.target,
        revision=item.record.revision,
        effort=draft.effort,
        outcome=draft.outcome,
        validity=item.validity.state,
        is_far=bool(item.far),
        work=item.record.work,
    )


def _with_effort(candidate: Candidate, own: ComparedEffort | None) -> Candidate:
    if own is None:
        return candidate
    # The extract has the whole of it as far as the token budget goes; here it only says what sets the row apart.
    own = own.model_copy(update={"changed_scope": cut(own.changed_scope, limits.LINE)})
    return candidate.model_copy(update={"effort": own})
