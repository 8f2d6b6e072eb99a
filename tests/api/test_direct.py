"""A runtime with a Temporal client of its own starts its retrievals itself; who it is stays with the API (R13)."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from temporalio import workflow
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from api.direct import DirectRetrieval
from contracts.errors import IdempotencyConflict, UnknownCase, UnknownProfile, UnknownRetrieval
from contracts.prepared import PreparedRetrieval
from contracts.retrieval import RetrievalReceipt
from tests.api.mcp_world import answering
from tests.api.test_retrievals import asking
from tests.api.world import World, fresh


@pytest_asyncio.fixture(scope="module")
async def busy(world: World) -> AsyncIterator[World]:
    async with answering(world):
        yield world


@workflow.defn
class AgentTask:
    """An agent runtime's own workflow, with the retrieval as its child."""

    @workflow.run
    async def run(self, prepared: PreparedRetrieval) -> RetrievalReceipt:
        return await workflow.execute_child_workflow(
            prepared.workflow,
            prepared.request_id,
            id=prepared.workflow_id,
            task_queue=prepared.task_queue,
            result_type=RetrievalReceipt,
        )


async def test_r13_a_direct_start_gives_the_same_answer_as_http(busy: World) -> None:
    proposal = await busy.published()
    request = asking()
    async with busy.caller("agent") as agent:
        direct = DirectRetrieval(agent, busy.client)
        answer = await direct.retrieve(request)
        assert f"experience/{proposal.experience_id}" in [candidate.ref for candidate in answer.candidates]
        assert await direct.retrieve(request) == answer == await agent.retrieve(request)
        with pytest.raises(IdempotencyConflict):
            await direct.retrieve(request.model_copy(update={"objective": "Something else"}))


async def test_r13_a_prepared_request_has_not_run(busy: World) -> None:
    request = asking()
    async with busy.caller("agent") as agent:
        prepared = await agent.prepare_retrieval(request)
        assert await agent.prepare_retrieval(request) == prepared
        assert await busy.count("retrieval_requests", f"id = '{request.request_id}' AND answer IS NULL") == 1
        assert (await agent.retrieve(request)).request_id == request.request_id


async def test_r4_the_one_who_starts_it_is_not_the_one_who_may_see(busy: World) -> None:
    """Starting somebody's stored request gives counts; the answer goes to who asked, and scope was theirs."""
    theirs, request = await busy.new_case("south", as_="stranger"), asking()
    async with busy.caller("agent") as agent, busy.caller("stranger") as stranger:
        before = await busy.counts()
        with pytest.raises(UnknownProfile):
            await DirectRetrieval(stranger, busy.client).retrieve(request)
        with pytest.raises(UnknownCase):
            await DirectRetrieval(agent, busy.client).retrieve(asking(case_id=theirs))
        assert await busy.counts() == before
        prepared = await agent.prepare_retrieval(request)
        receipt = await DirectRetrieval(stranger, busy.client).run(prepared)
        assert set(receipt.model_dump()) == {"request_id", "candidates", "abstained"}
        with pytest.raises(UnknownRetrieval):
            await stranger.get_retrieval(request.request_id)
        assert len((await agent.get_retrieval(request.request_id)).candidates) == receipt.candidates
        unknown = prepared.model_copy(update={"request_id": fresh(), "workflow_id": f"retrieval/{fresh()}"})
        with pytest.raises(UnknownRetrieval):
            await DirectRetrieval(stranger, busy.client).run(unknown)


async def test_a_runtimes_own_workflow_runs_it_as_a_child(busy: World) -> None:
    queue, request = f"runtime-{fresh()}", asking()
    async with (
        busy.caller("agent") as agent,
        Worker(busy.client, task_queue=queue, workflows=[AgentTask], workflow_runner=UnsandboxedWorkflowRunner()),
    ):
        prepared = await agent.prepare_retrieval(request)
        receipt: RetrievalReceipt = await busy.client.execute_workflow(
            AgentTask.run, prepared, id=f"task/{fresh()}", task_queue=queue
        )
        assert receipt.candidates == len((await agent.get_retrieval(request.request_id)).candidates)
