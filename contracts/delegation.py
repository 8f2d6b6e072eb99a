"""A review role that its holder lends to somebody else, until a time (R7)."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from contracts.labels import DomainRole
from contracts.model import Model
from contracts.text import Id, Identifier, Paragraph


class Delegation(Model):
    """What a delegator asks for; `id` is minted by the client and is the idempotency key.

    The delegate decides under its own name; the record says on whose behalf. Neither of the two may have proposed,
    written or reviewed what is decided.
    """

    id: Id
    delegate_id: Identifier
    domain_id: Identifier
    role: DomainRole
    reason: Paragraph
    expires_at: datetime
    """With a zone; a delegation without an end can't be given."""


class DelegationState(StrEnum):
    """Whether a delegation counts."""

    LIVE = "live"
    EXPIRED = "expired"
    REVOKED = "revoked"


class DelegationView(Delegation):
    """A delegation as its two parties see it."""

    delegator_id: str
    created_at: datetime
    revoked_at: datetime | None = None
    revoked_by: str | None = None
    state: DelegationState

    def is_of(self, delegator_id: str, delegation: Delegation) -> bool:
        """Whether this is what `delegator_id` asked for with `delegation`."""
        asked = delegation.model_dump()
        return self.delegator_id == delegator_id and self.model_dump(include=set(asked)) == asked
