"""The activity that reconciles by schedule: in the process that owns the index, alive by its heartbeats."""

from __future__ import annotations

import asyncio

from temporalio import activity

from activities.reconciling import Reconciler
from activities.refusals import crossing
from contracts.reconcile import ReconcileSummary
from contracts.reconcile_ports import ReconcileReports

SCHEDULE = "schedule"
"""Who asked, in the kept report."""


class ReconcileActivities:
    """Compares record and indexes, repairs what drifts, and keeps the report."""

    def __init__(self, reconciler: Reconciler, reports: ReconcileReports) -> None:
        self._reconciler = reconciler
        self._reports = reports

    @activity.defn(name="reconcile_index")
    async def reconcile_index(self) -> ReconcileSummary:
        """Reconcile with repair and return the counts; the kept report names the keys."""
        beating = asyncio.create_task(_heartbeat())
        try:
            with crossing():
                report = await self._reconciler.reconcile(repair=True)
                report_id = await self._reports.keep(report, asked_by=SCHEDULE, repaired=True)
        finally:
            beating.cancel()
        return ReconcileSummary(
            report_id=report_id,
            drifting=report.drifting,
            repairs=report.repairs,
            removed=report.removed,
            unreadable=report.unreadable,
            adds_up=report.adds_up or not report.is_quiet,
        )


async def _heartbeat() -> None:
    while True:
        activity.heartbeat()
        await asyncio.sleep(1)
