"""Orders to erase, what became of them, and the record's part in carrying them out (R11).

Everything here runs as the system: an erasure works past what its administrator may read.
"""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass
from typing import Any

from sqlalchemy import RowMapping, text
from sqlalchemy.ext.asyncio import AsyncConnection

from activities.records.database import Database
from activities.records.erasure_columns import text_tables
from activities.records.erasure_plans import CasePlan, SubjectPlan
from activities.records.ids import is_id
from activities.records.outbox import add_event
from contracts import limits
from contracts.erasure import (
    NOT_REACHED,
    ErasurePreview,
    ErasureReceipt,
    ErasureRequest,
    ErasureState,
    ErasureTarget,
    PlaceCount,
)
from contracts.errors import IdempotencyConflict, InvalidField, UnknownCase, UnknownErasure, UnknownTenant
from contracts.outbox import EventKind, Topic

_EVENTS = uuid.UUID("0b9b5a66-43bd-5f0f-8f43-2f1a4f6d7c55")

FIND = text("""
SELECT id::text AS id, tenant_id, case_id::text AS case_id, subject, subject_values, keep_published, reason,
       requested_by, requested_at, state, attempts, why, stores, finished_at
  FROM erasures WHERE id = CAST(:id AS uuid)
""")
_ADD = text("""
INSERT INTO erasures (id, tenant_id, case_id, subject, subject_values, keep_published, reason, requested_by, state)
VALUES (CAST(:id AS uuid), :tenant_id, CAST(:case_id AS uuid), CAST(:subject AS jsonb), :subject_values,
        :keep_published, :reason, :requested_by, 'running')
ON CONFLICT (id) DO NOTHING
""")
_AGAIN = text("""
UPDATE erasures SET state = 'running', finished_at = NULL, why = '', attempts = attempts + 1
 WHERE id = CAST(:id AS uuid) AND state = 'needs_person' RETURNING attempts
""")
_HAS_TENANT = text("SELECT 1 FROM tenants WHERE id = :tenant_id")
_HAS_CASE = text("SELECT 1 FROM cases WHERE id = CAST(:case_id AS uuid) AND tenant_id = :tenant_id")


@dataclass(frozen=True, slots=True)
class OrderedErasure:
    """A stored order: the event that brings it on its way, None when it needs none any more."""

    event_id: str | None


class ErasureOrders:
    """The administrators' side of erasure."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def preview(self, target: ErasureTarget) -> ErasurePreview:
        """Return what an erasure would find now; nothing is changed.

        Raises:
            UnknownTenant: There is no such tenant.
            UnknownCase: The tenant has no such case.
        """
        async with self._database.as_system() as connection:
            await _require_target(connection, target)
            plan = await plan_of(connection, target)
            places = await plan.find(connection)
        fields = sum(place.fields for place in places)
        return ErasurePreview(places=places, fields=fields, experiences=plan.leaving)

    async def order(self, principal_id: str, request: ErasureRequest) -> OrderedErasure:
        """Store an order and the event that starts it; idempotent by `erasure_id`.

        The same order again, when a person was needed, tries again.

        Raises:
            UnknownTenant: There is no such tenant.
            UnknownCase: The tenant has no such case.
            InvalidField: It would change more fields than were expected; says how many.
            IdempotencyConflict: The id was used for another erasure.
        """
        async with self._database.as_system() as connection:
            known = (await connection.execute(FIND, {"id": request.erasure_id})).mappings().first()
        if known is None:
            await self._check_count(request)
        async with self._database.as_system() as connection:
            values: dict[str, Any] = {
                **request.model_dump(include={"tenant_id", "case_id", "keep_published", "reason"}),
                "id": request.erasure_id,
                "subject": json.dumps(list(request.subject)) if request.subject else None,
                "subject_values": len(request.subject),
                "requested_by": principal_id,
            }
            attempt = 1
            if not (await connection.execute(_ADD, values)).rowcount:
                row = (await connection.execute(FIND, values)).mappings().one()
                _require_same(row, request)
                again = (await connection.execute(_AGAIN, values)).scalar_one_or_none()
                if again is None:
                    return OrderedErasure(_event_id(request.erasure_id, row["attempts"]) if _runs(row) else None)
                attempt = again
            event_id = _event_id(request.erasure_id, attempt)
            await add_event(
                connection,
                Topic.LIFECYCLE,
                EventKind.ERASE,
                f"erasure/{request.erasure_id}",
                {"erasure_id": request.erasure_id, "tenant_id": request.tenant_id},
                event_id=event_id,
            )
        return OrderedErasure(event_id)

    async def receipt(self, erasure_id: str) -> ErasureReceipt:
        """Return what an erasure removed and checked so far.

        Raises:
            UnknownErasure: There is none.
        """
        async with self._database.as_system() as connection:
            row = await find_erasure(connection, erasure_id)
        return ErasureReceipt(
            erasure_id=row["id"],
            tenant_id=row["tenant_id"],
            case_id=row["case_id"],
            values=row["subject_values"],
            keep_published=row["keep_published"],
            reason=row["reason"],
            requested_by=row["requested_by"],
            requested_at=row["requested_at"],
            finished_at=row["finished_at"],
            state=row["state"],
            why=row["why"],
            stores=tuple(row["stores"]),
            not_reached=NOT_REACHED,
        )

    async def _check_count(self, request: ErasureRequest) -> None:
        if not request.subject:
            async with self._database.as_system() as connection:
                await _require_target(connection, request)
            return
        found = await self.preview(request)
        at_most = limits.ERASURE_FIELDS if request.at_most is None else request.at_most
        if found.fields > at_most:
            raise InvalidField(
                f"The values are in {found.fields:,} fields: {_listed(found.places)}. Are they too common?",
                field="at_most",
                accepted=f"{found.fields} or more, or values that name nobody else",
            )


async def plan_of(connection: AsyncConnection, target: ErasureTarget) -> CasePlan | SubjectPlan:
    """Return how a target is found and removed in the record as it is now."""
    tables = await text_tables(connection)
    if target.case_id is not None:
        return CasePlan(tables, target.tenant_id, target.case_id, keep_published=target.keep_published)
    return SubjectPlan(tables, target.tenant_id, target.subject)


async def find_erasure(connection: AsyncConnection, erasure_id: str) -> RowMapping:
    """Return an erasure's row.

    Raises:
        UnknownErasure: There is none.
    """
    row = (await connection.execute(FIND, {"id": erasure_id})).mappings().first() if is_id(erasure_id) else None
    if row is None:
        raise UnknownErasure("There is no such erasure.", field="erasure_id")
    return row


async def _require_target(connection: AsyncConnection, target: ErasureTarget) -> None:
    values = target.model_dump(include={"tenant_id", "case_id"})
    if (await connection.execute(_HAS_TENANT, values)).first() is None:
        raise UnknownTenant("There is no such tenant.", field="tenant_id", accepted="a tenant's id")
    if target.case_id is not None and (await connection.execute(_HAS_CASE, values)).first() is None:
        raise UnknownCase("The tenant has no such case.", field="case_id", accepted="a case of the tenant")


def _require_same(row: RowMapping, request: ErasureRequest) -> None:
    given = (request.tenant_id, request.case_id, request.keep_published, request.reason, len(request.subject))
    known = tuple(row[name] for name in ("tenant_id", "case_id", "keep_published", "reason", "subject_values"))
    # What the values were is known only as long as they are needed.
    is_other = request.subject and row["subject"] is not None and tuple(row["subject"]) != request.subject
    if given != known or is_other:
        raise IdempotencyConflict("This id was used for another erasure.", field="erasure_id")


def _event_id(erasure_id: str, attempt: int) -> str:
    return str(uuid.uuid5(_EVENTS, f"{erasure_id}/{attempt}"))


def _runs(row: RowMapping) -> bool:
    return row["state"] == ErasureState.RUNNING


def _listed(places: tuple[PlaceCount, ...]) -> str:
    return ", ".join(f"{place.place} {place.fields:,}" for place in sorted(places, key=lambda each: -each.fields)[:5])
