"""The outbox table: events are added with what they announce, leased, delivered and marked (R8, R9)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import timedelta

import psycopg
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from activities.records.database import Database
from contracts import limits
from contracts.errors import CaseloreError
from contracts.labels import Collection
from contracts.outbox import EventKind, OutboxEvent, Topic, Watermark

# The application role adds events and can't read any: a named conflict target would need to.
_ADD = text("""
INSERT INTO outbox (event_id, topic, kind, key, payload)
VALUES (:event_id, :topic, :kind, :key, CAST(:payload AS jsonb))
ON CONFLICT DO NOTHING
""")

# Lifecycle events wait for the undelivered ones before them of the same key. So do they for one that was set aside
# as dead: what came after it must not jump the order silently. Two things don't: an ending, since a broken event must
# not hold back a retirement (R10), and whatever waits for a start, since every delivery starts a lifecycle that
# doesn't run. Index events don't wait: the projector reads the present state of the key, so one projection serves
# them all, but only one runner may hold a key.
_TURN = {
    Topic.LIFECYCLE: "p.position < o.position AND (p.dead_at IS NULL OR (p.kind <> 'start'"
    " AND coalesce(o.payload ->> 'kind', '') NOT IN ('retire', 'supersede')))",
    Topic.INDEX: "p.claimed_until > clock_timestamp() AND p.position <> o.position",
}
_CLAIM = """
WITH oldest AS (
   SELECT o.position, o.key FROM outbox o
    WHERE o.topic = :topic AND o.delivered_at IS NULL AND o.dead_at IS NULL
      AND o.available_at <= clock_timestamp()
      AND (o.claimed_until IS NULL OR o.claimed_until < clock_timestamp())
      AND NOT EXISTS (SELECT 1 FROM outbox p
                       WHERE p.key = o.key AND p.topic = o.topic AND p.delivered_at IS NULL AND {turn})
      {only}
    ORDER BY o.position LIMIT :limit FOR UPDATE OF o SKIP LOCKED)
UPDATE outbox SET claimed_until = clock_timestamp() + :lease, attempts = attempts + 1
 WHERE position IN (SELECT position FROM oldest {others})
RETURNING position, event_id::text AS event_id, topic, kind, key, payload, attempts
"""
# One projection of a key serves all its events, so a backlog of one key is taken at once.
_OTHERS = {
    Topic.LIFECYCLE: "",
    Topic.INDEX: """
    UNION SELECT o.position FROM oldest JOIN outbox o ON o.key = oldest.key AND o.topic = 'index'
     WHERE o.delivered_at IS NULL AND o.dead_at IS NULL AND o.available_at <= clock_timestamp()
       AND (o.claimed_until IS NULL OR o.claimed_until < clock_timestamp())""",
}
_DONE = text("""
UPDATE outbox SET delivered_at = clock_timestamp(), claimed_until = NULL, outcome = :outcome
 WHERE (position, attempts) IN (SELECT * FROM unnest(CAST(:positions AS bigint[]), CAST(:attempts AS integer[])))
   AND delivered_at IS NULL
RETURNING position
""")
# A later projection of a key read its state after the change that an event of it told of, so it serves a dead one too.
_DONE_WITH = text("""
UPDATE outbox o SET delivered_at = clock_timestamp(), outcome = 'projected with a later event'
  FROM unnest(CAST(:keys AS text[]), CAST(:positions AS bigint[])) AS done (key, position)
 WHERE o.topic = 'index' AND o.key = done.key AND o.position < done.position
   AND o.delivered_at IS NULL AND o.dead_at IS NOT NULL
""")
_POSTPONE = text("""
UPDATE outbox
   SET claimed_until = NULL, outcome = :error,
       available_at = clock_timestamp() + make_interval(secs => least(60, 0.5 * power(2, least(attempts, 10) - 1))),
       failures = failures + CAST(:counts AS integer),
       dead_at = CASE WHEN :counts = 1 AND failures + 1 >= :failures_at_most THEN clock_timestamp() END
 WHERE position = :position AND attempts = :attempts AND delivered_at IS NULL
RETURNING dead_at IS NOT NULL AS dead
""")
_REFUSE_COMMAND = text("""
UPDATE commands
   SET state = 'refused', outcome = :type, refused_field = :field, refused_accepted = :accepted,
       settled_at = clock_timestamp()
 WHERE id = CAST(:command_id AS uuid) AND state = 'pending'
""")

SOURCES: Mapping[Collection, tuple[str, ...]] = {
    Collection.CASES: ("case",),
    Collection.ROUTING: ("experience", "article"),
    Collection.DETAIL: ("experience", "article"),
}
"""Which keys an index follows."""

# Positions commit in order (trigger outbox_position), so all below the oldest pending one are in the index.
_WATERMARKS = text("""
SELECT i.collection, coalesce(min(o.position) - 1, max(h.head), 0) AS position, coalesce(max(h.head), 0) AS head,
       count(o.position) AS pending,
       greatest(0, coalesce(extract(epoch FROM clock_timestamp() - min(o.created_at)), 0)) AS lag_seconds,
       clock_timestamp() AS as_of
  FROM (VALUES ('cases', ARRAY['case']), ('routing', ARRAY['experience', 'article']),
               ('detail', ARRAY['experience', 'article'])) AS i (collection, sources)
  LEFT JOIN LATERAL (SELECT max(position) AS head FROM outbox WHERE topic = 'index') h ON true
  LEFT JOIN outbox o ON o.topic = 'index' AND o.delivered_at IS NULL AND o.source = ANY (i.sources)
 GROUP BY i.collection
""")
_MOVE = text("""
INSERT INTO watermarks (collection, position) VALUES (:collection, :position)
ON CONFLICT (collection) DO UPDATE SET position = excluded.position, moved_at = clock_timestamp()
 WHERE watermarks.position < excluded.position
""")


def claim_sql(topic: Topic, *, only: str = "") -> str:
    """Return the statement that leases a topic's next events."""
    return _CLAIM.format(turn=_TURN[topic], only=only, others=_OTHERS[topic])


async def add_event(
    connection: AsyncConnection,
    topic: Topic,
    kind: EventKind,
    key: str,
    payload: Mapping[str, str],
    *,
    event_id: str,
) -> None:
    """Add an event inside the caller's transaction; a repeated `event_id` adds nothing.

    Add it last: from here until commit, other writers of events wait (their positions come after).
    """
    await connection.execute(
        _ADD, {"event_id": event_id, "topic": topic, "kind": kind, "key": key, "payload": json.dumps(payload)}
    )


async def read_watermarks(connection: AsyncConnection) -> list[Watermark]:
    """Return how far each index has come, in the order of `Collection`."""
    rows = {row["collection"]: row for row in (await connection.execute(_WATERMARKS)).mappings()}
    return [Watermark.model_validate(dict(rows[collection])) for collection in Collection]


class OutboxTable:
    """`contracts.ports.Outbox` on Postgres."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._listener: psycopg.AsyncConnection | None = None

    async def claim(self, topic: Topic, limit: int, lease: timedelta) -> list[OutboxEvent]:
        """See `contracts.ports.Outbox.claim`."""
        return await self._claim(topic, limit, lease, only="", event_id=None)

    async def claim_one(self, event_id: str, lease: timedelta) -> OutboxEvent | None:
        """See `contracts.ports.Outbox.claim_one`."""
        events = await self._claim(
            Topic.LIFECYCLE, 1, lease, only="AND o.event_id = CAST(:event_id AS uuid)", event_id=event_id
        )
        return events[0] if events else None

    async def _claim(
        self, topic: Topic, limit: int, lease: timedelta, *, only: str, event_id: str | None
    ) -> list[OutboxEvent]:
        sql = text(claim_sql(topic, only=only))
        values = {"topic": topic, "limit": limit, "lease": lease, "event_id": event_id}
        async with self._database.as_system() as connection:
            # One claim of a topic at a time, or two runners could take two events of one key.
            await connection.execute(text("SELECT pg_advisory_xact_lock(hashtext(:lock))"), {"lock": f"claim.{topic}"})
            rows = (await connection.execute(sql, values)).mappings().all()
        return sorted((OutboxEvent.model_validate(dict(row)) for row in rows), key=lambda event: event.position)

    async def release_leases(self) -> None:
        """Give every leased event back at once; for the start of a process that is the only one there is."""
        async with self._database.as_system() as connection:
            await connection.execute(
                text("UPDATE outbox SET claimed_until = NULL WHERE delivered_at IS NULL AND claimed_until IS NOT NULL")
            )

    async def delivered(self, events: Sequence[OutboxEvent], outcome: str) -> None:
        """See `contracts.ports.Outbox.delivered`."""
        if not events:
            return
        async with self._database.as_system() as connection:
            done = await self._mark(connection, events, outcome)
            lost = [event for event in events if event.position not in done and event.topic is Topic.INDEX]
            await self._ask_again(connection, lost)
            served = [event for event in events if event.position in done and event.topic is Topic.INDEX]
            if served:
                keys, positions = [event.key for event in served], [event.position for event in served]
                await connection.execute(_DONE_WITH, {"keys": keys, "positions": positions})
            if any(event.topic is Topic.INDEX for event in events):
                await self._move_watermarks(connection)

    async def _mark(self, connection: AsyncConnection, events: Sequence[OutboxEvent], outcome: str) -> set[int]:
        rows = await connection.execute(
            _DONE,
            {
                "positions": [event.position for event in events],
                "attempts": [event.attempts for event in events],
                "outcome": outcome[:500],
            },
        )
        return set(rows.scalars())

    async def _ask_again(self, connection: AsyncConnection, lost: Sequence[OutboxEvent]) -> None:
        for key in sorted({event.key for event in lost}):
            await connection.execute(
                text(
                    "INSERT INTO outbox (event_id, topic, kind, key, payload)"
                    " VALUES (gen_random_uuid(), 'index', 'project', :key, '{\"why\": \"lease lost\"}')"
                ),
                {"key": key},
            )

    async def _move_watermarks(self, connection: AsyncConnection) -> None:
        await connection.execute(text("SELECT pg_advisory_xact_lock(hashtext('caselore.watermarks'))"))
        for watermark in await read_watermarks(connection):
            await connection.execute(_MOVE, {"collection": watermark.collection, "position": watermark.position})

    async def refused(self, event: OutboxEvent, refusal: CaseloreError) -> None:
        """See `contracts.ports.Outbox.refused`."""
        async with self._database.as_system() as connection:
            held = await self._mark(connection, [event], f"refused: {refusal.type}")
            command_id = event.payload.get("command_id")
            if held and command_id is not None:
                values = {"type": refusal.type, "field": refusal.field, "accepted": refusal.accepted}
                await connection.execute(_REFUSE_COMMAND, {"command_id": command_id, **values})

    async def postponed(self, event: OutboxEvent, error: str, *, may_die: bool) -> bool:
        """See `contracts.ports.Outbox.postponed`."""
        values = {
            "position": event.position,
            "attempts": event.attempts,
            "error": error[:500],
            "counts": int(may_die),
            "failures_at_most": limits.OUTBOX_ATTEMPTS,
        }
        async with self._database.as_system() as connection:
            dead = (await connection.execute(_POSTPONE, values)).scalar_one_or_none()
            if dead is None and event.topic is Topic.INDEX:
                await self._ask_again(connection, [event])  # its late write may have overwritten a newer one (R9)
            return bool(dead)

    async def wait(self, at_most: timedelta) -> None:
        """See `contracts.ports.Outbox.wait`."""
        if self._listener is None or self._listener.closed:
            url = self._database.system_url.replace("postgresql+psycopg://", "postgresql://")
            self._listener = await psycopg.AsyncConnection.connect(url, autocommit=True)
            await self._listener.execute("LISTEN caselore_outbox")
            return  # something may have come before we listened
        try:
            async for _ in self._listener.notifies(timeout=at_most.total_seconds(), stop_after=1):
                pass
        except psycopg.OperationalError:
            await self.close()  # the server went away: whoever waits looks at the outbox, and listens anew

    async def close(self) -> None:
        """Stop listening."""
        if self._listener is not None:
            await self._listener.close()
            self._listener = None
