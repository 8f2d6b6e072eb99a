"""What the indexes should hold, read from the record as it stands now (R9)."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Sequence

from sqlalchemy import RowMapping, text
from sqlalchemy.ext.asyncio import AsyncConnection

from activities.records.candidate_rows import ids_by_kind
from activities.records.database import Database
from activities.records.outbox import read_watermarks
from activities.records.rows import CASE, case_of
from contracts.arrivals import INDEXED_BODY
from contracts.articles import ArticleDraft
from contracts.experience import Draft
from contracts.labels import CandidateKind
from contracts.outbox import Watermark
from contracts.projection import (
    ProjectionSource,
    article_source,
    case_source,
    collections_of,
    experience_source,
)
from contracts.reconcile import Recorded

_FIRST = str(uuid.UUID(int=0))

_EXPERIENCES = text("""
SELECT e.id::text AS id, e.tenant_id, r.number, r.digest, r.content, r.state
  FROM experiences e
  JOIN LATERAL (SELECT * FROM revisions r WHERE r.experience_id = e.id
                 ORDER BY (r.state = 'current') DESC, r.number DESC LIMIT 1) r ON true
 WHERE e.kind = 'experience' AND e.id = ANY (CAST(:ids AS uuid[]))
""")
_ARTICLES = text("""
SELECT e.id::text AS id, r.domain_id, r.number, r.digest, r.content, r.state
  FROM experiences e
  JOIN LATERAL (SELECT * FROM revisions r WHERE r.experience_id = e.id
                 ORDER BY (r.state = 'current') DESC, r.number DESC LIMIT 1) r ON true
 WHERE e.kind = 'article' AND e.id = ANY (CAST(:ids AS uuid[]))
""")
_RECORD = text("""
INSERT INTO projections (key, revision, content_hash, points) VALUES (:key, :revision, :content_hash, :points)
ON CONFLICT (key) DO UPDATE SET revision = excluded.revision, content_hash = excluded.content_hash,
  points = excluded.points, projected_at = clock_timestamp()
""")
_FORGET = text("DELETE FROM projections WHERE key = ANY (:keys)")
_LOCK = text("SELECT pg_advisory_xact_lock(hashtext('caselore.projections'))")
_ANNOUNCE = text("""
INSERT INTO outbox (event_id, topic, kind, key, payload, available_at)
SELECT gen_random_uuid(), 'index', 'project', key, '{}', CAST(:from AS timestamptz)
  FROM unnest(CAST(:keys AS text[])) AS key
""")
_RELEASE = text("""
UPDATE outbox SET available_at = clock_timestamp()
 WHERE topic = 'index' AND delivered_at IS NULL AND available_at = 'infinity'
""")
_EVERY_KEY = text("""
SELECT 'case/' || id::text AS key FROM cases WHERE erased_at IS NULL
UNION ALL SELECT kind || '/' || experience_id::text FROM revisions WHERE state = 'current'
UNION SELECT key FROM projections
 ORDER BY key
""")


# Each source in its own order, a page of it only: no walk reads a table twice.
_KEYS_AFTER = {
    CandidateKind.ARTICLE: "SELECT experience_id AS id FROM revisions WHERE kind = 'article' AND state = 'current'"
    " AND experience_id > CAST(:after AS uuid) ORDER BY experience_id LIMIT :limit",
    CandidateKind.CASE: "SELECT id FROM cases WHERE erased_at IS NULL AND id > CAST(:after AS uuid)"
    " ORDER BY id LIMIT :limit",
    CandidateKind.EXPERIENCE: "SELECT experience_id AS id FROM revisions WHERE kind = 'experience'"
    " AND state = 'current' AND experience_id > CAST(:after AS uuid) ORDER BY experience_id LIMIT :limit",
}
_PROJECTED_AFTER = """
SELECT target_id AS id FROM projections WHERE target_id > CAST(:after AS uuid) AND split_part(key, '/', 1) = :kind
 ORDER BY target_id LIMIT :limit
"""
_KNOWN = text("""
SELECT key FROM unnest(CAST(:keys AS text[])) AS key
 WHERE EXISTS (SELECT 1 FROM projections p WHERE p.key = key.key)
UNION SELECT 'case/' || id FROM cases WHERE erased_at IS NULL AND id = ANY (CAST(:cases AS uuid[]))
UNION SELECT 'experience/' || experience_id FROM revisions
 WHERE kind = 'experience' AND state = 'current' AND experience_id = ANY (CAST(:experiences AS uuid[]))
UNION SELECT 'article/' || experience_id FROM revisions
 WHERE kind = 'article' AND state = 'current' AND experience_id = ANY (CAST(:articles AS uuid[]))
""")
_RECORDED_OF = text("SELECT key, revision, content_hash, points FROM projections WHERE key = ANY (:keys)")
_PENDING = text("""
SELECT DISTINCT key FROM outbox
 WHERE topic = 'index' AND delivered_at IS NULL AND dead_at IS NULL AND key = ANY (:keys)
""")
_MOVEMENT = text("""
SELECT coalesce((SELECT max(position) FROM outbox), 0),
       (SELECT count(*) FROM outbox WHERE topic = 'index' AND delivered_at IS NULL AND dead_at IS NULL)
""")


class ProjectionsTable:
    """`contracts.ports.Projections` on Postgres."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def desired(self, keys: Sequence[str]) -> list[ProjectionSource]:
        """See `contracts.ports.Projections.desired`."""
        ids = ids_by_kind(keys)
        async with self._database.as_system() as connection:
            found = {
                source.key: source
                for source in (
                    *await _cases(connection, ids["case"]),
                    *await _experiences(connection, ids["experience"]),
                    *await _articles(connection, ids["article"]),
                )
            }
        return [found.get(key) or _gone(key) for key in keys]

    async def every_key(self) -> list[str]:
        """See `contracts.ports.Projections.every_key`."""
        async with self._database.as_system() as connection:
            return list((await connection.execute(_EVERY_KEY)).scalars())

    async def announce(self, keys: Sequence[str], *, held: bool = False) -> None:
        """See `contracts.ports.Projections.announce`."""
        if not keys:
            return
        async with self._database.as_system() as connection:
            await connection.execute(_LOCK)
            await connection.execute(_FORGET, {"keys": list(keys)})
            await connection.execute(_ANNOUNCE, {"keys": list(keys), "from": "infinity" if held else "-infinity"})

    async def release(self) -> None:
        """See `contracts.ports.Projections.release`."""
        async with self._database.as_system() as connection:
            await connection.execute(_RELEASE)

    async def keys_after(self, after: str, limit: int) -> list[str]:
        """See `contracts.reconcile_ports.RecordContents.keys_after`."""
        begun, _, last = after.partition("/")
        keys: list[str] = []
        async with self._database.as_system() as connection:
            for kind, recorded in _KEYS_AFTER.items():
                if kind < begun or len(keys) == limit:
                    continue
                sql = f"SELECT id::text FROM (({recorded}) UNION ({_PROJECTED_AFTER})) k ORDER BY id LIMIT :limit"
                values = {"after": last if kind == begun else _FIRST, "kind": kind, "limit": limit - len(keys)}
                ids = (await connection.execute(text(sql), values)).scalars()
                keys += [f"{kind}/{each}" for each in ids]
        return keys

    async def known(self, keys: Collection[str]) -> set[str]:
        """See `contracts.reconcile_ports.RecordContents.known`."""
        ids = ids_by_kind(list(keys))
        values = {"keys": list(keys), **{f"{kind}s": found for kind, found in ids.items()}}
        async with self._database.as_system() as connection:
            return set((await connection.execute(_KNOWN, values)).scalars())

    async def recorded_of(self, keys: Collection[str]) -> dict[str, Recorded]:
        """See `contracts.reconcile_ports.RecordContents.recorded_of`."""
        async with self._database.as_system() as connection:
            rows = await connection.execute(_RECORDED_OF, {"keys": list(keys)})
            return {row.key: Recorded(row.revision, row.content_hash, row.points) for row in rows}

    async def pending(self, keys: Collection[str]) -> set[str]:
        """See `contracts.reconcile_ports.RecordContents.pending`."""
        async with self._database.as_system() as connection:
            return set((await connection.execute(_PENDING, {"keys": list(keys)})).scalars())

    async def movement(self) -> tuple[int, int]:
        """See `contracts.reconcile_ports.RecordContents.movement`."""
        async with self._database.as_system() as connection:
            head, pending = (await connection.execute(_MOVEMENT)).one()
        return head, pending

    async def record(self, sources: Sequence[ProjectionSource]) -> None:
        """See `contracts.ports.Projections.record`."""
        held = [
            {
                "key": source.key,
                "revision": source.revision,
                "content_hash": source.content_hash,
                "points": len(source.entries),
            }
            for source in sources
            if source.entries
        ]
        gone = [source.key for source in sources if not source.entries]
        async with self._database.as_system() as connection:
            # One at a time: two projectors that hold the same keys in another order would wait for each other.
            await connection.execute(_LOCK)
            if held:
                await connection.execute(_RECORD, held)
            if gone:
                await connection.execute(_FORGET, {"keys": gone})

    async def watermarks(self) -> list[Watermark]:
        """See `contracts.ports.Projections.watermarks`."""
        async with self._database.as_system() as connection:
            return await read_watermarks(connection)


async def _cases(connection: AsyncConnection, ids: Sequence[str]) -> list[ProjectionSource]:
    if not ids:
        return []
    sql = text(f"{CASE} WHERE c.erased_at IS NULL AND c.id = ANY (CAST(:ids AS uuid[]))")
    return [_case(row) for row in (await connection.execute(sql, {"ids": ids})).mappings()]


def _case(row: RowMapping) -> ProjectionSource:
    """Return what a case's point holds: of its text the part that is promised to be indexed."""
    case = case_of(row)
    return case_source(case.model_copy(update={"body": case.searchable[:INDEXED_BODY]}))


async def _experiences(connection: AsyncConnection, ids: Sequence[str]) -> list[ProjectionSource]:
    if not ids:
        return []
    rows = (await connection.execute(_EXPERIENCES, {"ids": ids})).mappings()
    return [_experience(row) for row in rows]


def _experience(row: RowMapping) -> ProjectionSource:
    draft = Draft.model_validate(row["content"]) if row["state"] == "current" else None
    return experience_source(row["id"], row["tenant_id"], row["number"], row["digest"], draft)


async def _articles(connection: AsyncConnection, ids: Sequence[str]) -> list[ProjectionSource]:
    if not ids:
        return []
    rows = (await connection.execute(_ARTICLES, {"ids": ids})).mappings()
    return [
        article_source(
            row["id"],
            row["domain_id"],
            row["number"],
            row["digest"],
            ArticleDraft.model_validate(row["content"]) if row["state"] == "current" else None,
        )
        for row in rows
    ]


def _gone(key: str) -> ProjectionSource:
    """Return the wish for nothing: the record no longer knows the key."""
    return ProjectionSource(key, collections_of(key), (), 0, "")
