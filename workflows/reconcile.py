"""Reconciliation by schedule: one activity, and what it found in the Temporal UI (R9, R12)."""

from __future__ import annotations

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.reconcile_activity import ReconcileActivities
    from contracts.reconcile import ReconcileSummary
    from workflows.options import RECONCILE_ATTEMPTS, RECONCILE_TIMEOUT, TURN_HEARTBEAT


@workflow.defn
class Reconcile:
    """Compares record and indexes once, and repairs what drifts."""

    @workflow.run
    async def run(self) -> ReconcileSummary:
        """Return the counts of the report that was kept."""
        summary = await workflow.execute_activity_method(
            ReconcileActivities.reconcile_index,
            start_to_close_timeout=RECONCILE_TIMEOUT,
            heartbeat_timeout=TURN_HEARTBEAT,
            retry_policy=RECONCILE_ATTEMPTS,
            summary="record and indexes compared",
        )
        found = "nothing drifts" if not summary.drifting else f"**{summary.drifting}** keys drift"
        lines = [f"### {found}", f"projections asked for: {summary.repairs}, targets removed: {summary.removed}"]
        if summary.unreadable:
            lines.append(f"keys that can't be read: **{summary.unreadable}**")
        if not summary.adds_up:
            lines.append("**the counts don't add up**")
        workflow.set_current_details("\n\n".join([*lines, f"report `{summary.report_id}`"]))
        return summary
