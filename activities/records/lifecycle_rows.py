"""The rows that a lifecycle write reads under lock and moves (R7, R8)."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import RowMapping, text
from sqlalchemy.ext.asyncio import AsyncConnection

from activities.records.rows import RESTS_AT, SNAPSHOT, snapshot_of
from contracts.errors import CaseloreError, UnknownCommand, UnknownExperience
from contracts.lifecycle import REVIEWED, Event, Stage
from contracts.review import Snapshot

_LOCK = text(f"""
SELECT e.id::text AS id, e.kind, e.domain_id, e.stage, e.revision, e.current_revision, e.suspended, e.result_id::text AS
       result_id, e.proposer_id, e.reminded, e.escalated, r.digest, r.author_id, {RESTS_AT} AS rests_at
  FROM experiences e JOIN revisions r ON r.experience_id = e.id AND r.number = e.revision
 WHERE e.id = CAST(:id AS uuid) FOR UPDATE OF e
""")
_COMMAND = text("""
SELECT kind, content, state, outcome, issued_by FROM commands
 WHERE id = CAST(:id AS uuid) AND experience_id = CAST(:experience_id AS uuid) FOR UPDATE
""")
_MOVE = """
UPDATE experiences
   SET stage = :stage, stage_since = clock_timestamp(), due_at = clock_timestamp() + CAST(:due_in AS interval),
       reminded = false, escalated = false, row_version = row_version + 1 {more}
 WHERE id = CAST(:id AS uuid)
"""
_PUBLISHED = ", current_revision = revision, suspended = false"
# A draft that ends before its publication leaves the domain that the published or retired revision says.
_DOMAIN = """domain_id = (SELECT r.domain_id FROM revisions r
   WHERE r.experience_id = experiences.id AND r.number = coalesce(current_revision,
         (SELECT max(l.number) FROM revisions l WHERE l.experience_id = experiences.id AND l.state = 'retired'),
         revision))"""
_STAYS = f", suspended = false, {_DOMAIN}"
_ENDED = f", current_revision = NULL, suspended = false, superseded_by = CAST(:superseded_by AS uuid), {_DOMAIN}"
_TRANSITION = text("""
INSERT INTO transitions (experience_id, seq, from_stage, to_stage, event, revision, cause_id, actor_id, suspended)
SELECT e.id, (SELECT coalesce(max(t.seq), 0) + 1 FROM transitions t WHERE t.experience_id = e.id), :from_stage,
       :to_stage, :event, :revision, CAST(:cause_id AS uuid), :actor_id, e.suspended
  FROM experiences e WHERE e.id = CAST(:id AS uuid)
""")
_SETTLE = text("""
UPDATE commands
   SET state = :state, outcome = :outcome, refused_field = :field, refused_accepted = :accepted,
       settled_at = clock_timestamp()
 WHERE id = CAST(:id AS uuid) AND experience_id = CAST(:experience_id AS uuid) AND state = 'pending'
""")


async def locked(connection: AsyncConnection, experience_id: str) -> RowMapping:
    """Return the experience with its newest draft, held until the transaction ends.

    Raises:
        UnknownExperience: There is none.
    """
    row = (await connection.execute(_LOCK, {"id": experience_id})).mappings().first()
    if row is None:
        raise UnknownExperience("There is no such experience.", field="experience_id")
    return row


async def snapshot(connection: AsyncConnection, experience_id: str) -> Snapshot:
    """Return where the experience stands in this transaction.

    Raises:
        UnknownExperience: There is none.
    """
    sql = text(f"{SNAPSHOT} WHERE e.id = CAST(:id AS uuid)")
    row = (await connection.execute(sql, {"id": experience_id})).mappings().first()
    if row is None:
        raise UnknownExperience("There is no such experience.", field="experience_id")
    return snapshot_of(row)


async def stored_command(connection: AsyncConnection, experience_id: str, command_id: str) -> RowMapping:
    """Return a stored decision or command of this experience, held until the transaction ends.

    Raises:
        UnknownCommand: There is none.
    """
    values = {"id": command_id, "experience_id": experience_id}
    row = (await connection.execute(_COMMAND, values)).mappings().first()
    if row is None:
        raise UnknownCommand("No such command was recorded for this experience.", field="command_id")
    return row


async def move(
    connection: AsyncConnection,
    row: RowMapping,
    event: Event,
    to: Stage,
    *,
    cause_id: str,
    actor_id: str,
    due_in: timedelta,
    suspend: bool = False,
    superseded_by: str | None = None,
) -> None:
    """Move a locked experience to its next stage, with the transition and the settled command."""
    more = ""
    if event is Event.ACCEPT and to is Stage.PUBLISHED:
        more = _PUBLISHED
    elif event is Event.REJECT:
        more = _STAYS
    elif event is Event.CORRECT and suspend:
        more = ", suspended = true"
    elif event in (Event.RETIRE, Event.SUPERSEDE):
        more = _ENDED
    values = {
        "id": row["id"],
        "stage": to,
        "due_in": due_in if to in REVIEWED else None,
        "superseded_by": superseded_by,
    }
    await connection.execute(text(_MOVE.format(more=more)), values)
    await add_transition(connection, row, event, to, cause_id=cause_id, actor_id=actor_id)
    await settle(connection, row["id"], cause_id, to)


async def add_transition(
    connection: AsyncConnection,
    row: RowMapping,
    event: str,
    to: str,
    *,
    cause_id: str | None = None,
    actor_id: str | None = None,
) -> None:
    """Write down what happened to a locked experience, and whether its current revision is hidden now."""
    values = {
        "id": row["id"],
        "from_stage": row["stage"],
        "to_stage": to,
        "event": event,
        "revision": row["revision"],
        "cause_id": cause_id,
        "actor_id": actor_id,
    }
    await connection.execute(_TRANSITION, values)


async def settle(connection: AsyncConnection, experience_id: str, command_id: str, to: Stage) -> None:
    """Say that a pending command was applied, and where it led; a settled one stays as it is."""
    values = {"id": command_id, "experience_id": experience_id, "state": "applied", "outcome": to}
    await connection.execute(_SETTLE, {**values, "field": "", "accepted": ""})


async def refuse(connection: AsyncConnection, experience_id: str, command_id: str, refusal: CaseloreError) -> None:
    """Say why a pending command was refused, with the input at fault; a settled one stays as it is."""
    values = {"id": command_id, "experience_id": experience_id, "state": "refused", "outcome": refusal.type}
    await connection.execute(_SETTLE, {**values, "field": refusal.field, "accepted": refusal.accepted})
