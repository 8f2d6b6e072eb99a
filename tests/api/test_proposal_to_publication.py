"""The way of an experience through the API, and that each step can be repeated (R5, R7, R8, R23)."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from contracts.cases import Disposition
from contracts.errors import IdempotencyConflict, LifecycleClosed, NotPublished, StaleRevision, UnknownExperience
from contracts.labels import CaseState
from contracts.lifecycle import Event, Stage
from contracts.review import ChangeCommand, ChangeKind
from tests.api.world import NOW, World, accepting, delivery, draft, fresh, papers, verified


async def test_r7_two_reviews_by_two_people_publish_a_proposal(world: World) -> None:
    proposal = await world.proposed()
    async with world.caller("cora") as cora, world.caller("otto") as otto, world.caller("agent") as agent:
        [task] = [task for task in await cora.reviews(limit=500) if task.experience_id == proposal.experience_id]
        assert (task.stage, task.digest) == (Stage.CURATOR_REVIEW, proposal.draft.digest())
        assert proposal.experience_id not in {task.experience_id for task in await otto.reviews(limit=500)}

        first = accepting(proposal, Stage.CURATOR_REVIEW)
        view = await cora.decide(first)
        assert (view.command_id, view.state, view.outcome) == (first.decision_id, "applied", "owner_review")
        [task] = [task for task in await otto.reviews(limit=500) if task.experience_id == proposal.experience_id]
        view = await otto.decide(accepting(proposal, task.stage, digest=task.digest))
        assert (view.state, view.outcome) == ("applied", "published")

        seen = await agent.get_experience(proposal.experience_id)
        assert (seen.stage, seen.current_revision, seen.proposer_id) == (Stage.PUBLISHED, 1, "agent")
        assert not seen.searchable, "saved and searchable are two things (R23): no projector runs here"
        assert seen.revisions[0].draft == proposal.draft
        assert await cora.decide(first) == await agent.get_command(first.decision_id)


async def test_r8_a_repeated_request_has_one_effect_and_its_first_answer(world: World) -> None:
    result, filed = verified(await world.new_case())
    proposal = await world.proposed()
    decision = accepting(proposal, Stage.CURATOR_REVIEW)
    async with world.caller("agent") as agent, world.caller("cora") as cora:
        receipt = await agent.deliver(sent := delivery())
        await agent.record_result(result, filed, complete_at=NOW + timedelta(hours=1))
        decided = await asyncio.gather(*(cora.decide(decision) for _ in range(4)))
        assert {(view.state, view.outcome) for view in decided} == {("applied", "owner_review")}

        before = await world.counts()
        again = await agent.deliver(sent)
        assert again == receipt.model_copy(update={"redelivered": True})
        assert await agent.record_result(result, filed, complete_at=NOW + timedelta(hours=1)) == result
        assert (await agent.propose(proposal)).outcome == "curator_review"
        assert (await cora.decide(decision)).outcome == "owner_review"
        assert await world.counts() == before


async def test_r1_a_delivery_answers_201_once_and_200_after(world: World) -> None:
    body = delivery().model_dump(mode="json")
    first = await world.send("POST", "/v1/arrivals", body=body)
    second = await world.send("POST", "/v1/arrivals", body=body)
    assert [first.status_code, second.status_code] == [201, 200]
    assert first.json()["disposition"] == Disposition.OPENED
    assert first.headers["location"] == second.headers["location"] == f"/v1/cases/{first.json()['case_id']}"


async def test_r24_a_case_changes_at_the_expected_revision_only(world: World) -> None:
    case_id = await world.new_case()
    async with world.caller("agent") as agent, world.caller("berta") as berta:
        case = await agent.get_case(case_id)
        assert case_id in {case.id for case in await agent.list_cases("north", state=CaseState.OPEN, limit=200)}
        moved = await agent.change_state(
            case_id, CaseState.WAITING, expected_revision=case.revision, at=NOW, waiting_on="the template's owner"
        )
        assert (moved.state, moved.waiting_on) == (CaseState.WAITING, "the template's owner")
        # After a lost answer the same change once more is no conflict.
        again = await agent.change_state(
            case_id, CaseState.WAITING, expected_revision=case.revision, at=NOW, waiting_on="the template's owner"
        )
        assert again == moved
        with pytest.raises(StaleRevision) as caught:
            await berta.change_state(
                case_id, CaseState.WAITING, expected_revision=case.revision, at=NOW, waiting_on="the template's owner"
            )
        assert caught.value.accepted == str(moved.revision)
        assert await world.count("case_states", f"case_id = '{case_id}'") == 2


async def test_r5_papers_are_filed_once(world: World) -> None:
    case_id = await world.new_case()
    filed = papers()
    async with world.caller("agent") as agent:
        for _ in range(2):
            assert set((await agent.file_papers(case_id, filed)).paper_ids) == {paper.id for paper in filed}
        with pytest.raises(IdempotencyConflict):
            await agent.file_papers(case_id, [*papers(), filed[0].model_copy(update={"text": "Something else."})])
    assert await world.count("case_papers", f"case_id = '{case_id}'") == 2, "all of a filing, or none"


async def test_r10_a_retirement_travels_as_a_signal_and_can_be_waited_for(world: World) -> None:
    proposal = await world.published()
    retire = ChangeCommand(
        command_id=fresh(), experience_id=proposal.experience_id, kind=ChangeKind.RETIRE, reason="No longer so."
    )
    response = await world.send("POST", "/v1/changes", as_="otto", body=retire.model_dump(mode="json"))
    assert response.status_code == 202
    assert response.headers["location"] == f"/v1/commands/{retire.command_id}"
    async with world.caller("otto") as otto, world.caller("agent") as agent:
        view = await otto.change(retire, wait=10)
        assert (view.state, view.outcome) == ("applied", "retired")
        assert (await agent.get_experience(proposal.experience_id)).stage is Stage.RETIRED
        late = retire.model_copy(update={"command_id": fresh()})
        with pytest.raises((LifecycleClosed, NotPublished)):
            await otto.change(late, wait=10)
        with pytest.raises((LifecycleClosed, NotPublished)):
            await otto.change(late)


async def test_r7_a_returned_draft_is_resubmitted_and_reviewed_anew(world: World) -> None:
    proposal = await world.proposed()
    async with world.caller("cora") as cora, world.caller("agent") as agent:
        view = await cora.decide(
            accepting(proposal, Stage.CURATOR_REVIEW, verdict=Event.RETURN, comment="Say which letters.")
        )
        assert view.outcome == "returned"
        command = ChangeCommand(
            command_id=fresh(),
            experience_id=proposal.experience_id,
            kind=ChangeKind.RESUBMIT,
            reason="Named them.",
            draft=draft(title="A renewal letter without its register row is not printed"),
        )
        response = await world.send("POST", "/v1/changes?wait=10", as_="agent", body=command.model_dump(mode="json"))
        assert (response.status_code, response.json()["outcome"]) == (200, "curator_review")
        seen = await agent.get_experience(proposal.experience_id)
        assert (seen.revision, seen.revisions[1].draft) == (2, command.draft)


async def test_r4_a_reviewer_of_another_domain_and_a_guest_see_nothing(world: World) -> None:
    proposal = await world.proposed()
    for who in ("stranger", "guest"):
        async with world.caller(who) as client:
            assert await client.reviews() == []
            with pytest.raises(UnknownExperience):
                await client.get_experience(proposal.experience_id)
