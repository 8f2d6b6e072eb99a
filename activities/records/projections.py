"""What the indexes should hold, read from the record as it stands now (R9)."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import RowMapping, text
from sqlalchemy.ext.asyncio import AsyncConnection

from activities.records.candidate_rows import ids_by_kind
from activities.records.database import Database
from activities.records.outbox import read_watermarks
from activities.records.rows import CASE, case_of
from contracts.arrivals import INDEXED_BODY
from contracts.experience import Draft
from contracts.outbox import Watermark
from contracts.projection import (
    ProjectionSource,
    article_source,
    case_source,
    collections_of,
    experience_source,
)

_EXPERIENCES = text("""
SELECT e.id::text AS id, e.tenant_id, r.number, r.digest, r.content, r.state
  FROM experiences e
  JOIN LATERAL (SELECT * FROM revisions r WHERE r.experience_id = e.id
                 ORDER BY (r.state = 'current') DESC, r.number DESC LIMIT 1) r ON true
 WHERE e.id = ANY (CAST(:ids AS uuid[]))
""")
_ARTICLES = text("""
SELECT a.id::text AS id, a.domain_id, r.number, r.digest, r.title, r.body, r.state
  FROM articles a
  JOIN LATERAL (SELECT * FROM article_revisions r WHERE r.article_id = a.id
                 ORDER BY (r.state = 'current') DESC, r.number DESC LIMIT 1) r ON true
 WHERE a.id = ANY (CAST(:ids AS uuid[]))
""")
_RECORD = text("""
INSERT INTO projections (key, revision, content_hash, points) VALUES (:key, :revision, :content_hash, :points)
ON CONFLICT (key) DO UPDATE SET revision = excluded.revision, content_hash = excluded.content_hash,
  points = excluded.points, projected_at = clock_timestamp()
""")
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
SELECT 'case/' || id::text AS key FROM cases
UNION ALL SELECT 'experience/' || experience_id::text FROM revisions WHERE state = 'current'
UNION ALL SELECT 'article/' || article_id::text FROM article_revisions WHERE state = 'current'
UNION SELECT key FROM projections
 ORDER BY key
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
            await connection.execute(_ANNOUNCE, {"keys": list(keys), "from": "infinity" if held else "-infinity"})

    async def release(self) -> None:
        """See `contracts.ports.Projections.release`."""
        async with self._database.as_system() as connection:
            await connection.execute(_RELEASE)

    async def recorded(self) -> dict[str, tuple[int, str]]:
        """See `contracts.ports.Projections.recorded`."""
        async with self._database.as_system() as connection:
            rows = await connection.execute(text("SELECT key, revision, content_hash FROM projections"))
            return {key: (revision, content_hash) for key, revision, content_hash in rows.all()}

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
            if held:
                await connection.execute(_RECORD, held)
            if gone:
                await connection.execute(text("DELETE FROM projections WHERE key = ANY (:keys)"), {"keys": gone})

    async def watermarks(self) -> list[Watermark]:
        """See `contracts.ports.Projections.watermarks`."""
        async with self._database.as_system() as connection:
            return await read_watermarks(connection)


async def _cases(connection: AsyncConnection, ids: Sequence[str]) -> list[ProjectionSource]:
    if not ids:
        return []
    sql = text(f"{CASE} WHERE c.id = ANY (CAST(:ids AS uuid[]))")
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
            (row["title"], row["body"]) if row["state"] == "current" else None,
        )
        for row in rows
    ]


def _gone(key: str) -> ProjectionSource:
    """Return the wish for nothing: the record no longer knows the key."""
    return ProjectionSource(key, collections_of(key), (), 0, "")
