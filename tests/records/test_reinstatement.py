"""A retired experience comes back as a new revision through both reviews, or stays retired (R10)."""

from __future__ import annotations

import random
from typing import Any

import pytest

from contracts.errors import CaseloreError, LifecycleClosed
from contracts.lifecycle import Event, Stage
from contracts.review import ChangeKind
from tests.records.test_changes import refused
from tests.records.test_decisions import history
from tests.records.test_edits import edit
from tests.records.world import World, draft

REVIEWERS = {Stage.CURATOR_REVIEW: ["cora", "carl"], Stage.OWNER_REVIEW: ["otto", "olga"]}
AGAIN = draft(title="It happens again", text="The register row is missing again.")


async def retired(world: World) -> str:
    experience_id = await world.published()
    await world.change(experience_id, ChangeKind.RETIRE)
    return experience_id


async def test_a_reinstatement_is_a_revision_through_both_reviews(shared: World) -> None:
    experience_id = await retired(shared)
    key = f"experience/{experience_id}"
    events = shared.index_events(key)
    outcome = await shared.change(experience_id, ChangeKind.REINSTATE, by="ann", draft=AGAIN)
    assert outcome.snapshot is not None
    assert (outcome.snapshot.stage, outcome.snapshot.revision, outcome.snapshot.current_revision) == (
        Stage.CURATOR_REVIEW, 2, None,
    )  # fmt: skip
    assert outcome.snapshot.rests_at is Stage.RETIRED
    assert shared.revision_states(experience_id) == ["retired", "draft"]
    await shared.decide(experience_id, "cora")
    assert shared.index_events(key) == events, "nothing is current before both accepted"
    after = await shared.decide(experience_id, "otto")
    assert (after.stage, after.current_revision, after.rests_at) == (Stage.PUBLISHED, 2, Stage.PUBLISHED)
    assert shared.revision_states(experience_id) == ["retired", "current"]
    assert shared.index_events(key) == events + 1
    assert [event for event, _, _ in history(shared, experience_id)] == [
        "propose", "accept", "accept", "retire", "reinstate", "accept", "accept",
    ]  # fmt: skip
    assert (await shared.change(experience_id, ChangeKind.RETIRE)).refused == ""
    assert shared.revision_states(experience_id) == ["retired", "retired"]


@pytest.mark.parametrize("at", [Stage.CURATOR_REVIEW, Stage.OWNER_REVIEW])
async def test_a_rejected_reinstatement_stays_retired_and_can_be_asked_for_again(shared: World, at: Stage) -> None:
    experience_id = await retired(shared)
    moved = draft(title="Moved", domain_id="development")
    await shared.change(experience_id, ChangeKind.REINSTATE, by="ann", draft=moved)
    if at is Stage.OWNER_REVIEW:
        await shared.decide(experience_id, "cora")
    after = await shared.decide(experience_id, "carl" if at is Stage.CURATOR_REVIEW else "otto", Event.REJECT)
    assert (after.stage, after.current_revision, after.domain_id) == (Stage.RETIRED, None, "data")
    assert shared.revision_states(experience_id) == ["retired", "rejected"]
    assert (await shared.change(experience_id, ChangeKind.REINSTATE, by="ann", draft=AGAIN)).refused == ""


async def test_a_returned_reinstatement_is_resubmitted_or_edited_like_any_draft(shared: World) -> None:
    experience_id = await retired(shared)
    await shared.change(experience_id, ChangeKind.REINSTATE, by="ann", draft=AGAIN)
    await shared.decide(experience_id, "cora", Event.RETURN)
    for kind, fields in ((ChangeKind.RETIRE, {"by": "otto"}), (ChangeKind.CORRECT, {"by": "ann", "draft": AGAIN})):
        await refused(shared, experience_id, kind, "NotPublished", **fields)
    await shared.change(experience_id, ChangeKind.RESUBMIT, by="ann", draft=draft(title="Better"))
    assert await edit(shared, experience_id, "olga") == ""
    await shared.decide(experience_id, "carl")
    assert (await shared.decide(experience_id, "otto")).current_revision == 4
    assert shared.revision_states(experience_id) == ["retired", "returned", "returned", "current"]


async def test_only_what_was_retired_is_reinstated(shared: World) -> None:
    old, new = await shared.published(), await shared.published()
    await refused(shared, new, ChangeKind.REINSTATE, "StaleStage", by="ann", draft=AGAIN)
    await shared.change(old, ChangeKind.SUPERSEDE, superseded_by=new)
    await refused(shared, old, ChangeKind.REINSTATE, "LifecycleClosed", by="ann", draft=AGAIN)
    rejected = await shared.propose()
    await shared.decide(rejected, "cora", Event.REJECT)
    await refused(shared, rejected, ChangeKind.REINSTATE, "LifecycleClosed", by="ann", draft=AGAIN)


async def test_a_decision_on_what_is_retired_is_refused(shared: World) -> None:
    experience_id = await retired(shared)
    message = await shared.store_decision(experience_id, "cora", stage=Stage.CURATOR_REVIEW)
    with pytest.raises(LifecycleClosed) as refusal:
        await shared.lifecycle.record_decision(experience_id, message)
    assert refusal.value.accepted == "reinstate"


async def test_whatever_happens_in_which_order_what_is_published_was_accepted_by_two(world: World) -> None:
    """R7, R8, R10: a walk of people who try everything everywhere; the rows must say so at every step."""
    chance = random.Random(7)
    ids = [await world.published(), await world.published(), await world.propose(), await world.propose()]
    await world.change(ids[0], ChangeKind.SUPERSEDE, superseded_by=ids[1])
    people = ["ann", "cora", "carl", "otto", "olga"]
    steps = 0
    for _ in range(140):
        at = chance.choice(ids)
        now = await world.lifecycle.load(at)
        who = chance.choice([*people, *2 * REVIEWERS.get(now.stage, ["otto"])])
        fields: dict[str, Any] = {"by": who}
        try:
            if now.stage in REVIEWERS and chance.random() < 0.8:
                await world.decide(at, who, chance.choice([*3 * [Event.ACCEPT], Event.RETURN, Event.REJECT]))
            else:
                kind = chance.choice(list(ChangeKind))
                if kind is ChangeKind.SUPERSEDE:
                    fields["superseded_by"] = chance.choice([each for each in ids if each != at])
                elif kind is not ChangeKind.RETIRE:
                    fields |= {"draft": draft(title=f"Draft {steps}"), "suspend": chance.random() < 0.3}
                    fields["digest"] = now.digest
                if (await world.change(at, kind, **fields)).refused:
                    continue
        except CaseloreError:
            continue
        steps += 1
        if chance.random() < 0.1:
            ids.append(await world.propose())
        assert world.rows(_WRONG) == []
    assert steps > 25
    assert world.one("SELECT count(*) FROM transitions WHERE from_stage = 'superseded'") == 0
    reached = {stage for (stage,) in world.rows("SELECT to_stage FROM transitions")}
    assert reached >= {"published", "returned", "retired"}


_WRONG = """
SELECT r.experience_id, r.number FROM revisions r JOIN experiences e ON e.id = r.experience_id
 WHERE r.published_at IS NOT NULL AND (SELECT count(DISTINCT d.reviewer_id) FROM review_decisions d
        WHERE d.experience_id = r.experience_id AND d.revision = r.number AND d.verdict = 'accept'
          AND d.digest = r.digest AND d.reviewer_id NOT IN (r.author_id, e.proposer_id)) <> 2
 UNION ALL
SELECT e.id, e.revision FROM experiences e
 WHERE (e.current_revision IS NOT NULL) <> EXISTS (SELECT 1 FROM revisions r WHERE r.experience_id = e.id
        AND r.number = e.current_revision AND r.state = CASE WHEN e.suspended THEN 'suspended' ELSE 'current' END)
    OR e.stage IN ('retired', 'superseded', 'rejected') AND e.current_revision IS NOT NULL
    OR e.stage = 'published' AND e.current_revision IS NULL
    OR (e.stage IN ('curator_review', 'owner_review')) <> EXISTS (SELECT 1 FROM revisions r
        WHERE r.experience_id = e.id AND r.number = e.revision AND r.state = 'draft')
"""
"""Published without two acceptances by two who had no part in it, or a stage that the revisions don't bear out."""
