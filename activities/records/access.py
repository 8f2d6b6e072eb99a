"""Access as it stands, and its revocation: grants, roles, memberships, keys, principals (R4, R13)."""

from __future__ import annotations

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from activities.records.database import Database
from contracts.access import AccessView, Revocation, RevocationOutcome, Revoked
from contracts.errors import NotPermitted, UnknownPrincipal
from contracts.identity import Grant, RoleInDomain

# A revoked grant or key stays as a row that has ended: who could see what, and until when, is part of the record.
_REVOKE = {
    Revoked.GRANT: text("""
UPDATE grants SET expires_at = now()
 WHERE principal_id = :principal_id AND tenant_id = :tenant_id
   AND case_id IS NOT DISTINCT FROM CAST(:case_id AS uuid) AND (expires_at IS NULL OR expires_at > now())
"""),
    Revoked.ROLE: text("""
DELETE FROM domain_roles WHERE principal_id = :principal_id AND domain_id = :domain_id AND role = :role
"""),
    Revoked.MEMBERSHIP: text("""
DELETE FROM profile_members WHERE principal_id = :principal_id AND profile_id = :profile_id
"""),
    Revoked.KEYS: text("""
UPDATE api_keys SET expires_at = now()
 WHERE principal_id = :principal_id AND (expires_at IS NULL OR expires_at > now())
"""),
}
_END_SESSIONS = text("""
UPDATE sessions SET ended_at = now() WHERE principal_id = :principal_id AND ended_at IS NULL
""")
_PRINCIPAL = text("SELECT id, kind, name, active, administrator FROM principals WHERE id = :id")
_GRANTS = text("""
SELECT principal_id, tenant_id, case_id::text AS case_id, purpose, expires_at FROM grants
 WHERE principal_id = :id ORDER BY tenant_id, case_id NULLS FIRST
""")
_ROLES = text("""
SELECT principal_id, domain_id, role FROM domain_roles WHERE principal_id = :id ORDER BY domain_id, role
""")
_PROFILES = text("SELECT profile_id FROM profile_members WHERE principal_id = :id ORDER BY profile_id")
_KEYS = text("""
SELECT count(*) AS keys, CASE WHEN count(*) = count(expires_at) THEN max(expires_at) END AS last_key_expires_at
  FROM api_keys WHERE principal_id = :id AND (expires_at IS NULL OR expires_at > now())
""")
_ACTIVATE = text("UPDATE principals SET active = :active WHERE id = :id")
_OTHER_ADMINISTRATORS = text("""
SELECT 1 FROM principals WHERE administrator AND active AND id <> :id FOR UPDATE
""")


class Access:
    """What administrators see and end of a principal's access."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of(self, principal_id: str) -> AccessView:
        """Return what a principal may see and do.

        Raises:
            UnknownPrincipal: There is none.
        """
        async with self._database.as_system() as connection:
            principal = await _require(connection, principal_id)
            values = {"id": principal_id}
            grants = (await connection.execute(_GRANTS, values)).mappings()
            roles = (await connection.execute(_ROLES, values)).mappings()
            profiles = (await connection.execute(_PROFILES, values)).scalars()
            keys = (await connection.execute(_KEYS, values)).mappings().one()
            return AccessView(
                principal_id=principal_id,
                **principal,
                grants=tuple(Grant.model_validate(dict(row)) for row in grants),
                roles=tuple(RoleInDomain.model_validate(dict(row)) for row in roles),
                profiles=tuple(profiles),
                **keys,
            )

    async def revoke(self, revocation: Revocation) -> RevocationOutcome:
        """Take something away; holds from the principal's next transaction on, and repeats harmlessly.

        Taking the keys away also ends every session, however it was opened.

        Raises:
            UnknownPrincipal: There is none.
        """
        async with self._database.as_system() as connection:
            await _require(connection, revocation.principal_id)
            result = await connection.execute(_REVOKE[revocation.what], revocation.model_dump(exclude={"what"}))
            if revocation.what is Revoked.KEYS:
                await connection.execute(_END_SESSIONS, {"principal_id": revocation.principal_id})
            return RevocationOutcome(principal_id=revocation.principal_id, removed=result.rowcount)

    async def set_active(self, principal_id: str, *, active: bool) -> None:
        """Let a principal sign in, or not any more; what it did stays, and so do its grants and roles.

        Raises:
            UnknownPrincipal: There is none.
            NotPermitted: It is the last active administrator.
        """
        async with self._database.as_system() as connection:
            principal = await _require(connection, principal_id)
            if not active and principal["administrator"]:
                others = await connection.execute(_OTHER_ADMINISTRATORS, {"id": principal_id})
                if others.first() is None:
                    raise NotPermitted(
                        "The last administrator can't be made inactive.", field="active", accepted="true"
                    )
            await connection.execute(_ACTIVATE, {"id": principal_id, "active": active})


async def _require(connection: AsyncConnection, principal_id: str) -> dict[str, object]:
    row = (await connection.execute(_PRINCIPAL, {"id": principal_id})).mappings().first()
    if row is None:
        raise UnknownPrincipal(f"There is no principal {principal_id!r}.", field="principal_id")
    return {name: row[name] for name in ("kind", "name", "active", "administrator")}
