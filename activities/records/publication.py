"""The moment of publication, and everything that ends a published revision (R8, R10).

Each function runs inside the caller's transaction, with the experience row locked, and adds the outbox event
last: the state and its announcement commit together or not at all.
"""

from __future__ import annotations

import uuid

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from activities.records.outbox import add_event
from contracts.outbox import EventKind, Topic

_END_CURRENT = text("""
UPDATE revisions SET state = :state, ended_at = clock_timestamp()
 WHERE experience_id = CAST(:experience_id AS uuid) AND state IN ('current', 'suspended')
""")
_PUBLISH = text("""
UPDATE revisions SET state = 'current', published_at = clock_timestamp()
 WHERE experience_id = CAST(:experience_id AS uuid) AND number = :number AND state = 'draft' AND digest = :digest
""")
_REJECT_DRAFT = text("""
UPDATE revisions SET state = 'rejected'
 WHERE experience_id = CAST(:experience_id AS uuid) AND state = 'draft'
""")
_SUSPENSION = text("""
UPDATE revisions SET state = :to
 WHERE experience_id = CAST(:experience_id AS uuid) AND state = :from
""")


async def publish(connection: AsyncConnection, experience_id: str, number: int, digest: str) -> None:
    """Make draft `number` the current revision; the one before it is `corrected`.

    The digest is the one that both reviewers accepted: a row with another text is not published (R7).
    """
    await connection.execute(_END_CURRENT, {"experience_id": experience_id, "state": "corrected"})
    result = await connection.execute(_PUBLISH, {"experience_id": experience_id, "number": number, "digest": digest})
    if result.rowcount != 1:
        raise RuntimeError(f"revision {number} of {experience_id} is not the reviewed draft")


async def end_current(connection: AsyncConnection, experience_id: str, state: str) -> None:
    """Take the current revision out of retrieval as `retired` or `superseded`, with any running draft."""
    await connection.execute(_END_CURRENT, {"experience_id": experience_id, "state": state})
    await reject_draft(connection, experience_id)


async def reject_draft(connection: AsyncConnection, experience_id: str) -> None:
    """Label the open draft as rejected."""
    await connection.execute(_REJECT_DRAFT, {"experience_id": experience_id})


async def suspend(connection: AsyncConnection, experience_id: str, *, suspended: bool) -> None:
    """Hide the current revision while a correction runs, or show it again."""
    before, after = ("current", "suspended") if suspended else ("suspended", "current")
    await connection.execute(_SUSPENSION, {"experience_id": experience_id, "from": before, "to": after})


async def announce(connection: AsyncConnection, key: str) -> None:
    """Add the event that makes the projector read `key` again."""
    await add_event(connection, Topic.INDEX, EventKind.PROJECT, key, {}, event_id=str(uuid.uuid4()))
