"""What a current experience took over from: read as the system, for the answer to say so to everyone (R10).

An experience that was superseded is hidden with its text, also from those outside its tenant. That there was one,
and where it held, is told of the one that took over: its reference and its limits, which were published.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from activities.records.ids import array_of
from contracts.candidates import Earlier
from contracts.experience import Limits

# Also what an earlier one had taken over from: with the chain's end alone current, nobody else tells of it.
_EARLIER = text("""
WITH RECURSIVE earlier AS (
   SELECT e.superseded_by AS successor, e.id FROM experiences e WHERE e.superseded_by = ANY (CAST(:ids AS uuid[]))
    UNION
   SELECT x.successor, e.id FROM earlier x JOIN experiences e ON e.superseded_by = x.id)
SELECT r.kind, x.successor::text AS successor, x.id::text AS id, r.number, r.content -> 'limits' AS limits
  FROM earlier x JOIN revisions r ON r.experience_id = x.id AND r.state = 'superseded'
   AND (CAST(:at AS timestamptz) IS NULL OR r.ended_at <= :at)
 ORDER BY x.successor, r.ended_at, x.id, r.number
""")


async def read_earlier(
    connection: AsyncConnection, ids: Sequence[str], at: datetime | None = None
) -> dict[str, tuple[Earlier, ...]]:
    """Return what each of these experiences and articles took over from, by target, first superseded first.

    Args:
        connection: A transaction of the system's.
        ids: Experiences and articles.
        at: Only what had been superseded at this moment; None: by now.
    """
    if not ids:
        return {}
    found: dict[str, tuple[Earlier, ...]] = {}
    for row in (await connection.execute(_EARLIER, {"ids": array_of(ids), "at": at})).mappings():
        target = f"{row['kind']}/{row['successor']}"
        earlier = Earlier(f"{row['kind']}/{row['id']}", row["number"], Limits.model_validate(row["limits"] or {}))
        found[target] = (*found.get(target, ()), earlier)
    return found
