"""How a principal proves who it is, and what a credential leaves of what its principal may do.

A person is known by issuer and subject of a verified token, an agent by an API key. Which principal that is, and what
the principal may do, are records that administrators keep: nothing else that a token says is looked at (R13).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Self

from pydantic import AwareDatetime, Field, model_validator

from contracts import limits
from contracts.errors import InvalidField
from contracts.model import Model
from contracts.text import ExternalId, Id, Identifier, Line


class Ability(StrEnum):
    """What a credential can be good for; what its holder may do at all is told by grants and roles."""

    READ = "read"
    """Look at what the principal may see."""
    RETRIEVE = "retrieve"
    """Ask the memory, read candidates, record decisions and checks."""
    RECORD = "record"
    """Deliver arrivals, change cases, file papers and results, link cases."""
    PROPOSE = "propose"
    """Propose experience and articles."""
    REVIEW = "review"
    """Claim and decide reviews, order changes, lend a role."""
    ADMINISTER = "administer"


Abilities = Annotated[tuple[Ability, ...], Field(min_length=1, max_length=len(Ability))]
NarrowedTenants = Annotated[tuple[Identifier, ...], Field(min_length=1, max_length=limits.NARROWED_TENANTS)]


class CredentialScope(Model):
    """What a credential leaves of its principal's access: it can take away, and never adds (R13)."""

    abilities: Abilities | None = None
    """None: everything that the principal may do."""
    tenants: NarrowedTenants | None = None
    """None: every tenant that the principal may see."""

    def allows(self, ability: Ability) -> bool:
        """Tell whether the credential is good for something of this kind.

        One that is narrowed to tenants is never good for administration, which goes across them.
        """
        if ability is Ability.ADMINISTER and self.tenants is not None:
            return False
        return self.abilities is None or ability in self.abilities


class KeyToIssue(CredentialScope):
    """A new API key for a principal."""

    id: Id
    """Minted by the caller. A key is shown once: a repeat can't show it again and is refused."""
    principal_id: Identifier
    label: Line
    """What it is for, so that somebody knows which one to revoke."""
    expires_at: AwareDatetime | None = None

    @model_validator(mode="after")
    def _may_do_something(self) -> Self:
        for name in ("abilities", "tenants"):
            values = getattr(self, name)
            if values is not None and len(set(values)) < len(values):
                raise InvalidField(f"{name} names something twice.", field=name, accepted="each one once")
        if self.tenants is not None and Ability.ADMINISTER in (self.abilities or ()):
            raise InvalidField(
                "Administration goes across tenants.", field="abilities", accepted="no administer, or no tenants"
            )
        return self


class KeyView(CredentialScope):
    """An API key as administrators see it; the key itself is stored nowhere."""

    id: str
    principal_id: str
    label: str
    issued_by: str | None = None
    """None: by the deployment."""
    created_at: AwareDatetime
    expires_at: AwareDatetime | None = None
    """A revoked key has ended at this time."""


class IssuedApiKey(Model):
    """A key that was just issued."""

    api_key: str
    """It is shown this once."""
    key: KeyView


class PersonIdentity(Model):
    """What an issuer calls a person: the only words of a token that tell who somebody is."""

    issuer: ExternalId
    """`iss` of the token, character by character."""
    subject: ExternalId
    """`sub` of the token."""


class IdentityLink(PersonIdentity):
    """A person's identity at an issuer, linked to a principal by an administrator."""

    principal_id: Identifier


class IdentityView(IdentityLink):
    """A link as administrators see it."""

    linked_at: AwareDatetime
    linked_by: str | None = None
    """None: by the deployment."""


class Removed(Model):
    """What was taken away; 0 when there was nothing, which is no error."""

    removed: int = Field(ge=0)
