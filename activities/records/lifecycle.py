"""The lifecycle's writes: decisions, commands and deadlines, each in one transaction (R7, R8, R10)."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import RowMapping, text
from sqlalchemy.ext.asyncio import AsyncConnection

from activities.records.cases import find_result
from activities.records.database import Database
from activities.records.domains import require_domain
from activities.records.ids import is_id
from activities.records.lifecycle_rows import add_transition, locked, move, settle, snapshot, stored_command
from activities.records.publication import announce, close_draft, end_current, publish, suspend
from activities.records.review_decisions import add_decision, check_decision, is_recorded, recorded_comment
from activities.records.rows import INSERT_REVISION, revision_values
from contracts import limits
from contracts.errors import CaseloreError, NotPublished, UnknownCommand, UnknownExperience, UnverifiedResult
from contracts.experience import Draft
from contracts.lifecycle import Event, Stage, transition
from contracts.review import (
    ChangeCommand,
    ChangeKind,
    CommandMessage,
    CommandOutcome,
    DecisionMessage,
    Reminder,
    Snapshot,
)

_BOTH = text("""
SELECT e.id FROM experiences e
 WHERE e.id IN (SELECT CAST(c.content ->> 'superseded_by' AS uuid) FROM commands c
                 WHERE c.id = CAST(:command_id AS uuid) AND c.kind = 'supersede'
                UNION ALL SELECT CAST(:id AS uuid))
 ORDER BY e.id FOR UPDATE
""")
_NEW_DRAFT = text("""
UPDATE experiences SET revision = :number, domain_id = :domain_id WHERE id = CAST(:experience_id AS uuid)
""")
_CURRENT = text("SELECT 1 FROM revisions WHERE experience_id = CAST(:id AS uuid) AND state = 'current'")
_REMINDED = """
UPDATE experiences SET {flag} = true, row_version = row_version + 1,
       due_at = clock_timestamp() + CAST(:due_in AS interval)
 WHERE id = CAST(:id AS uuid)
"""


class LifecycleTable:
    """`contracts.ports.LifecycleRecords` on Postgres.

    Args:
        database: The record.
        review_deadline: From entering a review stage to its reminder.
        escalation_after: From the reminder to the escalation.
    """

    def __init__(
        self,
        database: Database,
        *,
        review_deadline: timedelta = limits.REVIEW_DEADLINE,
        escalation_after: timedelta = limits.ESCALATION_AFTER,
    ) -> None:
        self._database = database
        self._review_deadline = review_deadline
        self._escalation_after = escalation_after

    async def load(self, experience_id: str) -> Snapshot:
        """See `contracts.ports.LifecycleRecords.load`."""
        _require_id(experience_id)
        async with self._database.as_system() as connection:
            return await snapshot(connection, experience_id)

    async def record_decision(self, experience_id: str, decision: DecisionMessage) -> tuple[Snapshot, bool]:
        """See `contracts.ports.LifecycleRecords.record_decision`."""
        _require_id(experience_id)
        if not is_id(decision.decision_id):
            raise UnknownCommand("No such decision was recorded.", field="decision_id")
        async with self._database.as_system() as connection:
            row = await locked(connection, experience_id)
            if await is_recorded(connection, experience_id, decision.decision_id):
                return await snapshot(connection, experience_id), True
            comment = await recorded_comment(connection, experience_id, decision)
            to = await check_decision(connection, row, decision)
            await add_decision(connection, row, decision, comment)
            await move(
                connection,
                row,
                decision.verdict,
                to,
                cause_id=decision.decision_id,
                actor_id=decision.reviewer_id,
                due_in=self._review_deadline,
            )
            if decision.verdict is Event.ACCEPT and to is Stage.PUBLISHED:
                await publish(connection, experience_id, row["revision"], decision.digest)
            elif decision.verdict is Event.RETURN:
                await close_draft(connection, experience_id, "returned")
            elif decision.verdict is Event.REJECT:
                await close_draft(connection, experience_id, "rejected")
                await suspend(connection, experience_id, suspended=False)
            after = await snapshot(connection, experience_id)
            if to is Stage.PUBLISHED:
                await announce(connection, f"experience/{experience_id}")
            return after, False

    async def apply_command(self, experience_id: str, command: CommandMessage) -> CommandOutcome:
        """See `contracts.ports.LifecycleRecords.apply_command`."""
        command_id = command.command_id
        if not is_id(experience_id) or not is_id(command_id):
            return CommandOutcome(command_id=command_id, refused=UnknownCommand.__name__)
        async with self._database.as_system() as connection:
            try:
                # Both rows of a supersession, in one order: two experiences can't replace each other at once.
                await connection.execute(_BOTH, {"command_id": command_id, "id": experience_id})
                row = await locked(connection, experience_id)
                stored = await stored_command(connection, experience_id, command_id)
                if stored["kind"] == "decide":
                    raise UnknownCommand("This id is a decision's.", field="command_id")
                if stored["state"] == "refused":
                    return CommandOutcome(command_id=command_id, refused=stored["outcome"])
                if stored["state"] == "pending":
                    async with connection.begin_nested():
                        await self._apply(connection, row, ChangeCommand.model_validate(stored["content"]), stored)
                after = await snapshot(connection, experience_id)
                if stored["state"] == "pending" and stored["kind"] != ChangeKind.RESUBMIT:
                    await announce(connection, f"experience/{experience_id}")
                return CommandOutcome(command_id=command_id, snapshot=after)
            except CaseloreError as refusal:
                if not isinstance(refusal, UnknownCommand):
                    await settle(connection, experience_id, command_id, "refused", refusal.type)
                return CommandOutcome(command_id=command_id, refused=refusal.type)

    async def _apply(
        self, connection: AsyncConnection, row: RowMapping, command: ChangeCommand, stored: RowMapping
    ) -> None:
        event = Event(command.kind)
        to = transition(Stage(row["stage"]), event, has_current=row["current_revision"] is not None)
        if command.draft is not None and event in (Event.RESUBMIT, Event.CORRECT):
            row = await _add_draft(connection, row, command.draft, stored["issued_by"])
        if event is Event.CORRECT and command.suspend:
            await suspend(connection, row["id"], suspended=True)
        if event is Event.SUPERSEDE:
            await _check_successor(connection, command.superseded_by)
        if event in (Event.RETIRE, Event.SUPERSEDE):
            await end_current(connection, row["id"], to)
        await move(
            connection,
            row,
            event,
            to,
            cause_id=command.command_id,
            actor_id=stored["issued_by"],
            due_in=self._review_deadline,
            suspend=command.suspend,
            superseded_by=command.superseded_by if event is Event.SUPERSEDE else None,
        )

    async def record_reminder(self, reminder: Reminder) -> Snapshot:
        """See `contracts.ports.LifecycleRecords.record_reminder`."""
        _require_id(reminder.experience_id)
        flag = "reminded" if reminder.level == "remind" else "escalated"
        async with self._database.as_system() as connection:
            row = await locked(connection, reminder.experience_id)
            if row["stage"] == reminder.stage and row["revision"] == reminder.revision and not row[flag]:
                due_in = self._escalation_after if reminder.level == "remind" else None
                await connection.execute(text(_REMINDED.format(flag=flag)), {"id": row["id"], "due_in": due_in})
                await add_transition(connection, row, reminder.level, row["stage"])
            return await snapshot(connection, reminder.experience_id)


def _require_id(experience_id: str) -> None:
    if not is_id(experience_id):
        raise UnknownExperience("There is no such experience.", field="experience_id")


async def _add_draft(connection: AsyncConnection, row: RowMapping, draft: Draft, author_id: str) -> RowMapping:
    result = await find_result(connection, row["result_id"])
    if result is None:
        raise UnverifiedResult("The case result is gone.", field="result_id")
    draft.check_against(result)
    await require_domain(connection, draft.domain_id)
    values = revision_values(row["id"], row["revision"] + 1, draft, author_id)
    await connection.execute(text(INSERT_REVISION), values)
    await connection.execute(_NEW_DRAFT, values)
    return await locked(connection, row["id"])


async def _check_successor(connection: AsyncConnection, successor_id: str | None) -> None:
    found = await connection.execute(_CURRENT, {"id": successor_id})
    if found.first() is None:
        raise NotPublished("What takes over must be published.", field="superseded_by", accepted="a published one")
