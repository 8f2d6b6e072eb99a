"""Intake of deliveries: attached once, never lost, never held up by a gap (R1, R3)."""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from datetime import UTC
from typing import Any, NamedTuple

from sqlalchemy import RowMapping
from sqlalchemy.ext.asyncio import AsyncConnection

from activities.records.arrival_statements import AGAIN, FACTS, HOLD, HOLDS_LONGER, LOOK, REDELIVERED, writing
from activities.records.cases import check_moment
from activities.records.database import Database
from activities.records.domains import require_domain
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
from contracts.cases import CaseFacts, ContentKind, Delivery, Disposition, Receipt
from contracts.errors import UnknownTenant
from contracts.labels import CaseState
from contracts.text import digest

_NO_REVISION = -1
_ANSWERED = ("arrival_id", "case_id", "disposition", "content_version", "delivery_id_reused", "order_assumed")
_UNCHANGED = Preparation()


class Arrivals:
    """Takes deliveries into the case registry.

    A delivery id that one origin uses again for another revision or content is flagged, never a reason to drop it.

    A source without revisions may return to an earlier content: A, B, and A again. The last is a redelivery of the
    first only if A already stood at that time, as the last thing known before it or the first after it. Otherwise it is
    a new state of affairs and attached like one, so that the case doesn't stay at B (R1). With revisions there is no
    such doubt: the revision says it.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def receive(self, principal_id: str, delivery: Delivery, preparation: Preparation = _UNCHANGED) -> Receipt:
        """Attach a delivery to its case, opening one when the origin is new (R1).

        Idempotent by origin, source revision and content; without a revision also by the time, see the class. A repeat
        answers with the first result.

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
        key = {
            "key": origin_key(origin),
            "tenant_id": origin.tenant_id,
            "canonical_source": origin.source,
            "canonical_external_id": origin.external_id,
            "source_revision": _NO_REVISION if delivery.revision is None else delivery.revision,
            "digest": _content(delivery),
            "delivery_id": delivery.delivery_id,
            "occurred_at": delivery.occurred_at,
        }
        async with self._database.as_principal(principal_id) as connection:
            # One delivery of an origin at a time. A grant of single cases opens no others.
            if not (await connection.execute(HOLD, key)).scalar_one():
                raise UnknownTenant(
                    "There is no such tenant in your grants.", field="tenant_id", accepted="a granted tenant"
                )
            found = (await connection.execute(LOOK, key)).mappings().first()
            if found is not None:
                key["origin_id"] = found["origin_id"]
                if found["arrival_id"] is not None:
                    first = await _first(connection, delivery, found, key)
                    if first is not None:
                        return first
                    key["digest"] = f"{key['digest']}@{delivery.occurred_at.astimezone(UTC).isoformat()}"
            return await _attach(connection, principal_id, delivery, preparation, body, found, key)


async def _first(
    connection: AsyncConnection, delivery: Delivery, found: RowMapping, key: dict[str, Any]
) -> Receipt | None:
    """Return the first answer to a delivery whose content is known; None when it tells of a new state of affairs."""
    first = found
    if delivery.revision is None:
        again = (await connection.execute(AGAIN, key)).mappings().first()
        if again is None:
            return None
        first = again
        if again["is_known_before"]:  # the case may go by it, and does so up to this time: what lies before is late
            await connection.execute(HOLDS_LONGER, {**key, "case_id": first["case_id"]})
    await connection.execute(REDELIVERED, {"arrival_id": first["arrival_id"]})
    return Receipt(**{name: first[name] for name in _ANSWERED}, redelivered=True)


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
    found: RowMapping | None,
    key: dict[str, Any],
) -> Receipt:
    """Record content that is new under its revision, and let the case go by it when it is the newest.

    A late one changes of the case only what it tells of its past: the case goes on by its highest revision, and a
    state is history only where it lies before that one.
    """
    said, facts, at = case_state_of(delivery.state), delivery.facts, delivery.occurred_at
    is_amended = is_history = is_assumed = False
    if found is None or found["standing_case_id"] is None:
        disposition, case_id, versions, is_reused = Disposition.OPENED, str(uuid.uuid4()), 0, False
        key.setdefault("origin_id", str(uuid.uuid4()))
        said = said or SourceState(state=CaseState.OPEN)
    else:
        standing = Standing(
            source_revision=found["highest_revision"],
            content_at=found["content_at"],
            state=found["state"],
            versions=found["versions"],
        )
        disposition, is_assumed = disposition_of(standing, delivery.revision, at, None if said is None else said.state)
        case_id, versions, is_reused = found["standing_case_id"], standing.versions, found["reused"]
        if disposition is Disposition.LATE:
            is_first = at < found["opened_at"]
            is_amended = is_first or (is_assumed and not found["is_order_assumed"])
            if is_first and said is None:
                said = SourceState(state=CaseState.OPEN)
            is_history = at < standing.content_at and said is not None
    receipt = Receipt(
        arrival_id=str(uuid.uuid4()),
        case_id=case_id,
        disposition=disposition,
        content_version=versions + 1,
        delivery_id_reused=is_reused,
        order_assumed=is_assumed,
    )
    if facts is not None and facts.domain_id is not None:
        await require_domain(connection, facts.domain_id)
    kept = _kept(delivery, preparation, body)
    is_opened, is_attached = disposition is Disposition.OPENED, disposition is Disposition.ATTACHED
    statement = writing(
        opens=is_opened,
        changes=is_attached,
        amends=is_amended,
        with_facts=is_attached and facts is not None,
        keeps=bool(kept),
        state=is_opened or (is_attached and said is not None) or is_history,
        is_history=is_history,
    )
    values = _values(principal_id, delivery, preparation, body, said, kept)
    await connection.execute(statement, {**values, **key, **receipt.model_dump(), "event_key": f"case/{case_id}"})
    return receipt


class _Kept(NamedTuple):
    """A text that is kept by reference."""

    id: str
    kind: ContentKind
    text: str
    bytes: int
    sha256: str


def _kept(delivery: Delivery, preparation: Preparation, body: KeptBody) -> list[_Kept]:
    """Return what is kept by reference: a body over the limit, and what was cleaned as it came."""
    kept: list[_Kept] = []
    if not body.is_whole:
        kept.append(_Kept(str(uuid.uuid4()), ContentKind.BODY, delivery.body, body.bytes, body.sha256))
    if preparation.raw:
        raw = kept_body(preparation.raw)
        kept.append(_Kept(str(uuid.uuid4()), ContentKind.RAW, preparation.raw, raw.bytes, raw.sha256))
    return kept


def _values(
    principal_id: str,
    delivery: Delivery,
    preparation: Preparation,
    body: KeptBody,
    said: SourceState | None,
    kept: Sequence[_Kept],
) -> dict[str, Any]:
    ids = {each.kind: each.id for each in kept}
    return {
        **delivery.model_dump(include={"received_at", "subject", "body_format"}),
        **facts_values(delivery.facts or CaseFacts()),
        "source": delivery.origin.source,
        "external_id": delivery.origin.external_id,
        "principal_id": principal_id,
        "body": body.text,
        "body_bytes": body.bytes,
        "content_id": ids.get(ContentKind.BODY),
        "raw_content_id": ids.get(ContentKind.RAW),
        "kept_ids": [each.id for each in kept],
        "kept_kinds": [each.kind.value for each in kept],
        "kept_texts": [each.text for each in kept],
        "kept_bytes": [each.bytes for each in kept],
        "kept_sha256": [each.sha256 for each in kept],
        "written": preparation.written,
        "source_state": delivery.state,
        "state": None if said is None else said.state,
        "waiting_on": "" if said is None else said.waiting_on,
        "attributes": json.dumps(delivery.model_dump(mode="json", include={"attributes"})["attributes"]),
        "facts": delivery.facts.model_dump_json() if delivery.facts else None,
        "cleaned": json.dumps([change.model_dump() for change in preparation.cleaned]),
    }


def facts_values(facts: CaseFacts) -> dict[str, Any]:
    """Return the case columns of `facts`."""
    values = facts.model_dump()
    return {name: list(value) if isinstance(value := values[name], tuple) else value for name in FACTS}
