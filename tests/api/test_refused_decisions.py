"""A refused decision is kept under its name, and the lifecycle goes on (R7, R22, R24)."""

from __future__ import annotations

from typing import Any

import pytest

from contracts.errors import CaseloreError, Conflict, NotReviewer, SamePerson, StaleDigest, StaleStage
from contracts.lifecycle import Stage
from tests.api.world import World, accepting, draft


@pytest.mark.parametrize(
    ("as_", "stage", "given", "expected"),
    [
        ("cora", Stage.CURATOR_REVIEW, {"digest": "0" * 64}, StaleDigest),
        ("cora", Stage.OWNER_REVIEW, {}, StaleStage),
        ("otto", Stage.CURATOR_REVIEW, {}, NotReviewer),
        ("agent", Stage.CURATOR_REVIEW, {}, SamePerson),
    ],
    ids=["stale digest", "another stage", "another role", "proposer"],
)
async def test_r7_a_refused_decision_is_kept_and_the_lifecycle_stays_healthy(
    world: World, as_: str, stage: Stage, given: dict[str, Any], expected: type[CaseloreError]
) -> None:
    proposal = await world.proposed()
    decision = accepting(proposal, stage, **given)
    async with world.caller(as_) as caller, world.caller("cora") as cora:
        with pytest.raises(expected) as caught:
            await caller.decide(decision)
        assert caught.value.message
        view = await caller.get_command(decision.decision_id)
        assert (view.state, view.outcome) == ("refused", expected.__name__)
        with pytest.raises(expected):
            await caller.decide(decision)
        assert await world.count("review_decisions", f"experience_id = '{proposal.experience_id}'") == 0
        assert (await cora.decide(accepting(proposal, Stage.CURATOR_REVIEW))).outcome == "owner_review"


async def test_r7_nobody_reviews_twice(world: World) -> None:
    proposal = await world.proposed()
    async with world.caller("berta") as berta, world.caller("otto") as otto:
        await berta.decide(accepting(proposal, Stage.CURATOR_REVIEW))
        assert proposal.experience_id not in {task.experience_id for task in await berta.reviews(limit=500)}
        with pytest.raises(SamePerson):
            await berta.decide(accepting(proposal, Stage.OWNER_REVIEW))
        assert (await otto.decide(accepting(proposal, Stage.OWNER_REVIEW))).outcome == "published"


async def test_r24_an_id_that_was_used_for_something_else_is_a_conflict(world: World) -> None:
    proposal = await world.proposed()
    decision = accepting(proposal, Stage.CURATOR_REVIEW)
    async with world.caller("cora") as cora, world.caller("berta") as berta, world.caller("agent") as agent:
        await cora.decide(decision)
        other = await world.proposed()
        for attempt in (
            cora.decide(decision.model_copy(update={"comment": "On second thoughts."})),
            berta.decide(decision),
            cora.decide(decision.model_copy(update={"experience_id": other.experience_id})),
            agent.propose(proposal.model_copy(update={"draft": draft(title="Another title")})),
        ):
            with pytest.raises(Conflict) as caught:
                await attempt
            assert caught.value.type == "IdempotencyConflict"
