"""How candidates turned out, counted: in what the reader may see, and over all tenants where that names none (R21)."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import RowMapping, text
from sqlalchemy.ext.asyncio import AsyncConnection

from contracts import limits
from contracts.feedback import CandidateFeedback, Usefulness, UsefulnessCounts
from contracts.index import Scope

Cited = tuple[str, int]
"""A ref and the revision that was cited."""

# The latest word of each retrieval counts, however many decisions it had: of those in the asker's derived scope, and,
# in totals, of every tenant when enough of them said something. It runs as the system inside that scope, beside the
# checks of every candidate: the policies of the application role say the same, and cost each retrieval some
# milliseconds. What the asker did outside a case but for one tenant counts while the scope, which the credential and
# the request narrow, reaches that tenant or a case of it.
_COUNTS = text("""
WITH latest AS (
  SELECT DISTINCT ON (o.of_request, o.ref, o.revision) o.ref, o.revision, o.usefulness
    FROM feedback_outcomes o
   WHERE o.ref = ANY (CAST(:refs AS text[]))
     AND (o.of_tenant = ANY (CAST(:tenants AS text[])) OR o.of_case = ANY (CAST(:cases AS uuid[]))
          OR (o.of_case IS NULL AND o.asked_by = :asker
              AND (o.of_tenant IS NULL OR o.of_tenant IN (SELECT c.tenant_id FROM cases c
                                                           WHERE c.id = ANY (CAST(:cases AS uuid[]))))))
   ORDER BY o.of_request, o.ref, o.revision, o.said_at DESC, o.number DESC
), own AS (
  SELECT ref, revision, count(*) FILTER (WHERE usefulness = 'helped') AS helped,
         count(*) FILTER (WHERE usefulness = 'misled') AS misled,
         count(*) FILTER (WHERE usefulness = 'not_applicable') AS not_applicable
    FROM latest GROUP BY ref, revision
), every AS (
  SELECT t.ref, t.revision, t.helped, t.misled, t.not_applicable
    FROM feedback_totals t WHERE t.ref = ANY (CAST(:refs AS text[])) AND t.tenants >= :enough
)
SELECT ref, revision, own.helped, own.misled, own.not_applicable, every.helped AS every_helped,
       every.misled AS every_misled, every.not_applicable AS every_not_applicable
  FROM own FULL JOIN every USING (ref, revision)
""")


async def read_feedback(
    connection: AsyncConnection, refs: Collection[str], *, scope: Scope, asker: str
) -> dict[Cited, CandidateFeedback]:
    """Return what is counted beside each of `refs`, by ref and revision; those that nobody spoke of are left out.

    Args:
        connection: A transaction of the system.
        refs: What is looked up.
        scope: The asker's, as its grants derive it.
        asker: Whose decisions outside a case count, too.
    """
    if not refs:
        return {}
    values = {
        "refs": list(refs),
        "tenants": sorted(scope.tenants),
        "cases": sorted(scope.cases),
        "asker": asker,
        "enough": limits.FEEDBACK_TENANTS,
    }
    rows = (await connection.execute(_COUNTS, values)).mappings()
    return {
        (row["ref"], row["revision"]): CandidateFeedback(
            own=_counts(row) or UsefulnessCounts(), everywhere=_counts(row, "every_")
        )
        for row in rows
    }


def _counts(row: RowMapping, prefix: str = "") -> UsefulnessCounts | None:
    counts = {word.value: row[f"{prefix}{word}"] for word in Usefulness}
    return None if None in counts.values() else UsefulnessCounts.model_validate(counts)
