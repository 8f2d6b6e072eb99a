"""The five shipped strategies: what each reads, and that a used version never changes (R14)."""

from __future__ import annotations

from typing import Any

import pytest

from contracts.labels import CandidateKind, Collection, Outcome
from contracts.model import Model
from contracts.strategies import (
    CONFIGURATION,
    DATA_INVESTIGATION,
    DATA_INVESTIGATION_2,
    DEVELOPMENT,
    EFFORT_ASSESSMENT,
    ROOT_CLASSIFICATION,
    ROOT_CLASSIFICATION_2,
    SHIPPED,
    newest,
)
from contracts.strategy import Hop, Links, Route, SourceStep, Strategy

DIGESTS = {
    ("root-classification", 1): "7a2d4f36248c89b9b9ce075bcf890762d01d5f14647d81ca574cf9ff19c73fe9",
    ("data-investigation", 1): "98bc0befd33c33d77494f19231a8aa44c0e0fc79cf3a9c35ff04157f52f277b6",
    ("configuration", 1): "a8cdd7d8330b4dedf21978eda6ecac0ae76d6c5f855175416bc3ed8e59aea857",
    ("development", 1): "cb41398de1a9f932680e4a00f599bdbba0eeef19cc271e034521fb03a7ebf5c4",
    ("effort-assessment", 1): "3f57bcc87865eb4d3553cbd5554171432b70212e9adc0f2345dfc2e62475e8a5",
    ("data-investigation", 2): "e721ccc54e490b5d174e2870e8222eed498e8a5d39fcd410e03e7488bdfd3493",
    ("configuration", 2): "5bc8235513ec1c58ba8a72a3458cf2f9dd9919e6e351c7308b5b4509ca52b49b",
    ("development", 2): "c0a64fa36f391afd3440b53726cc37d31559c9b89a5bce561aa38710e09a850b",
    ("effort-assessment", 2): "4388c0440791ed29d9e5390328582880a10c96cc837ff0ca0ce18b3ab5a76343",
    ("root-classification", 2): "9feea23a3d4aea8fe4bead79a04f6ab32e080462a2572ff0e8dcfb9c17d9fb01",
    ("data-investigation", 3): "cf4b4bf204d76ac246f3d2ab4b036f3ee5538ffcd6d869490c32504b1bd1d4e4",
    ("configuration", 3): "316330a629cbc7d88fe801aa019e98e2c4f3bc54fba26b5935146dd8f47fe82d",
    ("development", 3): "77e61c6a24631b53f4d0f2afd69df52d566ed1950eac093bb7c541296e8099b7",
    ("effort-assessment", 3): "4114e2e9e9284112f7421743cd30f1c20f3bce46f95ad4d364948249783db30a",
}


@pytest.mark.parametrize("strategy", SHIPPED, ids=lambda strategy: strategy.id)
def test_a_shipped_version_never_changes_r14(strategy: Strategy) -> None:
    assert strategy.digest() == DIGESTS[strategy.id, strategy.version], "add a new version beside this one"


def test_a_default_that_shipped_never_changes_r14() -> None:
    """A digest leaves defaults out, so that a field can be added: another default would pass for the same version."""
    shipped: dict[type[Model], dict[str, Any]] = {
        Hop: {
            "first": 3, "named": 3, "weight": 1.5, "follow": 2, "follow_depth": 20, "follow_weight": 0.6,
            "into_cases": False,
        },
        Links: {"first": 3, "depth": 10, "weight": 0.5},
        SourceStep: {
            "own_domain_only": False, "outcomes": ("succeeded", "failed", "rejected_route", "unverified"),
            "needs_effort": False, "depth": 50, "weight": 1.0, "hop": None, "links": None,
        },
        Strategy: {
            "rrf_k": 60, "show_detail": True, "results": 10, "effort_minimum": None, "looks": (2, 6), "contrast": 0,
            "bar": None, "contrast_look": 5, "judges_unread": False,
        },
    }  # fmt: skip
    for part, defaults in shipped.items():
        fields = {name: field.default for name, field in part.model_fields.items() if not field.is_required()}
        assert fields == defaults, part.__name__


def test_five_strategies_ship_each_with_its_own_sources_r14() -> None:
    assert {strategy.id for strategy in SHIPPED} == {
        "root-classification",
        "data-investigation",
        "configuration",
        "development",
        "effort-assessment",
    }
    first = [strategy for strategy in SHIPPED if strategy.version == 1]
    assert len({strategy.model_dump_json(include={"steps"}) for strategy in first}) == len(first) == 5


def test_root_starts_with_the_registry_and_reads_synopses_of_every_domain() -> None:
    assert ROOT_CLASSIFICATION.steps[0].routes == (Route.REGISTRY,)
    assert {step.collection for step in ROOT_CLASSIFICATION.steps} == {Collection.CASES, Collection.ROUTING}
    assert not any(step.own_domain_only for step in ROOT_CLASSIFICATION.steps)
    assert not ROOT_CLASSIFICATION.show_detail


def test_root_learns_from_rejected_routes_r5() -> None:
    routing = next(step for step in ROOT_CLASSIFICATION.steps if step.collection is Collection.ROUTING)
    assert Outcome.REJECTED_ROUTE in routing.outcomes


@pytest.mark.parametrize("strategy_id", ["data-investigation", "configuration", "development"])
def test_the_second_specialists_follow_terms_and_keep_failures_apart_r5_r14(strategy_id: str) -> None:
    strategy = _version(strategy_id, 2)
    first = strategy.steps[0]
    assert first.hop is not None
    assert first.links is not None
    (contrast,) = [step for step in strategy.steps if Route.CONTRAST in step.routes]
    assert strategy.contrast > 0
    assert Outcome.SUCCEEDED not in contrast.outcomes
    assert contrast.own_domain_only
    linked = {kind for step in strategy.steps if step.links for kind in step.kinds}
    assert linked == {CandidateKind.EXPERIENCE, CandidateKind.ARTICLE}


@pytest.mark.parametrize("strategy_id", sorted({strategy.id for strategy in SHIPPED}))
def test_the_newest_of_each_is_the_one_before_with_a_bar_a_contrast_and_a_judgement_r14_r15(strategy_id: str) -> None:
    strategy = newest(strategy_id)
    before = _version(strategy_id, strategy.version - 1)
    assert strategy.bar is not None
    assert strategy.contrast == (before.contrast or DATA_INVESTIGATION_2.contrast) > 0
    assert strategy.guide.startswith(before.guide)
    assert all(step.hop is None or step.hop.into_cases for step in strategy.steps)
    changed = strategy.model_dump(include={"version", "guide", "contrast"})
    changed |= {"bar": strategy.bar, "judges_unread": True, "steps": strategy.steps}
    assert before.model_copy(update=changed) == strategy
    hops = [step.hop and step.hop.model_copy(update={"into_cases": False}) for step in strategy.steps]
    plain = [step.model_copy(update={"hop": hop}) for step, hop in zip(strategy.steps, hops, strict=True)]
    assert tuple(plain) == before.steps


def _version(strategy_id: str, version: int) -> Strategy:
    (strategy,) = [each for each in SHIPPED if (each.id, each.version) == (strategy_id, version)]
    return strategy


def test_only_shipped_strategies_have_a_newest_version() -> None:
    assert newest("root-classification") is ROOT_CLASSIFICATION_2
    with pytest.raises(LookupError):
        newest("guesswork")


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
