"""Decisions that cases belong together: made by a principal, with a reason, and reversible (R2).

Nothing here looks at how alike two cases are. Every decision stays in the record after its removal.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import RowMapping, text
from sqlalchemy.ext.asyncio import AsyncConnection

from activities.records.cases import require_case
from activities.records.database import Database
from activities.records.ids import is_id
from contracts import limits
from contracts.cases import Case, CaseLink, CaseLinkKind
from contracts.errors import (
    AlreadyLinked,
    CaseMerged,
    IdempotencyConflict,
    LinkRemoved,
    NotPermitted,
    SameCase,
    UnknownCase,
    UnknownLink,
)
from contracts.related import CaseLinkRecord, CaseLinks
from contracts.text import check_text, digest

_RECORD = """
SELECT id::text AS id, case_id::text AS case_id, other_case_id::text AS other_case_id, kind, reason, decided_by,
       decided_at, removed_by, removed_at, removal_reason
  FROM case_links
"""
_ADD = text("""
INSERT INTO case_links (id, tenant_id, case_id, other_case_id, kind, reason, decided_by)
VALUES (CAST(:id AS uuid), :tenant_id, CAST(:case_id AS uuid), CAST(:other_case_id AS uuid), :kind, :reason, :by)
ON CONFLICT DO NOTHING
""")
_BY_ID = text(f"{_RECORD} WHERE id = CAST(:id AS uuid)")
_STANDING = text(f"""{_RECORD}
 WHERE removed_at IS NULL AND kind = :kind
   AND ((case_id = CAST(:case_id AS uuid) AND other_case_id = CAST(:other_case_id AS uuid))
     OR (case_id = CAST(:other_case_id AS uuid) AND other_case_id = CAST(:case_id AS uuid)))
""")
_OF_CASE = text(f"""{_RECORD}
 WHERE case_id = CAST(:case_id AS uuid) OR other_case_id = CAST(:case_id AS uuid)
 ORDER BY decided_at, id
""")
_REMOVE = text("""
UPDATE case_links SET removed_by = :by, removed_at = clock_timestamp(), removal_reason = :reason
 WHERE id = CAST(:id AS uuid) AND removed_at IS NULL
""")
# Merges never run in a circle, but a reader must not hang on rows that say otherwise: UNION drops what came before.
_WAY = text("""
WITH RECURSIVE way (start, at) AS (
  SELECT case_id, other_case_id FROM case_links
   WHERE case_id = ANY (CAST(:ids AS uuid[])) AND kind = 'merged_into' AND removed_at IS NULL
  UNION
  SELECT w.start, l.other_case_id FROM way w
    JOIN case_links l ON l.case_id = w.at AND l.kind = 'merged_into' AND l.removed_at IS NULL)
SELECT start::text AS start, at::text AS at FROM way w
 WHERE NOT EXISTS (SELECT 1 FROM case_links l
                    WHERE l.case_id = w.at AND l.kind = 'merged_into' AND l.removed_at IS NULL)
""")


class CaseLinksTable:
    """Makes, removes and lists decisions on cases inside the caller's scope."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def link(self, principal_id: str, link: CaseLink) -> CaseLinkRecord:
        """Record a decision that two cases belong together, or that one goes on in the other; once by its id.

        Raises:
            SameCase: Both are one case.
            UnknownCase: One of them is not in the caller's scope, or they are of two tenants.
            NotPermitted: The caller holds grants to single cases only.
            CaseMerged: A merge of a case that was merged, or into one.
            AlreadyLinked: A decision of this kind on the two stands, in either direction.
            IdempotencyConflict: The id was used for another decision.
        """
        if link.case_id == link.other_case_id:
            raise SameCase(
                "A case can't be linked with itself.", field="other_case_id", accepted="another case of the tenant"
            )
        async with self._database.as_principal(principal_id) as connection:
            case = await require_case(connection, link.case_id)
            await _require_other(connection, link.other_case_id, case)
            await _require_decider(connection, case)
            stored = await _find(connection, link.id)
            if stored is None:
                await _check(connection, link)
                values = {**link.model_dump(), "tenant_id": case.origin.tenant_id, "by": principal_id}
                await connection.execute(_ADD, values)
                stored = await _find(connection, link.id)
            if stored is None or not _says(stored, link) or stored.decided_by != principal_id:
                raise IdempotencyConflict("This id was used for another decision.", field="id")
            return stored

    async def remove(self, principal_id: str, link_id: str, reason: str) -> CaseLinkRecord:
        """End a decision, saying why; for a merge this is the split. The same removal once more changes nothing.

        Raises:
            UnknownLink: There is none in the caller's scope.
            NotPermitted: The caller holds grants to single cases only.
            LinkRemoved: It was removed before, by somebody else or for another reason.
        """
        check_text(reason, field="reason", limit=limits.PARAGRAPH)
        async with self._database.as_principal(principal_id) as connection:
            stored = await _find(connection, link_id)
            if stored is None:
                raise UnknownLink("There is no such link in your scope.", field="link_id")
            await _require_decider(connection, await require_case(connection, stored.case_id))
            await connection.execute(_REMOVE, {"id": stored.id, "by": principal_id, "reason": reason})
            after = await _find(connection, stored.id) or stored
            if (after.removed_by, after.removal_reason) != (principal_id, reason):
                raise LinkRemoved(
                    f"The link was removed by {after.removed_by} at {after.removed_at:%Y-%m-%d %H:%M} UTC.",
                    field="link_id",
                    accepted="a link that stands",
                )
            return after

    async def of_case(self, principal_id: str, case_id: str) -> CaseLinks:
        """Return every decision on a case, those that were removed too, and where its work goes on.

        Raises:
            UnknownCase: There is none in the caller's scope.
        """
        async with self._database.as_principal(principal_id) as connection:
            case = await require_case(connection, case_id)
            rows = (await connection.execute(_OF_CASE, {"case_id": case.id})).mappings()
            links = tuple(record_of(row) for row in rows)
            continues_in = (await continuations(connection, [case.id])).get(case.id)
            return CaseLinks(case_id=case.id, continues_in=continues_in, links=links)


async def continuations(connection: AsyncConnection, case_ids: Sequence[str]) -> dict[str, str]:
    """Return where the work of each merged case goes on, at the end of all merges that the caller may see."""
    if not case_ids:
        return {}
    rows = (await connection.execute(_WAY, {"ids": list(case_ids)})).mappings()
    return {row["start"]: row["at"] for row in rows}


def record_of(row: RowMapping) -> CaseLinkRecord:
    """Return the decision in a row of `case_links`."""
    return CaseLinkRecord.model_validate(dict(row))


async def _find(connection: AsyncConnection, link_id: str) -> CaseLinkRecord | None:
    row = (await connection.execute(_BY_ID, {"id": link_id})).mappings().first() if is_id(link_id) else None
    return None if row is None else record_of(row)


def _says(stored: CaseLinkRecord, link: CaseLink) -> bool:
    return link.model_dump() == stored.model_dump(include=set(CaseLink.model_fields))


async def _require_other(connection: AsyncConnection, other_case_id: str, case: Case) -> None:
    """Refuse a case of another tenant as one that isn't there: no answer joins two tenants (R4, R21)."""
    try:
        other = await require_case(connection, other_case_id)
    except UnknownCase as error:
        raise UnknownCase(error.message, field="other_case_id", accepted=error.accepted) from None
    if other.origin.tenant_id != case.origin.tenant_id:
        raise UnknownCase(
            "There is no such case in the case's tenant.", field="other_case_id", accepted="a case of the same tenant"
        )


async def _require_decider(connection: AsyncConnection, case: Case) -> None:
    """Refuse who may see single cases only, and hold the tenant's links: one decision at a time is checked and made."""
    tenant = {"tenant_id": case.origin.tenant_id}
    granted = await connection.execute(text("SELECT :tenant_id IN (SELECT app_tenants())"), tenant)
    if not granted.scalar_one():
        raise NotPermitted("Linking cases needs a grant to their tenant.", accepted="a principal with such a grant")
    lock = digest(["case_links", case.origin.tenant_id])
    await connection.execute(text("SELECT pg_advisory_xact_lock(hashtextextended(:lock, 0))"), {"lock": lock})


async def _check(connection: AsyncConnection, link: CaseLink) -> None:
    """Refuse a decision that one which stands contradicts or has made already."""
    if link.kind is CaseLinkKind.MERGED_INTO:
        merged = await continuations(connection, [link.case_id, link.other_case_id])
        for field, case_id in (("case_id", link.case_id), ("other_case_id", link.other_case_id)):
            if goes_on := merged.get(case_id):
                raise CaseMerged(
                    "The case was merged into another, where its work goes on.", field=field, accepted=goes_on
                )
    standing = (await connection.execute(_STANDING, link.model_dump())).mappings().first()
    if standing is not None:
        raise AlreadyLinked(
            f"Link {standing['id']} says so already, decided by {standing['decided_by']}.",
            field="other_case_id",
            accepted="removing that link first",
        )
