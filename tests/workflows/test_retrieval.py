"""The retrieval workflow answers a stored request once, and its refusals keep their types (R13, R15, R22)."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from typing import cast

import pytest
import pytest_asyncio
from temporalio.client import Client
from temporalio.worker import Worker

from activities.retrieval.activity import RetrievalActivities
from activities.retrieval.engine import RetrievalEngine
from contracts.errors import CaseloreError, DeliveryPending, IndexUnavailable, UnknownRetrieval
from contracts.retrieval import RetrievalReceipt
from deploy.worker import workflow_runner
from tests.workflows.driver import gateway_for
from workflows.gateway import TemporalGateway
from workflows.retrieval import Retrieval


class EngineMemory:
    """The engine's answers, given out as they are."""

    def __init__(self) -> None:
        self.answered: list[str] = []
        self.failures: list[Exception] = []

    async def answer(self, request_id: str) -> RetrievalReceipt:
        """Note the request and answer it."""
        self.answered.append(request_id)
        if self.failures:
            raise self.failures.pop(0)
        return RetrievalReceipt(request_id=request_id, candidates=3, abstained=False)


@pytest.fixture(scope="module")
def engine() -> EngineMemory:
    """One engine for the module."""
    return EngineMemory()


@pytest_asyncio.fixture(scope="module")
async def gateway(client: Client, engine: EngineMemory) -> AsyncIterator[TemporalGateway]:
    """A gateway to a running retrieval worker."""
    queue = f"retrieval-{uuid.uuid4()}"
    activities = RetrievalActivities(cast(RetrievalEngine, engine))
    async with Worker(
        client,
        task_queue=queue,
        workflows=[Retrieval],
        activities=[activities.answer_retrieval],
        workflow_runner=workflow_runner(),
    ):
        yield gateway_for(client, queue)


async def test_r15_a_stored_request_is_answered(gateway: TemporalGateway, engine: EngineMemory) -> None:
    request_id = str(uuid.uuid4())
    receipt = await gateway.retrieve(request_id)
    assert receipt == RetrievalReceipt(request_id=request_id, candidates=3, abstained=False)
    assert await gateway.retrieve(request_id) == receipt


async def test_r16_a_service_that_is_away_is_tried_again(gateway: TemporalGateway, engine: EngineMemory) -> None:
    engine.failures += [IndexUnavailable("away"), ValueError("odd")]
    request_id = str(uuid.uuid4())
    await gateway.retrieve(request_id)
    assert engine.answered.count(request_id) == 3


async def test_r22_a_refusal_keeps_its_type_and_is_not_tried_again(
    gateway: TemporalGateway, engine: EngineMemory
) -> None:
    engine.failures.append(UnknownRetrieval("There is no such request.", field="request_id", accepted="its id"))
    request_id = str(uuid.uuid4())
    with pytest.raises(UnknownRetrieval) as caught:
        await gateway.retrieve(request_id)
    assert (caught.value.field, caught.value.accepted) == ("request_id", "its id")
    assert engine.answered.count(request_id) == 1


async def test_r11_an_unexpected_failure_ends_without_its_message(
    gateway: TemporalGateway, engine: EngineMemory, client: Client
) -> None:
    engine.failures += [ValueError("CANARY") for _ in range(3)]
    request_id = str(uuid.uuid4())
    with pytest.raises(CaseloreError) as caught:
        await gateway.retrieve(request_id)
    history = await client.get_workflow_handle(f"retrieval/{request_id}").fetch_history()
    assert "CANARY" not in f"{history}{caught.value}"


async def test_r22_a_lack_of_workers_is_not_an_answer(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    from datetime import timedelta

    import workflows.gateway

    monkeypatch.setattr(workflows.gateway, "RETRIEVAL_TIMEOUT", timedelta(seconds=0.5))
    with pytest.raises(DeliveryPending):
        await gateway_for(client, f"nobody-{uuid.uuid4()}").retrieve(str(uuid.uuid4()))


async def test_a_retrieval_starts_eagerly(gateway: TemporalGateway, client: Client) -> None:
    """Worker and client share a process: the first task comes back with the start."""
    request_id = str(uuid.uuid4())
    await gateway.retrieve(request_id)
    events = [e async for e in client.get_workflow_handle(f"retrieval/{request_id}").fetch_history_events()]
    assert events[0].workflow_execution_started_event_attributes.eager_execution_accepted
