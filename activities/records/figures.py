"""Counts and times for operators."""

from __future__ import annotations

import resource

from sqlalchemy import text

from activities.records.database import Database
from contracts.views import Figures

_STAGES = text("SELECT stage, count(*) FROM experiences WHERE kind = 'experience' GROUP BY stage")
_SEARCHABLE = text("""
SELECT count(*) FROM experiences e JOIN projections p ON p.target_id = e.id AND p.revision = e.current_revision
 WHERE e.kind = 'experience' AND NOT e.suspended
""")
_LAG = text("""
SELECT count(*) AS events,
       coalesce(percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds), 0) AS p50,
       coalesce(percentile_cont(0.95) WITHIN GROUP (ORDER BY seconds), 0) AS p95
  FROM (SELECT extract(epoch FROM delivered_at - created_at) AS seconds FROM outbox
         WHERE topic = 'index' AND source = 'experience' AND delivered_at IS NOT NULL AND position > :since) AS lag
""")
_DEAD = text("SELECT count(*) FROM outbox WHERE dead_at IS NOT NULL AND delivered_at IS NULL")


class FiguresTable:
    """Reads the figures from the record."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def read(self, since: int) -> Figures:
        """Return the figures; lag is over events after position `since`."""
        async with self._database.as_system() as connection:
            stages = {row[0]: row[1] for row in await connection.execute(_STAGES)}
            searchable = (await connection.execute(_SEARCHABLE)).scalar_one()
            lag = (await connection.execute(_LAG, {"since": since})).mappings().one()
            dead = (await connection.execute(_DEAD)).scalar_one()
        return Figures(
            stages=stages,
            searchable=searchable,
            events=lag["events"],
            lag_p50_seconds=round(float(lag["p50"]), 3),
            lag_p95_seconds=round(float(lag["p95"]), 3),
            dead=dead,
            peak_memory_mb=round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
        )
