"""An agent's way through the API: ask, read, decide with citations, report (R13, R16, R20). The index is away."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from sqlalchemy import text
from temporalio.worker import Worker

from activities.records.retrievals import RetrievalsTable
from activities.retrieval.activity import RetrievalActivities
from activities.retrieval.engine import RetrievalEngine
from api.app import create_app
from contracts.errors import (
    DeliveryPending,
    IdempotencyConflict,
    UncitedCandidate,
    UnknownProfile,
    UnknownRetrieval,
)
from contracts.labels import CandidateKind
from contracts.retrieval import (
    CheckOutcome,
    CheckResult,
    Citation,
    CitationVerdict,
    FreshCheck,
    MemoryUse,
)
from tests.api.answering import FlatEmbedder, Now, answering_retrievals, asking
from tests.api.world import AwayIndex, World, fresh
from workflows.retrieval import Retrieval


@pytest_asyncio.fixture(scope="module")
async def answering(world: World) -> AsyncIterator[World]:
    async with answering_retrievals(world) as found:
        yield found


async def test_r20_an_agent_asks_reads_decides_and_reports(answering: World) -> None:
    proposal = await answering.published()
    case_id = await answering.new_case()
    request = asking(case_id=case_id)
    async with answering.caller("agent") as agent:
        answer = await agent.retrieve(request)
        ref = f"experience/{proposal.experience_id}"
        [found] = [candidate for candidate in answer.candidates if candidate.ref == ref]
        assert (found.kind, found.revision) == (CandidateKind.EXPERIENCE, 1)
        assert answer.not_read or any(report.state == "failed" for report in answer.routes), "R16: it says what is away"
        assert await agent.retrieve(request) == answer == await agent.get_retrieval(request.request_id)

        full = await agent.read(request.request_id, ref, 1)
        assert (full.draft, full.text) == (proposal.draft, None)

        use = MemoryUse(
            decision_id=fresh(),
            request_id=request.request_id,
            summary="Look at the register first.",
            citations=(Citation(ref=ref, revision=1, verdict=CitationVerdict.CHOSEN, why="Same symptom."),),
            checks=(FreshCheck(check_id="letters", text="The letters exist."),),
        )
        for _ in range(2):
            assert await agent.record_use(use) == use
        result = CheckResult(decision_id=use.decision_id, check_id="letters", outcome=CheckOutcome.HELD, note="12.")
        for _ in range(2):
            assert await agent.settle_check(result) == result
        with pytest.raises(IdempotencyConflict):
            await agent.settle_check(result.model_copy(update={"outcome": CheckOutcome.FAILED}))
        with pytest.raises(IdempotencyConflict):
            await agent.record_use(use.model_copy(update={"summary": "Something else."}))
        assert len(await agent.watermarks()) == 3

    async with answering.database.as_system() as connection:
        rows = await connection.execute(
            text(f"SELECT kind, text FROM case_papers WHERE case_id = '{case_id}' ORDER BY title")
        )
        [(kind, checked), (other_kind, decided)] = rows.all()  # the case's only papers
    assert kind == other_kind == "memory_use"
    assert json.loads(checked)["outcome"] == "held"
    assert json.loads(decided)["citations"][0]["ref"] == ref


async def test_r20_only_what_was_answered_can_be_read_or_cited(answering: World) -> None:
    request = asking()
    ref = f"experience/{fresh()}"
    async with answering.caller("agent") as agent:
        await agent.retrieve(request)
        before = await answering.counts()
        with pytest.raises(UncitedCandidate):
            await agent.read(request.request_id, ref, 1)
        citation = Citation(ref=ref, revision=2**40, verdict=CitationVerdict.CHOSEN, why="Invented.")
        with pytest.raises(UncitedCandidate):
            await agent.record_use(
                MemoryUse(decision_id=fresh(), request_id=request.request_id, summary="s", citations=(citation,))
            )
        with pytest.raises(IdempotencyConflict):
            await agent.retrieve(request.model_copy(update={"objective": "Something else"}))
        assert await answering.counts() == before


async def test_r13_an_answer_is_for_whom_it_was_given_to(answering: World) -> None:
    request = asking()
    async with answering.caller("agent") as agent, answering.caller("stranger") as stranger:
        await agent.retrieve(request)
        with pytest.raises(UnknownRetrieval):
            await stranger.get_retrieval(request.request_id)
        with pytest.raises(UnknownProfile):
            await stranger.retrieve(request)


async def test_r23_with_no_worker_the_request_is_stored_and_can_be_asked_again(
    world: World, answering: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.retrievals.ANSWER_SECONDS", 0.3)
    alone = World(world.database, world.client, world.queue, f"nobody-{fresh()}")
    request = asking()
    async with world.caller("agent", create_app(alone.services)) as agent:
        with pytest.raises(DeliveryPending):
            await agent.retrieve(request)
        with pytest.raises(DeliveryPending):
            await agent.get_retrieval(request.request_id)
    assert await world.count("retrieval_requests", f"id = '{request.request_id}'") == 1
    engine = RetrievalEngine(RetrievalsTable(world.database), AwayIndex(), FlatEmbedder(), Now())
    monkeypatch.undo()
    async with (
        Worker(
            world.client,
            task_queue=alone.retrieval_queue,
            workflows=[Retrieval],
            activities=[RetrievalActivities(engine).answer_retrieval],
        ),
        world.caller("agent", alone.app) as agent,
    ):
        assert (await agent.retrieve(request)).request_id == request.request_id


async def test_r20_a_retrieval_is_shown_whole_and_comes_out_again(answering: World) -> None:
    await answering.published()
    request = asking()
    async with answering.caller("agent") as agent, answering.caller("stranger") as stranger:
        answer = await agent.retrieve(request)
        record = await agent.retrieval_record(request.request_id)
        assert (record.request, record.answer) == (request, answer)
        assert record.strategy.digest() == record.strategy_digest == answer.strategy_digest
        assert (record.principal_id, record.can_rerun, record.uses) == ("agent", True, ())
        again = await agent.rerun(request.request_id)
        assert (again.same, again.differences) == (True, ())
        assert [(each.ref, each.revision) for each in again.candidates] == [
            (each.ref, each.revision) for each in answer.candidates
        ]
        for refused in (stranger.retrieval_record, stranger.rerun):
            with pytest.raises(UnknownRetrieval):
                await refused(request.request_id)
