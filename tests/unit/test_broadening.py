"""A broadening only ever widens, and never what its caller may see (R13, R18)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts import limits
from contracts.broadening import Broadening, broadened, domains_read, require_wider
from contracts.errors import InvalidField
from contracts.experience import Limits
from contracts.labels import ProofLevel
from contracts.retrieval import RetrievalRequest
from contracts.strategies import SHIPPED
from contracts.strategy import Strategy
from contracts.validity import ValidityState, judge
from contracts.widening import RequestFact, Widening

ID, OTHER = "0d5bb3a4-5e0c-4e0e-9a45-6a2f3f0f8a11", "0d5bb3a4-5e0c-4e0e-9a45-6a2f3f0f8a12"
STATED: dict[str, Any] = {
    "product": "Policy", "system": "print", "environment": "production", "version": "7.4", "schema_version": "12",
    "required_proof": ProofLevel.VERIFIED, "not_older_than": datetime(2026, 1, 1, tzinfo=UTC),
}  # fmt: skip
DOMAINS = ("configuration", "data", "development", "root")
FURTHER = [("domains", {"domains": ("root",)}), ("every_domain", {"every_domain": True})]


def before(**fields: Any) -> RetrievalRequest:
    return RetrievalRequest(request_id=ID, profile_id="p", purpose="p", objective="o", tenant_id="north", **fields)


def asked(**fields: Any) -> Broadening:
    return Broadening(request_id=OTHER, reason="Nothing fits.", **fields)


@pytest.mark.parametrize("fields", [{}, {"domains": ()}, {"strategy_version": 2}, {"dropped": ()}])
def test_r18_a_broadening_says_what_it_widens(fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidField):
        asked(**fields)


@pytest.mark.parametrize("reason", ["", "  \n", "\u200b"])
def test_r18_there_is_no_broadening_without_a_reason(reason: str) -> None:
    with pytest.raises(InvalidField) as refused:
        Broadening(request_id=OTHER, reason=reason, every_domain=True)
    assert refused.value.field == "reason"


@given(
    stated=st.sets(st.sampled_from(sorted(STATED))),
    dropped=st.sets(st.sampled_from(RequestFact)),
    results=st.none() | st.integers(1, limits.RESULTS),
    tokens=st.none() | st.integers(200, limits.TOKENS),
    results_before=st.integers(1, limits.RESULTS),
)
def test_r18_only_what_is_widened_changes_and_only_to_more(
    stated: set[str], dropped: set[RequestFact], results: int | None, tokens: int | None, results_before: int
) -> None:
    request = before(**{name: STATED[name] for name in stated}, tokens=2_000, results=results_before)
    broadening = asked(every_domain=True, dropped=tuple(dropped), results=results, tokens=tokens)
    may = dropped <= stated and (results or limits.RESULTS + 1) > results_before and (tokens or 2_001) > 2_000
    if not may:
        with pytest.raises(InvalidField):
            broadened(request, broadening, results_before=results_before)
        return
    wider = broadened(request, broadening, results_before=results_before)
    unchanged = set(RetrievalRequest.model_fields) - set(dropped) - {"request_id", "results", "tokens"}
    assert wider.model_dump(include=unchanged) == request.model_dump(include=unchanged)
    assert wider.request_id == OTHER
    assert (wider.results or 0) >= results_before and wider.tokens >= request.tokens
    blank = before()
    assert all(getattr(wider, fact) == getattr(blank, fact) for fact in dropped)
    assert RetrievalRequest.model_validate(wider.model_dump()) == wider


@given(
    read=st.none() | st.sets(st.sampled_from(DOMAINS)).map(lambda domains: tuple(sorted(domains | {"data"}))),
    more=st.sets(st.sampled_from((*DOMAINS, "elsewhere"))),
    every=st.booleans(),
)
def test_r18_domains_are_only_added(read: tuple[str, ...] | None, more: set[str], every: bool) -> None:
    widening = Widening(domains=tuple(sorted(more)), every_domain=every)
    known_before = {"data"} if read is None else set(read)
    if not more and not every:
        assert domains_read(read, widening, own="data", known=DOMAINS) == read
    elif more & known_before or "elsewhere" in more:
        with pytest.raises(InvalidField):
            domains_read(read, widening, own="data", known=DOMAINS)
    else:
        wider = domains_read(read, widening, own="data", known=DOMAINS)
        assert wider is not None
        assert wider == () if every else set(wider) == known_before | more


@pytest.mark.parametrize(("field", "more"), FURTHER)
def test_r18_what_reads_every_domain_can_be_given_no_further_one(field: str, more: dict[str, Any]) -> None:
    with pytest.raises(InvalidField) as refused:
        domains_read((), Widening(**more), own="data", known=DOMAINS)
    assert refused.value.field == field


@pytest.mark.parametrize("strategy", SHIPPED, ids=lambda each: f"{each.id}-{each.version}")
@pytest.mark.parametrize(("field", "more"), FURTHER)
def test_r18_only_a_strategy_that_reads_its_own_domain_is_given_further_ones(
    strategy: Strategy, field: str, more: dict[str, Any]
) -> None:
    """The others read them all already: it would be told as wider and be the same."""
    require_wider(strategy, Widening(results=9))
    if strategy.id in ("root-classification", "effort-assessment"):
        with pytest.raises(InvalidField) as refused:
            require_wider(strategy, Widening(**more))
        assert refused.value.field == field
    else:
        require_wider(strategy, Widening(**more))


@pytest.mark.parametrize(
    ("fact", "where"),
    [
        (RequestFact.PRODUCT, Limits(products=("Claims",))),
        (RequestFact.SYSTEM, Limits(systems=("archive",))),
        (RequestFact.ENVIRONMENT, Limits(environments=("test",))),
        (RequestFact.VERSION, Limits(version_from="8", version_to="9")),
        (RequestFact.SCHEMA_VERSION, Limits(schema_version="13")),
    ],
)
def test_r17_a_dropped_fact_makes_nothing_applicable(fact: RequestFact, where: Limits) -> None:
    """What was outside its limits asks to be revalidated, and says which fact is missing."""
    request = before(**STATED)
    wider = broadened(request, asked(dropped=(fact,)), results_before=10)
    dated = STATED["not_older_than"]
    assert judge(where, request, proof_level=ProofLevel.VERIFIED, dated=dated).state is not ValidityState.OK
    judged = judge(where, wider, proof_level=ProofLevel.VERIFIED, dated=dated)
    assert judged.state is ValidityState.REVALIDATE
    assert "not stated" in judged.reasons[0]


def test_what_was_widened_is_told_in_words() -> None:
    broadening = asked(strategy_id="development", domains=("root",), dropped=(RequestFact.VERSION,), results=9)
    assert broadening.described() == "strategy development; also root; not held against version; up to 9 results"
    assert Widening.model_validate(broadening.widening().model_dump(exclude_defaults=True)) == broadening.widening()
