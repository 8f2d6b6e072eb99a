"""What a principal may see and do, and taking it away again (R4, R13)."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Self

from pydantic import Field, model_validator

from contracts.errors import InvalidField
from contracts.identity import Grant, RoleInDomain
from contracts.labels import DomainRole, PrincipalKind
from contracts.model import Model
from contracts.text import Id, Identifier


class Revoked(StrEnum):
    """What is taken from a principal."""

    GRANT = "grant"
    ROLE = "role"
    MEMBERSHIP = "membership"
    """Of a requesting profile."""
    KEYS = "keys"
    """All its API keys; its sessions on the pages end, too."""


_NEEDED = {
    Revoked.GRANT: ("tenant_id",),
    Revoked.ROLE: ("domain_id", "role"),
    Revoked.MEMBERSHIP: ("profile_id",),
    Revoked.KEYS: (),
}


class Revocation(Model):
    """One thing that a principal may not see or do any more; holds from the next request on."""

    principal_id: Identifier
    what: Revoked
    tenant_id: Identifier | None = None
    case_id: Id | None = None
    """Grant: of one case; None means the grant of the whole tenant."""
    domain_id: Identifier | None = None
    role: DomainRole | None = None
    profile_id: Identifier | None = None

    @model_validator(mode="after")
    def _names_what_it_takes(self) -> Self:
        for name in _NEEDED[self.what]:
            if getattr(self, name) is None:
                raise InvalidField(f"Taking a {self.what} away needs {name}.", field=name, accepted=f"the {name}")
        return self


class RevocationOutcome(Model):
    """What a revocation found; 0 when there was nothing to take, which is no error."""

    principal_id: str
    removed: int = Field(ge=0)


class AccessView(Model):
    """Everything that a principal's access derives from."""

    principal_id: str
    kind: PrincipalKind
    name: str
    active: bool
    administrator: bool
    grants: tuple[Grant, ...]
    """Expired ones too: they show until when somebody saw what."""
    roles: tuple[RoleInDomain, ...]
    profiles: tuple[str, ...]
    keys: int
    """API keys that sign in now."""
    last_key_expires_at: datetime | None = None
    """None when a key has no end, or there is none."""
