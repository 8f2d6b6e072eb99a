"""Broadening: a retrieval that reads further than the one before it, for a reason that is kept (R18)."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Self

from pydantic import model_validator

from contracts.errors import InvalidField
from contracts.labels import ProofLevel
from contracts.retrieval import RetrievalRequest
from contracts.strategy import Strategy
from contracts.text import Id, Paragraph
from contracts.widening import RequestFact, Widening

_UNSTATED: dict[RequestFact, Any] = {
    **dict.fromkeys(RequestFact, ""),
    RequestFact.REQUIRED_PROOF: ProofLevel.NONE,
    RequestFact.NOT_OLDER_THAN: None,
}


class Broadening(Widening):
    """What an agent asks for. `request_id` names the new retrieval and is the idempotency key."""

    request_id: Id
    reason: Paragraph
    """Why the evidence asks for it."""

    @model_validator(mode="after")
    def _widens_something(self) -> Self:
        if self.is_nothing:
            raise InvalidField(
                "A broadening says what it widens.",
                field="strategy_id",
                accepted="at least one of strategy_id, domains, every_domain, dropped, results, tokens",
            )
        if self.strategy_version is not None and self.strategy_id is None:
            raise InvalidField(
                "A version is one of a strategy.", field="strategy_id", accepted="the strategy that it is of"
            )
        return self

    def widening(self) -> Widening:
        """Return what is widened, without id and reason."""
        return Widening.model_validate(self.model_dump(include=set(Widening.model_fields)))


def broadened(before: RetrievalRequest, broadening: Broadening, *, results_before: int) -> RetrievalRequest:
    """Return the new request: the one before it, with what is widened.

    Who asks, for which case, with which objective and inside which scope stays as it was; `tenant_id` still narrows
    as it did (R13).

    Args:
        before: The request that is broadened.
        broadening: What to widen.
        results_before: How many results the one before could have.

    Raises:
        InvalidField: Something would not become wider: a fact that wasn't stated, or no more results or tokens.
    """
    dropped_at_most = stated(before)
    for fact in broadening.dropped:
        if fact not in dropped_at_most:
            accepted = ", ".join(dropped_at_most) or "none: nothing is stated that could be dropped"
            raise InvalidField(f"The retrieval doesn't state {fact}.", field="dropped", accepted=accepted)
    _require_more("results", broadening.results, results_before)
    _require_more("tokens", broadening.tokens, before.tokens)
    changes: dict[str, Any] = {
        "request_id": broadening.request_id,
        **{fact.value: _UNSTATED[fact] for fact in broadening.dropped},
        "results": broadening.results or results_before,
        "tokens": broadening.tokens or before.tokens,
        "wait_for_position": None,
    }
    if broadening.strategy_id is not None:
        changes["strategy_version"] = broadening.strategy_version
    return before.model_copy(update=changes)


def domains_read(
    before: tuple[str, ...] | None, widening: Widening, *, own: str, known: Collection[str]
) -> tuple[str, ...] | None:
    """Return the domains that a broadened retrieval reads where its strategy reads the profile's own only.

    Args:
        before: Those of the retrieval before it; None: the profile's own, empty: every one.
        widening: What is widened.
        own: The profile's own domain.
        known: Every domain there is.

    Returns:
        As `before`.

    Raises:
        InvalidField: A domain doesn't exist, or was read before.
    """
    if not widening.domains and not widening.every_domain:
        return before
    read = (own,) if before is None else before
    if before == ():
        named = "domains" if widening.domains else "every_domain"
        raise InvalidField("Every domain was read before.", field=named, accepted="none: leave it out")
    for domain in widening.domains:
        if domain not in known or domain in read:
            left = sorted(set(known) - set(read))
            why = "was read before" if domain in read else "doesn't exist"
            raise InvalidField(f"Domain {domain!r} {why}.", field="domains", accepted=", ".join(left) or "none")
    return () if widening.every_domain else tuple(dict.fromkeys((*read, *widening.domains)))


def require_wider(strategy: Strategy, widening: Widening) -> None:
    """Refuse further domains where a strategy reads every one anyway: they would widen nothing (R18).

    Args:
        strategy: The one that answers.
        widening: What is widened.

    Raises:
        InvalidField: None of its steps reads the profile's own domain only.
    """
    named = "domains" if widening.domains else "every_domain" if widening.every_domain else ""
    if named and not any(step.own_domain_only for step in strategy.steps):
        raise InvalidField(
            f"Strategy {strategy.id!r} reads every domain already.",
            field=named,
            accepted="none: leave it out, and widen strategy_id, dropped, results or tokens",
        )


def _require_more(field: str, wanted: int | None, before: int) -> None:
    if wanted is not None and wanted <= before:
        raise InvalidField(f"A broadening has more {field} than before.", field=field, accepted=f"over {before}")


def stated(request: RetrievalRequest) -> tuple[RequestFact, ...]:
    """Return the facts that a request states, and so may stop holding candidates against."""
    return tuple(fact for fact in RequestFact if getattr(request, fact) != _UNSTATED[fact])
