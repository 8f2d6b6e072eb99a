"""What a broadened retrieval reads beyond the one before it (R18). What its caller may see never widens (R13)."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from contracts import limits
from contracts.model import Model
from contracts.text import Identifier


class RequestFact(StrEnum):
    """What a request may stop holding candidates against."""

    PRODUCT = "product"
    SYSTEM = "system"
    ENVIRONMENT = "environment"
    VERSION = "version"
    SCHEMA_VERSION = "schema_version"
    REQUIRED_PROOF = "required_proof"
    NOT_OLDER_THAN = "not_older_than"


class Widening(Model):
    """What is widened; at least one of these.

    A fact that is dropped is not stated any more: what has a limit on it asks to be revalidated, and is never taken
    as applicable (R17).
    """

    strategy_id: Identifier | None = None
    """Another strategy; None keeps the one before."""
    strategy_version: int | None = None
    """Of the other strategy; None takes the newest that a profile pins, and of one that none pins the newest (R14)."""
    domains: tuple[Identifier, ...] = Field(default=(), max_length=limits.BROADENED_DOMAINS)
    """Domains to read beside those of before, where the strategy reads the profile's own domain only."""
    every_domain: bool = False
    """Read every domain there."""
    dropped: tuple[RequestFact, ...] = Field(default=(), max_length=len(RequestFact))
    results: int | None = Field(default=None, ge=1, le=limits.RESULTS)
    """More results than before."""
    tokens: int | None = Field(default=None, ge=200, le=limits.TOKENS)
    """A larger budget than before."""

    @property
    def is_nothing(self) -> bool:
        """Whether nothing at all is widened."""
        named = (self.strategy_id, self.results, self.tokens)
        return not (self.domains or self.every_domain or self.dropped) and all(each is None for each in named)

    def described(self) -> str:
        """Return what is widened, in words."""
        parts = [
            f"strategy {self.strategy_id}" if self.strategy_id is not None else "",
            "every domain" if self.every_domain else "",
            f"also {', '.join(self.domains)}" if self.domains and not self.every_domain else "",
            f"not held against {', '.join(self.dropped)}" if self.dropped else "",
            f"up to {self.results} results" if self.results is not None else "",
            f"up to {self.tokens} tokens" if self.tokens is not None else "",
        ]
        return "; ".join(filter(None, parts))


class BroadenedFrom(Model):
    """Which retrieval an answer broadens, why, and in what (R18)."""

    request_id: str
    reason: str
    widened: Widening
    depth: int = 1
    """How many retrievals came before it; the first one is at 0."""
