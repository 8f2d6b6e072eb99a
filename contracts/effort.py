"""Effort comparison: what finished work took, as a range with its sample (R19).

Work and waiting are two figures that are never added up; neither is a price or a date. A range rests on work that
is like what is to be done, succeeded, inside its limits and to the scope that was agreed; everything else is listed
apart with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from math import isfinite
from typing import Annotated, Any, cast

from pydantic import Field, model_validator

from contracts.cases import Effort
from contracts.labels import Outcome, ValidityState
from contracts.model import Model

METHOD = (
    "Quantiles at position p(n + 1) of the sorted hours, linear between neighbours and never beyond the least and the "
    "most: below 9 items p10 and p90 are the least and the most."
)
NOT_GIVEN = "Past hours of work and of waiting, apart. Neither a price for today nor a date to commit to."
_LOW, _MIDDLE, _HIGH = 0.1, 0.5, 0.9
_NOT_KEPT = "A figure of this range was too large to be kept."
Finite = Annotated[float, Field(allow_inf_nan=False)]
"""A number that JSON can hold."""


class Comparison(StrEnum):
    """Whether an item's hours count in the ranges, and if not, why."""

    COUNTED = "counted"
    SCOPE_CHANGED = "scope_changed"
    """Its hours are those of another scope than the one that was agreed and estimated."""
    NOT_SUCCEEDED = "not_succeeded"
    """It ended before the work was done."""
    OUTSIDE_LIMITS = "outside_limits"
    FAR = "far_from_objective"
    """Found, and far from what is to be done: hours of other work."""
    NO_ACTIVE_HOURS = "no_active_hours"
    SAME_WORK = "same_work_as_another"
    """It tells of the job whose hours an item before it has counted."""


class ComparedEffort(Model):
    """One candidate's own figures: a row behind the range."""

    estimate_hours: Finite | None = None
    active_hours: Finite | None = None
    waiting_hours: Finite | None = None
    changed_scope: str = ""
    error: Finite | None = None
    """Active hours over the earlier estimate: 1.5 took half as much again; None without both."""
    comparison: Comparison


class Finished(Model):
    """Finished work that a retrieval found, with what decides whether it is compared."""

    ref: str
    revision: int
    effort: Effort
    outcome: Outcome
    validity: ValidityState
    is_far: bool = False
    """Whether it doesn't clear the strategy's bar."""
    work: str = ""
    """Key of the finished job: what has one key tells of one job, "" of one of its own. Shown to nobody (R21)."""


class Quantiles(Model):
    """A range by quantiles. Numbers as recorded: rounding is for who shows them."""

    least: Finite
    p10: Finite
    p50: Finite
    p90: Finite
    most: Finite
    covers: Finite
    """The share of further work of the same kind that lies from p10 to p90, on average: 0.8, less for few items."""


class EffortRange(Model):
    """A figure over the items that have it, or why it isn't given."""

    n: int
    """Items that have the figure."""
    quantiles: Quantiles | None = None
    withheld: str = ""
    """Why there is no range: how many items there are and how many are needed; "" when there is one."""

    @model_validator(mode="before")
    @classmethod
    def _without_what_was_not_kept(cls, given: Any) -> Any:
        """Read a range in which a figure became null, for it wasn't finite: such were stored once."""
        if not isinstance(given, Mapping):
            return given
        stored = cast("Mapping[str, Any]", given)
        found = stored.get("quantiles")
        if isinstance(found, Mapping) and None in cast("Mapping[str, Any]", found).values():
            return {**stored, "quantiles": None, "withheld": _NOT_KEPT}
        return stored


class SetApart(Model):
    """An item that is shown and not counted."""

    ref: str
    revision: int
    why: Comparison


class EffortSummary(Model):
    """What comparable finished work took (R19). Active and waiting hours stand side by side and have no sum."""

    needed: int
    """Items that a range needs, by the strategy."""
    active: EffortRange
    waiting: EffortRange
    error: EffortRange
    """Active hours over the earlier estimate, of counted items that have both."""
    revalidate: int
    """Counted items whose limits or conditions have to be checked again before they compare."""
    apart: tuple[SetApart, ...] = ()
    method: str = METHOD
    not_given: str = NOT_GIVEN


def compared(items: Sequence[Finished]) -> tuple[ComparedEffort, ...]:
    """Return each item's own figures and whether they count; of several items on one job, the first that compares."""
    return tuple(
        ComparedEffort(
            estimate_hours=item.effort.estimate_hours,
            active_hours=item.effort.active_hours,
            waiting_hours=item.effort.waiting_hours,
            changed_scope=item.effort.changed_scope.strip(),
            error=_error(item.effort),
            comparison=comparison,
        )
        for item, comparison in zip(items, _comparisons(items), strict=True)
    )


def summary(items: Sequence[Finished], needed: int) -> EffortSummary:
    """Return the ranges over the items that compare, each withheld when fewer than `needed` have its figure.

    Args:
        items: What is shown to the reader, best first; the same item, and the same job, counts once.
        needed: The strategy's minimum.
    """
    unique = list({(item.ref, item.revision): item for item in items}.values())
    judged = list(zip(unique, _comparisons(unique), strict=True))
    counted = [item for item, comparison in judged if comparison is Comparison.COUNTED]

    def over(figure: Callable[[Effort], float | None], what: str) -> EffortRange:
        values = [value for item in counted if (value := figure(item.effort)) is not None]
        return _range(values, needed, what)

    return EffortSummary(
        needed=needed,
        active=over(lambda effort: effort.active_hours, "active hours"),
        waiting=over(lambda effort: effort.waiting_hours, "waiting hours"),
        error=over(_error, "both an estimate and active hours"),
        revalidate=sum(item.validity is ValidityState.REVALIDATE for item in counted),
        apart=tuple(
            SetApart(ref=item.ref, revision=item.revision, why=comparison)
            for item, comparison in judged
            if comparison is not Comparison.COUNTED
        ),
    )


def quantiles(values: Sequence[float]) -> Quantiles:
    """Return the quantiles of at least one value, as `METHOD` says."""
    ordered = sorted(values)
    n = len(ordered)
    return Quantiles(
        least=ordered[0],
        p10=_at(ordered, _LOW),
        p50=_at(ordered, _MIDDLE),
        p90=_at(ordered, _HIGH),
        most=ordered[-1],
        # Of n + 1 equally likely gaps for a further value, those between the two positions.
        covers=round((_position(n, _HIGH) - _position(n, _LOW)) / (n + 1), 9),
    )


def _range(values: Sequence[float], needed: int, what: str) -> EffortRange:
    n = len(values)
    if n < max(needed, 1):
        said = f"{n} comparable item{'' if n == 1 else 's'} with {what}; {needed} needed for a range."
        return EffortRange(n=n, withheld=said)
    return EffortRange(n=n, quantiles=quantiles(values))


def _position(n: int, p: float) -> float:
    return min(max(p * (n + 1), 1.0), float(n))


def _at(ordered: Sequence[float], p: float) -> float:
    position = _position(len(ordered), p)
    below = int(position)
    low, high = ordered[below - 1], ordered[min(below, len(ordered) - 1)]
    return min(max(low + (position - below) * (high - low), low), high)


def _comparisons(items: Sequence[Finished]) -> list[Comparison]:
    counted: set[str] = set()
    found: list[Comparison] = []
    for item in items:
        comparison = _comparison(item)
        if comparison is Comparison.COUNTED and item.work:
            comparison = Comparison.SAME_WORK if item.work in counted else comparison
            counted.add(item.work)
        found.append(comparison)
    return found


def _comparison(item: Finished) -> Comparison:
    if item.validity is ValidityState.OUT_OF_RANGE:
        return Comparison.OUTSIDE_LIMITS
    if item.is_far:
        return Comparison.FAR
    if item.outcome is not Outcome.SUCCEEDED:
        return Comparison.NOT_SUCCEEDED
    if item.effort.active_hours is None:
        return Comparison.NO_ACTIVE_HOURS
    return Comparison.SCOPE_CHANGED if item.effort.has_changed_scope else Comparison.COUNTED


def _error(effort: Effort) -> float | None:
    if effort.active_hours is None or not effort.estimate_hours:
        return None
    error = effort.active_hours / effort.estimate_hours
    return error if isfinite(error) else None
