"""The five shipped strategies: what each reads, and that a used version never changes (R14)."""

from __future__ import annotations

import pytest

from contracts.labels import CandidateKind, Collection, Outcome
from contracts.strategies import (
    CONFIGURATION,
    DATA_INVESTIGATION,
    DEVELOPMENT,
    EFFORT_ASSESSMENT,
    ROOT_CLASSIFICATION,
    SHIPPED,
)
from contracts.strategy import Route, Strategy

DIGESTS = {
    ("root-classification", 1): "7a2d4f36248c89b9b9ce075bcf890762d01d5f14647d81ca574cf9ff19c73fe9",
    ("data-investigation", 1): "98bc0befd33c33d77494f19231a8aa44c0e0fc79cf3a9c35ff04157f52f277b6",
    ("configuration", 1): "a8cdd7d8330b4dedf21978eda6ecac0ae76d6c5f855175416bc3ed8e59aea857",
    ("development", 1): "cb41398de1a9f932680e4a00f599bdbba0eeef19cc271e034521fb03a7ebf5c4",
    ("effort-assessment", 1): "3f57bcc87865eb4d3553cbd5554171432b70212e9adc0f2345dfc2e62475e8a5",
}


@pytest.mark.parametrize("strategy", SHIPPED, ids=lambda strategy: strategy.id)
def test_a_shipped_version_never_changes_r14(strategy: Strategy) -> None:
    assert strategy.digest() == DIGESTS[strategy.id, strategy.version], "add a new version beside this one"


def test_five_strategies_ship_each_with_its_own_sources_r14() -> None:
    assert {strategy.id for strategy in SHIPPED} == {
        "root-classification",
        "data-investigation",
        "configuration",
        "development",
        "effort-assessment",
    }
    assert len({strategy.model_dump_json(include={"steps"}) for strategy in SHIPPED}) == len(SHIPPED)


def test_root_starts_with_the_registry_and_reads_synopses_of_every_domain() -> None:
    assert ROOT_CLASSIFICATION.steps[0].routes == (Route.REGISTRY,)
    assert {step.collection for step in ROOT_CLASSIFICATION.steps} == {Collection.CASES, Collection.ROUTING}
    assert not any(step.own_domain_only for step in ROOT_CLASSIFICATION.steps)
    assert not ROOT_CLASSIFICATION.show_detail


def test_root_learns_from_rejected_routes_r5() -> None:
    routing = next(step for step in ROOT_CLASSIFICATION.steps if step.collection is Collection.ROUTING)
    assert Outcome.REJECTED_ROUTE in routing.outcomes


@pytest.mark.parametrize("strategy", [DATA_INVESTIGATION, CONFIGURATION, DEVELOPMENT], ids=lambda s: s.id)
def test_specialists_start_from_their_own_domain_and_look_into_the_registry(strategy: Strategy) -> None:
    first = strategy.steps[0]
    assert first.collection is Collection.DETAIL
    assert all(step.own_domain_only for step in strategy.steps if step.collection is Collection.DETAIL)
    own = {kind for step in strategy.steps if step.own_domain_only for kind in step.kinds}
    assert own == {CandidateKind.EXPERIENCE, CandidateKind.ARTICLE}
    assert any(Route.REGISTRY in step.routes for step in strategy.steps)


def test_effort_is_compared_over_every_domain_where_it_was_recorded_r19() -> None:
    step = EFFORT_ASSESSMENT.steps[0]
    assert step.needs_effort
    assert not step.own_domain_only
    assert Outcome.UNVERIFIED not in step.outcomes


@pytest.mark.parametrize("strategy", SHIPPED, ids=lambda strategy: strategy.id)
def test_a_definition_survives_storage(strategy: Strategy) -> None:
    assert Strategy.model_validate_json(strategy.model_dump_json()).digest() == strategy.digest()
