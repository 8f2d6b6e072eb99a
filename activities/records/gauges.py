"""How the record stands, in one bounded read for a scraper."""

from __future__ import annotations

from sqlalchemy import text

from activities.records.database import Database
from activities.records.outbox import read_watermarks
from contracts.erasure import ErasureState
from contracts.gauges import Gauges, OutboxGauge, ReviewGauge, StageGauge
from contracts.outbox import Topic

_LIMITED = text("SET LOCAL statement_timeout = '3s'")
_STAGES = text("SELECT domain_id, stage, count(*) AS count FROM experiences GROUP BY domain_id, stage")
_REVIEWS = text("""
SELECT domain_id, stage, count(*) AS waiting,
       count(*) FILTER (WHERE reminded OR escalated) AS overdue, count(*) FILTER (WHERE escalated) AS escalated,
       greatest(0, extract(epoch FROM clock_timestamp() - min(stage_since)))::float8 AS oldest_seconds
  FROM experiences WHERE stage IN ('curator_review', 'owner_review')
 GROUP BY domain_id, stage
""")
_OUTBOX = text("""
SELECT topic, count(*) FILTER (WHERE dead_at IS NULL) AS pending, count(dead_at) AS dead,
       greatest(0, coalesce(extract(epoch FROM clock_timestamp() - min(created_at) FILTER (WHERE dead_at IS NULL)), 0)
               )::float8 AS oldest_seconds
  FROM outbox WHERE delivered_at IS NULL
 GROUP BY topic
""")
_ERASURES = text("SELECT state, count(*) FROM erasures GROUP BY state")
_AUDIT = text("SELECT coalesce(max(seq), 0) FROM audit")
_RECONCILED = text("""
SELECT greatest(0, extract(epoch FROM clock_timestamp() - ended_at))::float8 AS ago,
       CAST(report ->> 'drifting' AS integer) AS drifting
  FROM reconcile_reports ORDER BY began_at DESC LIMIT 1
""")


class GaugesTable:
    """Reads the gauges from the record."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def read(self) -> Gauges:
        """Return how the record stands now; every stage, topic and state that has nothing is 0 or left out."""
        async with self._database.as_system() as connection:
            await connection.execute(_LIMITED)
            stages = (await connection.execute(_STAGES)).mappings().all()
            reviews = (await connection.execute(_REVIEWS)).mappings().all()
            outbox = {row["topic"]: row for row in (await connection.execute(_OUTBOX)).mappings()}
            erasures = {row[0]: row[1] for row in await connection.execute(_ERASURES)}
            audit = (await connection.execute(_AUDIT)).scalar_one()
            reconciled = (await connection.execute(_RECONCILED)).mappings().one_or_none()
            watermarks = await read_watermarks(connection)
        quiet = {"pending": 0, "dead": 0, "oldest_seconds": 0.0}
        return Gauges(
            stages=tuple(StageGauge.model_validate(dict(row)) for row in stages),
            reviews=tuple(ReviewGauge.model_validate(dict(row)) for row in reviews),
            outbox=tuple(OutboxGauge.model_validate({**quiet, "topic": t, **outbox.get(t, {})}) for t in Topic),
            watermarks=tuple(watermarks),
            erasures={state: erasures.get(state, 0) for state in ErasureState},
            audit_position=audit,
            reconciled_seconds_ago=None if reconciled is None else reconciled["ago"],
            drifting=None if reconciled is None else reconciled["drifting"],
        )
