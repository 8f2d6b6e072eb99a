"""Reads as of a moment: what was current then, told by the transitions (R10).

A transition's time is the clock's while it was written, some milliseconds before its transaction committed. A
moment within them is answered as if the change had been there already.
"""

from __future__ import annotations

import uuid
from datetime import datetime

from pydantic import ValidationError
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from activities.records.cases import check_moment
from activities.records.database import Database
from activities.records.ids import is_id
from contracts.articles import AnyDraft, ArticleDraft, draft_of
from contracts.as_of import CurrentAsOf, CurrentPage, ExperienceAsOf
from contracts.errors import InvalidField, UnknownExperience
from contracts.experience import Draft

# The last publication counts unless an ending came after it; `suspended` is what the last transition left.
_STANDING = """
SELECT e.id, last.to_stage AS stage, last.revision, last.suspended, last.event, last.cause_id,
       CASE WHEN ended.seq IS NULL THEN published.revision END AS current_revision
  FROM experiences e
 CROSS JOIN LATERAL (SELECT t.* FROM transitions t WHERE t.experience_id = e.id AND t.at <= :at
                      ORDER BY t.seq DESC LIMIT 1) last
  LEFT JOIN LATERAL (SELECT t.seq, t.revision FROM transitions t WHERE t.experience_id = e.id AND t.at <= :at
                        AND t.event = 'accept' AND t.to_stage = 'published' ORDER BY t.seq DESC LIMIT 1) published
    ON true
  LEFT JOIN LATERAL (SELECT t.seq FROM transitions t WHERE t.experience_id = e.id AND t.at <= :at
                        AND t.event IN ('retire', 'supersede') AND t.seq > published.seq LIMIT 1) ended ON true
"""
_ONE = text(f"""
SELECT s.stage, s.revision, s.current_revision, s.suspended AND s.current_revision IS NOT NULL AS suspended,
       r.digest, r.content,
       CASE WHEN s.stage = 'superseded' THEN c.content ->> 'superseded_by' END AS superseded_by
  FROM ({_STANDING} WHERE e.id = CAST(:id AS uuid)) s
  LEFT JOIN revisions r ON r.experience_id = s.id AND r.number = s.current_revision
  LEFT JOIN commands c ON c.id = s.cause_id
""")
_CURRENT = text(f"""
SELECT s.id::text AS experience_id, r.number AS revision, r.digest, r.domain_id, r.kind
  FROM ({_STANDING} WHERE e.id > CAST(:after AS uuid)) s
  JOIN revisions r ON r.experience_id = s.id AND r.number = s.current_revision
 WHERE NOT s.suspended AND (CAST(:domain AS text) IS NULL OR r.domain_id = :domain)
 ORDER BY s.id LIMIT :limit
""")
_FIRST = str(uuid.UUID(int=0))
MOST = 1_000
"""Entries of one page."""


class AsOfReads:
    """What a principal may see of the past: the experiences of its scope (R4)."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def experience(self, principal_id: str, experience_id: str, at: datetime) -> ExperienceAsOf:
        """Return where an experience stood.

        Raises:
            UnknownExperience: It can't be seen, or was not proposed yet.
            InvalidField: The moment is in the future.
        """
        async with self._database.as_principal(principal_id) as connection:
            await _check_past(connection, at)
            values = {"id": experience_id if is_id(experience_id) else None, "at": at}
            row = (await connection.execute(_ONE, values)).mappings().first()
        if row is None:
            raise UnknownExperience("There was no such experience in your scope.", field="experience_id")
        draft = _draft(row["content"], row["digest"])
        return ExperienceAsOf(
            experience_id=experience_id,
            at=at,
            **{name: row[name] for name in row if name not in ("content", "digest")},
            digest=row["digest"] or "",
            draft=draft if isinstance(draft, Draft) else None,
            article=draft if isinstance(draft, ArticleDraft) else None,
        )

    async def current(
        self, principal_id: str, at: datetime, *, domain: str | None = None, after: str | None = None, limit: int = 100
    ) -> CurrentPage:
        """Return what was current and not suspended, in order of ids.

        Raises:
            InvalidField: The moment is in the future.
        """
        limit = max(1, min(limit, MOST))
        async with self._database.as_principal(principal_id) as connection:
            await _check_past(connection, at)
            values = {"at": at, "domain": domain, "after": after or _FIRST, "limit": limit}
            rows = (await connection.execute(_CURRENT, values)).mappings().all()
        entries = tuple(CurrentAsOf.model_validate(dict(row)) for row in rows)
        return CurrentPage(at=at, entries=entries, after=entries[-1].experience_id if len(entries) == limit else None)


async def _check_past(connection: AsyncConnection, at: datetime) -> None:
    check_moment(at, field="at")
    now = (await connection.execute(text("SELECT clock_timestamp()"))).scalar_one()
    if at > now:
        raise InvalidField("Nobody knows yet.", field="at", accepted=f"a moment up to {now.isoformat()}")


def _draft(content: object, digest: str | None) -> AnyDraft | None:
    """Return the text of the digest; None when it was erased since."""
    if content is None:
        return None
    try:
        draft = draft_of(content)
    except ValidationError:
        return None
    return draft if draft.digest() == digest else None
