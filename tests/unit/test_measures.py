"""What a scraper reads: values as told, few labels, no tenant (R12, R15, R21)."""

from __future__ import annotations

from datetime import UTC, datetime

from prometheus_client import CollectorRegistry, generate_latest

from activities.telemetry.measures import OTHER, FewValues, PrometheusMeasures
from activities.telemetry.record_gauges import DOMAINS, RecordGauges
from contracts.erasure import ErasureState
from contracts.gauges import Gauges, OutboxGauge, ReviewGauge, StageGauge
from contracts.labels import Collection
from contracts.lifecycle import Stage
from contracts.outbox import Topic, Watermark
from contracts.retrieval import RouteState
from contracts.strategy import Route

NOW = datetime(2026, 3, 2, 8, 15, tzinfo=UTC)


def gauges(*domains: str) -> Gauges:
    return Gauges(
        stages=tuple(StageGauge(domain_id=name, stage=Stage.PUBLISHED, count=2) for name in domains),
        reviews=tuple(
            ReviewGauge(
                domain_id=name,
                stage=Stage.CURATOR_REVIEW,
                waiting=3,
                overdue=2,
                escalated=1,
                oldest_seconds=float(60 + number),
            )
            for number, name in enumerate(domains)
        ),
        outbox=(OutboxGauge(topic=Topic.INDEX, pending=7, dead=1, oldest_seconds=4.5),),
        watermarks=(
            Watermark(collection=Collection.DETAIL, position=10, head=17, pending=7, lag_seconds=4.5, as_of=NOW),
        ),
        erasures=dict.fromkeys(ErasureState, 0) | {ErasureState.NEEDS_PERSON: 2},
        audit_position=99,
        reconciled_seconds_ago=12.5,
        drifting=3,
    )


def test_r15_a_retrieval_s_routes_are_counted_and_timed_by_strategy_collection_and_route() -> None:
    registry = CollectorRegistry()
    measures = PrometheusMeasures(registry)
    where = {"strategy": "configuration", "collection": "detail", "route": "lexical"}
    measures.route_ended("configuration", Collection.DETAIL, Route.LEXICAL, RouteState.OK, 0.25)
    assert registry.get_sample_value("caselore_routes_total", {**where, "state": "failed"}) == 0
    measures.route_ended("configuration", Collection.DETAIL, Route.LEXICAL, RouteState.FAILED, 1.5)
    measures.route_ended("configuration", Collection.DETAIL, Route.LEXICAL, RouteState.SKIPPED, 0)
    for state in ("ok", "failed", "skipped"):
        assert registry.get_sample_value("caselore_routes_total", {**where, "state": state}) == 1
    assert registry.get_sample_value("caselore_route_seconds_count", where) == 2, "a skipped route took no time"
    assert registry.get_sample_value("caselore_route_seconds_sum", where) == 1.75

    measures.retrieval_answered("configuration", abstained=False, seconds=0.5)
    measures.retrieval_answered("configuration", abstained=True, seconds=0.5)
    assert registry.get_sample_value("caselore_retrieval_seconds_count", {"strategy": "configuration"}) == 2
    assert registry.get_sample_value("caselore_retrieval_abstentions_total", {"strategy": "configuration"}) == 1


def test_r23_what_could_not_be_projected_is_counted_by_its_end() -> None:
    registry = CollectorRegistry()
    measures = PrometheusMeasures(registry)
    assert registry.get_sample_value("caselore_projection_failures_total", {"end": "dead"}) == 0
    measures.projection_failed(3, dead=False)
    measures.projection_failed(1, dead=True)
    measures.batch_projected(4, 0.1)
    assert registry.get_sample_value("caselore_projection_failures_total", {"end": "postponed"}) == 3
    assert registry.get_sample_value("caselore_projection_failures_total", {"end": "dead"}) == 1
    assert registry.get_sample_value("caselore_projection_events_total") == 4


def test_a_label_takes_no_more_values_than_are_asked_for() -> None:
    few = FewValues(2)
    assert [few.of(value) for value in ("a", "b", "c", "a", "d")] == ["a", "b", OTHER, "a", OTHER]
    registry = CollectorRegistry()
    measures = PrometheusMeasures(registry)
    for number in range(1_000):
        measures.request_answered("GET", f"/{number}", 200, 0.1)
        measures.retrieval_answered(f"strategy {number}", abstained=False, seconds=0.1)
    assert registry.get_sample_value("caselore_retrieval_seconds_count", {"strategy": OTHER}) == 900
    assert len(generate_latest(registry)) < 1_000_000


def test_r12_the_record_s_standing_is_shown_by_name() -> None:
    registry = CollectorRegistry()
    record = RecordGauges(registry)
    record.show(gauges("data"))
    value = registry.get_sample_value
    here = {"domain": "data", "stage": "curator_review"}
    assert value("caselore_record_readable") == 1
    assert value("caselore_experiences", {"domain": "data", "stage": "published"}) == 2
    assert [value(f"caselore_reviews_{name}", here) for name in ("waiting", "overdue", "escalated")] == [3, 2, 1]
    assert value("caselore_review_oldest_seconds", here) == 60
    assert (
        value("caselore_outbox_pending", {"topic": "index"}),
        value("caselore_outbox_dead", {"topic": "index"}),
    ) == (
        7,
        1,
    )
    assert value("caselore_index_lag_seconds", {"collection": "detail"}) == 4.5
    assert value("caselore_erasures", {"state": "needs_person"}) == 2
    assert value("caselore_audit_position") == 99
    assert (value("caselore_reconcile_age_seconds"), value("caselore_reconcile_drifting")) == (12.5, 3)


def test_r23_a_record_that_can_t_be_read_is_told_and_no_old_value_passes_for_a_new_one() -> None:
    registry = CollectorRegistry()
    record = RecordGauges(registry)
    record.show(gauges("data"))
    record.show(None)
    assert registry.get_sample_value("caselore_record_readable") == 0
    assert registry.get_sample_value("caselore_audit_position") is None
    assert "caselore_reviews_waiting{" not in generate_latest(registry).decode()


def test_more_domains_than_are_told_apart_are_told_as_one() -> None:
    registry = CollectorRegistry()
    record = RecordGauges(registry)
    record.show(gauges(*(f"domain-{number}" for number in range(DOMAINS + 10))))
    others = {"domain": OTHER, "stage": "published"}
    assert registry.get_sample_value("caselore_experiences", others) == 20
    others = {"domain": OTHER, "stage": "curator_review"}
    assert registry.get_sample_value("caselore_reviews_waiting", others) == 30
    assert registry.get_sample_value("caselore_review_oldest_seconds", others) == 60 + DOMAINS + 9
