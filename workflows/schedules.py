"""The schedules that a deployment keeps in Temporal. No workflow code here."""

from __future__ import annotations

from datetime import timedelta

from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleAlreadyRunningError,
    ScheduleIntervalSpec,
    ScheduleOverlapPolicy,
    SchedulePolicy,
    ScheduleSpec,
    ScheduleState,
    ScheduleUpdate,
    ScheduleUpdateInput,
)

from workflows.options import RECONCILE_RUN_TIMEOUT
from workflows.reconcile import Reconcile

RECONCILE_ID = "reconcile"
_CATCH_UP = timedelta(minutes=10)
"""How late a run may still begin after an outage; a later one is left to the next."""
_SPREAD = 20
"""A run begins up to this part of the interval late, so that deployments don't begin together."""


async def keep_reconcile_schedule(client: Client, queue: str, every: timedelta) -> None:
    """Make sure that the schedule is there and as told; every worker asks for it at its start.

    What an operator did to it stays: a paused schedule stays paused, with the operator's note.

    Args:
        client: With the pydantic data converter.
        queue: Task queue of the process that owns the index.
        every: From one reconciliation to the next.
    """
    try:
        await client.create_schedule(RECONCILE_ID, _reconcile(queue, every))
    except ScheduleAlreadyRunningError:

        def updated(found: ScheduleUpdateInput) -> ScheduleUpdate:
            schedule = _reconcile(queue, every)
            if found.description.schedule.state.paused:
                schedule.state = found.description.schedule.state
            return ScheduleUpdate(schedule=schedule)

        await client.get_schedule_handle(RECONCILE_ID).update(updated)


def _reconcile(queue: str, every: timedelta) -> Schedule:
    return Schedule(
        action=ScheduleActionStartWorkflow(
            Reconcile.run,
            id=f"{RECONCILE_ID}/index",
            task_queue=queue,
            execution_timeout=RECONCILE_RUN_TIMEOUT,
            static_summary="Record and indexes compared and repaired",
        ),
        spec=ScheduleSpec(intervals=[ScheduleIntervalSpec(every=every)], jitter=every / _SPREAD),
        policy=SchedulePolicy(overlap=ScheduleOverlapPolicy.SKIP, catchup_window=_CATCH_UP),
        state=ScheduleState(note="Compares record and indexes key by key and repairs what drifts; reports are kept."),
    )
