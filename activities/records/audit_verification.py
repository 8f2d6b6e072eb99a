"""Verification of the audit chain, and of the record against it.

The chain shows that nothing in it was altered, removed, inserted or moved up to a head that was kept elsewhere.
The comparison shows that the record still says what the chain says: every transition and decision has its row with
the same digest, and every revision's text still has its digest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from activities.records.audit import COLUMNS, audit_row
from activities.records.database import Database
from contracts.articles import draft_of
from contracts.audit import ERASED, GENESIS, AuditBreak, AuditHead, AuditVerification, check_link

_SNAPSHOT = text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
_CHAIN = text(f"SELECT {COLUMNS} FROM audit WHERE seq > :after ORDER BY seq LIMIT :limit")
_EXPERIENCES = text("""
SELECT id::text AS id FROM experiences WHERE id > CAST(:after AS uuid) ORDER BY id LIMIT :limit
""")
_OF = "subject = ANY (SELECT 'experience/' || id FROM unnest(CAST(:ids AS uuid[])) AS id)"
_AUDITED = text(f"""
SELECT subject, action, revision, digest, actor_id, cause_id::text AS cause_id, details FROM audit
 WHERE {_OF} AND action IN ('draft', 'decision', 'transition', '{ERASED}')
""")
_TRANSITIONS = text("""
SELECT 'experience/' || t.experience_id AS subject, t.revision, r.digest, t.actor_id, t.cause_id::text AS cause_id,
       t.seq, t.event, t.from_stage, t.to_stage
  FROM transitions t LEFT JOIN revisions r ON r.experience_id = t.experience_id AND r.number = t.revision
 WHERE t.experience_id = ANY (CAST(:ids AS uuid[])) ORDER BY t.experience_id, t.seq
""")
_DECISIONS = text("""
SELECT 'experience/' || experience_id AS subject, revision, digest, reviewer_id AS actor_id,
       decision_id::text AS cause_id, stage, verdict, on_behalf_of
  FROM review_decisions WHERE experience_id = ANY (CAST(:ids AS uuid[])) ORDER BY experience_id, decided_at
""")
_REVISIONS = text("""
SELECT 'experience/' || experience_id AS subject, number AS revision, digest, author_id AS actor_id, content
  FROM revisions WHERE experience_id = ANY (CAST(:ids AS uuid[])) ORDER BY experience_id, number
""")
_GONE = text(f"""
SELECT a.seq, a.subject FROM audit a
 WHERE a.action = 'draft' AND NOT EXISTS (SELECT 1 FROM experiences e WHERE e.id = a.subject_id)
   AND NOT EXISTS (SELECT 1 FROM audit x WHERE x.subject = a.subject AND x.action = '{ERASED}')
 ORDER BY a.seq LIMIT 1
""")
_NIL = "00000000-0000-0000-0000-000000000000"
_LOWEST = -(2**63)

Row = Mapping[str, Any]


class _BrokenError(Exception):
    def __init__(self, subject: str, reason: str, seq: int | None = None) -> None:
        super().__init__(reason)
        self.found = AuditBreak(seq=seq, subject=subject, reason=reason)


@dataclass
class _Found:
    """What held so far."""

    head: AuditHead = field(default_factory=AuditHead)
    counts: Counter[str] = field(default_factory=Counter[str])


class AuditVerifier:
    """Looks at chain and record in one snapshot, in pages of bounded size.

    Args:
        database: The record.
        page: Rows of the chain, and a tenth as many experiences, that are held at once.
    """

    def __init__(self, database: Database, *, page: int = 2_000) -> None:
        self._database = database
        self._page = page

    async def verify(self, expected: str | None = None) -> AuditVerification:
        """Return what holds, up to the first thing that doesn't.

        Args:
            expected: The hash of a head that was kept: the chain must hold it. Only that shows a cut tail.
        """
        found = _Found()
        broken: AuditBreak | None = None
        async with self._database.as_system() as connection:
            await connection.execute(_SNAPSHOT)
            try:
                await self._walk(connection, found, expected)
                await self._compare_all(connection, found.counts)
            except _BrokenError as error:
                broken = error.found
        return AuditVerification(
            rows=found.head.seq,
            transitions=found.counts["transition"],
            decisions=found.counts["decision"],
            revisions=found.counts["draft"],
            erased=found.counts[ERASED],
            head=found.head,
            broken=broken,
        )

    async def _walk(self, connection: AsyncConnection, found: _Found, expected: str | None) -> None:
        is_there = expected in (None, GENESIS)
        after = _LOWEST
        while rows := (await connection.execute(_CHAIN, {"after": after, "limit": self._page})).mappings().all():
            for row in map(audit_row, rows):
                if reason := check_link(found.head, row):
                    raise _BrokenError(row.subject, reason, row.seq)
                found.head = AuditHead(seq=row.seq, hash=row.hash)
                is_there = is_there or row.hash == expected
            after = found.head.seq
        if not is_there:
            raise _BrokenError("audit", f"no row has the expected head {expected}: the chain was cut", found.head.seq)

    async def _compare_all(self, connection: AsyncConnection, counts: Counter[str]) -> None:
        after = _NIL
        while ids := list(
            (await connection.execute(_EXPERIENCES, {"after": after, "limit": max(1, self._page // 10)})).scalars()
        ):
            await _compare(connection, ids, counts)
            after = ids[-1]
        gone = (await connection.execute(_GONE)).mappings().first()
        if gone is not None:
            raise _BrokenError(gone["subject"], "the chain tells of it, the record has lost it", gone["seq"])


async def _compare(connection: AsyncConnection, ids: Sequence[str], counts: Counter[str]) -> None:
    """Compare some experiences with the chain.

    Raises:
        _BrokenError: With the first record that has no good row, or row that has no record.
    """
    values = {"ids": ids}
    audited: dict[tuple[str, str, str], Row] = {}
    erased: set[tuple[str, int | None]] = set()
    for row in map(dict[str, Any], (await connection.execute(_AUDITED, values)).mappings()):
        if row["action"] == ERASED:
            erased.add((row["subject"], row["revision"]))
            continue
        key = (row["subject"], row["action"], _name(row["action"], row, row["details"]))
        if key in audited:
            raise _BrokenError(row["subject"], f"{row['action']} {key[2]} is in the chain twice")
        audited[key] = row
    for action, sql in (("transition", _TRANSITIONS), ("decision", _DECISIONS), ("draft", _REVISIONS)):
        for row in map(dict[str, Any], (await connection.execute(sql, values)).mappings()):
            name = _name(action, row, {"seq": str(row.get("seq"))})
            kept = audited.pop((row["subject"], action, name), None)
            if kept is None:
                raise _BrokenError(row["subject"], f"{action} {name} has no row in the chain")
            if differing := _difference(row, kept):
                raise _BrokenError(row["subject"], f"{action} {name} has another {differing} than in the chain")
            if action == "draft":
                _check_text(row, counts, erased)
            counts[action] += 1
    for subject, action, name in audited:
        if not erased & {(subject, None)}:
            raise _BrokenError(subject, f"{action} {name} is in the chain, the record has lost it")


def _check_text(row: Row, counts: Counter[str], erased: set[tuple[str, int | None]]) -> None:
    if erased & {(row["subject"], None), (row["subject"], row["revision"])}:
        counts[ERASED] += 1
        return
    try:
        digest = draft_of(row["content"]).digest()
    except ValidationError:
        digest = ""
    if digest != row["digest"]:
        raise _BrokenError(row["subject"], f"the text of revision {row['revision']} is not the one of its digest")


def _name(action: str, row: Row, details: Mapping[str, str]) -> str:
    """Return what tells a record of an action from the others of its experience."""
    if action == "transition":
        return details["seq"]
    return row["cause_id"] if action == "decision" else str(row["revision"])


def _difference(row: Row, kept: Row) -> str:
    """Return the first field in which a record is not what the chain says of it."""
    for name in ("digest", "revision", "actor_id"):
        if row[name] != kept[name]:
            return name.removesuffix("_id")
    details: Mapping[str, str] = kept["details"]
    for column, name in (
        ("event", "event"), ("from_stage", "from"), ("to_stage", "to"), ("stage", "stage"), ("verdict", "verdict"),
        ("on_behalf_of", "on_behalf_of"),
    ):  # fmt: skip
        if column in row and row[column] != details.get(name):
            return column
    return ""
