"""Intake of deliveries: attached once, never lost, never held up by a gap (R1, R3)."""

from __future__ import annotations

import json
import uuid
from typing import Any

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from activities.records.arrival_statements import (
    ARRIVAL,
    CONTENT,
    FACTS,
    FIND_ORIGIN,
    HISTORY,
    OPEN_CASE,
    OPENED_EARLIER,
    ORDER_ASSUMED,
    ORIGIN,
    REDELIVERED,
    REUSED,
    SAME,
    STANDING,
    STATE,
    UPDATE_CASE,
    UPDATE_FACTS,
)
from activities.records.cases import check_moment
from activities.records.database import Database
from activities.records.domains import require_domain
from activities.records.publication import announce
from contracts.arrivals import (
    KeptBody,
    Preparation,
    SourceState,
    Standing,
    canonical,
    case_state_of,
    check_attributes,
    disposition_of,
    kept_body,
    origin_key,
)
from contracts.cases import CaseFacts, ContentKind, Delivery, Disposition, Origin, Receipt
from contracts.errors import UnknownTenant
from contracts.labels import CaseState
from contracts.text import digest

_NO_REVISION = -1
_UNCHANGED = Preparation()


class Arrivals:
    """Takes deliveries into the case registry.

    A delivery id that one origin uses again for another revision or content is flagged, never a reason to drop it.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def receive(self, principal_id: str, delivery: Delivery, preparation: Preparation = _UNCHANGED) -> Receipt:
        """Attach a delivery to its case, opening one when the origin is new (R1).

        Idempotent by origin, source revision and content. A repeat answers with the first result.

        Args:
            principal_id: Who delivers.
            delivery: What came, storable.
            preparation: What intake found out about it.

        Raises:
            UnknownTenant: The tenant is not in the principal's grants.
            UnknownDomain: The facts name a domain that does not exist.
            InvalidField: A time has no zone, or is far outside of any case's life.
            TextTooLong: The attributes, or the canonical spelling of the origin, are over their limits.
        """
        check_moment(delivery.occurred_at, field="occurred_at")
        check_moment(delivery.received_at, field="received_at")
        check_attributes(delivery.attributes)
        origin, body = canonical(delivery.origin), kept_body(delivery.body)
        content = _content(delivery)
        async with self._database.as_principal(principal_id) as connection:
            revision = _NO_REVISION if delivery.revision is None else delivery.revision
            key = {
                "origin_id": await _origin(connection, origin),
                "source_revision": revision,
                "digest": content,
                "delivery_id": delivery.delivery_id,
            }
            first = (await connection.execute(SAME, key)).mappings().first()
            if first is not None:
                await connection.execute(REDELIVERED, {"id": first["arrival_id"]})
                return Receipt(**first, redelivered=True)
            return await _attach(connection, principal_id, delivery, preparation, body, key)


async def _origin(connection: AsyncConnection, origin: Origin) -> str:
    """Return the origin's id, holding it for this transaction so that one delivery at a time is attached."""
    values = {**origin.model_dump(), "key": origin_key(origin)}
    granted = await connection.execute(text("SELECT :tenant_id IN (SELECT app_tenants())"), values)
    if not granted.scalar_one():  # a grant of single cases opens no others
        raise UnknownTenant("There is no such tenant in your grants.", field="tenant_id", accepted="a granted tenant")
    await connection.execute(text("SELECT pg_advisory_xact_lock(hashtextextended(:key, 0))"), values)
    await connection.execute(ORIGIN, values)
    return (await connection.execute(FIND_ORIGIN, values)).scalar_one()


def _content(delivery: Delivery) -> str:
    """Return the digest that tells a redelivery from other content under the same revision.

    Subject, body, format, state, attributes and facts; not times, delivery ids or the raw form. Line ends and
    blanks at line ends don't count (see `contracts.text.normalise`).
    """
    facts = delivery.facts.model_dump(mode="json", exclude_defaults=True) if delivery.facts else None
    return digest(
        [
            delivery.subject,
            delivery.body,
            delivery.body_format,
            delivery.state,
            delivery.model_dump(mode="json", include={"attributes"})["attributes"],
            facts,
        ]
    )


async def _attach(
    connection: AsyncConnection,
    principal_id: str,
    delivery: Delivery,
    preparation: Preparation,
    body: KeptBody,
    key: dict[str, Any],
) -> Receipt:
    """Record content that is new under its revision, and let the case go by it when it is the newest."""
    found = (await connection.execute(STANDING, key)).mappings().first()
    standing = None if found is None else Standing.model_validate(dict(found))
    said = case_state_of(delivery.state)
    if found is None or standing is None:
        disposition, is_assumed, case_id = Disposition.OPENED, False, str(uuid.uuid4())
    else:
        disposition, is_assumed = disposition_of(
            standing, delivery.revision, delivery.occurred_at, None if said is None else said.state
        )
        case_id = found["case_id"]
    receipt = Receipt(
        arrival_id=str(uuid.uuid4()),
        case_id=case_id,
        disposition=disposition,
        content_version=1 if standing is None else standing.versions + 1,
        delivery_id_reused=bool((await connection.execute(REUSED, key)).scalar_one()),
        order_assumed=is_assumed,
    )
    values = _values(principal_id, delivery, preparation, body, {**key, **receipt.model_dump()})
    facts = delivery.facts
    if facts is not None and facts.domain_id is not None:
        await require_domain(connection, facts.domain_id)
    if disposition is Disposition.OPENED:
        await connection.execute(OPEN_CASE, {**values, **facts_values(facts or CaseFacts())})
    await _keep(connection, delivery, preparation, body, values)
    if disposition is Disposition.ATTACHED:
        await connection.execute(UPDATE_CASE, values)
        if facts is not None:
            await connection.execute(UPDATE_FACTS, {**values, **facts_values(facts)})
    await connection.execute(ARRIVAL, values)
    is_changed = disposition in (Disposition.OPENED, Disposition.ATTACHED)
    if disposition is Disposition.LATE and standing is not None:
        is_changed = await _record_late(connection, delivery, said, standing, values)
    elif is_changed and (said is not None or disposition is Disposition.OPENED):
        await connection.execute(STATE, values)
    if is_changed:
        await announce(connection, f"case/{receipt.case_id}")
    return receipt


def _values(
    principal_id: str, delivery: Delivery, preparation: Preparation, body: KeptBody, known: dict[str, Any]
) -> dict[str, Any]:
    said = case_state_of(delivery.state)
    if said is None and known["disposition"] is Disposition.OPENED:
        said = SourceState(state=CaseState.OPEN)
    return {
        **known,
        **delivery.model_dump(include={"occurred_at", "received_at", "subject", "body_format"}),
        **delivery.origin.model_dump(),
        "principal_id": principal_id,
        "body": body.text,
        "body_bytes": body.bytes,
        "content_id": None if body.is_whole else str(uuid.uuid4()),
        "raw_content_id": str(uuid.uuid4()) if preparation.raw else None,
        "written": preparation.written,
        "source_state": delivery.state,
        "state": None if said is None else said.state,
        "waiting_on": "" if said is None else said.waiting_on,
        "attributes": json.dumps(delivery.model_dump(mode="json", include={"attributes"})["attributes"]),
        "facts": delivery.facts.model_dump_json() if delivery.facts else None,
        "cleaned": json.dumps([change.model_dump() for change in preparation.cleaned]),
    }


async def _keep(
    connection: AsyncConnection, delivery: Delivery, preparation: Preparation, body: KeptBody, values: dict[str, Any]
) -> None:
    """Keep by reference what is over the limit, and what was cleaned as it came."""
    if not body.is_whole:
        whole = {"id": values["content_id"], "kind": ContentKind.BODY, "text": delivery.body}
        await connection.execute(CONTENT, {**values, **whole, "bytes": body.bytes, "sha256": body.sha256})
    if preparation.raw:
        raw = kept_body(preparation.raw)
        kept = {"id": values["raw_content_id"], "kind": ContentKind.RAW, "text": preparation.raw}
        await connection.execute(CONTENT, {**values, **kept, "bytes": raw.bytes, "sha256": raw.sha256})


async def _record_late(
    connection: AsyncConnection,
    delivery: Delivery,
    said: SourceState | None,
    standing: Standing,
    values: dict[str, Any],
) -> bool:
    """File the past that a late delivery tells, and return whether that changed how the case stands.

    The case goes on by its highest revision: a state is history only where it lies before that one.
    """
    is_first = bool((await connection.execute(OPENED_EARLIER, values)).rowcount)
    if delivery.occurred_at < standing.content_at and (said is not None or is_first):
        past = said or SourceState(state=CaseState.OPEN)
        await connection.execute(HISTORY, {**values, "state": past.state, "waiting_on": past.waiting_on})
    is_marked = values["order_assumed"] and bool((await connection.execute(ORDER_ASSUMED, values)).rowcount)
    return is_first or is_marked


def facts_values(facts: CaseFacts) -> dict[str, Any]:
    """Return the case columns of `facts`."""
    values = facts.model_dump()
    return {name: list(value) if isinstance(value := values[name], tuple) else value for name in FACTS}
