"""Dashboard, alert rules and the operators' table name what a scraper finds, with the labels that it has (R12)."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client import CollectorRegistry

from activities.telemetry.measures import PrometheusMeasures
from activities.telemetry.record_gauges import RecordGauges
from contracts.labels import Collection
from contracts.retrieval import RouteState
from contracts.strategy import Route
from tests.unit.test_measures import gauges

ROOT = Path(__file__).parents[2]
DASHBOARD = ROOT / "deploy/dashboards/caselore.json"
ALERTS = ROOT / "deploy/dashboards/alerts.yaml"
MANUAL = ROOT / "docs/operators.md"


@pytest.fixture(scope="module")
def samples() -> dict[str, set[str]]:
    """The labels of each sample of a process that has done one of everything."""
    registry = CollectorRegistry()
    measures = PrometheusMeasures(registry)
    measures.request_answered("GET", "/v1/cases", 200, 0.1)
    measures.retrieval_answered("configuration", abstained=True, seconds=0.1)
    measures.route_ended("configuration", Collection.DETAIL, Route.LEXICAL, RouteState.OK, 0.1)
    measures.index_asked(Collection.DETAIL, "dense", 0.1)
    measures.batch_projected(1, 0.1)
    measures.projection_failed(1, dead=True)
    RecordGauges(registry).show(gauges("data"))
    found: dict[str, set[str]] = {}
    for family in registry.collect():
        for sample in family.samples:
            if not sample.name.endswith("_created"):
                found.setdefault(sample.name, set()).update(sample.labels)
    return found


def dashboard_expressions() -> list[str]:
    dashboard: dict[str, Any] = json.loads(DASHBOARD.read_text(encoding="utf-8"))
    return [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]


def rules() -> list[dict[str, Any]]:
    return [rule for group in yaml.safe_load(ALERTS.read_text(encoding="utf-8"))["groups"] for rule in group["rules"]]


@pytest.mark.parametrize("expression", [*dashboard_expressions(), *(rule["expr"] for rule in rules())])
def test_r12_an_expression_asks_for_samples_and_labels_that_are_there(
    expression: str, samples: dict[str, set[str]]
) -> None:
    names = set(re.findall(r"caselore_\w+", expression))
    assert names
    assert names <= samples.keys()
    asked = {label for group in re.findall(r"by \(([^)]*)\)", expression) for label in re.split(r",\s*", group)}
    asked |= set(re.findall(r"(\w+)(?:=~|!=|=)\"", expression))
    assert asked <= set.intersection(*(samples[name] for name in names))
    assert expression.count("(") == expression.count(")")


def test_each_alert_says_what_happened_once_and_the_manual_says_what_to_do() -> None:
    manual = MANUAL.read_text(encoding="utf-8")
    names = [rule["alert"] for rule in rules()]
    assert len(set(names)) == len(names)
    for rule in rules():
        assert rule["annotations"]["summary"]
        assert rule["labels"]["severity"] in {"page", "ticket"}
        assert f"`{rule['alert']}`" in manual


def test_the_manual_s_table_is_what_a_scraper_finds() -> None:
    registry = CollectorRegistry()
    PrometheusMeasures(registry)
    RecordGauges(registry)
    found = {family.name: family.documentation for family in registry.collect()}
    listed = dict(re.findall(r"^\| `(caselore_\w+)` \| [^|]* \| ([^|]*) \|$", MANUAL.read_text(encoding="utf-8"), re.M))
    assert listed == {
        name + ("_total" if name in counters(registry) else ""): f"{text}" for name, text in found.items()
    }


def counters(registry: CollectorRegistry) -> set[str]:
    return {family.name for family in registry.collect() if family.type == "counter"}
