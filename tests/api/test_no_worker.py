"""With no worker a decision is stored, answered with 202, and takes effect once when one starts (R8, R10, R23)."""

from __future__ import annotations

import asyncio
import time
from datetime import timedelta

from api.app import create_app
from contracts.lifecycle import Stage
from contracts.review import ChangeCommand, ChangeKind
from contracts.views import CommandView
from tests.api.world import World, accepting, fresh


async def test_r23_a_decision_waits_for_a_worker_and_takes_effect_once(world: World) -> None:
    queue = f"nobody-{fresh()}"
    services = world.services_on(queue, patience=timedelta(seconds=0.5), gateway_patience=0.3)
    app = create_app(services)
    proposal = await world.proposed(app)
    decision = accepting(proposal, Stage.CURATOR_REVIEW)

    began = time.monotonic()
    response = await world.send("POST", "/v1/reviews", as_="cora", body=decision.model_dump(mode="json"), app=app)
    assert time.monotonic() - began < 3
    assert response.status_code == 202
    pending = CommandView(command_id=decision.decision_id, state="pending", outcome="")
    assert response.json() == pending.model_dump()
    assert response.headers["location"] == f"/v1/commands/{decision.decision_id}"
    assert await world.count("review_decisions", f"experience_id = '{proposal.experience_id}'") == 0

    async with world.caller("cora", app) as cora, world.caller("otto", app) as otto:
        looking = asyncio.create_task(cora.decide(decision, wait=30))
        async with world.worker_on(queue):
            projector = asyncio.create_task(deliver_all(world, queue))
            try:
                view = await looking
                assert (view.state, view.outcome) == ("applied", "owner_review")
                assert await cora.decide(decision) == view
                assert await world.count("review_decisions", f"experience_id = '{proposal.experience_id}'") == 1
                assert (await otto.decide(accepting(proposal, Stage.OWNER_REVIEW), wait=30)).outcome == "published"
            finally:
                projector.cancel()


async def test_r10_a_change_is_durable_with_no_worker(world: World) -> None:
    queue = f"nobody-{fresh()}"
    app = create_app(world.services_on(queue, gateway_patience=0.3))
    proposal = await world.proposed(app)
    retire = ChangeCommand(
        command_id=fresh(), experience_id=proposal.experience_id, kind=ChangeKind.RETIRE, reason="Not so."
    )
    async with world.caller("otto", app) as otto:
        began = time.monotonic()
        assert (await otto.change(retire, wait=0.3)).state == "pending"
        assert time.monotonic() - began < 3
        async with world.worker_on(queue):
            # Nothing was ever published that could be retired: the lifecycle says so when it runs.
            for _ in range(100):
                if (await otto.get_command(retire.command_id)).state != "pending":
                    break
                await asyncio.sleep(0.1)
            assert (await otto.get_command(retire.command_id)).outcome == "NotPublished"


async def deliver_all(world: World, queue: str) -> None:
    """Deliver what the API could not, as the projector does."""
    delivery = world.services_on(queue).delivery
    while True:
        await delivery.deliver_batch()
        await asyncio.sleep(0.1)
