"""Change commands: resubmit, correct, retire, supersede, and what is hidden from which moment (R10)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from contracts.errors import IdempotencyConflict, NotReviewer, UnknownDomain, UnknownExperience
from contracts.labels import Outcome, ProofLevel
from contracts.lifecycle import Event, Stage
from contracts.review import ChangeKind, CommandMessage
from tests.records.test_decisions import history
from tests.records.world import World, changed, draft, new_id

OTHER = draft(title="Corrected words")


async def refused(world: World, experience_id: str, kind: ChangeKind, refusal: str, **fields: Any) -> None:
    """Assert that a stored command is refused by name, once and again, and that only the command itself says so."""
    message = await world.store_command(experience_id, kind, **fields)
    before = world.everything()
    for _ in range(2):
        outcome = await world.lifecycle.apply_command(experience_id, message)
        assert (outcome.refused, outcome.snapshot) == (refusal, None)
    after = world.everything()
    assert changed(after, before) == ["commands"]
    assert world.rows("SELECT state, outcome FROM commands WHERE id = %s", message.command_id) == [("refused", refusal)]


async def test_a_correction_keeps_the_published_text_until_the_new_one_is_accepted(shared: World) -> None:
    """R10: current stays current through both reviews; then the old text is `corrected` at once."""
    experience_id = await shared.published()
    outcome = await shared.change(experience_id, ChangeKind.CORRECT, by="ann", draft=OTHER)
    assert outcome.snapshot is not None
    assert (outcome.snapshot.stage, outcome.snapshot.revision, outcome.snapshot.current_revision) == (
        Stage.CURATOR_REVIEW, 2, 1,
    )  # fmt: skip
    assert shared.revision_states(experience_id) == ["current", "draft"]
    await shared.decide(experience_id, "cora")
    after = await shared.decide(experience_id, "otto")
    assert (after.stage, after.current_revision) == (Stage.PUBLISHED, 2)
    assert shared.revision_states(experience_id) == ["corrected", "current"]
    assert shared.one(
        "SELECT ended_at IS NOT NULL FROM revisions WHERE experience_id = %s AND number = 1", experience_id
    )


async def test_a_correction_of_a_text_that_is_not_published_any_more_is_refused(shared: World) -> None:
    """R24: the loser is told which text is published now."""
    experience_id = await shared.published()
    read = (await shared.lifecycle.load(experience_id)).digest
    await shared.change(experience_id, ChangeKind.CORRECT, by="ann", draft=OTHER, digest=read)
    await shared.decide(experience_id, "cora")
    await shared.decide(experience_id, "otto")
    await refused(shared, experience_id, ChangeKind.CORRECT, "StaleDigest", draft=draft(), by="ann", digest=read)
    now = (await shared.lifecycle.load(experience_id)).digest
    told = "SELECT refused_field, refused_accepted FROM commands WHERE experience_id = %s AND state = 'refused'"
    assert shared.rows(told, experience_id) == [("digest", now)]

    await shared.change(experience_id, ChangeKind.CORRECT, by="ann", draft=draft(title="Third"), digest=now)
    await shared.decide(experience_id, "cora", Event.REJECT)
    accepted = await shared.change(experience_id, ChangeKind.CORRECT, by="ann", draft=draft(title="Fourth"), digest=now)
    assert not accepted.refused


async def test_a_suspending_correction_hides_the_current_text_at_once(shared: World) -> None:
    """R10: from the commit on, in every read; publication of the correction ends the suspension."""
    experience_id = await shared.published()
    await shared.projections.record(await shared.projections.desired([f"experience/{experience_id}"]))
    assert (await shared.experiences.view("ann", experience_id)).searchable
    await shared.change(experience_id, ChangeKind.CORRECT, by="ann", draft=OTHER, suspend=True)
    assert shared.revision_states(experience_id) == ["suspended", "draft"]
    view = await shared.experiences.view("ann", experience_id)
    assert (view.suspended, view.searchable, view.current_revision) == (True, False, 1)
    await shared.decide(experience_id, "cora")
    await shared.decide(experience_id, "otto", Event.RETURN)
    assert shared.revision_states(experience_id) == ["suspended", "returned"]
    await shared.change(experience_id, ChangeKind.RESUBMIT, by="ann", draft=draft(title="Third"))
    await shared.decide(experience_id, "cora")
    await shared.decide(experience_id, "otto")
    assert shared.revision_states(experience_id) == ["corrected", "returned", "current"]
    assert not (await shared.experiences.view("ann", experience_id)).suspended


@pytest.mark.parametrize("suspend", [False, True])
async def test_a_rejected_correction_leaves_the_published_text_as_it_was(shared: World, suspend: bool) -> None:
    """R10: back to published, shown again, under its own domain."""
    experience_id = await shared.published()
    moved = draft(title="Moved", domain_id="development")
    await shared.change(experience_id, ChangeKind.CORRECT, by="ann", draft=moved, suspend=suspend)
    assert (await shared.lifecycle.load(experience_id)).domain_id == "development"
    events = shared.index_events(f"experience/{experience_id}")
    after = await shared.decide(experience_id, "cora", Event.REJECT)
    assert (after.stage, after.current_revision, after.domain_id) == (Stage.PUBLISHED, 1, "data")
    assert shared.revision_states(experience_id) == ["current", "rejected"]
    assert not (await shared.experiences.view("ann", experience_id)).suspended
    assert shared.index_events(f"experience/{experience_id}") == events + 1
    again = await shared.change(experience_id, ChangeKind.CORRECT, by="ann", draft=OTHER)
    assert again.snapshot is not None
    assert again.snapshot.revision == 3


@pytest.mark.parametrize("during", ["published", "correction", "suspended", "returned correction"])
async def test_retirement_ends_everything(shared: World, during: str) -> None:
    """R10: whatever was running; announced in the same transaction; nothing leaves the stage."""
    experience_id = await shared.published()
    if during != "published":
        moved = draft(title="Moved", domain_id="development")
        await shared.change(experience_id, ChangeKind.CORRECT, by="ann", draft=moved, suspend=during == "suspended")
    if during == "returned correction":
        await shared.decide(experience_id, "cora", Event.RETURN)
    events = shared.index_events(f"experience/{experience_id}")
    outcome = await shared.change(experience_id, ChangeKind.RETIRE)
    assert outcome.snapshot is not None
    assert (outcome.snapshot.stage, outcome.snapshot.current_revision, outcome.snapshot.domain_id) == (
        Stage.RETIRED, None, "data",
    )  # fmt: skip
    assert set(shared.revision_states(experience_id)) <= {"retired", "rejected", "returned"}
    assert shared.revision_states(experience_id)[0] == "retired"
    assert shared.index_events(f"experience/{experience_id}") == events + 1
    for kind, fields in (
        (ChangeKind.RETIRE, {}),
        (ChangeKind.CORRECT, {"draft": OTHER, "by": "ann"}),
        (ChangeKind.RESUBMIT, {"draft": OTHER, "by": "ann"}),
        (ChangeKind.SUPERSEDE, {"superseded_by": await shared.published()}),
    ):
        await refused(shared, experience_id, kind, "LifecycleClosed", **fields)


async def test_supersession_is_linked_and_hides_what_it_ends(shared: World) -> None:
    """R10: explicit, to a published successor."""
    old, new = await shared.published(), await shared.published()
    outcome = await shared.change(old, ChangeKind.SUPERSEDE, superseded_by=new)
    assert outcome.snapshot is not None
    assert outcome.snapshot.stage is Stage.SUPERSEDED
    assert (await shared.experiences.view("ann", old)).superseded_by == new
    assert shared.revision_states(old) == ["superseded"]
    assert shared.revision_states(new) == ["current"]
    assert history(shared, old)[-1] == ("supersede", "superseded", "otto")


async def test_what_takes_over_must_be_published_now(shared: World) -> None:
    """R10: no draft, suspended, retired or superseded successor, so no circle either."""
    old, unpublished, suspended, retired = (
        await shared.published(), await shared.propose(), await shared.published(), await shared.published(),
    )  # fmt: skip
    await shared.change(suspended, ChangeKind.CORRECT, by="ann", draft=OTHER, suspend=True)
    await shared.change(retired, ChangeKind.RETIRE)
    for successor in (unpublished, suspended, retired):
        await refused(shared, old, ChangeKind.SUPERSEDE, "NotPublished", superseded_by=successor)
    new = await shared.published()
    await shared.change(old, ChangeKind.SUPERSEDE, superseded_by=new)
    await refused(shared, new, ChangeKind.SUPERSEDE, "NotPublished", superseded_by=old)


async def test_two_experiences_cannot_replace_each_other_at_once(shared: World) -> None:
    """R10, R24: one of the two stays, whatever the order."""
    for _ in range(4):
        first, second = await shared.published(), await shared.published()
        messages = [
            (first, await shared.store_command(first, ChangeKind.SUPERSEDE, superseded_by=second)),
            (second, await shared.store_command(second, ChangeKind.SUPERSEDE, superseded_by=first)),
        ]
        outcomes = await asyncio.gather(*(shared.lifecycle.apply_command(*pair) for pair in messages))
        assert sorted(outcome.refused for outcome in outcomes) == ["", "NotPublished"]
        assert sorted(shared.revision_states(first) + shared.revision_states(second)) == ["current", "superseded"]


async def test_changes_need_a_stage_that_knows_them(shared: World) -> None:
    """R10: each stage and command without an arrow in the table."""
    reviewed = await shared.propose()
    successor = await shared.published()
    for kind, fields in (
        (ChangeKind.RETIRE, {}),
        (ChangeKind.SUPERSEDE, {"superseded_by": successor}),
        (ChangeKind.CORRECT, {"draft": OTHER, "by": "ann"}),
    ):
        await refused(shared, reviewed, kind, "NotPublished", **fields)
    await refused(shared, reviewed, ChangeKind.RESUBMIT, "StaleStage", draft=OTHER, by="ann")
    await refused(shared, successor, ChangeKind.RESUBMIT, "StaleStage", draft=OTHER, by="ann")
    await shared.change(successor, ChangeKind.CORRECT, by="ann", draft=OTHER)
    await refused(shared, successor, ChangeKind.CORRECT, "StaleStage", draft=OTHER, by="ann")


async def test_a_new_draft_claims_no_more_than_the_case_result(shared: World) -> None:
    """R5: also on the way of a correction, and the draft isn't kept."""
    experience_id = await shared.published(draft(outcome=Outcome.FAILED))
    await refused(shared, experience_id, ChangeKind.CORRECT, "OutcomeOverstated", draft=draft(), by="ann")
    assert shared.revision_states(experience_id) == ["current"]
    weaker = draft(outcome=Outcome.FAILED, proof_level=ProofLevel.REPORTED)
    assert (await shared.change(experience_id, ChangeKind.CORRECT, draft=weaker, by="ann")).refused == ""


async def test_a_draft_for_an_unknown_domain_is_refused(shared: World) -> None:
    """R22: when it is asked for, and again when it is applied (here a command from before the domain went)."""
    experience_id = await shared.published()
    lost = draft(domain_id="kitchen")
    before = shared.everything()
    with pytest.raises(UnknownDomain):
        await shared.store_command(experience_id, ChangeKind.CORRECT, by="ann", draft=lost)
    assert changed(shared.everything(), before) == []

    await shared.store_command(
        experience_id, ChangeKind.CORRECT, by="ann", draft=OTHER, command_id=(command := new_id())
    )
    shared.owner.execute(
        "UPDATE commands SET content = jsonb_set(content, '{draft,domain_id}', '\"kitchen\"') WHERE id = %s", (command,)
    )
    outcome = await shared.lifecycle.apply_command(experience_id, CommandMessage(command_id=command))
    assert outcome.refused == "UnknownDomain"
    assert shared.revision_states(experience_id) == ["current"]


async def test_a_command_is_applied_once(shared: World) -> None:
    """R8, R10: the same signal any number of times, one after another or at once."""
    experience_id = await shared.published()
    message = await shared.store_command(experience_id, ChangeKind.CORRECT, by="ann", draft=OTHER)
    outcomes = await asyncio.gather(*(shared.lifecycle.apply_command(experience_id, message) for _ in range(6)))
    assert {outcome.refused for outcome in outcomes} == {""}
    before = shared.everything()
    again = await shared.lifecycle.apply_command(experience_id, message)
    assert again.snapshot == outcomes[0].snapshot
    assert changed(shared.everything(), before) == []
    assert shared.revision_states(experience_id) == ["current", "draft"]


async def test_a_command_that_is_not_of_this_experience_is_unknown(shared: World) -> None:
    """R10: no such command, another experience's, a decision's, or no id at all; nothing is written."""
    experience_id, other = await shared.published(), await shared.published()
    foreign = await shared.store_command(other, ChangeKind.RETIRE)
    draft_id = await shared.propose()
    decision = await shared.store_decision(draft_id, "cora")
    before = shared.everything()
    for at, command_id in (
        (experience_id, foreign.command_id),
        (experience_id, new_id()),
        (draft_id, decision.decision_id),
        (experience_id, "no id"),
        ("no id", foreign.command_id),
    ):
        outcome = await shared.lifecycle.apply_command(at, CommandMessage(command_id=command_id))
        assert (outcome.refused, outcome.snapshot) == ("UnknownCommand", None)
    outcome = await shared.lifecycle.apply_command(new_id(), CommandMessage(command_id=foreign.command_id))
    assert outcome.refused == "UnknownExperience"
    assert changed(shared.everything(), before) == []


async def test_who_may_ask_for_what(shared: World) -> None:
    """R7, R10: retirement and supersession are for reviewers; what one can't see is unknown."""
    experience_id, successor = await shared.published(), await shared.published()
    await shared.principal("stranger")
    before = shared.everything()
    with pytest.raises(NotReviewer):
        await shared.store_command(experience_id, ChangeKind.RETIRE, by="ann")
    with pytest.raises(NotReviewer):
        await shared.store_command(experience_id, ChangeKind.SUPERSEDE, by="ann", superseded_by=successor)
    with pytest.raises(UnknownExperience):
        await shared.store_command(experience_id, ChangeKind.CORRECT, by="stranger", draft=OTHER)
    with pytest.raises(UnknownExperience):
        await shared.store_command(experience_id, ChangeKind.SUPERSEDE, superseded_by=new_id())
    with pytest.raises(UnknownExperience):
        await shared.store_command(new_id(), ChangeKind.RETIRE)
    assert changed(shared.everything(), before) == []


async def test_a_command_id_is_used_once(shared: World) -> None:
    """R24: the same request is answered with its standing, another one is a conflict."""
    experience_id = await shared.published()
    message = await shared.store_command(experience_id, ChangeKind.RETIRE)
    with pytest.raises(IdempotencyConflict):
        await shared.store_command(experience_id, ChangeKind.CORRECT, draft=OTHER, command_id=message.command_id)
    await shared.lifecycle.apply_command(experience_id, message)
    before = shared.everything()
    await shared.store_command(experience_id, ChangeKind.RETIRE, command_id=message.command_id)
    assert changed(shared.everything(), before) == []
    standing = await shared.experiences.standing("otto", message.command_id)
    assert standing is not None
    assert (standing.state, standing.outcome) == ("applied", "retired")
    await shared.principal("nosy")
    assert await shared.experiences.standing("nosy", message.command_id) is None
    assert await shared.experiences.standing("otto", "no id") is None
