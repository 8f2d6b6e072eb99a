"""The lifecycle on the real record: stored, delivered, applied once, published, searchable (R8, R10, R11, R23)."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import Any

from temporalio.client import Client
from temporalio.service import RPCError
from temporalio.worker import Worker

from activities.delivery import LifecycleDelivery
from activities.outbox import OutboxActivities
from activities.projection import Projector
from activities.records.experiences import Stored
from activities.records.lifecycle import LifecycleTable
from activities.records.outbox import OutboxTable
from contracts.lifecycle import Event, Stage
from contracts.ports import LifecycleRecords
from contracts.review import ChangeKind, DecisionMessage, Snapshot
from tests.records.world import World, draft, new_id
from tests.workflows.driver import eventually, gateway_for, lifecycle_worker
from tests.workflows.outbox_memory import IndexMemory, LengthEmbedder
from tests.workflows.test_outbox_projector import Following, projector
from workflows.experience_lifecycle import ExperienceLifecycle

CANARY = "CANARY 7f3a: Mrs Example's policy"


class Office:
    """What the API and the workers of one deployment hold together."""

    def __init__(self, client: Client, world: World, records: LifecycleRecords | None = None) -> None:
        self.client = client
        self.world = world
        self.queue = f"office-{uuid.uuid4()}"
        self.records = records or world.lifecycle
        self.gateway = gateway_for(client, self.queue, patience=2)
        self.delivery = LifecycleDelivery(world.outbox, self.gateway, lease=timedelta(seconds=5))

    def worker(self) -> Worker:
        """Return the lifecycle worker."""
        return lifecycle_worker(self.client, self.queue, self.records)

    async def propose(self, content: Any = None) -> str:
        """Propose and deliver the start, unless the projector does."""
        experience_id = await self.world.propose(content)
        await self.delivery.deliver_now(experience_id)
        handle = self.client.get_workflow_handle(f"experience/{experience_id}")

        async def is_loaded() -> bool:
            with suppress(RPCError):  # not started yet
                return await handle.query(ExperienceLifecycle.standing) is not None
            return False

        await eventually("it is loaded", is_loaded)
        return experience_id

    async def decide(self, experience_id: str, who: str, verdict: Event = Event.ACCEPT, **changes: Any) -> Snapshot:
        """Store a decision, deliver it, and return where that led."""
        message = await self.world.store_decision(experience_id, who, verdict, **changes)
        await self.settled(message.decision_id, by=who)
        return await self.world.lifecycle.load(experience_id)

    async def settled(self, command_id: str, *, by: str, within: float = 15) -> Stored:
        """Deliver a decision or command, unless the projector does, and return what became of it."""
        await self.delivery.deliver_now(command_id)
        found: list[Stored] = []

        async def is_settled() -> bool:
            now = await self.world.experiences.standing(by, command_id)
            found[:] = [now] if now is not None and now.state != "pending" else []
            return bool(found)

        await eventually("it is settled", is_settled, within=within)
        return found[0]

    async def told(self, experience_id: str) -> str:
        """Return everything that Temporal keeps of a lifecycle."""
        handle = self.client.get_workflow_handle(f"experience/{experience_id}")
        return f"{await handle.fetch_history()}{(await handle.describe()).raw_description}"


@asynccontextmanager
async def following(office: Office) -> AsyncGenerator[IndexMemory]:
    """Run both loops of the outbox for the block."""
    both = Following(office.client)
    commands, changes = OutboxTable(office.world.database), OutboxTable(office.world.database)
    both.activities = OutboxActivities(
        LifecycleDelivery(commands, office.gateway, lease=timedelta(seconds=5)),
        Projector(changes, office.world.projections, both.index, LengthEmbedder()),
        commands,
        changes,
    )
    try:
        async with projector(both), both.worker():
            yield both.index
    finally:
        await commands.close()
        await changes.close()


async def test_r8_a_proposal_becomes_searchable(client: Client, world: World) -> None:
    office = Office(client, world)
    async with office.worker(), following(office) as index:
        experience_id = await office.propose()
        assert (await office.decide(experience_id, "cora")).stage is Stage.OWNER_REVIEW
        published = await office.decide(experience_id, "otto")
        assert (published.stage, published.current_revision) == (Stage.PUBLISHED, 1)
        key = f"experience/{experience_id}"
        await eventually("it is projected", lambda: key in {target for _, target in index.points})
        assert world.index_events(key) == 1
        view = await world.experiences.view("cora", experience_id)
        assert view.searchable
        await world.store_command(experience_id, ChangeKind.RETIRE)
        await eventually("it is withdrawn", lambda: key not in {target for _, target in index.points})
        assert world.revision_states(experience_id) == ["retired"]


async def test_r8_what_no_worker_took_is_delivered_once_later(client: Client, world: World) -> None:
    office = Office(client, world)
    async with office.worker():
        experience_id = await office.propose()
    message = await world.store_decision(experience_id, "cora")
    assert not await office.delivery.deliver_now(message.decision_id)
    standing = await world.experiences.standing("cora", message.decision_id)
    assert standing is not None and standing.state == "pending"

    async with office.worker(), following(office):
        await office.settled(message.decision_id, by="cora")
        assert not await office.delivery.deliver_now(message.decision_id)
    assert world.one("SELECT count(*) FROM review_decisions WHERE experience_id = %s", experience_id) == 1
    assert world.one("SELECT count(*) FROM transitions WHERE experience_id = %s", experience_id) == 2


async def test_r8_a_worker_that_dies_after_the_commit_changes_nothing_twice(client: Client, world: World) -> None:
    class Dying(LifecycleTable):
        """Loses its answer once, after the commit."""

        died = False

        async def record_decision(self, experience_id: str, decision: DecisionMessage) -> tuple[Snapshot, bool]:
            recorded = await super().record_decision(experience_id, decision)
            if not self.died:
                self.died = True
                raise ConnectionError("lost")
            return recorded

    office = Office(client, world, Dying(world.database))
    async with office.worker():
        experience_id = await office.propose()
        assert (await office.decide(experience_id, "cora")).stage is Stage.OWNER_REVIEW
        assert (await office.decide(experience_id, "otto")).stage is Stage.PUBLISHED
    assert world.one("SELECT count(*) FROM review_decisions WHERE experience_id = %s", experience_id) == 2
    assert world.index_events(f"experience/{experience_id}") == 1


async def test_r10_a_command_for_a_closed_record_ends_refused(client: Client, world: World) -> None:
    """Temporal never heard of this lifecycle."""
    office = Office(client, world)
    experience_id = await world.propose()
    await world.decide(experience_id, "cora", Event.REJECT)
    async with office.worker():
        command = await world.store_command(experience_id, ChangeKind.RETIRE)
        while await office.delivery.deliver_batch():
            pass
        settled = await office.settled(command.command_id, by="otto")
    assert (settled.state, settled.outcome) == ("refused", "LifecycleClosed")


async def test_r7_a_deadline_of_the_record_reminds_and_escalates(client: Client, world: World) -> None:
    soon = timedelta(seconds=0.4)
    office = Office(client, world, LifecycleTable(world.database, review_deadline=soon, escalation_after=soon))
    async with office.worker():
        experience_id = await office.propose()
        await office.decide(experience_id, "cora")

        async def escalated() -> bool:
            now = await world.lifecycle.load(experience_id)
            return now.reminded and now.escalated

        await eventually("both deadlines pass", escalated)
        events = "SELECT event FROM transitions WHERE experience_id = %s ORDER BY seq"
        assert [event for (event,) in world.rows(events, experience_id)] == ["propose", "accept", "remind", "escalate"]
        assert (await office.decide(experience_id, "otto")).stage is Stage.PUBLISHED


async def test_r11_no_case_text_is_in_temporal(client: Client, world: World) -> None:
    office = Office(client, world)
    async with office.worker():
        experience_id = await office.propose(draft(title=CANARY, text=CANARY))
        await office.decide(experience_id, "cora", Event.RETURN, comment=CANARY)
        again = await world.store_command(
            experience_id, ChangeKind.RESUBMIT, by="ann", draft=draft(title=CANARY, text=f"{CANARY}, again")
        )
        assert (await office.settled(again.command_id, by="ann")).state == "applied"
        await office.decide(experience_id, "cora")
        told = await office.told(experience_id)
    assert experience_id in told
    assert "CANARY" not in told


async def test_r11_a_failing_database_does_not_carry_case_text_into_temporal(client: Client, world: World) -> None:
    """Postgres quotes the values that it chokes on; the message stays out of the history and of pending activities."""
    office = Office(client, world)
    async with office.worker():
        experience_id = await office.propose()
        message = await world.store_decision(experience_id, "cora", comment=CANARY)
        name = f"choke_{new_id().replace('-', '')}"
        world.owner.execute(
            f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS"  # type: ignore[arg-type]
            " $$ BEGIN RAISE EXCEPTION 'can''t take %', NEW.comment; END $$;"
            f" CREATE TRIGGER {name} BEFORE INSERT ON review_decisions FOR EACH ROW EXECUTE FUNCTION {name}()"
        )
        deciding = asyncio.create_task(office.gateway.decide(experience_id, message))

        async def is_failing() -> bool:
            return "unexpected failure" in await office.told(experience_id)

        await eventually("the activity fails", is_failing)
        told = await office.told(experience_id)
        world.owner.execute(f"DROP FUNCTION {name} CASCADE")  # type: ignore[arg-type]
        assert (await deciding).stage is Stage.OWNER_REVIEW
        told += await office.told(experience_id)
    assert "CANARY" not in told
