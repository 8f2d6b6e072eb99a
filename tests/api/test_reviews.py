"""The reviewer's desk over HTTP: queue, page, claims, differences and remarks (R6, R7, R22)."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from contracts.admission import Check, Severity
from contracts.errors import (
    InvalidField,
    InvalidInput,
    NotReviewer,
    ReviewClaimed,
    StaleStage,
    UnknownExperience,
    UnresolvedFindings,
)
from contracts.experience import Proposal
from contracts.lifecycle import Event, Stage
from contracts.review import ChangeCommand, ChangeKind, FieldComment
from contracts.views import ClaimedBy
from tests.api.world import World, accepting, draft, fresh


async def test_r7_a_claimed_review_is_decided_by_who_claimed_it(world: World) -> None:
    proposal = await world.proposed()
    async with world.caller("cora") as cora, world.caller("berta") as berta:
        claim = await cora.claim_review(proposal.experience_id)
        assert (claim.claimed_by, claim.stage) == ("cora", Stage.CURATOR_REVIEW)
        assert (await cora.claim_review(proposal.experience_id)).claimed_until >= claim.claimed_until
        with pytest.raises(ReviewClaimed, match="cora works on this review until"):
            await berta.claim_review(proposal.experience_id)
        with pytest.raises(ReviewClaimed):
            await berta.decide(accepting(proposal, Stage.CURATOR_REVIEW))
        [task] = [t for t in await berta.reviews(claimed=ClaimedBy.OTHERS) if t.experience_id == proposal.experience_id]
        assert task.claimed_by == "cora"
        standing = await berta.release_review(proposal.experience_id)
        assert standing.claim is not None
        assert (await cora.release_review(proposal.experience_id)).claim is None
        assert (await berta.decide(accepting(proposal, Stage.CURATOR_REVIEW))).outcome == "owner_review"


async def test_r24_two_who_claim_at_once_are_told_apart(world: World) -> None:
    proposal = await world.proposed()
    async with world.caller("cora") as cora, world.caller("berta") as berta:
        answers = await asyncio.gather(
            *(client.claim_review(proposal.experience_id) for client in (cora, berta)), return_exceptions=True
        )
    assert sorted(type(answer).__name__ for answer in answers) == ["ClaimView", "ReviewClaimed"]


async def test_r4_who_has_no_part_in_a_review_can_neither_see_nor_claim_it(world: World) -> None:
    proposal = await world.proposed()
    for who, refusal in (("otto", NotReviewer), ("agent", NotReviewer), ("stranger", UnknownExperience)):
        async with world.caller(who) as client:
            with pytest.raises(refusal):
                await client.claim_review(proposal.experience_id)
    async with world.caller("stranger") as stranger, world.caller("cora") as cora:
        for call in (stranger.review_sheet, stranger.release_review, stranger.get_experience):
            with pytest.raises(UnknownExperience):
                await call(proposal.experience_id)
        with pytest.raises(UnknownExperience):
            await stranger.difference(proposal.experience_id, 1, 1)
        published = await world.published()
        with pytest.raises(StaleStage):
            await cora.claim_review(published.experience_id)


async def test_r7_the_page_of_a_review_holds_what_a_decision_needs(world: World) -> None:
    proposal = await world.proposed()
    async with world.caller("cora") as cora, world.caller("berta") as berta:
        sheet = await cora.review_sheet(proposal.experience_id)
        assert (sheet.stage, sheet.digest, sheet.draft) == (
            Stage.CURATOR_REVIEW,
            proposal.draft.digest(),
            proposal.draft,
        )
        assert not sheet.proof.is_visible
        assert sheet.admission.examined_at is not None
        assert any("IndexUnavailable" in line for line in sheet.resemblances.not_read), "there is no index here (R16)"
        assert (await berta.review_sheet(proposal.experience_id)).proof.is_visible
        decided = await cora.decide(accepting(proposal, sheet.stage, digest=sheet.digest))
        assert decided.outcome == "owner_review"
        assert (await cora.review_sheet(proposal.experience_id)).history[-1].actor_id == "cora"


async def test_r7_remarks_reach_the_author_and_the_new_draft_shows_its_difference(world: World) -> None:
    proposal = await world.proposed()
    remark = FieldComment(field="units[0].text", text="Since which version?")
    returned = accepting(proposal, Stage.CURATOR_REVIEW, verdict=Event.RETURN, comment="One thing.", comments=(remark,))
    async with world.caller("cora") as cora, world.caller("agent") as agent:
        await cora.decide(returned)
        last = (await agent.get_experience(proposal.experience_id)).history[-1]
        assert (last.comment, last.comments) == ("One thing.", (remark,))
        better = draft(title="A letter type without its register row isn't printed")
        await agent.change(
            ChangeCommand(
                command_id=fresh(),
                experience_id=proposal.experience_id,
                kind=ChangeKind.RESUBMIT,
                reason="As asked.",
                draft=better,
            ),
            wait=20,
        )
        difference = await agent.difference(proposal.experience_id, 1, 2)
        assert [change.field for change in difference.changes] == ["title"]
        assert difference.changes[0].after == better.title
        with pytest.raises(InvalidField) as refused:
            await agent.difference(proposal.experience_id, 1, 3)
        assert refused.value.field == "to"


async def test_r22_a_remark_on_a_field_that_is_not_there_is_refused_with_those_that_are(world: World) -> None:
    proposal = await world.proposed()
    remark = FieldComment(field="units[9].text", text="Which?")
    returned = accepting(proposal, Stage.CURATOR_REVIEW, verdict=Event.RETURN, comment="No.", comments=(remark,))
    before = await world.counts()
    async with world.caller("cora") as cora:
        with pytest.raises(InvalidField) as refused:
            await cora.decide(returned)
    assert refused.value.field == "comments[0].field"
    assert "units[1].text" in refused.value.accepted
    assert await world.counts() == before


async def test_r5_an_open_finding_holds_up_an_acceptance_with_its_field(world: World) -> None:
    """A span in a paper of no case: the queue counts it, the page shows its place, nobody can accept it."""
    result_id = await world.new_result()
    content = draft()
    unit = {**content.units[0].model_dump(), "spans": [{"paper_id": fresh(), "start": 0, "end": 3}]}
    content = draft(units=[unit])
    proposal = Proposal(experience_id=fresh(), result_id=result_id, draft=content)
    async with world.caller("agent") as agent, world.caller("cora") as cora:
        await agent.propose(proposal)
        [task] = [t for t in await cora.reviews(limit=500) if t.experience_id == proposal.experience_id]
        assert task.findings == {Severity.MUST_FIX: 1}
        (listed,) = (await cora.review_sheet(proposal.experience_id)).admission.findings
        assert (listed.finding.check, listed.finding.field) == (Check.SPAN_PAPER, "units[0].spans[0].paper_id")
        refused = await world.send(
            "POST", "/v1/reviews", as_="cora", body=accepting(proposal, Stage.CURATOR_REVIEW).model_dump(mode="json")
        )
        assert refused.status_code == 409
        assert refused.json()["type"] == "urn:caselore:error:UnresolvedFindings"
        assert refused.json()["field"] == "units[0].spans[0].paper_id"
        with pytest.raises(UnresolvedFindings):
            await cora.decide(accepting(proposal, Stage.CURATOR_REVIEW))


async def test_r7_the_queue_is_read_page_by_page_and_filtered(world: World) -> None:
    for _ in range(3):
        await world.proposed()
    async with world.caller("cora") as cora:
        whole = [task.experience_id for task in await cora.reviews(limit=500)]
        seen: list[str] = []
        after: str | None = None
        while page := await cora.reviews(limit=2, after=after):
            seen += [task.experience_id for task in page]
            after = page[-1].cursor
        assert seen == whole
        assert await cora.reviews(domain="elsewhere") == []
        assert await cora.reviews(stage=Stage.OWNER_REVIEW) == []
        assert len(await cora.reviews(due_before=datetime.now(UTC) + timedelta(days=30), limit=500)) == len(whole)
        with pytest.raises(InvalidInput) as refused:
            await cora.reviews(after="somewhere")
        assert refused.value.field == "after"


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("stage=nowhere", "stage"),
        ("due_before=yesterday", "due_before"),
        ("due_before=2026-03-02T12:00:00", "due_before"),
        ("claimed=cora", "claimed"),
        ("limit=0", "limit"),
        ("after=" + "x" * 400, "after"),
        ("domain=%00", "domain"),
    ],
)
async def test_r22_a_bad_query_names_its_field(world: World, query: str, field: str) -> None:
    answer = await world.send("GET", f"/v1/reviews?{query}", as_="cora")
    assert answer.status_code == 422
    problem: dict[str, Any] = answer.json()
    assert problem["field"] == field
    assert problem["accepted"]
