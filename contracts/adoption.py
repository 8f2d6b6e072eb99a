"""Adopting a strategy version for a profile: proposed by one, decided by another who owns the domain (R14)."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import Field

from contracts.model import Model
from contracts.strategy import Strategy
from contracts.text import Id, Identifier, OptionalParagraph, Paragraph


class Pin(Model):
    """The strategy version that a profile starts from."""

    strategy_id: Identifier
    version: int = Field(ge=1, lt=2**31)


class Adoption(Model):
    """A proposal to pin another version. `id` is minted by the client and is the idempotency key."""

    id: Id
    profile_id: Identifier
    pin: Pin
    digest: Identifier
    """Of the definition that the proposer read."""
    expected: Pin
    """What the profile pins as the proposer saw it."""
    reason: Paragraph


class AdoptionVerdict(StrEnum):
    """What the domain's owner makes of a proposal."""

    ADOPT = "adopt"
    DECLINE = "decline"


class AdoptionDecision(Model):
    """An owner's decision, bound to the definition that it read. `decision_id` is the idempotency key."""

    decision_id: Id
    verdict: AdoptionVerdict
    digest: Identifier
    reason: OptionalParagraph = ""


class AdoptionState(StrEnum):
    """Where a proposal stands."""

    PROPOSED = "proposed"
    ADOPTED = "adopted"
    DECLINED = "declined"


class AdoptionView(Adoption):
    """A proposal with what became of it."""

    domain_id: str
    """Of the profile: its owners decide."""
    proposed_by: str
    proposed_at: datetime
    state: AdoptionState
    decision_id: str | None = None
    decided_by: str | None = None
    on_behalf_of: str | None = None
    """Whose role the decision was made with, when it was lent."""
    decision_reason: str = ""
    decided_at: datetime | None = None

    def is_of(self, proposer_id: str, adoption: Adoption) -> bool:
        """Whether this is what `proposer_id` proposed with `adoption`."""
        return self.proposed_by == proposer_id and self.model_dump(include=set(Adoption.model_fields)) == (
            adoption.model_dump()
        )


class StrategyView(Model):
    """One version of a strategy, as it is stored, and who starts from it."""

    strategy: Strategy
    digest: str
    created_at: datetime
    first_used_at: datetime | None = None
    """From then on it never changes."""
    pinned_by: tuple[str, ...] = ()
    """Profiles."""
