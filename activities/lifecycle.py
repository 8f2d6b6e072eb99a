"""Activities of the experience lifecycle: each is one transaction in the record."""

from __future__ import annotations

from temporalio import activity

from activities.refusals import crossing
from contracts.ports import LifecycleRecords
from contracts.review import (
    CommandOutcome,
    CommandRequest,
    DecisionRecord,
    DecisionRequest,
    Reminder,
    Snapshot,
)


class LifecycleActivities:
    """What the lifecycle does to the record. All are idempotent: a retry finds its own work done."""

    def __init__(self, records: LifecycleRecords) -> None:
        self._records = records

    @activity.defn(name="load_experience")
    async def load_experience(self, experience_id: str) -> Snapshot:
        """Return where the experience stands."""
        with crossing():
            return await self._records.load(experience_id)

    @activity.defn(name="record_decision")
    async def record_decision(self, request: DecisionRequest) -> DecisionRecord:
        """Record a review decision, and publish when it was the owner's acceptance (R7, R8)."""
        with crossing():
            snapshot, duplicate = await self._records.record_decision(request.experience_id, request.decision)
            return DecisionRecord(snapshot=snapshot, duplicate=duplicate)

    @activity.defn(name="apply_command")
    async def apply_command(self, request: CommandRequest) -> CommandOutcome:
        """Apply a change that was asked for, or record its refusal (R10)."""
        with crossing():
            return await self._records.apply_command(request.experience_id, request.command)

    @activity.defn(name="record_reminder")
    async def record_reminder(self, reminder: Reminder) -> Snapshot:
        """Record that a review deadline passed (R7)."""
        with crossing():
            return await self._records.record_reminder(reminder)
