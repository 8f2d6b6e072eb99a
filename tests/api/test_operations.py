"""Routes for operators and for the past: audit, as-of reads, reconciliation, dead letters (R4, R9, R10, R23)."""

from __future__ import annotations

from collections.abc import Collection as Targets
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text

from activities.reconciling import Reconciler
from api.app import create_app
from contracts.audit import AuditHead, check_link
from contracts.errors import IndexUnavailable, InvalidField, NotDead, NotPermitted, UnknownEvent, UnknownExperience
from contracts.identity import Grant
from contracts.index import IndexChange, Stored
from contracts.labels import Collection
from contracts.lifecycle import Stage
from deploy.wiring import SystemClock
from tests.api.world import Letters, World, fresh


class Nothing:
    """`contracts.reconcile_ports.IndexContents` without a point."""

    async def page(self, collection: Collection, after: str | None, limit: int) -> tuple[list[Stored], str | None]:
        """See `contracts.reconcile_ports.IndexContents.page`."""
        return [], None

    async def points_of(self, collection: Collection, targets: Targets[str]) -> list[Stored]:
        """See `contracts.reconcile_ports.IndexContents.points_of`."""
        return []

    async def apply(self, changes: Sequence[IndexChange]) -> None:
        """See `contracts.reconcile_ports.IndexContents.apply`."""


async def test_r7_the_chain_is_read_by_subject_and_verified_from_outside(world: World) -> None:
    proposal = await world.published()
    subject = f"experience/{proposal.experience_id}"
    async with world.caller("admin") as admin, world.caller("cora") as cora, world.caller("stranger") as stranger:
        rows = await cora.audit(subject=subject)
        assert [row.actor_id for row in rows if row.action == "decision"] == ["cora", "otto"]
        assert rows == await admin.audit(subject=subject)
        assert await stranger.audit(subject=subject) == []
        with pytest.raises(InvalidField) as refused:
            await stranger.audit()
        assert refused.value.field == "subject"
        head, after = AuditHead(), 0
        while page := await admin.audit(after=after, limit=50):
            for row in page:
                assert check_link(head, row) == ""
                head = AuditHead(seq=row.seq, hash=row.hash)
            after = head.seq
        assert head == await admin.audit_head()
        with pytest.raises(NotPermitted):
            await cora.audit_head()


async def test_r4_an_administrator_s_acts_bear_their_name(world: World) -> None:
    async with world.caller("admin") as admin:
        before = (await admin.audit_head()).seq
        await admin.put_grant(Grant(principal_id="spare", tenant_id="north", purpose="help"))
        (row,) = [row for row in await admin.audit(after=before) if row.action == "grant"]
    assert (row.actor_id, row.details["principal"], row.details["tenant"]) == ("admin", "spare", "north")
    async with world.database.as_system() as connection:
        assert (await connection.execute(text("SELECT audit_actor()"))).scalar_one() is None, "only inside a request"


async def test_r10_the_past_is_read_through_the_api(world: World) -> None:
    before = datetime.now(UTC) - timedelta(seconds=1)
    proposal = await world.published()
    async with world.caller("agent") as agent, world.caller("stranger") as stranger:
        now = datetime.now(UTC)
        found = await agent.experience_as_of(proposal.experience_id, now)
        assert (found.stage, found.current_revision, found.draft) == (Stage.PUBLISHED, 1, proposal.draft)
        ids: list[str] = []
        page = await agent.current_as_of(now, domain="data", limit=1)
        ids += [entry.experience_id for entry in page.entries]
        while page.after is not None:
            page = await agent.current_as_of(now, domain="data", limit=1, after=page.after)
            ids += [entry.experience_id for entry in page.entries]
        assert proposal.experience_id in ids
        assert ids == sorted(set(ids))
        for client, at in ((agent, before), (stranger, now)):
            with pytest.raises(UnknownExperience):
                await client.experience_as_of(proposal.experience_id, at)
        with pytest.raises(InvalidField) as refused:
            await agent.experience_as_of(proposal.experience_id, now + timedelta(days=1))
        assert refused.value.field == "at"
    naive = await world.send("GET", "/v1/as-of?at=2026-03-02T08:00:00", as_="agent")
    assert (naive.status_code, naive.json()["field"]) == (422, "at")
    nul = await world.send("GET", "/v1/audit?subject=%00", as_="agent")
    assert (nul.status_code, nul.json()["field"]) == (422, "subject")


async def test_r9_a_comparison_is_asked_for_kept_and_listed(world: World) -> None:
    with pytest.raises(IndexUnavailable):
        async with world.caller("admin") as admin:
            await admin.reconcile()

    reconciler = Reconciler(world.services.projections, Nothing(), Letters.model, SystemClock())
    app = create_app(replace(world.services, reconciler=reconciler))
    async with world.caller("admin", app) as admin:
        report = await admin.reconcile()
        (kept, *_) = await admin.reconcile_reports(limit=1)
    assert report.adds_up
    assert (kept.asked_by, kept.repaired, kept.report) == ("admin", False, report)


async def test_r23_dead_letters_are_listed_retried_given_up_and_shown_when_ready(world: World) -> None:
    proposal = await world.proposed()
    event_id = fresh()
    async with world.database.as_system() as connection:
        await connection.execute(
            text(
                "INSERT INTO outbox (event_id, topic, kind, key, payload, failures, outcome, dead_at) VALUES"
                " (CAST(:id AS uuid), 'lifecycle', 'decide', :key, '{}', 20, 'ValueError at _send:78', now())"
            ),
            {"id": event_id, "key": f"experience/{proposal.experience_id}"},
        )
    async with world.caller("admin") as admin:
        (letter,) = [each for each in await admin.dead_letters() if each.event_id == event_id]
        assert (letter.failures, letter.error) == (20, "ValueError at _send:78")
        ready = await admin.ready()
        assert ready.ready
        assert ready.dead_letters >= 1
        assert (await admin.retry_dead_letter(event_id), await admin.retry_dead_letter(event_id)) == (1, 0)
        with pytest.raises(NotDead):
            await admin.give_up_dead_letter(event_id)
        async with world.database.as_system() as connection:
            await connection.execute(text("UPDATE outbox SET dead_at = now() WHERE event_id = :id"), {"id": event_id})
        assert (await admin.give_up_dead_letter(event_id)).command_id is None
        assert await admin.retry_dead_letters() == 0
        with pytest.raises(UnknownEvent):
            await admin.retry_dead_letter(fresh())
