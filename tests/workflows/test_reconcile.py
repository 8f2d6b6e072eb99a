"""Reconciliation by schedule: kept idempotently, visible, run on the queue of the index's process (R9, R12)."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import cast

import pytest_asyncio
from temporalio.api.sdk.v1 import WorkflowMetadata
from temporalio.client import (
    Client,
    ScheduleActionExecutionStartWorkflow,
    ScheduleActionStartWorkflow,
    ScheduleOverlapPolicy,
)
from temporalio.worker import Worker

from activities.reconcile_activity import ReconcileActivities
from activities.reconciling import Reconciler
from contracts.errors import IndexUnavailable
from contracts.reconcile import ReconcileReport
from deploy.worker import workflow_runner
from tests.workflows.driver import eventually
from workflows.reconcile import Reconcile
from workflows.schedules import RECONCILE_ID, keep_reconcile_schedule

HOUR = timedelta(hours=1)


class Found:
    """`Reconciler` and `ReconcileReports` that find what they are told, after some failures."""

    def __init__(self) -> None:
        self.failures: list[Exception] = []
        self.report = ReconcileReport(began_at=datetime(2026, 3, 2, tzinfo=UTC), drifting=3, repairs=3)
        self.kept: list[tuple[str, bool]] = []

    async def reconcile(self, *, repair: bool) -> ReconcileReport:
        """See `Reconciler.reconcile`."""
        assert repair
        if self.failures:
            raise self.failures.pop(0)
        return self.report

    async def keep(self, report: ReconcileReport, *, asked_by: str, repaired: bool) -> str:
        """See `contracts.reconcile_ports.ReconcileReports.keep`."""
        self.kept.append((asked_by, repaired))
        return f"report-{len(self.kept)}"


@pytest_asyncio.fixture
async def schedule(client: Client) -> AsyncIterator[str]:
    """A queue; the schedule that a test keeps for it is deleted afterwards."""
    yield f"projection-{uuid.uuid4()}"
    await client.get_schedule_handle(RECONCILE_ID).delete()


def worker(client: Client, queue: str, found: Found) -> Worker:
    activities = ReconcileActivities(cast(Reconciler, found), found)
    return Worker(
        client,
        task_queue=queue,
        workflows=[Reconcile],
        activities=[activities.reconcile_index],
        workflow_runner=workflow_runner(),
    )


async def test_r12_every_worker_may_ask_for_the_schedule_and_an_operator_s_pause_stays(
    client: Client, schedule: str
) -> None:
    handle = client.get_schedule_handle(RECONCILE_ID)
    await keep_reconcile_schedule(client, "elsewhere", HOUR * 2)
    await keep_reconcile_schedule(client, schedule, HOUR)
    kept = (await handle.describe()).schedule
    assert [each.every for each in kept.spec.intervals] == [HOUR]
    assert kept.policy.overlap is ScheduleOverlapPolicy.SKIP
    assert isinstance(kept.action, ScheduleActionStartWorkflow)
    assert kept.action.task_queue == schedule
    assert kept.state.note is not None
    assert "Compares record and indexes" in kept.state.note
    await handle.pause(note="the index moves house")
    await keep_reconcile_schedule(client, schedule, HOUR)
    state = (await handle.describe()).schedule.state
    assert (state.paused, state.note) == (True, "the index moves house")


async def test_r9_a_scheduled_run_repairs_keeps_its_report_and_shows_the_counts(client: Client, schedule: str) -> None:
    """R12, R23: also after failures of the index; the history holds counts and the report's id."""
    found = Found()
    await keep_reconcile_schedule(client, schedule, HOUR)
    handle = client.get_schedule_handle(RECONCILE_ID)
    async with worker(client, schedule, found):
        await handle.trigger()

        async def has_run() -> bool:
            return bool((await handle.describe()).info.recent_actions) and bool(found.kept)

        await eventually("it ran", has_run)
        (action,) = (await handle.describe()).info.recent_actions
        assert isinstance(action.action, ScheduleActionExecutionStartWorkflow)
        run = client.get_workflow_handle_for(Reconcile.run, action.action.workflow_id)
        summary = await run.result()
        assert (summary.report_id, summary.drifting, summary.repairs, summary.adds_up) == ("report-1", 3, 3, True)
        assert found.kept == [("schedule", True)]
        assert "**3** keys drift" in (await _details(client, run.id))


async def test_r9_an_index_that_is_away_is_waited_for(client: Client) -> None:
    queue, found = f"projection-{uuid.uuid4()}", Found()
    found.failures.append(IndexUnavailable("away"))
    async with worker(client, queue, found):
        summary = await client.execute_workflow(Reconcile.run, id=f"reconcile/{queue}", task_queue=queue)
    assert (summary.drifting, len(found.kept)) == (3, 1)


async def _details(client: Client, workflow_id: str) -> str:
    handle = client.get_workflow_handle(workflow_id)
    return (await handle.query("__temporal_workflow_metadata", result_type=WorkflowMetadata)).current_details
