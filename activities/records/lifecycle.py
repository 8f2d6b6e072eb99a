"""The lifecycle's writes: decisions, commands and deadlines, each in one transaction (R7, R8, R10)."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import RowMapping, text
from sqlalchemy.ext.asyncio import AsyncConnection

from activities.records.admissions import require_resolved
from activities.records.article_rules import require_kinds, require_references
from activities.records.change_rights import require_right
from activities.records.database import Database
from activities.records.drafts import add_draft, trim
from activities.records.ids import is_id
from activities.records.lifecycle_rows import add_transition, locked, move, refuse, snapshot, stored_command
from activities.records.publication import announce, close_draft, end_current, publish, suspend
from activities.records.review_claims import require_unclaimed
from activities.records.review_decisions import add_decision, check_decision, is_recorded, recorded_decision
from activities.records.reviewed_text import require_reviewed
from activities.records.scope import require_acknowledged, scope_difference_of, scope_difference_to
from contracts import limits
from contracts.errors import CaseloreError, NotPublished, StaleDigest, UnknownCommand, UnknownExperience
from contracts.lifecycle import Event, Stage, transition
from contracts.ports import PersonalDataFinder
from contracts.review import (
    WITH_DRAFT,
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
_PUBLISHED = text("""
SELECT digest FROM revisions WHERE experience_id = CAST(:id AS uuid) AND state IN ('current', 'suspended')
""")
_CURRENT = text("SELECT 1 FROM revisions WHERE experience_id = CAST(:id AS uuid) AND state = 'current'")
_REMINDED = """
UPDATE experiences SET {flag} = true, row_version = row_version + 1,
       due_at = clock_timestamp() + CAST(:due_in AS interval)
 WHERE id = CAST(:id AS uuid)
"""
_ANNOUNCED = frozenset({ChangeKind.CORRECT, ChangeKind.RETIRE, ChangeKind.SUPERSEDE})
"""Changes that may hide what is published."""


class LifecycleTable:
    """`contracts.ports.LifecycleRecords` on Postgres.

    Args:
        database: The record.
        finder: Looks for personal data in new drafts; None leaves that out, and each admission says so (R6).
        review_deadline: From entering a review stage to its reminder.
        escalation_after: From the reminder to the escalation.
    """

    def __init__(
        self,
        database: Database,
        *,
        finder: PersonalDataFinder | None = None,
        review_deadline: timedelta = limits.REVIEW_DEADLINE,
        escalation_after: timedelta = limits.ESCALATION_AFTER,
    ) -> None:
        self._database = database
        self._finder = finder
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
            stored = await recorded_decision(connection, experience_id, decision)
            to, on_behalf_of = await check_decision(connection, row, decision)
            await require_resolved(connection, experience_id, row["revision"], stored, decision.reviewer_id)
            await add_decision(connection, row, stored, decision.reviewer_id, on_behalf_of)
            if stored.declined_units:
                row = await trim(
                    connection, row, stored.declined_units, reviewer_id=decision.reviewer_id, finder=self._finder
                )
            publishes = decision.verdict is Event.ACCEPT and to is Stage.PUBLISHED
            if publishes:
                await require_reviewed(connection, experience_id, row["revision"])
                difference = await scope_difference_of(connection, experience_id)
                require_acknowledged(difference, stored.acknowledged_scope)
                await require_references(connection, row)
            await move(
                connection,
                row,
                decision.verdict,
                to,
                cause_id=decision.decision_id,
                actor_id=decision.reviewer_id,
                due_in=self._review_deadline,
            )
            if publishes:
                await publish(connection, experience_id, row["revision"], row["digest"])
            elif decision.verdict is Event.RETURN:
                await close_draft(connection, experience_id, "returned")
            elif decision.verdict is Event.REJECT:
                await close_draft(connection, experience_id, "rejected")
                await suspend(connection, experience_id, suspended=False)
            after = await snapshot(connection, experience_id)
            if to is Stage.PUBLISHED:
                await announce(connection, f"{row['kind']}/{experience_id}")
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
                if stored["state"] == "pending" and stored["kind"] in _ANNOUNCED:
                    await announce(connection, f"{row['kind']}/{experience_id}")
                return CommandOutcome(command_id=command_id, snapshot=after)
            except CaseloreError as refusal:
                if not isinstance(refusal, UnknownCommand):
                    await refuse(connection, experience_id, command_id, refusal)
                return CommandOutcome(command_id=command_id, refused=refusal.type)

    async def _apply(
        self, connection: AsyncConnection, row: RowMapping, command: ChangeCommand, stored: RowMapping
    ) -> None:
        event = Event(command.kind)
        to = transition(Stage(row["stage"]), event, rests_at=Stage(row["rests_at"]))
        await require_right(connection, stored["issued_by"], command)
        if event is Event.REVISE:
            await require_unclaimed(connection, row, stored["issued_by"])
            if command.digest != row["digest"]:
                raise StaleDigest("Another draft has taken its place.", field="digest", accepted=row["digest"])
            await close_draft(connection, row["id"], "returned")
        if event is Event.CORRECT and command.digest:
            await _check_corrected(connection, row["id"], command.digest)
        if command.kind in WITH_DRAFT and command.text is not None:
            row = await add_draft(connection, row, command.text, stored["issued_by"], self._finder)
        if event is Event.CORRECT and command.suspend:
            await suspend(connection, row["id"], suspended=True)
        if event is Event.SUPERSEDE and command.superseded_by is not None:
            await require_kinds(connection, command)
            await _check_successor(connection, command.superseded_by)
            difference = await scope_difference_to(connection, row["id"], command.superseded_by)
            require_acknowledged(difference, command.acknowledged_scope)
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


async def _check_corrected(connection: AsyncConnection, experience_id: str, read: str) -> None:
    """Refuse a correction of a text that isn't the published one any more (R24)."""
    published = (await connection.execute(_PUBLISHED, {"id": experience_id})).scalar_one_or_none()
    if published != read:
        raise StaleDigest("Another text is published now.", field="digest", accepted=published or "")


async def _check_successor(connection: AsyncConnection, successor_id: str) -> None:
    found = await connection.execute(_CURRENT, {"id": successor_id})
    if found.first() is None:
        raise NotPublished("What takes over must be published.", field="superseded_by", accepted="a published one")
