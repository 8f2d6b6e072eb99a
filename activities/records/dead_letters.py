"""Events that were set aside: seen, given back for delivery, or given up (R8, R9, R10)."""

from __future__ import annotations

from sqlalchemy import text

from activities.records.database import Database
from activities.records.ids import is_id
from contracts.dead_letters import DeadLetter, GivenUp
from contracts.errors import NotDead, Undeliverable, UnknownEvent
from contracts.outbox import EventKind

_DEAD = "delivered_at IS NULL AND dead_at IS NOT NULL"
_LIST = text(f"""
SELECT o.event_id::text AS event_id, o.topic, o.kind, o.key, o.position, o.attempts, o.failures, o.outcome AS error,
       o.dead_at AS since,
       (SELECT count(*) FROM outbox p WHERE o.topic = 'lifecycle' AND p.topic = o.topic AND p.key = o.key
           AND p.position > o.position AND p.delivered_at IS NULL AND p.dead_at IS NULL) AS waiting
  FROM outbox o WHERE o.{_DEAD.replace("AND ", "AND o.")} AND o.position > :after
 ORDER BY o.position LIMIT :limit
""")
_FIND = text(
    "SELECT topic, kind, payload, delivered_at, dead_at FROM outbox WHERE event_id = CAST(:id AS uuid) FOR UPDATE"
)
_BACK = f"""
UPDATE outbox SET dead_at = NULL, failures = 0, claimed_until = NULL, available_at = clock_timestamp()
 WHERE {_DEAD}
"""
_BACK_ONE = text(f"{_BACK} AND event_id = CAST(:id AS uuid)")
_BACK_ALL = text(_BACK)
_WAKE = text("SELECT pg_notify('caselore_outbox', 'retry')")
_GIVE_UP = text(f"""
UPDATE outbox SET delivered_at = clock_timestamp(), outcome = 'given up: ' || left(outcome, 400)
 WHERE event_id = CAST(:id AS uuid) AND {_DEAD}
""")
_REFUSE = text("""
UPDATE commands SET state = 'refused', outcome = :error, settled_at = clock_timestamp()
 WHERE id = CAST(:id AS uuid) AND state = 'pending'
""")
_COUNT = text(f"SELECT count(*) FROM outbox WHERE {_DEAD}")


_MAY_BE_GIVEN_UP = (EventKind.START, EventKind.DECIDE, EventKind.SIGNAL)
"""A projection and an erasure have to happen in the end, whatever stands in their way (R9, R11)."""


class DeadLetters:
    """The operator's side of the outbox."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def count(self) -> int:
        """Return how many events are set aside."""
        async with self._database.as_system() as connection:
            return (await connection.execute(_COUNT)).scalar_one()

    async def letters(self, *, after: int = 0, limit: int = 100) -> list[DeadLetter]:
        """Return what is set aside after a position, oldest first."""
        async with self._database.as_system() as connection:
            rows = await connection.execute(_LIST, {"after": after, "limit": max(0, min(limit, 1_000))})
            return [DeadLetter.model_validate(dict(row)) for row in rows.mappings()]

    async def retry(self, event_id: str) -> int:
        """Give a dead event back for delivery, in its old place; 0 when it is not dead any more.

        Raises:
            UnknownEvent: There is no such event.
        """
        async with self._database.as_system() as connection:
            row = await connection.execute(_FIND, {"id": event_id if is_id(event_id) else None})
            if row.first() is None:
                raise UnknownEvent("There is no such event.", field="event_id", accepted="the id of a dead letter")
            count = (await connection.execute(_BACK_ONE, {"id": event_id})).rowcount
            await connection.execute(_WAKE)
        return count

    async def retry_all(self) -> int:
        """Give every dead event back for delivery, each in its old place; return how many."""
        async with self._database.as_system() as connection:
            count = (await connection.execute(_BACK_ALL)).rowcount
            await connection.execute(_WAKE)
        return count

    async def give_up(self, event_id: str) -> GivenUp:
        """Take a lifecycle event that can't be delivered out of the way, and settle its command as refused.

        Raises:
            UnknownEvent: There is no such event.
            NotDead: It was delivered, or may still be; or it is a projection or an erasure, which must happen.
        """
        async with self._database.as_system() as connection:
            row = (await connection.execute(_FIND, {"id": event_id if is_id(event_id) else None})).mappings().first()
            if row is None:
                raise UnknownEvent("There is no such event.", field="event_id", accepted="the id of a dead letter")
            if row["kind"] not in _MAY_BE_GIVEN_UP:
                raise NotDead(f"A {row['kind']} event can't be given up.", field="event_id", accepted="a retry")
            if row["dead_at"] is None or row["delivered_at"] is not None:
                raise NotDead("The event is not set aside.", field="event_id", accepted="the id of a dead letter")
            await connection.execute(_GIVE_UP, {"id": event_id})
            command_id = row["payload"].get("command_id")
            if command_id is not None:
                await connection.execute(_REFUSE, {"id": command_id, "error": Undeliverable.__name__})
            await connection.execute(_WAKE)
        return GivenUp(event_id=event_id, command_id=command_id)
