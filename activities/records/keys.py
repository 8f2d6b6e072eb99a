"""API keys with a scope and an end: issued, listed and revoked by administrators (R4, R13)."""

from __future__ import annotations

import secrets
from datetime import timedelta
from typing import Any

from sqlalchemy import RowMapping, text
from sqlalchemy.ext.asyncio import AsyncConnection

from activities.records.cases import check_moment
from activities.records.database import Database
from activities.records.identities import key_hash
from activities.records.ids import is_id
from contracts.errors import IdempotencyConflict, InvalidField, UnknownKey, UnknownPrincipal, UnknownTenant
from contracts.sign_in import IssuedApiKey, KeyToIssue, KeyView, Removed

_VIEW = "id::text AS id, principal_id, label, abilities, tenants, issued_by, created_at, expires_at"
_ISSUE = text(f"""
INSERT INTO api_keys (hash, principal_id, expires_at, id, label, abilities, tenants, issued_by)
VALUES (:hash, :principal_id, :expires_at, CAST(:id AS uuid), :label, CAST(:abilities AS text[]),
        CAST(:tenants AS text[]), :issued_by)
ON CONFLICT (id) DO NOTHING RETURNING {_VIEW}
""")
_LIST = text(f"""
SELECT {_VIEW} FROM api_keys
 WHERE (CAST(:principal_id AS text) IS NULL OR principal_id = :principal_id)
   AND (:ended OR expires_at IS NULL OR expires_at > now())
 ORDER BY created_at DESC, id LIMIT :limit
""")
_REVOKE = text("""
UPDATE api_keys SET expires_at = now() WHERE id = CAST(:id AS uuid) AND (expires_at IS NULL OR expires_at > now())
""")
_UNKNOWN_TENANTS = text("""
SELECT t FROM unnest(CAST(:tenants AS text[])) t WHERE t NOT IN (SELECT id FROM tenants) LIMIT 1
""")
_SOON = timedelta(seconds=1)


class Keys:
    """The administration of API keys; `Identities.sign_in` is what they are for."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def issue(self, administrator_id: str, wanted: KeyToIssue) -> IssuedApiKey:
        """Make a key for a principal; it is in this answer only, and stored as its hash.

        Raises:
            UnknownPrincipal, UnknownTenant: It names what isn't there.
            InvalidField: Its end has passed, or can't be a time.
            IdempotencyConflict: The id was used before.
        """
        key = f"clk_{secrets.token_urlsafe(32)}"
        async with self._database.as_system() as connection:
            await _check(connection, wanted)
            values: dict[str, Any] = {
                **wanted.model_dump(exclude={"abilities", "tenants"}),
                "abilities": None if wanted.abilities is None else sorted(wanted.abilities),
                "tenants": None if wanted.tenants is None else sorted(wanted.tenants),
                "hash": key_hash(key),
                "issued_by": administrator_id,
            }
            row = (await connection.execute(_ISSUE, values)).mappings().first()
            if row is None:
                raise IdempotencyConflict(
                    "A key was issued under this id; it was shown then and can't be shown again.",
                    field="id",
                    accepted="a new id; revoke the key that nobody took",
                )
            return IssuedApiKey(api_key=key, key=_view(row))

    async def list(self, principal_id: str | None, *, ended: bool, limit: int) -> list[KeyView]:
        """Return keys, newest first; with `ended` also those that sign nobody in any more.

        Raises:
            UnknownPrincipal: There is no such principal.
        """
        values = {"principal_id": principal_id, "ended": ended, "limit": limit}
        async with self._database.as_system() as connection:
            if principal_id is not None:
                await _require_principal(connection, principal_id)
            return [_view(row) for row in (await connection.execute(_LIST, values)).mappings()]

    async def revoke(self, key_id: str) -> Removed:
        """End one key, and the sessions that were opened with it; a repeat finds nothing to end.

        Raises:
            UnknownKey: There is none with this id.
        """
        async with self._database.as_system() as connection:
            known = await connection.execute(
                text("SELECT 1 FROM api_keys WHERE id = CAST(:id AS uuid)"), {"id": key_id if is_id(key_id) else None}
            )
            if known.first() is None:
                raise UnknownKey("There is no such key.", field="key_id", accepted="an id of GET /v1/keys")
            return Removed(removed=(await connection.execute(_REVOKE, {"id": key_id})).rowcount)


async def _check(connection: AsyncConnection, wanted: KeyToIssue) -> None:
    await _require_principal(connection, wanted.principal_id)
    if wanted.expires_at is not None:
        check_moment(wanted.expires_at, field="expires_at")
        ahead = await connection.execute(
            text("SELECT CAST(:at AS timestamptz) > now() + :soon"), {"at": wanted.expires_at, "soon": _SOON}
        )
        if not ahead.scalar_one():
            raise InvalidField("The key would have ended already.", field="expires_at", accepted="a time to come")
    if wanted.tenants is not None:
        unknown = await connection.execute(_UNKNOWN_TENANTS, {"tenants": list(wanted.tenants)})
        if (tenant := unknown.scalar_one_or_none()) is not None:
            raise UnknownTenant(f"There is no tenant {tenant!r}.", field="tenants", accepted="ids of tenants")


async def _require_principal(connection: AsyncConnection, principal_id: str) -> None:
    known = await connection.execute(text("SELECT 1 FROM principals WHERE id = :id"), {"id": principal_id})
    if known.first() is None:
        raise UnknownPrincipal(f"There is no principal {principal_id!r}.", field="principal_id")


def _view(row: RowMapping) -> KeyView:
    return KeyView.model_validate(dict(row))
