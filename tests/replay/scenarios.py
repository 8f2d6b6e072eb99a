"""One scenario for each branch of each workflow; each leaves one history."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import cast

from temporalio.client import Client, WorkflowHistory, WorkflowUpdateStage
from temporalio.worker import Worker

from activities.reconcile_activity import ReconcileActivities
from activities.reconciling import Reconciler
from activities.retrieval.activity import RetrievalActivities
from activities.retrieval.engine import RetrievalEngine
from contracts.errors import CaseloreError, UnknownRetrieval
from contracts.lifecycle import Event
from contracts.reconcile import ReconcileReport
from contracts.retrieval import RetrievalReceipt
from contracts.review import CommandMessage
from deploy.worker import workflow_runner
from tests.workflows.driver import Lifecycle, eventually, gateway_for, lifecycles_on
from tests.workflows.lifecycle_records import LifecycleMemory
from tests.workflows.test_erasure import ErasureMemory, run_erasure
from tests.workflows.test_outbox_projector import Following, projector
from workflows.experience_lifecycle import ExperienceLifecycle
from workflows.reconcile import Reconcile
from workflows.retrieval import Retrieval

SOON = timedelta(seconds=0.2)


async def published(lifecycle: Lifecycle) -> None:
    """Two acceptances."""
    await lifecycle.accept_twice()


async def returned_resubmitted(lifecycle: Lifecycle) -> None:
    """A returned draft that is written anew."""
    await lifecycle.decide(Event.RETURN, "cora")
    await lifecycle.send(Event.RESUBMIT)
    await lifecycle.accept_twice()


async def rejected(lifecycle: Lifecycle) -> None:
    """Rejected by the owner."""
    await lifecycle.decide(Event.ACCEPT, "cora")
    await lifecycle.decide(Event.REJECT, "olga")
    await lifecycle.handle.result()


async def correction(lifecycle: Lifecycle) -> None:
    """A published revision that is corrected."""
    await lifecycle.accept_twice()
    await lifecycle.send(Event.CORRECT)
    await lifecycle.accept_twice()


async def correction_rejected(lifecycle: Lifecycle) -> None:
    """A correction that the curator rejects."""
    await lifecycle.accept_twice()
    await lifecycle.send(Event.CORRECT, suspend=True)
    await lifecycle.decide(Event.REJECT, "cora")


async def retired(lifecycle: Lifecycle) -> None:
    """Retired after its publication."""
    await lifecycle.accept_twice()
    await lifecycle.send(Event.RETIRE)
    await lifecycle.handle.result()


async def superseded(lifecycle: Lifecycle) -> None:
    """Superseded amid a correction."""
    await lifecycle.accept_twice()
    await lifecycle.send(Event.CORRECT)
    await lifecycle.send(Event.SUPERSEDE)
    await lifecycle.handle.result()


async def revised(lifecycle: Lifecycle) -> None:
    """An edit by the curator, accepted by two others."""
    await lifecycle.send(Event.REVISE, by="cora")
    await lifecycle.decide(Event.ACCEPT, "carl")
    await lifecycle.decide(Event.ACCEPT, "olga")


async def reinstated(lifecycle: Lifecycle) -> None:
    """The run that a reinstatement starts, through both reviews."""
    await lifecycle.accept_twice()
    await lifecycle.send(Event.RETIRE)
    await lifecycle.handle.result()
    await lifecycle.send(Event.REINSTATE)
    await lifecycle.accept_twice()


async def reinstatement_rejected(lifecycle: Lifecycle) -> None:
    """The run that a reinstatement starts and a rejection ends."""
    await lifecycle.accept_twice()
    await lifecycle.send(Event.RETIRE)
    await lifecycle.handle.result()
    await lifecycle.send(Event.REINSTATE)
    await lifecycle.decide(Event.REJECT, "cora")
    await lifecycle.handle.result()


async def refused_decision(lifecycle: Lifecycle) -> None:
    """A decision that only the record can refuse, then good ones."""
    with suppress(CaseloreError):
        await lifecycle.decide(Event.ACCEPT, "ann")
    await lifecycle.accept_twice()


async def unknown_command(lifecycle: Lifecycle) -> None:
    """A signal whose command the record doesn't know, and one without a command."""
    await lifecycle.gateway.signal(lifecycle.id, Event.RETIRE, CommandMessage(command_id=str(uuid.uuid4())))
    await lifecycle.handle.signal("retire")
    await lifecycle.accept_twice()


async def reminded_escalated(lifecycle: Lifecycle) -> None:
    """Both deadlines pass before the decision."""
    await eventually("both deadlines pass", lambda: lifecycle.at.escalated)
    await lifecycle.decide(Event.RETURN, "cora")


async def rolled_over(lifecycle: Lifecycle) -> None:
    """The run that ends by continuing as new, with a repeated command."""
    await lifecycle.accept_twice()
    command_id = lifecycle.records.store(Event.CORRECT)
    for _ in range(2):
        await lifecycle.gateway.signal(lifecycle.id, Event.CORRECT, CommandMessage(command_id=command_id))
    await lifecycle.settled(command_id)
    await lifecycle.handle.signal("roll_over")


async def carried_over(lifecycle: Lifecycle) -> None:
    """The run that a roll-over continues in."""
    await lifecycle.decide(Event.ACCEPT, "cora")
    run_id = (await lifecycle.handle.describe()).run_id
    await lifecycle.handle.signal("roll_over")

    async def is_another() -> bool:
        return (await lifecycle.handle.describe()).run_id != run_id

    await eventually("another run", is_another)
    await lifecycle.decide(Event.ACCEPT, "olga")


async def late_command(lifecycle: Lifecycle) -> None:
    """A command that comes while the last decisions of a closed lifecycle are answered."""
    records = lifecycle.records
    messages = [lifecycle.decision(Event.REJECT, "cora"), lifecycle.decision(Event.ACCEPT, "carl")]
    command_id = records.store(Event.RETIRE)
    records.hold()
    before = records.calls
    accepted = [
        await lifecycle.handle.start_update("decide", message, wait_for_stage=WorkflowUpdateStage.ACCEPTED)
        for message in messages
    ]
    records.let_one_go()
    await eventually("the second is being recorded", lambda: records.calls == before + 2)
    await lifecycle.gateway.signal(lifecycle.id, Event.RETIRE, CommandMessage(command_id=command_id))
    await lifecycle.handle.query(ExperienceLifecycle.standing)
    records.let_go()
    await asyncio.gather(*(update.result() for update in accepted), return_exceptions=True)
    await lifecycle.handle.result()


async def unknown_experience(lifecycle: Lifecycle) -> None:
    """A lifecycle that the record doesn't know fails, and so does the decision that it was started by."""
    decision = lifecycle.decision(Event.ACCEPT, "cora")
    del lifecycle.records.experiences[lifecycle.id]
    await lifecycle.handle.terminate()
    with suppress(CaseloreError):
        await lifecycle.gateway.decide(lifecycle.id, decision)


LIFECYCLE: Mapping[str, Callable[[Lifecycle], Awaitable[None]]] = {
    scenario.__name__: scenario
    for scenario in (
        published,
        returned_resubmitted,
        rejected,
        correction,
        correction_rejected,
        retired,
        superseded,
        revised,
        reinstated,
        reinstatement_rejected,
        refused_decision,
        unknown_command,
        reminded_escalated,
        rolled_over,
        carried_over,
        late_command,
        unknown_experience,
    )
}


async def lifecycle_history(client: Client, name: str) -> WorkflowHistory:
    """Run a scenario of the lifecycle and return its history."""
    records = LifecycleMemory()
    if name == "reminded_escalated":
        records = LifecycleMemory(deadline=SOON, escalation=SOON)
    async with lifecycles_on(client, records) as lifecycles:
        lifecycle = await lifecycles.started()
        first = client.get_workflow_handle(lifecycle.handle.id, run_id=(await lifecycle.handle.describe()).run_id)
        await LIFECYCLE[name](lifecycle)
        if name != "unknown_experience":
            await lifecycle.handle.query(ExperienceLifecycle.standing)  # all that was sent is worked off
        return await (first if name == "rolled_over" else lifecycle.handle).fetch_history()


async def projector_history(client: Client, name: str) -> WorkflowHistory:
    """Run a projector for some turns and return its history."""
    following = Following(client, turn=0.2)
    async with projector(following) as handle, following.worker():
        await following.follow_both()
        await asyncio.sleep(0.3)
        return await handle.fetch_history()


class Engine:
    """Answers, or refuses as told."""

    def __init__(self, *, refuses: bool) -> None:
        self._refuses = refuses

    async def answer(self, request_id: str) -> RetrievalReceipt:
        """Answer, or refuse."""
        if self._refuses:
            raise UnknownRetrieval("There is no such request.", field="request_id")
        return RetrievalReceipt(request_id=request_id, candidates=3, abstained=False)


async def retrieval_history(client: Client, name: str) -> WorkflowHistory:
    """Run a retrieval and return its history."""
    queue, request_id = f"retrieval-{uuid.uuid4()}", str(uuid.uuid4())
    activities = RetrievalActivities(cast(RetrievalEngine, Engine(refuses=name == "refused")))
    async with Worker(
        client,
        task_queue=queue,
        workflows=[Retrieval],
        activities=[activities.answer_retrieval],
        workflow_runner=workflow_runner(),
        identity="caselore",
    ):
        with suppress(CaseloreError):
            await gateway_for(client, queue).retrieve(request_id)
        return await client.get_workflow_handle(f"retrieval/{request_id}").fetch_history()


class Drift:
    """A reconciliation that finds drift, and the place for its report."""

    async def reconcile(self, *, repair: bool, seen: object = None) -> ReconcileReport:
        """Find two keys that drift."""
        began = datetime(2026, 3, 2, tzinfo=UTC)
        return ReconcileReport(began_at=began, drifting=2, repairs=2, unreadable=1, adds_up=False)

    async def keep(self, report: ReconcileReport, *, asked_by: str, repaired: bool) -> str:
        """Keep nothing."""
        return "6a1f3f0e-5a0b-5c3e-9d0a-0f6f7c2b8a11"


async def reconcile_history(client: Client, name: str) -> WorkflowHistory:
    """Run a reconciliation and return its history."""
    queue, drift = f"projection-{uuid.uuid4()}", Drift()
    activities = ReconcileActivities(cast(Reconciler, drift), drift)
    async with Worker(
        client,
        task_queue=queue,
        workflows=[Reconcile],
        activities=[activities.reconcile_index],
        workflow_runner=workflow_runner(),
        identity="caselore",
    ):
        handle = await client.start_workflow(Reconcile.run, id=f"reconcile/{queue}", task_queue=queue)
        await handle.result()
        return await handle.fetch_history()


async def erasure_history(client: Client, name: str) -> WorkflowHistory:
    """Run an erasure and return its history."""
    records = {
        "done": ErasureMemory(),
        "further_round": ErasureMemory(1),
        "needs_person": ErasureMemory(refuses=True),
    }[name]
    erasure_id, _ = await run_erasure(client, records)
    return await client.get_workflow_handle(f"erasure/{erasure_id}").fetch_history()


SCENARIOS: Mapping[str, tuple[Callable[[Client, str], Awaitable[WorkflowHistory]], tuple[str, ...]]] = {
    "Erasure": (erasure_history, ("done", "further_round", "needs_person")),
    "ExperienceLifecycle": (lifecycle_history, tuple(LIFECYCLE)),
    "OutboxProjector": (projector_history, ("turns",)),
    "Reconcile": (reconcile_history, ("drift",)),
    "Retrieval": (retrieval_history, ("answered", "refused")),
}
"""How each workflow's histories are made, and their names."""
