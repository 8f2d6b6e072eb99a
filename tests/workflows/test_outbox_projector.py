"""The outbox projector follows the outbox for ever: turns, failures, shutdown, killed workers (R8, R9)."""

from __future__ import annotations

import asyncio
import sys
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client, WorkflowHandle
from temporalio.testing import ActivityEnvironment
from temporalio.worker import Worker
from temporalio.workflow import Info

import workflows.options
from activities.delivery import LifecycleDelivery
from activities.outbox import OutboxActivities
from activities.projection import Projector
from contracts.errors import DeliveryPending, LifecycleClosed
from contracts.lifecycle import Stage
from contracts.outbox import EventKind, Topic
from contracts.review import CommandMessage, DecisionMessage, DecisionOutcome
from deploy.worker import workflow_runner
from tests.workflows.driver import eventually, gateway_for
from tests.workflows.outbox_memory import IndexMemory, LengthEmbedder, OutboxMemory, ProjectionsMemory
from workflows.outbox_projector import PROJECTOR_ID, OutboxProjector

NAME = str(uuid.UUID(int=7))
ROOT = Path(__file__).parents[2]


class GatewayMemory:
    """`contracts.ports.LifecycleGateway` that notes what it is given."""

    def __init__(self) -> None:
        self.signals: list[str] = []
        self.failures: list[Exception] = []

    async def start(self, experience_id: str, *, domain_id: str, tenant_id: str) -> str:
        """See `contracts.ports.LifecycleGateway.start`."""
        return "started"

    async def decide(self, experience_id: str, decision: DecisionMessage) -> DecisionOutcome:
        """See `contracts.ports.LifecycleGateway.decide`."""
        return DecisionOutcome(stage=Stage.OWNER_REVIEW, revision=1)

    async def erase(self, erasure_id: str, *, tenant_id: str) -> str:
        """See `contracts.ports.LifecycleGateway.erase`."""
        return "started"

    async def signal(self, experience_id: str, kind: str, command: CommandMessage) -> str:
        """See `contracts.ports.LifecycleGateway.signal`."""
        if self.failures:
            raise self.failures.pop(0)
        self.signals.append(experience_id)
        return "signalled"


class Following:
    """The projector's two loops on memory, with a task queue of their own."""

    def __init__(self, client: Client, *, turn: float = 60) -> None:
        self.client = client
        self.queue = f"projection-{uuid.uuid4()}"
        self.outbox = OutboxMemory()
        self.record = ProjectionsMemory()
        self.index = IndexMemory()
        self.gateway = GatewayMemory()
        self.projector = Projector(self.outbox, self.record, self.index, LengthEmbedder())
        self.activities = OutboxActivities(
            LifecycleDelivery(self.outbox, self.gateway),
            self.projector,
            self.outbox,
            self.outbox,
            turn=timedelta(seconds=turn),
        )

    def worker(self, *, deliver: Callable[[], Awaitable[int]] | None = None) -> Worker:
        """Return a worker like the product's, with another first activity if one is given."""
        return Worker(
            self.client,
            task_queue=self.queue,
            workflows=[OutboxProjector],
            activities=[deliver or self.activities.deliver_commands, self.activities.project_changes],
            workflow_runner=workflow_runner(),
            graceful_shutdown_timeout=timedelta(seconds=10),
            identity="caselore",
        )

    def signal(self, experience_id: str) -> str:
        """Add a lifecycle event."""
        payload = {"kind": "retire", "command_id": str(uuid.uuid4())}
        return self.outbox.add(Topic.LIFECYCLE, EventKind.SIGNAL, f"experience/{experience_id}", payload)

    def publish(self, title: str) -> str:
        """Change the record and add an index event."""
        self.record.published[NAME] = (1, title)
        return self.outbox.add(Topic.INDEX, EventKind.PROJECT, f"experience/{NAME}")

    async def follow_both(self) -> None:
        """Return when a new event of each topic was followed."""
        events = [self.signal(NAME), self.publish(str(uuid.uuid4()))]
        await eventually("both are followed", lambda: all(event in self.outbox.done for event in events))


@asynccontextmanager
async def projector(following: Following) -> AsyncGenerator[WorkflowHandle[Any, Any]]:
    """Run a projector workflow of its own for the block, ended without a trace."""
    workflow_id = f"outbox/{following.queue}"
    handle = await following.client.start_workflow(OutboxProjector.run, id=workflow_id, task_queue=following.queue)
    try:
        yield handle
    finally:
        await handle.terminate()


async def scheduled(handle: WorkflowHandle[Any, Any]) -> int:
    """Return how many activities the projector has scheduled."""
    events = [event async for event in handle.fetch_history_events()]
    return sum(event.event_type == EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED for event in events)


async def test_r8_both_loops_follow_turn_after_turn(client: Client) -> None:
    following = Following(client, turn=0.2)
    async with projector(following) as handle, following.worker():
        await following.follow_both()

        async def handed_over() -> bool:
            return await scheduled(handle) >= 6

        await eventually("three turns of each", handed_over)
        await following.follow_both()
    assert following.gateway.signals == [NAME, NAME]


@pytest.mark.parametrize("error", [ConnectionError("no database"), LifecycleClosed("odd"), DeliveryPending("away")])
async def test_r8_a_batch_that_fails_is_tried_again(client: Client, error: Exception) -> None:
    """Whatever it is: a loop that ended for good would leave the outbox alone."""
    following = Following(client)
    following.outbox.failures += [error, error]
    async with projector(following), following.worker():
        await following.follow_both()


async def test_r8_a_worker_stops_fast_and_the_next_one_goes_on(client: Client) -> None:
    following = Following(client)
    loop = asyncio.get_running_loop()
    async with projector(following) as handle:
        async with following.worker():
            await following.follow_both()
            stopping = loop.time()
        assert loop.time() - stopping < 3
        async with following.worker():
            await following.follow_both()
        assert await scheduled(handle) == 4


async def test_r8_a_cancelled_turn_finishes_its_batch(client: Client) -> None:
    """What it holds would stay leased, and nobody could deliver it for a while."""
    following = Following(client)
    started, finish = asyncio.Event(), asyncio.Event()

    async def slow(experience_id: str, kind: str, command: CommandMessage) -> str:
        started.set()
        await finish.wait()
        return "signalled"

    following.gateway.signal = slow
    event = following.signal(NAME)
    environment = ActivityEnvironment()
    turn = asyncio.create_task(environment.run(following.activities.deliver_commands))
    await started.wait()
    environment.cancel()
    await asyncio.sleep(0.05)
    assert not turn.done()
    finish.set()
    with pytest.raises(asyncio.CancelledError):
        await turn
    assert following.outbox.done[event] == "signalled"


async def test_r8_a_new_run_does_not_wait_for_the_other_loop_s_turn(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One loop would stand still for minutes while the other's turn goes on."""
    suggested: list[str] = []  # run ids that are told to continue as new

    def is_suggested(info: Info) -> bool:
        return info.run_id in suggested

    monkeypatch.setattr(Info, "is_continue_as_new_suggested", is_suggested)
    monkeypatch.setattr(workflows.options, "TURN_HEARTBEAT", timedelta(seconds=1))
    following = Following(client, turn=600)
    short = OutboxActivities(
        LifecycleDelivery(following.outbox, following.gateway),
        following.projector,
        following.outbox,
        following.outbox,
        turn=timedelta(seconds=0.2),
    )
    async with projector(following) as handle, following.worker(deliver=short.deliver_commands):
        await following.follow_both()
        first = (await handle.describe()).run_id
        suggested.append(first)

        async def is_another() -> bool:
            return (await handle.describe()).run_id != first

        await eventually("a new run", is_another)
        await following.follow_both()


async def test_r9_a_killed_worker_is_replaced_after_its_heartbeat_is_missed(client: Client) -> None:
    following = Following(client)
    command = [sys.executable, "-m", "tests.workflows.hold_turn"]
    command += [client.service_client.config.target_host, following.queue]
    killed = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE, cwd=ROOT)
    assert killed.stdout is not None
    try:
        async with projector(following) as handle:
            turns = {await killed.stdout.readline() for _ in range(2)}
            assert turns == {b"deliver_commands\n", b"project_changes\n"}
            killed.kill()
            async with following.worker():
                await following.follow_both()
            assert await scheduled(handle) == 2
    finally:
        if killed.returncode is None:
            killed.kill()
        await killed.communicate()


async def test_every_worker_may_ask_for_the_projector(client: Client) -> None:
    queue = f"projection-{uuid.uuid4()}"
    gateway = gateway_for(client, queue)
    handle = client.get_workflow_handle(PROJECTOR_ID)
    for _ in range(2):
        await gateway.start_projector(queue)
    try:
        assert (
            await (await handle.describe()).static_summary() == "Outbox: commands to lifecycles, changes to the index"
        )
    finally:
        await handle.terminate()
