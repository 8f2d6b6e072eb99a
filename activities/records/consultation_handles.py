"""What no brief and no reply may name, since it crosses to people who may not see it: cases and tenants (R21)."""

from __future__ import annotations

import re
import unicodedata
import uuid
from collections.abc import Iterable

from sqlalchemy import RowMapping, text
from sqlalchemy.ext.asyncio import AsyncConnection

from activities.records.ids import array_of
from activities.records.retrieval_requests import find_request
from contracts.consultation import ConsultReply, require_scoped
from contracts.errors import InvalidField
from contracts.retrieval import RetrievalRequest

_HANDLES = text("""
SELECT o.external_id, c.object_refs, t.name AS tenant
  FROM cases c JOIN origins o ON o.id = c.origin_id JOIN tenants t ON t.id = c.tenant_id
 WHERE c.id = CAST(:case_id AS uuid)
""")
_TENANTS = text("SELECT id, name FROM tenants")
_CASES = text("SELECT 1 FROM cases WHERE id = ANY (CAST(:ids AS uuid[])) LIMIT 1")
# Also one that overlaps another, with any marks between its parts, or with none.
_UUIDS = re.compile(
    r"(?<![^\W_])(?=([0-9a-f]{8}(?:[\W_]{0,3}[0-9a-f]{4}){3}[\W_]{0,3}[0-9a-f]{12})(?![^\W_]))"
).finditer


async def handles_of(connection: AsyncConnection, row: RowMapping) -> list[str]:
    """Return what identifies case and tenant of a stored request, as far as the principal sees them still."""
    request = RetrievalRequest.model_validate(row["request"])
    found = [*request.object_refs, *filter(None, [request.tenant_id, row["tenant_id"], row["case_id"]])]
    if request.origin is not None:
        found.append(request.origin.external_id)
    case = (await connection.execute(_HANDLES, {"case_id": row["case_id"]})).mappings().first()
    if case is not None:
        found += [case["external_id"], case["tenant"], *case["object_refs"]]
    return found


async def require_unnamed(connection: AsyncConnection, reply: ConsultReply) -> None:
    """Refuse a reply that names what its own side works on: the asker may not see it (R21).

    Here and not before the transaction, so that what was stored is repeated whatever its writer sees since.
    """
    handles = [handle for tenant in await connection.execute(_TENANTS) for handle in tenant]
    if reply.request_id is not None:
        handles += [reply.request_id, *await handles_of(connection, await find_request(connection, reply.request_id))]
    _require_no_handle("text", reply.text, handles)
    await require_no_case(connection, "text", reply.text)
    for citation in reply.citations:
        _require_no_handle("citations.why", citation.why, handles)
        await require_no_case(connection, "citations.why", citation.why)


def _require_no_handle(field: str, told: str, handles: Iterable[str]) -> None:
    try:
        require_scoped(told, handles)
    except InvalidField as named:
        raise _names_something(field) from named


async def require_no_case(connection: AsyncConnection, field: str, told: str) -> None:
    """Refuse a text that crosses with the id of a case that its writer sees, in any spelling (R21)."""
    spelt = unicodedata.normalize("NFKC", told).casefold()
    ids = {str(uuid.UUID("".join(filter(str.isalnum, found[1])))) for found in _UUIDS(spelt)}
    if ids and (await connection.execute(_CASES, {"ids": array_of(sorted(ids))})).first() is not None:
        raise _names_something(field)


def _names_something(field: str) -> InvalidField:
    """Return the refusal; it says nothing about which, since refusals are logged."""
    return InvalidField(
        "The text crosses to others and names a case or tenant.",
        field=field,
        accepted="a text without ids of requests, objects, cases or tenants",
    )
