"""The moment of publication, and everything that ends a published revision (R8, R10).

Each function runs inside the caller's transaction, with the experience row locked, and adds the outbox event
last: the state and its announcement commit together or not at all.
"""

from __future__ import annotations

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

_END_CURRENT = text("""
UPDATE revisions SET state = :state, ended_at = clock_timestamp()
 WHERE experience_id = CAST(:experience_id AS uuid) AND state IN ('current', 'suspended')
""")
_PUBLISH = text("""
UPDATE revisions SET state = 'current', published_at = clock_timestamp()
 WHERE experience_id = CAST(:experience_id AS uuid) AND number = :number AND state = 'draft' AND digest = :digest
""")
_CLOSE_DRAFT = text("""
UPDATE revisions SET state = :state
 WHERE experience_id = CAST(:experience_id AS uuid) AND state = 'draft'
""")
_SUSPENSION = text("""
UPDATE revisions SET state = :to
 WHERE experience_id = CAST(:experience_id AS uuid) AND state = :from
""")
_ANNOUNCE = text("""
INSERT INTO outbox (event_id, topic, kind, key, payload)
SELECT gen_random_uuid(), 'index', 'project', key, '{}' FROM unnest(CAST(:keys AS text[])) WITH ORDINALITY AS k (key, n)
 ORDER BY n
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
    await close_draft(connection, experience_id, "rejected")


async def close_draft(connection: AsyncConnection, experience_id: str, state: str) -> None:
    """Label the open draft as `returned`, `rejected` or `trimmed`; its text takes no further part."""
    await connection.execute(_CLOSE_DRAFT, {"experience_id": experience_id, "state": state})


async def suspend(connection: AsyncConnection, experience_id: str, *, suspended: bool) -> None:
    """Hide the current revision while a correction runs, or show it again."""
    before, after = ("current", "suspended") if suspended else ("suspended", "current")
    await connection.execute(_SUSPENSION, {"experience_id": experience_id, "from": before, "to": after})


async def announce(connection: AsyncConnection, *keys: str) -> None:
    """Add the events that make the projector read `keys` again, in one statement: other writers wait for it."""
    await connection.execute(_ANNOUNCE, {"keys": list(keys)})
