"""What an erasure does to experiences: they leave retrieval, or a draft goes back, and their lifecycles are told (R11).

A lifecycle learns of it by a command that is applied already: it reads its record anew, ends or waits accordingly.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import timedelta

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from activities.records.lifecycle_rows import locked, move
from activities.records.outbox import add_event
from activities.records.publication import close_draft, end_current
from contracts.lifecycle import CLOSED, REVIEWED, Event, Stage
from contracts.outbox import EventKind, Topic
from contracts.review import ChangeKind

_COMMANDS = uuid.UUID("5e1c7d0a-6f3b-5c35-9a51-7f2d64b0c9e4")

_REFUSE_PENDING = text("""
UPDATE commands SET state = 'refused', outcome = :outcome, settled_at = clock_timestamp()
 WHERE experience_id = CAST(:id AS uuid) AND state = 'pending'
""")
_HAS_RETIRED = text("SELECT 1 FROM revisions WHERE experience_id = CAST(:id AS uuid) AND state = 'retired'")
_TOLD = text("""
INSERT INTO commands (id, experience_id, kind, content, digest, issued_by, state, outcome, settled_at)
VALUES (CAST(:command_id AS uuid), CAST(:id AS uuid), 'erase', '{}', '', :actor, 'applied', :outcome, clock_timestamp())
ON CONFLICT (id) DO NOTHING
""")
_APPEND = text("""
SELECT audit_append(:actor, 'erased', 'experience/' || CAST(:id AS text), CAST(:revision AS integer), :digest,
                    CAST(:erasure_id AS uuid), '{}'::jsonb)
 WHERE NOT EXISTS (SELECT 1 FROM audit a WHERE a.subject = 'experience/' || CAST(:id AS text) AND a.action = 'erased'
                      AND a.revision = CAST(:revision AS integer) AND a.cause_id = CAST(:erasure_id AS uuid))
""")
_TOMBSTONE = text("""
INSERT INTO tombstones (erasure_id, ref, digest) VALUES (CAST(:erasure_id AS uuid), :ref, :digest)
ON CONFLICT DO NOTHING
""")


def command_of(erasure_id: str, experience_id: str) -> str:
    """Return the id of the command by which an erasure tells a lifecycle, and the cause of what it changed."""
    return str(uuid.uuid5(_COMMANDS, f"{erasure_id}/{experience_id}"))


async def withdraw(connection: AsyncConnection, erasure_id: str, experience_id: str, actor_id: str) -> bool:
    """End an experience in whatever stage it is, and mark it erased; return whether it was published.

    A published one is retired, one that never was is rejected; what had ended stays as it ended.
    """
    row = await locked(connection, experience_id)
    await connection.execute(_REFUSE_PENDING, {"id": experience_id, "outcome": "LifecycleClosed"})
    is_published = row["current_revision"] is not None
    if Stage(row["stage"]) not in CLOSED:
        event, to = Event.REJECT, Stage.REJECTED
        if is_published:
            event, to = Event.RETIRE, Stage.RETIRED
        elif (await connection.execute(_HAS_RETIRED, {"id": experience_id})).first() is not None:
            to = Stage.RETIRED
        await end_current(connection, experience_id, Stage.RETIRED)
        cause = command_of(erasure_id, experience_id)
        await move(connection, row, event, to, cause_id=cause, actor_id=actor_id, due_in=timedelta())
    await connection.execute(
        text("UPDATE experiences SET erased_at = coalesce(erased_at, clock_timestamp()) WHERE id = CAST(:id AS uuid)"),
        {"id": experience_id},
    )
    return is_published


async def send_back(connection: AsyncConnection, erasure_id: str, experience_id: str, actor_id: str) -> None:
    """Return a draft that waits for a review: what its reviewers saw is not what it says now (R7)."""
    row = await locked(connection, experience_id)
    await connection.execute(_REFUSE_PENDING, {"id": experience_id, "outcome": "StaleDigest"})
    if Stage(row["stage"]) not in REVIEWED:
        return
    await close_draft(connection, experience_id, "returned")
    cause = command_of(erasure_id, experience_id)
    await move(connection, row, Event.RETURN, Stage.RETURNED, cause_id=cause, actor_id=actor_id, due_in=timedelta())


async def refuse_pending(connection: AsyncConnection, experience_id: str) -> None:
    """Refuse requests that are on their way: their words go, so they have to be made anew."""
    await connection.execute(_REFUSE_PENDING, {"id": experience_id, "outcome": "StaleStage"})


async def tell(connection: AsyncConnection, erasure_id: str, experience_id: str, actor_id: str) -> None:
    """Have the experience's lifecycle read its record anew; adds an outbox event, so call it late."""
    row = await locked(connection, experience_id)
    command_id = command_of(erasure_id, experience_id)
    values = {"command_id": command_id, "id": experience_id, "actor": actor_id, "outcome": row["stage"]}
    await connection.execute(_TOLD, values)
    await add_event(
        connection,
        Topic.LIFECYCLE,
        EventKind.SIGNAL,
        f"experience/{experience_id}",
        {"command_id": command_id, "kind": ChangeKind.RETIRE},  # the signal that brings it; the command says what it is
        event_id=command_id,
    )


async def mark(
    connection: AsyncConnection,
    erasure_id: str,
    actor_id: str,
    revisions: Sequence[tuple[str, int, str]],
    *refs: str,
) -> None:
    """Leave a tombstone for each revision (experience, number, digest) and ref, and say it in the audit chain."""
    for experience_id, number, digest in revisions:
        values = {"erasure_id": erasure_id, "ref": f"experience/{experience_id}/{number}", "digest": digest}
        await connection.execute(_TOMBSTONE, values)
        audit = {"erasure_id": erasure_id, "actor": actor_id, "id": experience_id, "revision": number}
        await connection.execute(_APPEND, {**audit, "digest": digest})
    for ref in refs:
        await connection.execute(_TOMBSTONE, {"erasure_id": erasure_id, "ref": ref, "digest": ""})
