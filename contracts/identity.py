"""Tenants, principals, grants, domains and profiles: who may see and do what.

Access derives from these records and the authenticated identity, never from a request's arguments (R13).
"""

from __future__ import annotations

from datetime import datetime

from contracts.labels import DomainRole, PrincipalKind
from contracts.model import Model
from contracts.sign_in import Ability, CredentialScope
from contracts.text import Identifier, Line, OptionalParagraph


class Tenant(Model):
    """An organisation whose case bodies and identity handles stay inside (R4)."""

    id: Identifier
    name: Line


class Principal(Model):
    """A person or agent with a verified identity."""

    id: Identifier
    kind: PrincipalKind
    name: Line


class Grant(Model):
    """What a principal may see: a whole tenant, or one case of it, for a purpose and until a time."""

    principal_id: Identifier
    tenant_id: Identifier
    case_id: str | None = None
    purpose: Line
    expires_at: datetime | None = None


class Domain(Model):
    """An owned module area; reviewed knowledge belongs to exactly one."""

    id: Identifier
    name: Line
    description: OptionalParagraph = ""


class RoleInDomain(Model):
    """A principal's review role in a domain."""

    principal_id: Identifier
    domain_id: Identifier
    role: DomainRole


class Profile(Model):
    """A requesting agent role; pins a default strategy version (spec section 2)."""

    id: Identifier
    domain_id: Identifier
    strategy_id: Identifier
    strategy_version: int
    principals: tuple[Identifier, ...] = ()
    """Who may act with this profile."""


class SignedIn(CredentialScope):
    """The principal behind a verified credential, and what the credential leaves of its access."""

    id: Identifier
    kind: PrincipalKind
    name: Line
    administrator: bool = False
    """May add tenants, principals, grants and roles, with a credential that is good for it: see `administers`."""

    @property
    def administers(self) -> bool:
        """Whether it may act and see as an administrator: it is one, and its credential leaves that (R13)."""
        return self.administrator and self.allows(Ability.ADMINISTER)
