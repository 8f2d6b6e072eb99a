"""`GET /metrics` on a real record: for administrators, true, without a tenant (R4, R12, R21, R23)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from prometheus_client import CollectorRegistry
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import text

from activities.records.gauges import GaugesTable
from activities.telemetry.record_gauges import RecordGauges
from api.app import create_app
from contracts.lifecycle import Stage
from deploy.telemetry import Metrics
from tests.api.world import World, accepting

Values = dict[tuple[str, tuple[tuple[str, str], ...]], float]


async def scraped(world: World, app: Any = None) -> Values:
    answer = await world.send("GET", "/metrics", as_="admin", app=app or unremembered(world))
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def unremembered(world: World) -> Any:
    """Return an app that has no reading of the record yet."""
    registry = CollectorRegistry()
    metrics = Metrics(GaugesTable(world.database), registry, RecordGauges(registry))
    return create_app(replace(world.services, metrics=metrics))


def of(values: Values, name: str, **labels: str) -> float:
    return values.get((name, tuple(sorted(labels.items()))), 0)


async def test_r4_metrics_are_for_administrators(world: World) -> None:
    for caller in ("cora", "agent", "guest"):
        assert (await world.send("GET", "/metrics", as_=caller)).status_code == 403
    assert (await world.send("GET", "/metrics", as_=None)).status_code == 401


async def test_r12_stages_and_open_reviews_follow_the_record(world: World) -> None:
    before = await scraped(world)
    proposal = await world.proposed()
    proposed = await scraped(world)
    waiting = {"domain": "data", "stage": "curator_review"}
    for name in ("caselore_experiences", "caselore_reviews_waiting"):
        assert of(proposed, name, **waiting) == of(before, name, **waiting) + 1
    assert of(proposed, "caselore_review_oldest_seconds", **waiting) > 0
    assert of(proposed, "caselore_audit_position") > of(before, "caselore_audit_position")
    for who, stage in (("cora", Stage.CURATOR_REVIEW), ("otto", Stage.OWNER_REVIEW)):
        async with world.caller(who) as reviewer:
            await reviewer.decide(accepting(proposal, stage))
    after = await scraped(world)
    assert of(after, "caselore_reviews_waiting", **waiting) == of(before, "caselore_reviews_waiting", **waiting)
    published = {"domain": "data", "stage": "published"}
    assert of(after, "caselore_experiences", **published) == of(before, "caselore_experiences", **published) + 1


async def test_r7_an_escalated_review_is_counted_until_it_is_decided(world: World) -> None:
    proposal = await world.proposed()
    where = {"domain": "data", "stage": "curator_review"}
    before = await scraped(world)
    async with world.database.as_system() as connection:
        await connection.execute(
            text(
                "UPDATE experiences SET reminded = true, escalated = true, due_at = NULL WHERE id = CAST(:id AS uuid)"
            ),
            {"id": proposal.experience_id},
        )
    escalated = await scraped(world)
    for name in ("caselore_reviews_overdue", "caselore_reviews_escalated"):
        assert of(escalated, name, **where) == of(before, name, **where) + 1


async def test_r23_pending_and_dead_events_and_lag_are_told(world: World) -> None:
    before = await scraped(world)
    await world.published()  # nothing projects here: its index events stay
    pending = await scraped(world)
    assert of(pending, "caselore_outbox_pending", topic="index") > of(before, "caselore_outbox_pending", topic="index")
    assert of(pending, "caselore_index_pending", collection="detail") > 0
    assert of(pending, "caselore_index_lag_seconds", collection="detail") > 0
    async with world.database.as_system() as connection:
        given = await connection.execute(
            text(
                "UPDATE outbox SET dead_at = now() WHERE position ="
                " (SELECT max(position) FROM outbox WHERE topic = 'index' AND delivered_at IS NULL) RETURNING position"
            )
        )
        position = given.scalar_one()
    dead = await scraped(world)
    assert of(dead, "caselore_outbox_dead", topic="index") == of(before, "caselore_outbox_dead", topic="index") + 1
    async with world.database.as_system() as connection:
        await connection.execute(text("UPDATE outbox SET dead_at = NULL WHERE position = :p"), {"p": position})


async def test_r21_no_label_names_a_tenant_or_a_principal(world: World) -> None:
    await world.published()
    app = create_app(world.services)
    await scraped(world, app)
    values = {value for _, labels in await scraped(world, app) for _, value in labels}
    assert not values & {"north", "south", "agent", "cora", "otto", "admin"}


async def test_a_request_is_counted_by_its_route_and_an_unknown_path_has_none(world: World) -> None:
    app = create_app(world.services_on(world.queue))
    for path in ("/v1/cases/not-a-uuid", "/v1/cases/neither?words=secret", "/nowhere/secret"):
        await world.send("GET", path, app=app)
    await world.send("BREW", "/health/live", app=app)
    values = await scraped(world, app)
    name = "caselore_http_request_seconds_count"
    assert of(values, name, method="GET", route="/v1/cases/{case_id}", status="422") == 2
    assert of(values, name, method="GET", route="(none)", status="404") == 1
    assert not any("secret" in value for _, labels in values for _, value in labels)
    assert any(("method", "OTHER") in labels for _, labels in values)


async def test_scrapers_share_a_reading_of_the_record(world: World) -> None:
    class Counted(GaugesTable):
        reads = 0

        async def read(self) -> Any:
            self.reads += 1
            return await super().read()

    registry = CollectorRegistry()
    gauges = Counted(world.database)
    metrics = Metrics(gauges, registry, RecordGauges(registry))
    first = await metrics()
    assert b"caselore_record_readable 1.0" in first
    for _ in range(5):
        await metrics()
    assert gauges.reads == 1


async def test_r23_a_record_that_is_away_is_told_and_the_rest_still_answers(world: World) -> None:
    class Away(GaugesTable):
        async def read(self) -> Any:
            raise ConnectionError

    registry = CollectorRegistry()
    answer = (await Metrics(Away(world.database), registry, RecordGauges(registry))()).decode()
    assert "caselore_record_readable 0.0" in answer
