"""Reads behind related work: decisions, facts and full text, inside one tenant and the caller's grants (R2, R4, R16).

Row-level security keeps array and text search from using their indexes. Such a search runs as the system inside the
caller's derived scope, and what it finds is read again as the caller.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import RowMapping, text

from activities.records.case_links import continuations
from activities.records.cases import require_case
from activities.records.database import Database
from activities.records.outbox import read_watermarks
from contracts.cases import CaseLinkKind
from contracts.index import Scope
from contracts.labels import CaseState, Collection
from contracts.outbox import Watermark
from contracts.related import Bond, CaseHead, Reason, RelatedTask, Relation
from contracts.retrieval import OriginRef

_SCOPE = text("""
SELECT tenant_id, case_id::text AS case_id FROM grants
 WHERE principal_id = (SELECT app_principal()) AND tenant_id = :tenant_id AND (expires_at IS NULL OR expires_at > now())
""")
_ALLOWED = """(c.tenant_id = ANY (CAST(:tenants AS text[])) OR c.id = ANY (CAST(:cases AS uuid[])))
   AND c.id <> CAST(:case_id AS uuid)
   AND (CAST(:before AS timestamptz) IS NULL OR c.opened_at < CAST(:before AS timestamptz))"""
_LINKED = text("""
SELECT id::text AS link_id, kind, reason,
       CASE WHEN case_id = CAST(:case_id AS uuid) THEN other_case_id ELSE case_id END::text AS case_id
  FROM case_links
 WHERE (case_id = CAST(:case_id AS uuid) OR other_case_id = CAST(:case_id AS uuid)) AND removed_at IS NULL
 ORDER BY decided_at, id
""")
_NAMED = text(f"""
SELECT c.id::text AS case_id, ARRAY[o.external_id] AS shared FROM cases c JOIN origins o ON o.id = c.origin_id
 WHERE o.tenant_id = :tenant_id AND o.external_id = ANY (CAST(:refs AS text[])) AND {_ALLOWED}
 ORDER BY c.opened_at DESC, c.id LIMIT :limit
""")
_NAMING = text(f"""
SELECT c.id::text AS case_id, ARRAY[CAST(:external_id AS text)] AS shared FROM cases c
 WHERE c.object_refs && ARRAY[CAST(:external_id AS text)] AND {_ALLOWED}
 ORDER BY c.opened_at DESC, c.id LIMIT :limit
""")
_OBJECTS = text(f"""
SELECT c.id::text AS case_id, ARRAY(SELECT r FROM unnest(CAST(:refs AS text[])) r WHERE r = ANY (c.object_refs))
       AS shared
  FROM cases c
 WHERE c.object_refs && CAST(:refs AS text[]) AND {_ALLOWED}
 ORDER BY c.opened_at DESC, c.id LIMIT :limit
""")
# Any word may match; rank decides. plainto_tsquery joins by AND, so its operators are turned into OR. Texts are kept as
# they came, and full text takes a composed and a decomposed letter for two: it is asked for both spellings (R22).
_TEXT = """
SELECT c.id::text FROM cases c,
       (SELECT CAST(replace(CAST(plainto_tsquery('simple', normalize(:words, NFC) || ' ' || normalize(:words, NFD))
                                 AS text), ' & ', ' | ') AS tsquery) AS q) AS asked
 WHERE c.search @@ q AND {allowed} {pending}
 ORDER BY ts_rank(c.search, q) DESC, c.id LIMIT :limit
"""
_PENDING = """AND c.id IN (SELECT CAST(split_part(key, '/', 2) AS uuid) FROM outbox
               WHERE topic = 'index' AND delivered_at IS NULL AND source = 'case')"""
_HEADS = text("""
SELECT c.id::text AS id, c.title, c.state, c.opened_at, c.domain_id, o.source, o.external_id
  FROM cases c JOIN origins o ON o.id = c.origin_id
 WHERE c.id = ANY (CAST(:ids AS uuid[])) AND c.tenant_id = :tenant_id AND c.erased_at IS NULL
""")


class RelatedTable:
    """`contracts.related.RelatedRecords` on Postgres."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def task(self, principal_id: str, case_id: str, *, include_later: bool) -> RelatedTask:
        """See `contracts.related.RelatedRecords.task`."""
        async with self._database.as_principal(principal_id) as connection:
            case = await require_case(connection, case_id)
            rows = (await connection.execute(_SCOPE, {"tenant_id": case.origin.tenant_id})).all()
        tenants = frozenset(tenant for tenant, granted in rows if granted is None)
        cases = frozenset(granted for _, granted in rows if granted is not None)
        # A grant to the whole tenant covers its cases; the narrower form would only make queries longer.
        return RelatedTask(case, principal_id, Scope(tenants, frozenset() if tenants else cases), include_later)

    async def linked(self, task: RelatedTask) -> list[Bond]:
        """See `contracts.related.RelatedRecords.linked`."""
        async with self._database.as_principal(task.principal_id) as connection:
            rows = (await connection.execute(_LINKED, {"case_id": task.case.id})).mappings()
            return [_decided(row) for row in rows]

    async def by_facts(self, task: RelatedTask, limit: int) -> list[Bond]:
        """See `contracts.related.RelatedRecords.by_facts`."""
        case = task.case
        values = {
            **_values(task),
            "refs": list(case.facts.object_refs),
            "external_id": case.origin.external_id,
            "limit": limit,
        }
        async with self._database.as_system() as connection:
            bonds = _bonds((await connection.execute(_NAMING, values)).mappings(), Relation.SAME_REQUEST)
            if case.facts.object_refs:
                named = await connection.execute(_NAMED, values)
                bonds += _bonds(named.mappings(), Relation.SAME_REQUEST)
                shared = await connection.execute(_OBJECTS, values)
                bonds += _bonds(shared.mappings(), Relation.SAME_OBJECT)
        return bonds

    async def by_text(self, task: RelatedTask, words: str, *, limit: int, pending_only: bool) -> list[str]:
        """See `contracts.related.RelatedRecords.by_text`."""
        sql = text(_TEXT.format(allowed=_ALLOWED, pending=_PENDING if pending_only else ""))
        async with self._database.as_system() as connection:
            found = await connection.execute(sql, {**_values(task), "words": words, "limit": limit})
            return list(found.scalars())

    async def heads(self, task: RelatedTask, case_ids: list[str]) -> dict[str, CaseHead]:
        """See `contracts.related.RelatedRecords.heads`."""
        values = {"ids": case_ids, "tenant_id": task.case.origin.tenant_id}
        async with self._database.as_principal(task.principal_id) as connection:
            rows = (await connection.execute(_HEADS, values)).mappings().all()
            onwards = await continuations(connection, case_ids)
        return {row["id"]: _head(row, onwards.get(row["id"])) for row in rows}

    async def watermark(self) -> Watermark:
        """See `contracts.related.RelatedRecords.watermark`."""
        async with self._database.as_system() as connection:
            marks = await read_watermarks(connection)
        return next(mark for mark in marks if mark.collection is Collection.CASES)


def _values(task: RelatedTask) -> dict[str, Any]:
    return {
        "tenant_id": task.case.origin.tenant_id,
        "tenants": sorted(task.scope.tenants),
        "cases": sorted(task.scope.cases),
        "case_id": task.case.id,
        "before": task.opened_before,
    }


def _decided(row: RowMapping) -> Bond:
    reason = Reason(
        relation=Relation.LINKED, link_id=row["link_id"], link_kind=CaseLinkKind(row["kind"]), why=row["reason"]
    )
    return Bond(row["case_id"], reason)


def _bonds(rows: Iterable[RowMapping], relation: Relation) -> list[Bond]:
    return [Bond(row["case_id"], Reason(relation=relation, shared=tuple(row["shared"]))) for row in rows]


def _head(row: RowMapping, continues_in: str | None) -> CaseHead:
    return CaseHead(
        case_id=row["id"],
        origin=OriginRef(source=row["source"], external_id=row["external_id"]),
        title=row["title"],
        state=CaseState(row["state"]),
        opened_at=row["opened_at"],
        continues_in=continues_in,
        domain_id=row["domain_id"],
    )
