"""Lent roles, scope differences, edits and reinstatements through the API, with a running lifecycle (R7, R10)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from contracts.delegation import Delegation, DelegationState
from contracts.errors import (
    InvalidField,
    LifecycleClosed,
    NotReviewer,
    ScopeNotAcknowledged,
    UnknownDelegation,
    UnknownExperience,
)
from contracts.experience import Limits, Proposal
from contracts.labels import DomainRole
from contracts.lifecycle import Stage
from contracts.review import ChangeCommand, ChangeKind
from contracts.scope_difference import ScopeRelation
from tests.api.world import World, accepting, draft, fresh

WIDER = draft(limits=Limits(products=("Policy", "Claims")))


def change(proposal: Proposal, kind: ChangeKind, **given: Any) -> ChangeCommand:
    values = {"command_id": fresh(), "experience_id": proposal.experience_id, "kind": kind, "reason": "So it is."}
    return ChangeCommand.model_validate({**values, **given})


def lent(to: str = "guest", role: DomainRole = DomainRole.CURATOR, **given: Any) -> Delegation:
    values: dict[str, Any] = {"id": fresh(), "delegate_id": to, "domain_id": "data", "role": role, "reason": "Leave."}
    return Delegation.model_validate({**values, "expires_at": datetime.now(UTC) + timedelta(days=3), **given})


async def test_r7_a_lent_role_decides_until_it_is_taken_back(world: World) -> None:
    first, second = await world.proposed(), await world.proposed()
    async with world.caller("cora") as cora, world.caller("guest") as guest, world.caller("stranger") as stranger:
        with pytest.raises(UnknownExperience):
            await guest.decide(accepting(first, Stage.CURATOR_REVIEW))
        view = await cora.delegate(wanted := lent())
        assert await cora.delegate(wanted) == view
        assert [each.id for each in await guest.delegations()] == [view.id]
        assert await stranger.delegations() == []
        assert first.experience_id in {task.experience_id for task in await guest.reviews(limit=500)}
        assert (await guest.decide(accepting(first, Stage.CURATOR_REVIEW))).outcome == "owner_review"
        with pytest.raises(UnknownDelegation):
            await stranger.revoke_delegation(view.id)
        assert (await cora.revoke_delegation(view.id)).state is DelegationState.REVOKED
        with pytest.raises(UnknownExperience):
            await guest.decide(accepting(second, Stage.CURATOR_REVIEW))
    assert await world.count("review_decisions", "reviewer_id = 'guest' AND on_behalf_of = 'cora'") == 1


@pytest.mark.parametrize(
    ("given", "field"),
    [({"to": "agent"}, "delegate_id"), ({"expires_at": datetime(2099, 1, 1, tzinfo=UTC)}, "expires_at")],
)
async def test_r22_a_delegation_names_a_person_and_an_end(world: World, given: dict[str, Any], field: str) -> None:
    async with world.caller("cora") as cora:
        with pytest.raises(InvalidField) as refusal:
            await cora.delegate(lent(**given))
    assert refusal.value.field == field


async def test_r10_an_owner_reads_and_acknowledges_what_a_correction_changes(world: World) -> None:
    proposal = await world.published()
    async with world.caller("agent") as agent, world.caller("cora") as cora, world.caller("otto") as otto:
        await agent.change(change(proposal, ChangeKind.CORRECT, draft=WIDER), wait=10)
        await cora.decide(accepting(proposal, Stage.CURATOR_REVIEW, digest=WIDER.digest()))
        with pytest.raises(ScopeNotAcknowledged) as refusal:
            await otto.decide(accepting(proposal, Stage.OWNER_REVIEW, digest=WIDER.digest()))
        shown = await otto.scope_difference(proposal.experience_id)
        assert shown.relation is not ScopeRelation.SAME
        assert shown.digest == refusal.value.accepted
        assert any(line.startswith("limits.products") for line in shown.lines())
        accepted = accepting(proposal, Stage.OWNER_REVIEW, digest=WIDER.digest(), acknowledged_scope=shown.digest)
        assert (await otto.decide(accepted)).outcome == "published"
    async with world.caller("stranger") as stranger:
        with pytest.raises(UnknownExperience):
            await stranger.scope_difference(proposal.experience_id)


async def test_r10_a_supersession_takes_an_owner_who_read_the_difference(world: World) -> None:
    old, new = await world.published(), await world.published()
    async with world.caller("agent") as agent, world.caller("cora") as cora, world.caller("otto") as otto:
        await agent.change(change(new, ChangeKind.CORRECT, draft=WIDER), wait=10)
        await cora.decide(accepting(new, Stage.CURATOR_REVIEW, digest=WIDER.digest()))
        own = await otto.scope_difference(new.experience_id)
        await otto.decide(accepting(new, Stage.OWNER_REVIEW, digest=WIDER.digest(), acknowledged_scope=own.digest))
        with pytest.raises(NotReviewer):
            await cora.change(change(old, ChangeKind.SUPERSEDE, superseded_by=new.experience_id))
        shown = await otto.scope_difference(old.experience_id, superseded_by=new.experience_id)
        with pytest.raises(ScopeNotAcknowledged):
            await otto.change(change(old, ChangeKind.SUPERSEDE, superseded_by=new.experience_id), wait=10)
        taken = change(old, ChangeKind.SUPERSEDE, superseded_by=new.experience_id, acknowledged_scope=shown.digest)
        assert (await otto.change(taken, wait=10)).outcome == "superseded"
        with pytest.raises(LifecycleClosed):
            await agent.change(change(old, ChangeKind.REINSTATE, draft=WIDER), wait=10)


async def test_r7_a_reviewer_edits_and_the_proposer_and_editor_stay_out(world: World) -> None:
    proposal = await world.proposed()
    edited = draft(title="In fewer words")
    command = change(proposal, ChangeKind.REVISE, draft=edited, digest=proposal.draft.digest())
    async with world.caller("agent") as agent, world.caller("otto") as otto, world.caller("cora") as cora:
        with pytest.raises(NotReviewer):
            await agent.change(command.model_copy(update={"command_id": fresh()}))
        assert (await otto.change(command, wait=10)).outcome == "curator_review"
        assert (await cora.decide(accepting(proposal, Stage.CURATOR_REVIEW, digest=edited.digest()))).state == "applied"
        waiting = {task.experience_id for task in await otto.reviews(limit=500)}
        assert proposal.experience_id not in waiting


async def test_r10_a_retired_experience_comes_back_through_both_reviews(world: World) -> None:
    proposal = await world.published()
    again = draft(title="It happens again")
    async with world.caller("agent") as agent, world.caller("cora") as cora, world.caller("otto") as otto:
        await otto.change(change(proposal, ChangeKind.RETIRE), wait=10)
        view = await agent.change(change(proposal, ChangeKind.REINSTATE, draft=again), wait=10)
        assert view.outcome == "curator_review"
        await cora.decide(accepting(proposal, Stage.CURATOR_REVIEW, digest=again.digest()))
        assert (await otto.decide(accepting(proposal, Stage.OWNER_REVIEW, digest=again.digest()))).state == "applied"
        seen = await agent.get_experience(proposal.experience_id)
        assert (seen.stage, seen.current_revision) == (Stage.PUBLISHED, 2)
