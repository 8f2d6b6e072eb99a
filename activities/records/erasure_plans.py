"""The two ways to find and remove: every occurrence of a subject's values, or all text of a case (R11)."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Protocol

from sqlalchemy import RowMapping, text
from sqlalchemy.ext.asyncio import AsyncConnection

from activities.records.database import Database
from activities.records.erasure_cases import CaseRows
from activities.records.erasure_columns import TextTable
from activities.records.erasure_experiences import mark, refuse_pending, send_back, tell, withdraw
from activities.records.erasure_reports import add_removed
from activities.records.erasure_subjects import Found, Key, find_values, replace_values
from activities.records.publication import announce
from contracts.erased_text import ERASED, Eraser, fold
from contracts.erasure import PlaceCount
from contracts.lifecycle import REVIEWED

_KEYS_AT_ONCE = 50
"""Rows of one transaction: it holds up other writers of outbox events when it ends."""
_HANDLE_LETTERS = 4
_PROBE_LETTERS = 20
_PROBES = 50
_MAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}")

_AS_ERASURE = text("""
SELECT set_config('caselore.erasure', CAST(:id AS text), true), set_config('caselore.actor', :actor, true),
       set_config('statement_timeout', '600000', true)
""")
_REVISION = text("""
SELECT r.digest, e.stage, e.kind FROM revisions r JOIN experiences e ON e.id = r.experience_id
 WHERE r.experience_id = CAST(:experience_id AS uuid) AND r.number = CAST(:number AS integer)
""")
_CASES = {
    "cases": text("SELECT 'case/' || id FROM cases WHERE id = ANY (CAST(:ids AS uuid[])) ORDER BY id"),
    "origins": text("SELECT 'case/' || id FROM cases WHERE origin_id = ANY (CAST(:ids AS uuid[])) ORDER BY id"),
}
"""The index keys of changed rows."""
_COMMANDED = text("""
SELECT DISTINCT experience_id::text FROM commands WHERE id = ANY (CAST(:ids AS uuid[])) AND state = 'pending'
""")
_EXPERIENCES = text("""
SELECT id::text AS id, current_revision IS NOT NULL AS is_published, erased_at FROM experiences
 WHERE case_id = CAST(:case_id AS uuid) ORDER BY id
""")
_LOCK_CASE = text("SELECT erased_at FROM cases WHERE id = CAST(:case_id AS uuid) FOR UPDATE")
_CASE_WORDS = text("""
SELECT o.external_id AS handle, c.title || E'\\n' || c.body AS words
  FROM cases c JOIN origins o ON o.id = c.origin_id WHERE c.id = CAST(:case_id AS uuid)
UNION ALL SELECT external_id, subject || E'\\n' || body FROM arrivals WHERE case_id = CAST(:case_id AS uuid)
UNION ALL SELECT delivery_id, '' FROM arrivals WHERE case_id = CAST(:case_id AS uuid)
UNION ALL SELECT '', title || E'\\n' || text FROM case_papers WHERE case_id = CAST(:case_id AS uuid)
""")
_KEEP_WORDS = text("UPDATE erasures SET subject = CAST(:subject AS jsonb) WHERE id = CAST(:id AS uuid)")
_LIVE = text("""
SELECT title || E'\\n' || content::text FROM revisions
 WHERE experience_id = CAST(:id AS uuid) AND state IN ('current', 'suspended', 'draft')
""")
_MARK_CASE = text("""
UPDATE cases SET erased_at = coalesce(erased_at, clock_timestamp()) WHERE id = CAST(:case_id AS uuid)
""")
# A reply would be new text of a case that is no more.
_WITHDRAW_QUESTIONS = text("""
INSERT INTO consultation_withdrawals (consultation_id)
SELECT c.id FROM consultations c JOIN retrieval_requests q ON q.id = c.request_id
 WHERE q.case_id = CAST(:case_id AS uuid)
   AND NOT EXISTS (SELECT 1 FROM consultation_replies y WHERE y.consultation_id = c.id)
ON CONFLICT DO NOTHING
""")


class Plan(Protocol):
    """How a target is found and removed."""

    leaving: int
    """Published experiences that leave retrieval, as far as it has been looked."""

    async def find(self, connection: AsyncConnection) -> tuple[PlaceCount, ...]:
        """Return what is there now; nothing is changed."""
        ...

    async def remove(self, database: Database, erasure: RowMapping) -> int:
        """Remove what is there now, put what that was into the receipt, and return how many fields."""
        ...


class SubjectPlan:
    """Finds every occurrence of some values in the rows of one tenant."""

    def __init__(self, tables: Sequence[TextTable], tenant_id: str, values: Sequence[str]) -> None:
        self._tables = tables
        self._tenant_id = tenant_id
        self._eraser = Eraser(values)
        self.leaving = 0

    async def find(self, connection: AsyncConnection) -> tuple[PlaceCount, ...]:
        """See `Plan.find`."""
        return _places(await self._find(connection))

    async def remove(self, database: Database, erasure: RowMapping) -> int:
        """See `Plan.remove`. A few rows at a time; what was cut short is found again."""
        async with _as_erasure(database, erasure) as connection:
            found = await self._find(connection)
        for each in found:
            for begin in range(0, len(each.keys), _KEYS_AT_ONCE):
                async with _as_erasure(database, erasure) as connection:
                    await self._replace(connection, erasure, each, each.keys[begin : begin + _KEYS_AT_ONCE])
        return sum(each.fields for each in found)

    async def _find(self, connection: AsyncConnection) -> list[Found]:
        return [await find_values(connection, table, self._tenant_id, self._eraser) for table in self._tables]

    async def _replace(
        self, connection: AsyncConnection, erasure: RowMapping, found: Found, keys: Sequence[Key]
    ) -> None:
        changed, fields = await replace_values(connection, found, keys, self._eraser)
        if not changed:
            return
        id_, actor = erasure["id"], erasure["requested_by"]
        count = PlaceCount(place=found.table.name, rows=len(changed), fields=fields)
        await add_removed(connection, id_, [count])
        if found.table.name == "revisions":
            await _revisions_changed(connection, id_, actor, changed)
        elif found.table.name in ("cases", "origins"):  # the index knows a case by both
            ids = [row["id"] for row in changed]
            cases = list((await connection.execute(_CASES[found.table.name], {"ids": ids})).scalars())
            await mark(connection, id_, actor, (), *cases)
            await announce(connection, *cases)
        elif found.table.name == "commands":
            ids = [row["id"] for row in changed]
            for experience_id in (await connection.execute(_COMMANDED, {"ids": ids})).scalars().all():
                await refuse_pending(connection, experience_id)


class CasePlan:
    """Empties every row that belongs to one case."""

    def __init__(self, tables: Sequence[TextTable], tenant_id: str, case_id: str, *, keep_published: bool) -> None:
        self._tables = tables
        self._tenant_id = tenant_id
        self._case_id = case_id
        self._keep_published = keep_published
        self.leaving = 0

    async def find(self, connection: AsyncConnection) -> tuple[PlaceCount, ...]:
        """See `Plan.find`."""
        handles, _ = await self._words(connection)
        withdrawn, kept = await self._parted(connection, handles)
        case = self._text(connection, withdrawn, kept, dry=True)
        await case.erase()
        return case.counts

    async def remove(self, database: Database, erasure: RowMapping) -> int:
        """See `Plan.remove`. One transaction: a case is erased as a whole, and leaves retrieval with it."""
        id_, actor = erasure["id"], erasure["requested_by"]
        async with _as_erasure(database, erasure) as connection:
            was_erased = (await connection.execute(_LOCK_CASE, {"case_id": self._case_id})).scalar_one() is not None
            handles, probes = await self._words(connection)
            if erasure["subject"] is None and (handles or probes):
                words = json.dumps([*handles, *probes][:_PROBES])
                await connection.execute(_KEEP_WORDS, {"id": id_, "subject": words})
            withdrawn, kept = await self._parted(connection, handles)
            for experience_id in withdrawn:
                await withdraw(connection, id_, experience_id, actor)
            for experience_id in kept:
                await refuse_pending(connection, experience_id)
            case = self._text(connection, withdrawn, kept, dry=False)
            await case.erase()
            await connection.execute(_MARK_CASE, {"case_id": self._case_id})
            await connection.execute(_WITHDRAW_QUESTIONS, {"case_id": self._case_id})
            if was_erased and not case.counts:
                return 0
            await add_removed(connection, id_, case.counts)
            # The audit's and the outbox's lock lasts from here to the commit.
            await mark(connection, id_, actor, case.revisions, f"case/{self._case_id}")
            for experience_id in withdrawn:
                await tell(connection, id_, experience_id, actor)
            await announce(connection, f"case/{self._case_id}", *(f"experience/{each}" for each in withdrawn))
            return sum(place.fields for place in case.counts)

    async def _parted(self, connection: AsyncConnection, handles: Sequence[str]) -> tuple[list[str], list[str]]:
        """Return which experiences of the case leave retrieval, and which stay published."""
        rows = (await connection.execute(_EXPERIENCES, {"case_id": self._case_id})).mappings().all()
        eraser = Eraser(handles)
        kept: list[str] = []
        for row in rows:
            if self._keep_published and row["is_published"] and row["erased_at"] is None:
                texts = (await connection.execute(_LIVE, {"id": row["id"]})).scalars().all()
                if not any(map(eraser.count, texts)):
                    kept.append(row["id"])
        withdrawn = [row["id"] for row in rows if row["id"] not in kept]
        self.leaving = sum(row["is_published"] for row in rows if row["id"] in withdrawn)
        return withdrawn, kept

    async def _words(self, connection: AsyncConnection) -> tuple[list[str], list[str]]:
        """Return the case's handles, with mail addresses in its texts, and pieces of text that are all its own."""
        rows = (await connection.execute(_CASE_WORDS, {"case_id": self._case_id})).mappings().all()
        mails = [mail for row in rows for mail in _MAIL.findall(row["words"])]
        pieces = [line.strip()[:200] for row in rows for line in row["words"].splitlines()[:20]]
        return (
            _distinct([*(row["handle"] for row in rows), *mails], _HANDLE_LETTERS),
            _distinct(pieces, _PROBE_LETTERS),
        )

    def _text(
        self, connection: AsyncConnection, withdrawn: Sequence[str], kept: Sequence[str], *, dry: bool
    ) -> CaseRows:
        return CaseRows(connection, self._tenant_id, self._case_id, self._tables, withdrawn, kept, dry)


async def _revisions_changed(
    connection: AsyncConnection, erasure_id: str, actor_id: str, changed: Sequence[Mapping[str, Any]]
) -> None:
    """Send drafts back whose reviewers saw another text, mark what was redacted, and tell lifecycle and index.

    A digest stays: it is of the text that was decided on, and what the audit chain says of the revision.
    """
    marked: list[tuple[str, int, str]] = []
    reviewed: set[str] = set()
    keys: set[str] = set()
    for row in changed:
        found = (await connection.execute(_REVISION, row)).mappings().one()
        marked.append((row["experience_id"], int(row["number"]), found["digest"]))
        keys.add(f"{found['kind']}/{row['experience_id']}")
        if found["stage"] in REVIEWED:
            reviewed.add(row["experience_id"])
    for experience_id in sorted(reviewed):
        await send_back(connection, erasure_id, experience_id, actor_id)
    await mark(connection, erasure_id, actor_id, marked)
    for experience_id in sorted(reviewed):
        await tell(connection, erasure_id, experience_id, actor_id)
    await announce(connection, *sorted(keys))


@asynccontextmanager
async def _as_erasure(database: Database, erasure: RowMapping) -> AsyncGenerator[AsyncConnection]:
    """Open a transaction that may change what is kept as it was, for as long as the erasure runs."""
    async with database.as_system() as connection:
        await connection.execute(_AS_ERASURE, {"id": erasure["id"], "actor": erasure["requested_by"]})
        yield connection


def _places(found: Iterable[Found]) -> tuple[PlaceCount, ...]:
    return tuple(
        PlaceCount(place=each.table.name, rows=len(each.keys), fields=each.fields) for each in found if each.keys
    )


def _distinct(texts: Iterable[str], letters: int) -> list[str]:
    return [
        each
        for each in dict.fromkeys(texts)
        if not each.startswith(ERASED) and sum(map(str.isalnum, fold(each))) >= letters
    ]
