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
    ("root-classification", 1): "87b152bef206f4e29c79450133b64ed3628279965d76254b3fec8192a8c3bbdb",
    ("data-investigation", 1): "9cf9af9f5016a7a38fc4ff9cc064b276f2d8c0e92945831c61665a59ba861be6",
    ("configuration", 1): "638916a3981182329270eb540ddae6a2b21a29892e3fa0acf78181c329bede24",
    ("development", 1): "361b9b8fb8859c04f2e5b8149f5c56f4fd4fa185dc5f88814a1de5fb734a14d0",
    ("effort-assessment", 1): "9c684c962b3006381c6dcf38c2e634ffc1706d3195cbfe093942175b154c077d",
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
