"""Where the work of a merged case goes on, as its reader may know it (R2, R4)."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from activities.records.database import Database
from contracts.cases import Case

_SEEN = text("""
SELECT c.id::text AS id, l.other_case_id::text AS merged_into, c.tenant_id IN (SELECT app_tenants()) AS is_tenant_seen
  FROM cases c
  LEFT JOIN case_links l ON l.case_id = c.id AND l.kind = 'merged_into' AND l.removed_at IS NULL
 WHERE c.id = ANY (CAST(:ids AS uuid[]))
""")
_MERGED = text("""
SELECT case_id::text FROM case_links
 WHERE case_id = ANY (CAST(:ids AS uuid[])) AND kind = 'merged_into' AND removed_at IS NULL
""")


async def with_merges(database: Database, connection: AsyncConnection, cases: Sequence[Case]) -> list[Case]:
    """Return the cases with the merge that stands on each.

    Row-level security shows a holder of single cases no decision on a case outside of them, and so not even that there
    is one. Whoever may see a case is told that work on it has ended, and nothing of where it goes on.

    Args:
        database: For the question whether a merge stands that the reader can't see.
        connection: The reader's transaction, in which the cases were read.
        cases: What the reader may see.
    """
    if not cases:
        return []
    rows = {row["id"]: row for row in (await connection.execute(_SEEN, {"ids": [c.id for c in cases]})).mappings()}
    unsure = [key for key, row in rows.items() if row["merged_into"] is None and not row["is_tenant_seen"]]
    elsewhere = set[str]()
    if unsure:
        async with database.as_system() as system:
            elsewhere = set((await system.execute(_MERGED, {"ids": unsure})).scalars())
    return [
        case.model_copy(
            update={
                "merged_into": rows[case.id]["merged_into"] if case.id in rows else None,
                "merged_elsewhere": case.id in elsewhere,
            }
        )
        for case in cases
    ]
