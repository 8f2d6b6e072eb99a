"""The lifecycle's writes: decisions, commands and deadlines, each in one transaction (R7, R8, R10)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from sqlalchemy import RowMapping, text
from sqlalchemy.ext.asyncio import AsyncConnection

from activities.records.database import Database
from activities.records.domains import require_domain
from activities.records.publication import announce, end_current, publish, reject_draft, suspend
from activities.records.rows import INSERT_REVISION, SNAPSHOT, revision_values, snapshot_of
from contracts import limits
from contracts.cases import CaseResult
from contracts.errors import (
    CaseloreError,
    NotPublished,
    NotReviewer,
    SamePerson,
    StaleDigest,
    StaleStage,
    UnknownCommand,
    UnknownExperience,
)
from contracts.experience import Draft
from contracts.lifecycle import REVIEWED, Event, Stage, reviewer_role, transition
from contracts.review import (
    ChangeCommand,
    ChangeKind,
    CommandMessage,
    CommandOutcome,
    DecisionMessage,
    Reminder,
    Snapshot,
)

_LOCK = text("""
SELECT e.id::text AS id, e.domain_id, e.stage, e.revision, e.current_revision, e.suspended, e.result_id::text AS
       result_id, e.reminded, e.escalated, r.digest, r.author_id
  FROM experiences e JOIN revisions r ON r.experience_id = e.id AND r.number = e.revision
 WHERE e.id = CAST(:id AS uuid) FOR UPDATE OF e
""")
_MOVE = """
UPDATE experiences
   SET stage = :stage, stage_since = clock_timestamp(), due_at = clock_timestamp() + CAST(:due_in AS interval),
       reminded = false, escalated = false, row_version = row_version + 1 {more}
 WHERE id = CAST(:id AS uuid)
"""
_TRANSITION = text("""
INSERT INTO transitions (experience_id, seq, from_stage, to_stage, event, revision, cause_id, actor_id)
SELECT CAST(:id AS uuid), coalesce(max(seq), 0) + 1, :from_stage, :to_stage, :event, :revision,
       CAST(:cause_id AS uuid), :actor_id
  FROM transitions WHERE experience_id = CAST(:id AS uuid)
""")
_SETTLE = text("""
UPDATE commands SET state = :state, outcome = :outcome, settled_at = clock_timestamp()
 WHERE id = CAST(:id AS uuid) AND experience_id = CAST(:experience_id AS uuid) AND state = 'pending'
""")


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
        async with self._database.as_system() as connection:
            return await _snapshot(connection, experience_id)

    async def record_decision(self, experience_id: str, decision: DecisionMessage) -> tuple[Snapshot, bool]:
        """See `contracts.ports.LifecycleRecords.record_decision`."""
        async with self._database.as_system() as connection:
            row = await _locked(connection, experience_id)
            if await _is_recorded(connection, experience_id, decision.decision_id):
                return await _snapshot(connection, experience_id), True
            comment = await _comment(connection, experience_id, decision)
            await self._check(connection, row, decision)
            to = transition(Stage(row["stage"]), decision.verdict, has_current=row["current_revision"] is not None)
            await _insert_decision(connection, row, decision, comment)
            await self._move(connection, row, decision.verdict, to, decision.decision_id, decision.reviewer_id)
            if decision.verdict is Event.ACCEPT and to is Stage.PUBLISHED:
                await publish(connection, experience_id, row["revision"], decision.digest)
            elif decision.verdict is Event.REJECT:
                await reject_draft(connection, experience_id)
                await suspend(connection, experience_id, suspended=False)
            snapshot = await _snapshot(connection, experience_id)
            if to is Stage.PUBLISHED:
                await announce(connection, f"experience/{experience_id}")
            return snapshot, False

    async def _check(self, connection: AsyncConnection, row: RowMapping, decision: DecisionMessage) -> None:
        stage = Stage(row["stage"])
        if stage not in REVIEWED or decision.stage is not stage:
            raise StaleStage(f"The experience is at {stage}.", field="stage", accepted=stage)
        if decision.digest != row["digest"]:
            raise StaleDigest("The text changed since it was read.", field="digest", accepted=row["digest"])
        if decision.reviewer_id == row["author_id"]:
            raise SamePerson("The author of a draft can't review it.", field="reviewer")
        held = await connection.execute(
            text("SELECT 1 FROM domain_roles WHERE principal_id = :who AND domain_id = :domain AND role = :role"),
            {"who": decision.reviewer_id, "domain": row["domain_id"], "role": reviewer_role(stage)},
        )
        if held.first() is None:
            raise NotReviewer(
                f"{stage} waits for a {reviewer_role(stage)} of {row['domain_id']!r}.",
                field="reviewer",
                accepted=f"a {reviewer_role(stage)} of the domain",
            )
        earlier = await connection.execute(
            text(
                "SELECT 1 FROM review_decisions WHERE experience_id = CAST(:id AS uuid) AND revision = :revision"
                " AND reviewer_id = :who"
            ),
            {"id": row["id"], "revision": row["revision"], "who": decision.reviewer_id},
        )
        if earlier.first() is not None:
            raise SamePerson("Curator and owner must be two people.", field="reviewer")

    async def apply_command(self, experience_id: str, command: CommandMessage) -> CommandOutcome:
        """See `contracts.ports.LifecycleRecords.apply_command`."""
        try:
            async with self._database.as_system() as connection:
                row = await _locked(connection, experience_id)
                stored = await _command(connection, experience_id, command.command_id)
                if stored["state"] == "refused":
                    return CommandOutcome(command_id=command.command_id, refused=stored["outcome"])
                if stored["state"] == "pending":
                    change = ChangeCommand.model_validate(stored["content"])
                    await self._apply(connection, row, change, stored)
                    if change.kind is not ChangeKind.RESUBMIT:
                        await announce(connection, f"experience/{experience_id}")
                return CommandOutcome(
                    command_id=command.command_id, snapshot=await _snapshot(connection, experience_id)
                )
        except CaseloreError as refusal:
            async with self._database.as_system() as connection:
                await _settle(connection, experience_id, command.command_id, "refused", refusal.type)
            return CommandOutcome(command_id=command.command_id, refused=refusal.type)

    async def _apply(
        self, connection: AsyncConnection, row: RowMapping, command: ChangeCommand, stored: RowMapping
    ) -> None:
        event = Event(command.kind)
        to = transition(Stage(row["stage"]), event, has_current=row["current_revision"] is not None)
        if command.draft is not None:
            row = await _add_draft(connection, row, command.draft, stored["issued_by"])
            if event is Event.CORRECT and command.suspend:
                await suspend(connection, row["id"], suspended=True)
        if event is Event.SUPERSEDE:
            await _check_successor(connection, command.superseded_by)
        if event in (Event.RETIRE, Event.SUPERSEDE):
            await end_current(connection, row["id"], to)
        await self._move(
            connection, row, event, to, command.command_id, stored["issued_by"], superseded_by=command.superseded_by
        )

    async def _move(
        self,
        connection: AsyncConnection,
        row: RowMapping,
        event: Event,
        to: Stage,
        cause_id: str,
        actor_id: str,
        *,
        superseded_by: str | None = None,
    ) -> None:
        more = ""
        if event is Event.ACCEPT and to is Stage.PUBLISHED:
            more = ", current_revision = revision, suspended = false"
        elif event is Event.REJECT:
            more = ", suspended = false"
        elif event in (Event.RETIRE, Event.SUPERSEDE):
            more = ", current_revision = NULL, suspended = false, superseded_by = CAST(:superseded_by AS uuid)"
        values: dict[str, Any] = {
            "id": row["id"],
            "stage": to,
            "due_in": self._review_deadline if to in REVIEWED else None,
        }
        if ":superseded_by" in more:
            values["superseded_by"] = superseded_by
        await connection.execute(text(_MOVE.format(more=more)), values)
        await connection.execute(
            _TRANSITION,
            {
                "id": row["id"],
                "from_stage": row["stage"],
                "to_stage": to,
                "event": event,
                "revision": row["revision"],
                "cause_id": cause_id,
                "actor_id": actor_id,
            },
        )
        await _settle(connection, row["id"], cause_id, "applied", to)

    async def record_reminder(self, reminder: Reminder) -> Snapshot:
        """See `contracts.ports.LifecycleRecords.record_reminder`."""
        flag = "reminded" if reminder.level == "remind" else "escalated"
        async with self._database.as_system() as connection:
            row = await _locked(connection, reminder.experience_id)
            if row["stage"] == reminder.stage and row["revision"] == reminder.revision and not row[flag]:
                due_in = self._escalation_after if reminder.level == "remind" else None
                await connection.execute(
                    text(
                        f"UPDATE experiences SET {flag} = true, row_version = row_version + 1,"
                        " due_at = clock_timestamp() + CAST(:due_in AS interval) WHERE id = CAST(:id AS uuid)"
                    ),
                    {"id": row["id"], "due_in": due_in},
                )
                await connection.execute(
                    _TRANSITION,
                    {
                        "id": row["id"],
                        "from_stage": row["stage"],
                        "to_stage": row["stage"],
                        "event": reminder.level,
                        "revision": row["revision"],
                        "cause_id": None,
                        "actor_id": None,
                    },
                )
            return await _snapshot(connection, reminder.experience_id)


async def _snapshot(connection: AsyncConnection, experience_id: str) -> Snapshot:
    row = (
        (await connection.execute(text(f"{SNAPSHOT} WHERE e.id = CAST(:id AS uuid)"), {"id": experience_id}))
        .mappings()
        .first()
    )
    if row is None:
        raise UnknownExperience("There is no such experience.", field="experience_id")
    return snapshot_of(row)


async def _locked(connection: AsyncConnection, experience_id: str) -> RowMapping:
    row = (await connection.execute(_LOCK, {"id": experience_id})).mappings().first()
    if row is None:
        raise UnknownExperience("There is no such experience.", field="experience_id")
    return row


async def _is_recorded(connection: AsyncConnection, experience_id: str, decision_id: str) -> bool:
    found = await connection.execute(
        text(
            "SELECT 1 FROM review_decisions WHERE decision_id = CAST(:decision AS uuid)"
            " AND experience_id = CAST(:id AS uuid)"
        ),
        {"decision": decision_id, "id": experience_id},
    )
    return found.first() is not None


async def _command(connection: AsyncConnection, experience_id: str, command_id: str) -> RowMapping:
    row = (
        (
            await connection.execute(
                text(
                    "SELECT kind, content, state, outcome, issued_by FROM commands"
                    " WHERE id = CAST(:id AS uuid) AND experience_id = CAST(:experience AS uuid) FOR UPDATE"
                ),
                {"id": command_id, "experience": experience_id},
            )
        )
        .mappings()
        .first()
    )
    if row is None:
        raise UnknownCommand("No such command was recorded for this experience.", field="command_id")
    return row


async def _comment(connection: AsyncConnection, experience_id: str, decision: DecisionMessage) -> str:
    command = await _command(connection, experience_id, decision.decision_id)
    said = {name: command["content"][name] for name in ("stage", "digest", "verdict")}
    if command["issued_by"] != decision.reviewer_id or said != decision.model_dump(include=set(said)):
        raise UnknownCommand("The recorded decision says something else.", field="decision_id")
    return command["content"]["comment"]


async def _insert_decision(
    connection: AsyncConnection, row: RowMapping, decision: DecisionMessage, comment: str
) -> None:
    await connection.execute(
        text(
            "INSERT INTO review_decisions (decision_id, experience_id, revision, stage, verdict, reviewer_id,"
            " author_id, digest, comment) VALUES (CAST(:decision_id AS uuid), CAST(:id AS uuid), :revision, :stage,"
            " :verdict, :reviewer_id, :author_id, :digest, :comment)"
        ),
        {
            **decision.model_dump(),
            "id": row["id"],
            "revision": row["revision"],
            "author_id": row["author_id"],
            "comment": comment,
        },
    )


async def _add_draft(connection: AsyncConnection, row: RowMapping, draft: Draft, author_id: str) -> RowMapping:
    result = (
        (
            await connection.execute(
                text(
                    "SELECT id::text AS id, case_id::text AS case_id, outcome, proof_level, summary,"
                    " execution_paper_id::text AS execution_paper_id, proof_paper_id::text AS proof_paper_id"
                    " FROM case_results WHERE id = CAST(:id AS uuid)"
                ),
                {"id": row["result_id"]},
            )
        )
        .mappings()
        .one()
    )
    draft.check_against(CaseResult.model_validate(dict(result)))
    await require_domain(connection, draft.domain_id)
    number = row["revision"] + 1
    await connection.execute(text(INSERT_REVISION), revision_values(row["id"], number, draft, author_id))
    await connection.execute(
        text("UPDATE experiences SET revision = :number, domain_id = :domain WHERE id = CAST(:id AS uuid)"),
        {"number": number, "domain": draft.domain_id, "id": row["id"]},
    )
    return await _locked(connection, row["id"])


async def _check_successor(connection: AsyncConnection, successor_id: str | None) -> None:
    found = await connection.execute(
        text("SELECT 1 FROM revisions WHERE experience_id = CAST(:id AS uuid) AND state = 'current'"),
        {"id": successor_id},
    )
    if found.first() is None:
        raise NotPublished("What takes over must be published.", field="superseded_by", accepted="a published one")


async def _settle(connection: AsyncConnection, experience_id: str, command_id: str, state: str, outcome: str) -> None:
    values = {"id": command_id, "experience_id": experience_id, "state": state, "outcome": outcome}
    await connection.execute(_SETTLE, values)
