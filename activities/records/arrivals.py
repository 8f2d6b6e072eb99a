"""Intake of deliveries: attached once, never lost, never held up by a gap (R1, R3)."""

from __future__ import annotations

import uuid
from typing import Any

from sqlalchemy import RowMapping, text
from sqlalchemy.ext.asyncio import AsyncConnection

from activities.records.cases import check_moment
from activities.records.database import Database
from activities.records.domains import require_domain
from activities.records.publication import announce
from contracts.cases import CaseFacts, Delivery, Disposition, Receipt
from contracts.errors import UnknownTenant
from contracts.labels import CaseState
from contracts.text import digest

_NO_REVISION = -1

_ORIGIN = text("""
INSERT INTO origins (id, tenant_id, source, external_id) VALUES (gen_random_uuid(), :tenant_id, :source, :external_id)
ON CONFLICT (tenant_id, source, external_id) DO NOTHING
""")
_FIND_ORIGIN = text("""
SELECT id::text FROM origins WHERE tenant_id = :tenant_id AND source = :source AND external_id = :external_id
""")
_SAME = text("""
SELECT id::text AS arrival_id, case_id::text AS case_id, disposition, content_version FROM arrivals
 WHERE origin_id = CAST(:origin_id AS uuid) AND source_revision = :source_revision AND digest = :digest
""")
_STANDING = text("""
SELECT c.id::text AS case_id, c.source_revision,
       (SELECT max(occurred_at) FROM arrivals a WHERE a.origin_id = c.origin_id) AS newest,
       (SELECT count(*) FROM arrivals a WHERE a.origin_id = c.origin_id AND a.source_revision = :source_revision)
         AS versions
  FROM cases c WHERE c.origin_id = CAST(:origin_id AS uuid)
""")
_FACTS = (
    "domain_id", "request_type", "symptom_tags", "product", "system", "environment", "version", "object_refs",
)  # fmt: skip
_OPEN_CASE = text(f"""
INSERT INTO cases (id, tenant_id, origin_id, title, body, state, opened_at, state_since, source_revision,
                   {", ".join(_FACTS)})
VALUES (CAST(:case_id AS uuid), :tenant_id, CAST(:origin_id AS uuid), :subject, :body, 'open', :occurred_at,
        :occurred_at, :source_revision, {", ".join(f":{name}" for name in _FACTS)})
""")
_UPDATE_CASE = text("""
UPDATE cases SET title = CASE WHEN :subject = '' THEN title ELSE :subject END, body = :body,
       source_revision = greatest(source_revision, :source_revision), revision = revision + 1
 WHERE id = CAST(:case_id AS uuid)
""")
_UPDATE_FACTS = text(f"""
UPDATE cases SET {", ".join(f"{name} = :{name}" for name in _FACTS)} WHERE id = CAST(:case_id AS uuid)
""")
_ARRIVAL = text("""
INSERT INTO arrivals (id, tenant_id, origin_id, case_id, source_revision, content_version, digest, delivery_id,
                      disposition, occurred_at, received_at, subject, body, facts)
VALUES (CAST(:arrival_id AS uuid), :tenant_id, CAST(:origin_id AS uuid), CAST(:case_id AS uuid), :source_revision,
        :content_version, :digest, :delivery_id, :disposition, :occurred_at, :received_at, :subject, :body,
        CAST(:facts AS jsonb))
""")
_OPENED = text("""
INSERT INTO case_states (case_id, seq, tenant_id, state, changed_by, at)
VALUES (CAST(:case_id AS uuid), 1, :tenant_id, 'open', :principal_id, :occurred_at)
""")


class Arrivals:
    """Takes deliveries into the case registry."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def receive(self, principal_id: str, delivery: Delivery) -> Receipt:
        """Attach a delivery to its case, opening one when the origin is new (R1).

        Idempotent by origin, source revision and content. A repeat answers with the first result.

        Raises:
            UnknownTenant: The tenant is not in the principal's grants.
            UnknownDomain: The facts name a domain that does not exist.
            InvalidField: A time has no zone, or is far outside of any case's life.
        """
        check_moment(delivery.occurred_at, field="occurred_at")
        check_moment(delivery.received_at, field="received_at")
        async with self._database.as_principal(principal_id) as connection:
            origin_id = await _origin(connection, delivery)
            revision = _NO_REVISION if delivery.revision is None else delivery.revision
            key = {"origin_id": origin_id, "source_revision": revision, "digest": _content(delivery)}
            first = (await connection.execute(_SAME, key)).mappings().first()
            if first is not None:
                await connection.execute(
                    text("UPDATE arrivals SET redeliveries = redeliveries + 1 WHERE id = CAST(:id AS uuid)"),
                    {"id": first["arrival_id"]},
                )
                return Receipt(**first, redelivered=True)
            standing = (await connection.execute(_STANDING, key)).mappings().first()
            receipt = _receipt(delivery, standing)
            values: dict[str, Any] = {
                **key,
                **receipt.model_dump(),
                **delivery.model_dump(include={"delivery_id", "occurred_at", "received_at", "subject", "body"}),
                "facts": delivery.facts.model_dump_json() if delivery.facts else None,
                "tenant_id": delivery.origin.tenant_id,
                "principal_id": principal_id,
            }
            await _update_case(connection, delivery, receipt, values)
            await connection.execute(_ARRIVAL, values)
            if receipt.disposition in (Disposition.OPENED, Disposition.ATTACHED):
                await announce(connection, f"case/{receipt.case_id}")
            return receipt


async def _origin(connection: AsyncConnection, delivery: Delivery) -> str:
    """Return the origin's id, holding it for this transaction so that one delivery at a time is attached."""
    origin = delivery.origin.model_dump()
    granted = await connection.execute(text("SELECT :tenant_id IN (SELECT app_tenants())"), origin)
    if not granted.scalar_one():  # a grant of single cases opens no others
        raise UnknownTenant("There is no such tenant in your grants.", field="tenant_id", accepted="a granted tenant")
    lock = digest([origin["tenant_id"], origin["source"], origin["external_id"]])
    await connection.execute(text("SELECT pg_advisory_xact_lock(hashtextextended(:lock, 0))"), {"lock": lock})
    await connection.execute(_ORIGIN, origin)
    return (await connection.execute(_FIND_ORIGIN, origin)).scalar_one()


def _content(delivery: Delivery) -> str:
    """Return the digest that tells a redelivery from other content under the same revision."""
    facts = [delivery.facts.model_dump(mode="json", exclude_defaults=True)] if delivery.facts else []
    return digest([delivery.subject, delivery.body, *facts])


def _receipt(delivery: Delivery, standing: RowMapping | None) -> Receipt:
    arrival_id = str(uuid.uuid4())
    if standing is None:
        return Receipt(arrival_id=arrival_id, case_id=str(uuid.uuid4()), disposition=Disposition.OPENED)
    version = standing["versions"] + 1
    if delivery.revision is None:
        is_newer = delivery.occurred_at >= standing["newest"]
        disposition = Disposition.ATTACHED if is_newer else Disposition.LATE
    elif version > 1:
        disposition = Disposition.CONFLICT
    else:
        is_newer = delivery.revision > standing["source_revision"]
        disposition = Disposition.ATTACHED if is_newer else Disposition.LATE
    return Receipt(arrival_id=arrival_id, case_id=standing["case_id"], disposition=disposition, content_version=version)


async def _update_case(
    connection: AsyncConnection, delivery: Delivery, receipt: Receipt, values: dict[str, Any]
) -> None:
    facts = delivery.facts
    if facts is not None and facts.domain_id is not None:
        await require_domain(connection, facts.domain_id)
    if receipt.disposition is Disposition.OPENED:
        await connection.execute(_OPEN_CASE, {**values, **facts_values(facts or CaseFacts())})
        await connection.execute(_OPENED, {**values, "state": CaseState.OPEN})
    elif receipt.disposition is Disposition.ATTACHED:
        await connection.execute(_UPDATE_CASE, values)
        if facts is not None:
            await connection.execute(_UPDATE_FACTS, {**values, **facts_values(facts)})


def facts_values(facts: CaseFacts) -> dict[str, Any]:
    """Return the case columns of `facts`."""
    values = facts.model_dump()
    return {**values, "symptom_tags": list(facts.symptom_tags), "object_refs": list(facts.object_refs)}
