"""Sign-in by API key, and the records that access derives from (R4, R13)."""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime

from sqlalchemy import text

from activities.records.database import Database
from contracts.errors import IdempotencyConflict, NotAuthenticated, UnknownDomain, UnknownPrincipal, UnknownTenant
from contracts.identity import Domain, Grant, Principal, Profile, RoleInDomain, SignedIn, Tenant
from contracts.strategy import Strategy

_SIGN_IN = text("""
SELECT p.id, p.kind, p.name, p.administrator FROM api_keys k JOIN principals p ON p.id = k.principal_id
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
ON CONFLICT (id) DO UPDATE SET domain_id = excluded.domain_id, strategy_id = excluded.strategy_id,
  strategy_version = excluded.strategy_version
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
        """
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

    async def grant(self, grant: Grant) -> None:
        """Let a principal see a tenant or one case of it; a repeat renews purpose and expiry."""
        await self._require(UnknownPrincipal, "principals", "principal_id", grant.principal_id)
        await self._require(UnknownTenant, "tenants", "tenant_id", grant.tenant_id)
        await self._run(
            "INSERT INTO grants (principal_id, tenant_id, case_id, purpose, expires_at)"
            " VALUES (:principal_id, :tenant_id, CAST(:case_id AS uuid), :purpose, :expires_at)"
            " ON CONFLICT (principal_id, tenant_id, case_id)"
            " DO UPDATE SET purpose = excluded.purpose, expires_at = excluded.expires_at",
            grant.model_dump(),
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
        """Add a profile with the strategy version that it pins, and its members."""
        await self._require(UnknownDomain, "domains", "domain_id", profile.domain_id)
        for principal_id in profile.principals:
            await self._require(UnknownPrincipal, "principals", "principals", principal_id)
        async with self._database.as_system() as connection:
            await connection.execute(_PROFILE, profile.model_dump())
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
