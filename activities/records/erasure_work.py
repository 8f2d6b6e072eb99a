"""What an erasure's workflow does in the record, step by step; each step may be repeated (R11)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import psycopg
from psycopg import sql
from sqlalchemy import RowMapping, text
from sqlalchemy.ext.asyncio import AsyncConnection

from activities.records.database import Database
from activities.records.erasure_reports import put_report, removed_places
from activities.records.erasures import find_erasure, plan_of
from contracts.erased_text import Eraser
from contracts.erasure import ErasureState, ErasureTarget, PlaceCount, StoreReport
from contracts.erasure_ports import ErasureWork

_TARGETS = text("""
SELECT DISTINCT coalesce(e.kind, split_part(t.ref, '/', 1)) || '/' || split_part(t.ref, '/', 2) AS target,
       coalesce(c.erased_at, e.erased_at) IS NOT NULL AS is_gone
  FROM tombstones t
  LEFT JOIN cases c ON t.ref = 'case/' || c.id
  LEFT JOIN experiences e ON split_part(t.ref, '/', 1) = 'experience' AND split_part(t.ref, '/', 2) = e.id::text
 WHERE t.erasure_id = CAST(:id AS uuid) ORDER BY target
""")
_PENDING = text("SELECT count(*) FROM outbox WHERE topic = 'index' AND delivered_at IS NULL AND key = ANY (:keys)")
_WORKFLOWS = text("""
WITH found AS (
  SELECT 'experience/' || e.id AS id, e.created_at AS at, EXISTS (
           SELECT 1 FROM tombstones t WHERE t.erasure_id = CAST(:id AS uuid)
              AND t.ref LIKE 'experience/' || e.id || '/%') AS is_likely
    FROM experiences e
   WHERE e.tenant_id = :tenant_id AND (CAST(:case_id AS uuid) IS NULL OR e.case_id = CAST(:case_id AS uuid))
  UNION ALL
  SELECT 'retrieval/' || q.id, q.requested_at, false FROM retrieval_requests q
   WHERE q.tenant_id = :tenant_id AND (CAST(:case_id AS uuid) IS NULL OR q.case_id = CAST(:case_id AS uuid))
)
SELECT id, count(*) OVER () AS known FROM found ORDER BY is_likely DESC, at DESC LIMIT :limit
""")
_OUTBOX = text("""
SELECT key || ' ' || payload::text || ' ' || outcome AS words FROM outbox WHERE payload <> '{}' OR outcome <> ''
""")
_TABLES = text("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'")
_FINISH = text("""
UPDATE erasures SET state = :state, why = :why, finished_at = clock_timestamp(),
       subject = CASE WHEN :state = 'done' THEN NULL ELSE subject END
 WHERE id = CAST(:id AS uuid) AND state = 'running'
""")
_MAY_VACUUM = "SELECT current_setting('server_version_num')::int >= 170000"
_ROWS_AT_ONCE = 500


class ErasuresTable:
    """`contracts.erasure_ports.ErasureRecords` on Postgres."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def remove(self, erasure_id: str) -> int:
        """See `contracts.erasure_ports.ErasureRecords.remove`."""
        erasure = await self._running(erasure_id)
        if erasure is None:
            return 0
        async with self._database.as_system() as connection:
            plan = await plan_of(connection, _target(erasure))
        return await plan.remove(self._database, erasure)

    async def work(self, erasure_id: str) -> ErasureWork:
        """See `contracts.erasure_ports.ErasureRecords.work`."""
        async with self._database.as_system() as connection:
            erasure = await find_erasure(connection, erasure_id)
            targets = await _targets(connection, erasure_id)
        gone = frozenset(target for target, is_gone in targets.items() if is_gone)
        return ErasureWork(
            erasure["tenant_id"], erasure["case_id"] is not None, Eraser(tuple(erasure["subject"] or ())), gone
        )

    async def pending(self, erasure_id: str) -> int:
        """See `contracts.erasure_ports.ErasureRecords.pending`."""
        async with self._database.as_system() as connection:
            keys = list(await _targets(connection, erasure_id))
            return (await connection.execute(_PENDING, {"keys": keys})).scalar_one()

    async def workflows(self, erasure_id: str, limit: int) -> tuple[list[str], int]:
        """See `contracts.erasure_ports.ErasureRecords.workflows`."""
        async with self._database.as_system() as connection:
            erasure = await find_erasure(connection, erasure_id)
            rows = (await connection.execute(_WORKFLOWS, {**erasure, "limit": limit})).mappings().all()
        return [f"erasure/{erasure_id}", *(row["id"] for row in rows)], 1 + (rows[0]["known"] if rows else 0)

    async def left(self, erasure_id: str) -> StoreReport:
        """See `contracts.erasure_ports.ErasureRecords.left`."""
        erasure = await self._running(erasure_id)
        if erasure is None:
            return StoreReport(store="records")
        removed = await self._removed(erasure_id)
        async with self._database.as_system() as connection:
            await connection.execute(text("SET LOCAL statement_timeout = '10min'"))
            plan = await plan_of(connection, _target(erasure))
            places = await plan.find(connection)
            eraser = Eraser(tuple(erasure["subject"] or ()))
            events = 0
            if eraser.values:
                async with connection.stream(_OUTBOX) as result:
                    async for rows in result.scalars().partitions(_ROWS_AT_ONCE):
                        events += await asyncio.to_thread(_count, rows, eraser)
            tables = (
                await connection.execute(text("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"))
            ).scalar_one()
        return StoreReport(
            store="records",
            places=removed,
            looked_at=tables,
            left=sum(place.fields for place in places) + events,
            note=_left_note(places, events),
        )

    async def vacuum(self, erasure_id: str) -> StoreReport:
        """See `contracts.erasure_ports.ErasureRecords.vacuum`."""
        tables = [place.place for place in await self._removed(erasure_id)]
        url = self._database.system_url.replace("postgresql+psycopg://", "postgresql://")
        done = 0
        async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
            (may,) = await (await connection.execute(_MAY_VACUUM)).fetchone() or (False,)
            for table in tables if may else ():
                held = await connection.execute("SELECT has_table_privilege(%s, 'MAINTAIN')", (f"public.{table}",))
                if await held.fetchone() == (True,):
                    await connection.execute(sql.SQL("VACUUM {}").format(sql.Identifier(table)))
                    done += 1
        note = "dead rows were vacuumed" if done == len(tables) else "dead rows hold text until autovacuum comes by"
        return StoreReport(store="files", looked_at=done, note=note)

    async def report(self, erasure_id: str, *reports: StoreReport) -> None:
        """See `contracts.erasure_ports.ErasureRecords.report`."""
        async with self._database.as_system() as connection:
            for report in reports:
                await put_report(connection, erasure_id, report)

    async def finish(self, erasure_id: str, why: str) -> None:
        """See `contracts.erasure_ports.ErasureRecords.finish`."""
        state = ErasureState.NEEDS_PERSON if why else ErasureState.DONE
        async with self._database.as_system() as connection:
            await connection.execute(_FINISH, {"id": erasure_id, "state": state, "why": why[:1000]})

    async def _running(self, erasure_id: str) -> RowMapping | None:
        async with self._database.as_system() as connection:
            erasure = await find_erasure(connection, erasure_id)
        return erasure if erasure["state"] == ErasureState.RUNNING else None

    async def _removed(self, erasure_id: str) -> tuple[PlaceCount, ...]:
        """Return what was removed so far."""
        async with self._database.as_system() as connection:
            return await removed_places(connection, erasure_id)


async def _targets(connection: AsyncConnection, erasure_id: str) -> dict[str, bool]:
    """Return what lost text, and whether the index must not hold it any more."""
    rows = (await connection.execute(_TARGETS, {"id": erasure_id})).mappings()
    return {row["target"]: row["is_gone"] for row in rows}


def _target(erasure: RowMapping) -> ErasureTarget:
    return ErasureTarget(
        tenant_id=erasure["tenant_id"],
        case_id=erasure["case_id"],
        subject=() if erasure["case_id"] else tuple(erasure["subject"] or ()),
        keep_published=erasure["keep_published"],
    )


def _count(texts: Sequence[str], eraser: Eraser) -> int:
    return sum(bool(eraser.count(each)) for each in texts)


def _left_note(places: Sequence[PlaceCount], events: int) -> str:
    lines = [f"{place.place}: {place.fields}" for place in places]
    return ", ".join([*lines, *([f"outbox: {events}"] if events else [])])
