"""The gateway reaches a lifecycle, or revives it, or says that it could not (R8, R10, R22)."""

import asyncio
import uuid

import pytest
from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.contrib.pydantic import pydantic_data_converter

from contracts.errors import CaseloreError, DeliveryPending, LifecycleClosed
from contracts.lifecycle import Event, Stage
from contracts.review import CommandMessage
from tests.workflows.driver import Lifecycle, Lifecycles, eventually, gateway_for
from tests.workflows.lifecycle_records import LifecycleMemory


async def test_starting_twice_starts_once(lifecycle: Lifecycle) -> None:
    run_id = (await lifecycle.handle.describe()).run_id
    await lifecycle.start()
    assert (await lifecycle.handle.describe()).run_id == run_id


async def test_a_start_that_is_repeated_after_the_end_ends_at_once(lifecycle: Lifecycle) -> None:
    await lifecycle.decide(Event.REJECT, "cora")
    await lifecycle.handle.result()
    await lifecycle.start()
    assert (await lifecycle.handle.result())["stage"] == "rejected"
    assert len(lifecycle.records.writes) == len(set(lifecycle.records.writes))


@pytest.mark.parametrize("was_started", [False, True])
async def test_r8_a_decision_revives_a_lifecycle_that_temporal_lost(lifecycles: Lifecycles, was_started: bool) -> None:
    lifecycle = lifecycles.make()
    if was_started:
        await lifecycle.start()
        await lifecycle.handle.terminate("lost")
    await lifecycle.accept_twice()
    assert (await lifecycle.handle.describe()).status is WorkflowExecutionStatus.RUNNING
    assert await lifecycle.known() == lifecycle.at


@pytest.mark.parametrize("was_started", [False, True])
async def test_r10_a_signal_revives_a_lifecycle_that_temporal_lost(lifecycles: Lifecycles, was_started: bool) -> None:
    lifecycle = lifecycles.make(stage=Stage.RETURNED)
    if was_started:
        await lifecycle.start()
        await lifecycle.handle.terminate("lost")
    assert (await lifecycle.send(Event.RESUBMIT)).state == "applied"
    await lifecycle.accept_twice()


@pytest.mark.parametrize("stage", [Stage.REJECTED, Stage.RETIRED, Stage.SUPERSEDED])
async def test_r10_a_closed_record_stays_closed_when_temporal_lost_it(lifecycles: Lifecycles, stage: Stage) -> None:
    lifecycle = lifecycles.make(stage=stage)
    for _ in range(2):
        with pytest.raises(LifecycleClosed):
            await lifecycle.decide(Event.ACCEPT, "cora")
    command = await lifecycle.send(Event.RETIRE)
    assert (command.state, command.refused) == ("refused", "LifecycleClosed")
    assert lifecycle.records.writes.count(stage) == 0
    await eventually("it ended again", lambda: _has_ended(lifecycle))


async def _has_ended(lifecycle: Lifecycle) -> bool:
    return (await lifecycle.handle.describe()).status is WorkflowExecutionStatus.COMPLETED


async def test_r8_a_decision_that_is_cut_off_goes_to_the_revived_lifecycle(lifecycle: Lifecycle) -> None:
    """Terminated between acceptance and answer; Temporal keeps that failure under the decision's id."""
    message = lifecycle.decision(Event.ACCEPT, "cora")
    lifecycle.records.hold()
    before = lifecycle.records.calls
    deciding = asyncio.create_task(lifecycle.gateway.decide(lifecycle.id, message))
    await eventually("it is being recorded", lambda: lifecycle.records.calls > before)
    await lifecycle.handle.terminate("cut off")
    lifecycle.records.let_go()
    assert (await deciding).stage is Stage.OWNER_REVIEW
    assert (await lifecycle.gateway.decide(lifecycle.id, message)).stage is Stage.OWNER_REVIEW
    assert lifecycle.records.writes.count(message.decision_id) == 1
    assert (await lifecycle.decide(Event.ACCEPT, "olga")).stage is Stage.PUBLISHED


async def test_r8_without_a_worker_a_decision_is_pending(client: Client) -> None:
    lifecycles = Lifecycles(client, LifecycleMemory())
    lifecycle = lifecycles.make()
    await lifecycle.start()
    message = lifecycle.decision(Event.ACCEPT, "cora")
    lost = gateway_for(client, lifecycles.queue, patience=0.3)
    for experience_id in (lifecycle.id, str(uuid.uuid4())):  # running, and to be revived
        with pytest.raises(DeliveryPending):
            await lost.decide(experience_id, message)
    async with lifecycles.worker():
        assert (await lifecycle.gateway.decide(lifecycle.id, message)).stage is Stage.OWNER_REVIEW
    assert lifecycle.records.writes == [message.decision_id]


async def test_r22_a_namespace_that_is_not_there_closes_nothing(client: Client, lifecycles: Lifecycles) -> None:
    """Temporal says NOT_FOUND for it too; that may not be taken for the end of a lifecycle."""
    elsewhere = await Client.connect(
        client.service_client.config.target_host, namespace="elsewhere", data_converter=pydantic_data_converter
    )
    lifecycle = lifecycles.make()
    lifecycles.made.clear()
    gateway = gateway_for(elsewhere, lifecycles.queue)
    message = lifecycle.decision(Event.ACCEPT, "cora")
    command = CommandMessage(command_id=str(uuid.uuid4()))
    for attempt in (
        gateway.start(lifecycle.id, domain_id="data", tenant_id="acme"),
        gateway.decide(lifecycle.id, message),
        gateway.signal(lifecycle.id, "retire", command),
        gateway.retrieve(str(uuid.uuid4())),
    ):
        with pytest.raises(CaseloreError) as caught:
            await attempt
        assert caught.value.type == "DeliveryPending"
