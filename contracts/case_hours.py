"""Active and waiting hours of a case, from its state history (R19)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from contracts.labels import CaseState
from contracts.model import Model


class StateChange(Model):
    """From `at` on, the case was in `state`."""

    state: CaseState
    at: datetime
    waiting_on: str = ""


class CaseHours(Model):
    """Wall-clock hours; active and waiting are kept apart and never added up to an effort."""

    active: float
    """Open or reopened."""
    waiting: float
    is_running: bool
    """Whether the case is still open, so that the figures grow."""


def case_hours(history: Sequence[StateChange], until: datetime) -> CaseHours:
    """Return the hours that a case spent active and waiting.

    Args:
        history: State changes in any order; equal times keep their order.
        until: Ends the last state when it isn't `completed`; earlier than its begin counts as none.
    """
    ordered = sorted(history, key=lambda change: change.at)
    seconds = dict.fromkeys(CaseState, 0.0)
    ends = [*(change.at for change in ordered[1:]), until]
    for change, end in zip(ordered, ends, strict=False):  # no history has one end too many
        seconds[change.state] += max(0.0, (end - change.at).total_seconds())
    return CaseHours(
        active=(seconds[CaseState.OPEN] + seconds[CaseState.REOPENED]) / 3600,
        waiting=seconds[CaseState.WAITING] / 3600,
        is_running=bool(ordered) and ordered[-1].state is not CaseState.COMPLETED,
    )
