"""The audit chain as people read it: what was done to a subject, and by whom."""

from __future__ import annotations

from sqlalchemy import RowMapping, text
from sqlalchemy.ext.asyncio import AsyncConnection

from activities.records.database import Database
from contracts.audit import AuditHead, AuditRow
from contracts.errors import InvalidField

COLUMNS = "seq, at, actor_id, action, subject, revision, digest, cause_id::text AS cause_id, details, previous, hash"
_ROWS = text(f"""
SELECT {COLUMNS} FROM audit
 WHERE seq > :after AND (CAST(:subject AS text) IS NULL OR subject = :subject)
   AND (CAST(:actor AS text) IS NULL OR actor_id = :actor)
 ORDER BY seq LIMIT :limit
""")
_HEAD = text("SELECT seq, hash FROM audit ORDER BY seq DESC LIMIT 1")


class AuditTable:
    """Reads the chain; what is appended, the database appends with the change itself."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def head(self) -> AuditHead:
        """Return the newest row's number and hash."""
        async with self._database.as_system() as connection:
            return await read_head(connection)

    async def rows(
        self, *, subject: str | None = None, actor: str | None = None, after: int = 0, limit: int = 100
    ) -> list[AuditRow]:
        """Return rows after `after` in their order, whoever may see them: for administrators."""
        async with self._database.as_system() as connection:
            return await _rows(connection, subject, actor, after, limit)

    async def rows_for(
        self, principal_id: str, *, subject: str | None, actor: str | None, after: int = 0, limit: int = 100
    ) -> list[AuditRow]:
        """Return the rows that a principal may see: of its experiences and cases, and its own acts (R4).

        Raises:
            InvalidField: Neither a subject nor an actor is named.
        """
        if subject is None and actor is None:
            raise InvalidField(
                "Name what or whose acts you look for.", field="subject", accepted="a subject or an actor"
            )
        async with self._database.as_principal(principal_id) as connection:
            return await _rows(connection, subject, actor, after, limit)


async def read_head(connection: AsyncConnection) -> AuditHead:
    """Return the head of the chain in this transaction."""
    row = (await connection.execute(_HEAD)).mappings().first()
    return AuditHead() if row is None else AuditHead.model_validate(dict(row))


def audit_row(row: RowMapping) -> AuditRow:
    """Return the row of the chain in a row of `COLUMNS`."""
    return AuditRow.model_validate(dict(row))


async def _rows(
    connection: AsyncConnection, subject: str | None, actor: str | None, after: int, limit: int
) -> list[AuditRow]:
    if subject is not None and subject.startswith("article/"):
        subject = subject.replace("article/", "experience/", 1)  # one lifecycle, one name in the chain
    values = {"subject": subject, "actor": actor, "after": after, "limit": max(0, min(limit, 1_000))}
    return [audit_row(row) for row in (await connection.execute(_ROWS, values)).mappings()]
