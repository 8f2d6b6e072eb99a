"""Sign-in by API key, and the records that access derives from (R4, R13)."""

from __future__ import annotations

import hashlib
import secrets
import uuid
from datetime import datetime

from sqlalchemy import text

from activities.records.cases import check_moment
from activities.records.database import Database
from activities.records.ids import is_id
from contracts.errors import (
    AdoptionNeeded,
    IdempotencyConflict,
    NotAuthenticated,
    UnknownCase,
    UnknownDomain,
    UnknownPrincipal,
    UnknownStrategy,
    UnknownTenant,
)
from contracts.identity import Domain, Grant, Principal, Profile, RoleInDomain, SignedIn, Tenant
from contracts.strategy import Strategy

_SIGN_IN = text("""
SELECT p.id, p.kind, p.name, p.administrator, k.abilities, k.tenants
  FROM api_keys k JOIN principals p ON p.id = k.principal_id
 WHERE k.hash = :hash AND (k.expires_at IS NULL OR k.expires_at > now()) AND p.active
""")
_STRATEGY = text("INSERT INTO strategies (id, title) VALUES (:id, :title) ON CONFLICT (id) DO NOTHING")
_VERSION = text("""
INSERT INTO strategy_versions (strategy_id, version, definition, digest)
VALUES (:id, :version, CAST(:definition AS jsonb), :digest) ON CONFLICT (strategy_id, version) DO NOTHING
""")
_PROFILE = text("""
INSERT INTO profiles (id, domain_id, strategy_id, strategy_version)
VALUES (:id, :domain_id, :strategy_id, :strategy_version)
ON CONFLICT (id) DO UPDATE SET domain_id = excluded.domain_id
RETURNING strategy_id, strategy_version
""")


def key_hash(key: str) -> str:
    """Return what is stored of an API key. Keys are long and random, so one SHA-256 is enough."""
    return hashlib.sha256(key.encode()).hexdigest()


class Identities:
    """Who is calling, and the administration of who may do what."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def sign_in(self, key: str) -> SignedIn:
        """Return the principal whose key this is.

        Raises:
            NotAuthenticated: The key is unknown or expired, or its principal inactive.
        """
        async with self._database.as_system() as connection:
            row = (await connection.execute(_SIGN_IN, {"hash": key_hash(key)})).mappings().first()
        if row is None:
            raise NotAuthenticated("The API key is unknown or expired.", field="Authorization", accepted="a valid key")
        return SignedIn.model_validate(dict(row))

    async def add_tenant(self, tenant: Tenant) -> None:
        """Add a tenant, or rename it."""
        await self._run(
            "INSERT INTO tenants (id, name) VALUES (:id, :name) ON CONFLICT (id) DO UPDATE SET name = excluded.name",
            tenant.model_dump(),
        )

    async def add_domain(self, domain: Domain) -> None:
        """Add a domain, or change its name and description."""
        await self._run(
            "INSERT INTO domains (id, name, description) VALUES (:id, :name, :description)"
            " ON CONFLICT (id) DO UPDATE SET name = excluded.name, description = excluded.description",
            domain.model_dump(),
        )

    async def add_principal(self, principal: Principal, *, administrator: bool = False) -> None:
        """Add a principal, or change its name.

        Raises:
            IdempotencyConflict: The id belongs to a principal of the other kind.
        """
        values = {**principal.model_dump(), "administrator": administrator}
        async with self._database.as_system() as connection:
            kind = await connection.execute(
                text(
                    "INSERT INTO principals (id, kind, name, administrator) VALUES (:id, :kind, :name, :administrator)"
                    " ON CONFLICT (id) DO UPDATE SET name = excluded.name RETURNING kind"
                ),
                values,
            )
            if kind.scalar_one() != principal.kind:
                raise IdempotencyConflict(f"{principal.id!r} is a principal of another kind.", field="id")

    async def issue_key(self, principal_id: str, *, expires_at: datetime | None = None) -> str:
        """Return a new API key for a principal; it is shown once and stored only as a hash."""
        key = f"clk_{secrets.token_urlsafe(32)}"
        await self.accept_key(principal_id, key, expires_at=expires_at)
        return key

    async def accept_key(self, principal_id: str, key: str, *, expires_at: datetime | None = None) -> None:
        """Let `key` sign `principal_id` in; for keys that come from a deployment's own secrets.

        Raises:
            UnknownPrincipal: There is no such principal.
            IdempotencyConflict: The key signs another principal in.
            InvalidField: It would end at a time that nobody can mean.
        """
        if expires_at is not None:
            check_moment(expires_at, field="expires_at")
        async with self._database.as_system() as connection:
            known = await connection.execute(text("SELECT 1 FROM principals WHERE id = :id"), {"id": principal_id})
            if known.first() is None:
                raise UnknownPrincipal(f"There is no principal {principal_id!r}.", field="principal_id")
            await connection.execute(
                text(
                    "INSERT INTO api_keys (hash, principal_id, expires_at) VALUES (:hash, :principal, :expires)"
                    " ON CONFLICT (hash) DO NOTHING"
                ),
                {"hash": key_hash(key), "principal": principal_id, "expires": expires_at},
            )
            holder = await connection.execute(
                text("SELECT principal_id FROM api_keys WHERE hash = :hash"), {"hash": key_hash(key)}
            )
            if holder.scalar_one() != principal_id:
                raise IdempotencyConflict("This key signs another principal in.", field="key", accepted="a new key")

    async def grant(self, grant: Grant) -> None:
        """Let a principal see a tenant or one case of it; a repeat renews purpose and expiry.

        Raises:
            UnknownPrincipal, UnknownTenant, UnknownCase: There is no such thing to grant, or to grant it to.
            InvalidField: The expiry can't be a time.
        """
        if grant.expires_at is not None:
            check_moment(grant.expires_at, field="expires_at")
        await self._require(UnknownPrincipal, "principals", "principal_id", grant.principal_id)
        await self._require(UnknownTenant, "tenants", "tenant_id", grant.tenant_id)
        case_id = None if grant.case_id is None else await self._require_case(grant.tenant_id, grant.case_id)
        await self._run(
            "INSERT INTO grants (principal_id, tenant_id, case_id, purpose, expires_at)"
            " VALUES (:principal_id, :tenant_id, CAST(:case_id AS uuid), :purpose, :expires_at)"
            " ON CONFLICT (principal_id, tenant_id, case_id)"
            " DO UPDATE SET purpose = excluded.purpose, expires_at = excluded.expires_at",
            {**grant.model_dump(), "case_id": case_id},
        )

    async def give_role(self, role: RoleInDomain) -> None:
        """Make a principal curator or owner of a domain (R7)."""
        await self._require(UnknownPrincipal, "principals", "principal_id", role.principal_id)
        await self._require(UnknownDomain, "domains", "domain_id", role.domain_id)
        await self._run(
            "INSERT INTO domain_roles (principal_id, domain_id, role) VALUES (:principal_id, :domain_id, :role)"
            " ON CONFLICT DO NOTHING",
            role.model_dump(),
        )

    async def add_strategy(self, strategy: Strategy) -> None:
        """Add a strategy version; the same version again must be the same definition (R14).

        Raises:
            IdempotencyConflict: The version exists with another definition.
        """
        values = {
            "id": strategy.id,
            "title": strategy.title,
            "version": strategy.version,
            "definition": strategy.model_dump_json(),
            "digest": strategy.digest(),
        }
        async with self._database.as_system() as connection:
            await connection.execute(_STRATEGY, values)
            await connection.execute(_VERSION, values)
            stored = await connection.execute(
                text("SELECT digest FROM strategy_versions WHERE strategy_id = :id AND version = :version"), values
            )
            if stored.scalar_one() != values["digest"]:
                raise IdempotencyConflict(
                    f"Version {strategy.version} of {strategy.id!r} exists with another definition.",
                    field="version",
                    accepted="a new version number",
                )

    async def add_profile(self, profile: Profile) -> None:
        """Add a profile with the strategy version that it pins, or change its domain, and add to its members.

        Raises:
            UnknownDomain, UnknownStrategy, UnknownPrincipal: It names what isn't there.
            AdoptionNeeded: The profile pins another version: that changes by an adoption only (R14).
        """
        await self._require(UnknownDomain, "domains", "domain_id", profile.domain_id)
        await self._require_strategy(profile.strategy_id, profile.strategy_version)
        for principal_id in profile.principals:
            await self._require(UnknownPrincipal, "principals", "principals", principal_id)
        async with self._database.as_system() as connection:
            pinned = (await connection.execute(_PROFILE, profile.model_dump())).one()
            if tuple(pinned) != (profile.strategy_id, profile.strategy_version):
                raise AdoptionNeeded(
                    f"The profile pins {pinned[0]} version {pinned[1]}.",
                    field="strategy_version" if pinned[0] == profile.strategy_id else "strategy_id",
                    accepted=f"{pinned[0]} version {pinned[1]}, or an adoption of the other one",
                )
            for principal_id in profile.principals:
                await connection.execute(
                    text(
                        "INSERT INTO profile_members (profile_id, principal_id) VALUES (:profile, :principal)"
                        " ON CONFLICT DO NOTHING"
                    ),
                    {"profile": profile.id, "principal": principal_id},
                )

    async def _run(self, sql: str, values: dict[str, object]) -> None:
        async with self._database.as_system() as connection:
            await connection.execute(text(sql), values)

    async def _require(
        self, error: type[UnknownPrincipal | UnknownTenant | UnknownDomain], table: str, field: str, value: str
    ) -> None:
        async with self._database.as_system() as connection:
            known = await connection.execute(text(f"SELECT 1 FROM {table} WHERE id = :id"), {"id": value})
            if known.first() is None:
                raise error(f"There is no {table.removesuffix('s')} {value!r}.", field=field)

    async def _require_case(self, tenant_id: str, case_id: str) -> str:
        """Return the case's id as the record spells it."""
        async with self._database.as_system() as connection:
            known = await connection.execute(
                text("SELECT id::text FROM cases WHERE id = CAST(:case_id AS uuid) AND tenant_id = :tenant_id"),
                {"case_id": str(uuid.UUID(case_id)) if is_id(case_id) else None, "tenant_id": tenant_id},
            )
            found = known.scalar_one_or_none()
            if found is None:
                raise UnknownCase("The tenant has no such case.", field="case_id", accepted="a case of the tenant")
            return found

    async def _require_strategy(self, strategy_id: str, version: int) -> None:
        async with self._database.as_system() as connection:
            versions = list(
                (
                    await connection.execute(
                        text("SELECT version FROM strategy_versions WHERE strategy_id = :id ORDER BY version"),
                        {"id": strategy_id},
                    )
                ).scalars()
            )
            if version not in versions:
                raise UnknownStrategy(
                    f"There is no version {version} of {strategy_id!r}.",
                    field="strategy_version" if versions else "strategy_id",
                    accepted=", ".join(map(str, versions)) or "a known strategy",
                )
