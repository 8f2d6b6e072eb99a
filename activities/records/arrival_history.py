"""What came for a case: every delivery with what became of it, and what never came (R1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import RowMapping, text
from sqlalchemy.ext.asyncio import AsyncConnection

from activities.records.cases import require_case
from activities.records.database import Database
from activities.records.ids import is_id
from contracts.arrival_views import ArrivalHistory, ArrivalView
from contracts.arrivals import gaps
from contracts.case_hours import StateChange, case_hours
from contracts.cases import CaseFacts, Content, Disposition
from contracts.errors import UnknownContent
from contracts.keys import is_confusable

_ARRIVALS = text("""
SELECT id::text AS arrival_id, source_revision, content_version, digest, delivery_id, disposition, occurred_at,
       received_at, source, external_id, subject, body, body_format, written, body_bytes,
       content_id::text AS content_id, source_state, attributes, facts, cleaned,
       raw_content_id::text AS raw_content_id, delivery_id_reused, order_assumed, redeliveries
  FROM arrivals WHERE case_id = CAST(:case_id AS uuid)
 ORDER BY source_revision, content_version LIMIT :limit OFFSET :skip
""")
_REVISIONS = text("""
SELECT source_revision, disposition FROM arrivals WHERE case_id = CAST(:case_id AS uuid)
""")
_STATES = text("""
SELECT state, at, waiting_on, clock_timestamp() AS until FROM case_states
 WHERE case_id = CAST(:case_id AS uuid) ORDER BY seq
""")
_CONTENT = text("""
SELECT id::text AS id, case_id::text AS case_id, kind, text, bytes, sha256 FROM contents WHERE id = CAST(:id AS uuid)
""")
PAGE = 50
LONGEST_PAGE = 200


class ArrivalHistoryTable:
    """Reads what was delivered, inside the caller's scope."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def read(self, principal_id: str, case_id: str, *, limit: int = PAGE, skip: int = 0) -> ArrivalHistory:
        """Return a case's arrivals in order of revision and content version, and the revisions that are missing.

        Raises:
            UnknownCase: There is none in the caller's scope.
        """
        page = {"case_id": case_id, "limit": max(0, min(limit, LONGEST_PAGE)), "skip": max(0, min(skip, 2**31))}
        async with self._database.as_principal(principal_id) as connection:
            case = await require_case(connection, case_id)
            known = (await connection.execute(_REVISIONS, page)).all()
            rows = (await connection.execute(_ARRIVALS, page)).mappings().all()
            states = await _states(connection, case_id)
        return ArrivalHistory(
            case_id=case_id,
            total=len(known),
            arrivals=tuple(_view(row) for row in rows),
            gaps=gaps(revision for revision, _ in known if revision >= 0),
            conflicts=sum(disposition == Disposition.CONFLICT for _, disposition in known),
            order_assumed=case.order_assumed,
            states=tuple(change for change, _ in states),
            hours=case_hours([change for change, _ in states], states[-1][1] if states else case.opened_at),
        )

    async def content(self, principal_id: str, content_id: str) -> Content:
        """Return a text that is kept by reference, whole.

        Raises:
            UnknownContent: There is none in the caller's scope.
        """
        async with self._database.as_principal(principal_id) as connection:
            found = await connection.execute(_CONTENT, {"id": content_id}) if is_id(content_id) else None
            row = None if found is None else found.mappings().first()
        if row is None:
            raise UnknownContent("There is no such content in your scope.", field="content_id")
        return Content.model_validate(dict(row))


async def _states(connection: AsyncConnection, case_id: str) -> Sequence[tuple[StateChange, Any]]:
    rows = (await connection.execute(_STATES, {"case_id": case_id})).mappings()
    return [(StateChange(state=row["state"], at=row["at"], waiting_on=row["waiting_on"]), row["until"]) for row in rows]


def _view(row: RowMapping) -> ArrivalView:
    values = dict(row)
    revision = values.pop("source_revision")
    facts = None if row["facts"] is None else CaseFacts.model_validate(row["facts"])
    labels = () if facts is None else (facts.product, facts.system, facts.environment, *facts.symptom_tags)
    return ArrivalView.model_validate(
        {
            **values,
            "revision": None if revision < 0 else revision,
            "facts": facts,
            "confusable": tuple(label for label in labels if is_confusable(label)),
        }
    )
