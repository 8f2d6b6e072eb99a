"""Where the reports of reconciliations are kept: ids and counts, the newest of them."""

from __future__ import annotations

import uuid

from sqlalchemy import text

from activities.records.database import Database
from contracts.reconcile import ReconcileReport, StoredReport

KEPT = 1_000
"""Reports that are kept; an hourly one is kept for six weeks."""
_ADD = text("""
INSERT INTO reconcile_reports (id, began_at, asked_by, repaired, report)
VALUES (CAST(:id AS uuid), :began_at, :asked_by, :repaired, CAST(:report AS jsonb))
""")
_PRUNE = text("""
DELETE FROM reconcile_reports
 WHERE began_at < (SELECT began_at FROM reconcile_reports ORDER BY began_at DESC OFFSET :kept LIMIT 1)
""")
_NEWEST = text("""
SELECT id::text AS id, began_at, ended_at, asked_by, repaired, report
  FROM reconcile_reports ORDER BY began_at DESC, id LIMIT :limit
""")


class ReconcileReportsTable:
    """`contracts.reconcile_ports.ReconcileReports` on Postgres, and what operators read of it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def keep(self, report: ReconcileReport, *, asked_by: str, repaired: bool) -> str:
        """See `contracts.reconcile_ports.ReconcileReports.keep`."""
        values = {
            "id": str(uuid.uuid4()),
            "began_at": report.began_at,
            "asked_by": asked_by,
            "repaired": repaired,
            "report": report.model_dump_json(),
        }
        async with self._database.as_system() as connection:
            await connection.execute(_ADD, values)
            await connection.execute(_PRUNE, {"kept": KEPT})
        return str(values["id"])

    async def newest(self, limit: int = 20) -> list[StoredReport]:
        """Return the newest reports, the latest first."""
        async with self._database.as_system() as connection:
            rows = await connection.execute(_NEWEST, {"limit": max(0, min(limit, KEPT))})
            return [StoredReport.model_validate(dict(row)) for row in rows.mappings()]
