"""Drives one lifecycle the way the product does, through the gateway, and reads what Temporal kept of it."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

from temporalio.api.enums.v1 import EventType, WorkflowTaskFailedCause
from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import Client, WorkflowHandle
from temporalio.worker import Worker

from activities.lifecycle import LifecycleActivities
from contracts.lifecycle import Event, Stage
from contracts.ports import LifecycleRecords
from contracts.review import CommandMessage, DecisionMessage, DecisionOutcome, Snapshot
from deploy.worker import workflow_runner
from tests.workflows.lifecycle_records import Command, LifecycleMemory, Standing
from workflows.experience_lifecycle import ExperienceLifecycle
from workflows.gateway import TemporalGateway


def lifecycle_worker(client: Client, queue: str, records: LifecycleRecords, *, cached: int = 1000) -> Worker:
    """Return a worker like the product's."""
    activities = LifecycleActivities(records)
    return Worker(
        client,
        task_queue=queue,
        workflows=[ExperienceLifecycle],
        activities=[
            activities.load_experience,
            activities.record_decision,
            activities.apply_command,
            activities.record_reminder,
        ],
        workflow_runner=workflow_runner(),
        max_cached_workflows=cached,
        graceful_shutdown_timeout=timedelta(seconds=2),
        identity="caselore",
    )


def gateway_for(client: Client, queue: str, *, patience: float = 5) -> TemporalGateway:
    """Return a gateway to the lifecycles of `queue`."""
    return TemporalGateway(client, lifecycle_queue=queue, retrieval_queue=queue, patience=timedelta(seconds=patience))


async def eventually(what: str, condition: Callable[[], Awaitable[Any] | Any], *, within: float = 10) -> None:
    """Return when `condition` holds; fail with `what` when it doesn't in time."""
    loop = asyncio.get_running_loop()
    ends = loop.time() + within
    while True:
        holds = condition()
        if await holds if isinstance(holds, Awaitable) else holds:
            return
        assert loop.time() < ends, f"not within {within} s: {what}"
        await asyncio.sleep(0.02)


class Lifecycle:
    """One experience and its workflow."""

    def __init__(self, client: Client, queue: str, records: LifecycleMemory, experience_id: str) -> None:
        self.client = client
        self.queue = queue
        self.records = records
        self.id = experience_id
        self.gateway = gateway_for(client, queue)

    @property
    def handle(self) -> WorkflowHandle[Any, Any]:
        """The newest run."""
        return self.client.get_workflow_handle(f"experience/{self.id}")

    @property
    def standing(self) -> Standing:
        """What the record says."""
        return self.records.experiences[self.id]

    @property
    def at(self) -> Snapshot:
        """The record's snapshot."""
        return self.standing.snapshot

    async def start(self) -> None:
        """Start the workflow."""
        await self.gateway.start(self.id, domain_id=self.at.domain_id, tenant_id=self.at.tenant_id)

    def decision(self, verdict: Event, by: str, **changes: Any) -> DecisionMessage:
        """Return a stored decision on what the record holds now."""
        values: dict[str, Any] = {
            "decision_id": self.records.store(verdict, by=by),
            "stage": self.at.stage,
            "digest": self.at.digest,
            "verdict": verdict,
            "reviewer_id": by,
        }
        return DecisionMessage(**(values | changes))

    async def decide(self, verdict: Event, by: str, **changes: Any) -> DecisionOutcome:
        """Decide on what the record holds now."""
        return await self.gateway.decide(self.id, self.decision(verdict, by, **changes))

    async def accept_twice(self) -> None:
        """Take the draft through both reviews."""
        assert (await self.decide(Event.ACCEPT, "cora")).stage is Stage.OWNER_REVIEW
        assert (await self.decide(Event.ACCEPT, "olga")).stage is Stage.PUBLISHED

    async def send(self, kind: Event, *, by: str = "ann", suspend: bool = False) -> Command:
        """Send a command and return it when it is settled."""
        command_id = self.records.store(kind, by=by, suspend=suspend)
        await self.gateway.signal(self.id, kind, CommandMessage(command_id=command_id))
        return await self.settled(command_id)

    async def settled(self, command_id: str) -> Command:
        """Return a command when it was applied or refused and the workflow knows."""
        command = self.records.commands[command_id]
        await eventually(f"{command.kind} settled", lambda: command.state != "pending")
        return command

    async def known(self) -> Snapshot | None:
        """Return what the workflow knows."""
        return await self.handle.query(ExperienceLifecycle.standing)

    async def loaded(self) -> None:
        """Return when the workflow knows where its experience stands."""

        async def is_loaded() -> bool:
            return await self.known() is not None

        await eventually("it is loaded", is_loaded)

    async def history(self) -> list[HistoryEvent]:
        """Return the events of the newest run."""
        return [event async for event in self.handle.fetch_history_events()]

    async def assert_healthy(self) -> None:
        """Assert that no workflow task failed, but for work that came while one ended."""
        late = WorkflowTaskFailedCause.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND
        for event in await self.history():
            if event.event_type == EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED:
                failed = event.workflow_task_failed_event_attributes
                assert failed.cause == late, failed.failure.message


class Lifecycles:
    """Makes lifecycles on one queue."""

    def __init__(self, client: Client, records: LifecycleMemory) -> None:
        self.client = client
        self.queue = f"lifecycle-{uuid.uuid4()}"
        self.records = records
        self.made: list[Lifecycle] = []

    def worker(self, *, cached: int = 1000) -> Worker:
        """Return a worker of this queue."""
        return lifecycle_worker(self.client, self.queue, self.records, cached=cached)

    def make(self, **proposal: Any) -> Lifecycle:
        """Add an experience; its workflow isn't started yet."""
        lifecycle = Lifecycle(self.client, self.queue, self.records, self.records.propose(**proposal))
        self.made.append(lifecycle)
        return lifecycle

    async def started(self, **proposal: Any) -> Lifecycle:
        """Add an experience and start its workflow; it is loaded when this returns."""
        lifecycle = self.make(**proposal)
        await lifecycle.start()
        await lifecycle.loaded()
        return lifecycle


@asynccontextmanager
async def lifecycles_on(client: Client, records: LifecycleMemory, *, cached: int = 1000) -> AsyncGenerator[Lifecycles]:
    """Run a worker for the block."""
    lifecycles = Lifecycles(client, records)
    async with lifecycles.worker(cached=cached):
        yield lifecycles
