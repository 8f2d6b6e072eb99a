"""Lent review roles: who lends what to whom, until when, and whose role somebody decides with (R7)."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from activities.records.cases import check_moment
from activities.records.database import Database
from activities.records.domains import require_domain
from activities.records.ids import is_id
from contracts import limits
from contracts.delegation import Delegation, DelegationView
from contracts.errors import IdempotencyConflict, InvalidField, NotReviewer, UnknownDelegation, UnknownPrincipal
from contracts.labels import DomainRole, PrincipalKind

# Under row-level security only one's own principal shows; the lifecycle, which sees all, leaves out who was let go.
_ROLES = text("""
SELECT on_behalf_of FROM (
  SELECT CAST(NULL AS text) AS on_behalf_of, CAST(NULL AS timestamptz) AS since FROM domain_roles r
   WHERE r.principal_id = :who AND r.domain_id = :domain AND r.role = ANY(:roles)
  UNION ALL
  SELECT d.delegator_id, d.created_at FROM delegations d
    JOIN domain_roles r ON r.principal_id = d.delegator_id AND r.domain_id = d.domain_id AND r.role = d.role
   WHERE d.delegate_id = :who AND d.domain_id = :domain AND d.role = ANY(:roles)
     AND d.revoked_at IS NULL AND d.expires_at > clock_timestamp()
     AND NOT EXISTS (SELECT 1 FROM principals p WHERE p.id = d.delegator_id AND NOT p.active)
) held ORDER BY since NULLS FIRST, on_behalf_of
""")
_ADD = text("""
INSERT INTO delegations (id, delegator_id, delegate_id, domain_id, role, reason, expires_at)
VALUES (CAST(:id AS uuid), :delegator_id, :delegate_id, :domain_id, :role, :reason, :expires_at)
ON CONFLICT (id) DO NOTHING
""")
_VIEW = """
SELECT id::text AS id, delegator_id, delegate_id, domain_id, role, reason, expires_at, created_at, revoked_at,
       revoked_by, CASE WHEN revoked_at IS NOT NULL THEN 'revoked' WHEN expires_at <= clock_timestamp() THEN 'expired'
                        ELSE 'live' END AS state
  FROM delegations
"""
_ONE = text(f"{_VIEW} WHERE id = CAST(:id AS uuid)")
_ALL = text(f"{_VIEW} ORDER BY expires_at DESC, id LIMIT :limit")
_REVOKE = text("""
UPDATE delegations SET revoked_at = clock_timestamp(), revoked_by = :who
 WHERE id = CAST(:id AS uuid) AND revoked_at IS NULL
""")
_DELEGATE = text("SELECT kind FROM principals WHERE id = :id AND active")


async def roles_held(connection: AsyncConnection, principal_id: str, domain_id: str, *roles: str) -> list[str | None]:
    """Return whose role a principal may act with at this moment: None for its own, which comes first, else whose.

    A lent role counts while the delegation is live and its delegator holds the role; what was lent can't be lent on.
    """
    values = {"who": principal_id, "domain": domain_id, "roles": list(roles or DomainRole)}
    return list((await connection.execute(_ROLES, values)).scalars())


class DelegationsTable:
    """Delegations as their two parties see them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def delegate(self, principal_id: str, delegation: Delegation) -> DelegationView:
        """Lend a role of the caller's own to another person; idempotent by the delegation's id.

        Raises:
            NotReviewer: The caller doesn't hold the role itself; a lent one can't be lent on.
            UnknownDomain, UnknownPrincipal: It names what isn't there.
            InvalidField: The delegate is the caller or no person, or the expiry is past or too far away.
            IdempotencyConflict: The id was used for another delegation.
        """
        values: dict[str, Any] = {**delegation.model_dump(), "delegator_id": principal_id}
        async with self._database.as_principal(principal_id) as connection:
            known = (await connection.execute(_ONE, values)).mappings().first()
            if known is None:
                await require_domain(connection, delegation.domain_id)
                if None not in await roles_held(connection, principal_id, delegation.domain_id, delegation.role):
                    raise NotReviewer(
                        f"Only who is {delegation.role} of {delegation.domain_id!r} can lend that role.",
                        field="role",
                        accepted="a role of your own; a lent one can't be lent on",
                    )
                await self._check(connection, principal_id, delegation)
                await connection.execute(_ADD, values)
                known = (await connection.execute(_ONE, values)).mappings().first()
            view = None if known is None else DelegationView.model_validate(dict(known))
        if view is None or not view.is_of(principal_id, delegation):
            raise IdempotencyConflict("This id was used for another delegation.", field="id", accepted="a new id")
        return view

    async def delegations(self, principal_id: str, *, limit: int = 200) -> list[DelegationView]:
        """Return what the principal has lent and was lent, the last to expire first."""
        async with self._database.as_principal(principal_id) as connection:
            rows = await connection.execute(_ALL, {"limit": limit})
            return [DelegationView.model_validate(dict(row)) for row in rows.mappings()]

    async def revoke(self, principal_id: str, delegation_id: str) -> DelegationView:
        """End a delegation now, as either of its parties; a repeated revocation keeps the first.

        Raises:
            UnknownDelegation: The principal is no party of such a delegation.
        """
        values = {"id": delegation_id if is_id(delegation_id) else None, "who": principal_id}
        async with self._database.as_principal(principal_id) as connection:
            await connection.execute(_REVOKE, values)
            row = (await connection.execute(_ONE, values)).mappings().first()
        if row is None:
            raise UnknownDelegation("You are no party of such a delegation.", field="delegation_id")
        return DelegationView.model_validate(dict(row))

    async def _check(self, connection: AsyncConnection, principal_id: str, delegation: Delegation) -> None:
        if delegation.delegate_id == principal_id:
            raise InvalidField("A role can't be lent to oneself.", field="delegate_id", accepted="another person")
        async with self._database.as_system() as system:  # others don't show to a principal
            kind = (await system.execute(_DELEGATE, {"id": delegation.delegate_id})).scalar_one_or_none()
        if kind is None:
            raise UnknownPrincipal(f"There is no principal {delegation.delegate_id!r}.", field="delegate_id")
        if kind != PrincipalKind.PERSON:
            raise InvalidField("Reviews are decided by people.", field="delegate_id", accepted="a person")
        check_moment(delegation.expires_at, field="expires_at")
        now: datetime = (await connection.execute(text("SELECT clock_timestamp()"))).scalar_one()
        if not now < delegation.expires_at <= now + limits.DELEGATION:
            raise InvalidField(
                "A delegation ends, and not too late.",
                field="expires_at",
                accepted=f"a time within the next {limits.DELEGATION.days} days",
            )
