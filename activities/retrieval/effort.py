"""Effort of the candidates that an answer shows: each with its own figures, and the ranges over them (R19)."""

from __future__ import annotations

from collections.abc import Sequence

from activities.retrieval.budget import cut
from activities.retrieval.candidates import Weighed
from contracts import limits
from contracts.effort import EffortSummary, Finished, compared, summary
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
    finished = [_finished(item) for item in weighed[: len(candidates)]]
    return (
        tuple(_with_effort(candidate, item) for candidate, item in zip(candidates, finished, strict=True)),
        summary([item for item in finished if item is not None], strategy.effort_minimum),
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
    )


def _with_effort(candidate: Candidate, item: Finished | None) -> Candidate:
    if item is None:
        return candidate
    own = compared(item)
    # The extract has the whole of it as far as the token budget goes; here it only says what sets the row apart.
    own = own.model_copy(update={"changed_scope": cut(own.changed_scope, limits.LINE)})
    return candidate.model_copy(update={"effort": own})
