"""Review decisions: every step, every refusal, and what each leaves in the record (R7, R8, R24)."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from contracts.errors import (
    CaseloreError,
    IdempotencyConflict,
    LifecycleClosed,
    NotReviewer,
    SamePerson,
    StaleDigest,
    StaleStage,
    UnknownCommand,
    UnknownExperience,
)
from contracts.identity import RoleInDomain
from contracts.labels import DomainRole
from contracts.lifecycle import Event, Stage
from contracts.review import ChangeKind, DecisionMessage, Reminder, ReviewDecision
from tests.records.world import World, changed, draft, new_id

_LEASE = timedelta(seconds=30)


def history(world: World, experience_id: str) -> list[tuple[str, str, str | None]]:
    """Return event, stage and actor of every transition."""
    return world.rows(
        "SELECT event, to_stage, actor_id FROM transitions WHERE experience_id = %s ORDER BY seq", experience_id
    )


async def refused(world: World, experience_id: str, message: DecisionMessage, error: type[CaseloreError]) -> None:
    """Assert that the lifecycle refuses a stored decision by name, and that no row of any table changes."""
    before = world.everything()
    with pytest.raises(error):
        await world.lifecycle.record_decision(experience_id, message)
    assert changed(world.everything(), before) == []


async def test_two_acceptances_publish(shared: World) -> None:
    """R7, R8: curator, then owner; the revision, its event, the transitions and the commands agree."""
    experience_id = await shared.propose()
    after = await shared.decide(experience_id, "cora", comment="Reads well.")
    assert (after.stage, after.current_revision) == (Stage.OWNER_REVIEW, None)
    assert shared.index_events(f"experience/{experience_id}") == 0
    after = await shared.decide(experience_id, "otto")
    assert (after.stage, after.revision, after.current_revision, after.due_at) == (Stage.PUBLISHED, 1, 1, None)
    assert shared.revision_states(experience_id) == ["current"]
    assert shared.index_events(f"experience/{experience_id}") == 1
    assert history(shared, experience_id) == [
        ("propose", "curator_review", "ann"), ("accept", "owner_review", "cora"), ("accept", "published", "otto"),
    ]  # fmt: skip
    assert shared.rows(
        "SELECT stage, verdict, reviewer_id, author_id, comment, digest FROM review_decisions"
        " WHERE experience_id = %s ORDER BY decided_at",
        experience_id,
    ) == [
        ("curator_review", "accept", "cora", "ann", "Reads well.", after.digest),
        ("owner_review", "accept", "otto", "ann", "Seen.", after.digest),
    ]
    commands = shared.rows("SELECT state, outcome FROM commands WHERE experience_id = %s", experience_id)
    assert sorted(commands) == [("applied", "owner_review"), ("applied", "published")]


@pytest.mark.parametrize("at", [Stage.CURATOR_REVIEW, Stage.OWNER_REVIEW])
@pytest.mark.parametrize(("verdict", "to"), [(Event.RETURN, Stage.RETURNED), (Event.REJECT, Stage.REJECTED)])
async def test_return_and_rejection_from_either_review(shared: World, at: Stage, verdict: Event, to: Stage) -> None:
    """R7: nothing is published, nothing announced; a rejection is the end."""
    experience_id = await shared.propose()
    if at is Stage.OWNER_REVIEW:
        await shared.decide(experience_id, "cora")
    after = await shared.decide(experience_id, "cora" if at is Stage.CURATOR_REVIEW else "otto", verdict)
    assert (after.stage, after.current_revision, after.due_at) == (to, None, None)
    assert shared.revision_states(experience_id) == [to]
    assert shared.index_events(f"experience/{experience_id}") == 0
    expected = LifecycleClosed if verdict is Event.REJECT else StaleStage
    await refused(shared, experience_id, await shared.store_decision(experience_id, "carl", stage=at), expected)


async def test_a_returned_draft_is_resubmitted_and_reviewed_anew(shared: World) -> None:
    """R7: an edit voids earlier decisions; the curator who returned it may read the new text."""
    experience_id = await shared.propose()
    await shared.decide(experience_id, "cora")
    await shared.decide(experience_id, "otto", Event.RETURN)
    outcome = await shared.change(experience_id, ChangeKind.RESUBMIT, by="ann", draft=draft(title="Better words"))
    assert outcome.snapshot is not None
    assert (outcome.snapshot.stage, outcome.snapshot.revision) == (Stage.CURATOR_REVIEW, 2)
    await shared.decide(experience_id, "cora")
    assert (await shared.decide(experience_id, "otto")).current_revision == 2
    assert shared.revision_states(experience_id) == ["returned", "current"]


async def test_a_decision_is_bound_to_the_text_and_stage_that_were_seen(shared: World) -> None:
    """R7: an older text's digest, another stage, and a stage that the experience has left."""
    experience_id = await shared.propose()
    old = await shared.lifecycle.load(experience_id)
    await refused(
        shared, experience_id, await shared.store_decision(experience_id, "otto", stage=Stage.OWNER_REVIEW), StaleStage
    )
    await shared.decide(experience_id, "cora", Event.RETURN)
    await shared.change(experience_id, ChangeKind.RESUBMIT, by="ann", draft=draft(title="Edited"))
    await refused(
        shared, experience_id, await shared.store_decision(experience_id, "cora", digest=old.digest), StaleDigest
    )
    stale = await shared.store_decision(experience_id, "carl")
    await shared.decide(experience_id, "cora")
    await refused(shared, experience_id, stale, StaleStage)


async def test_reviewers_hold_the_stages_role_in_the_domain(shared: World) -> None:
    """R7: a curator is no owner, a stranger nothing, and a role in another domain doesn't count."""
    await shared.principal("zoe", "acme")
    await shared.identities.give_role(
        RoleInDomain(principal_id="zoe", domain_id="development", role=DomainRole.CURATOR)
    )
    experience_id = await shared.propose()
    for who in ("otto", "zoe"):
        await refused(shared, experience_id, await shared.store_decision(experience_id, who), NotReviewer)
    await shared.decide(experience_id, "cora")
    await refused(shared, experience_id, await shared.store_decision(experience_id, "carl"), NotReviewer)


async def test_nobody_reviews_twice_or_their_own(shared: World) -> None:
    """R7: proposer, curator and owner are three people, also when one person holds every role."""
    await shared.principal("max", "acme")
    for role in DomainRole:
        await shared.identities.give_role(RoleInDomain(principal_id="max", domain_id="data", role=role))
    own = await shared.propose(by="max")
    await refused(shared, own, await shared.store_decision(own, "max"), SamePerson)
    assert own not in [task.experience_id for task in await shared.experiences.tasks("max")]

    other = await shared.propose()
    await shared.decide(other, "max")
    await refused(shared, other, await shared.store_decision(other, "max"), SamePerson)
    assert other not in [task.experience_id for task in await shared.experiences.tasks("max")]

    rewritten = await shared.propose(by="max")
    await shared.decide(rewritten, "cora", Event.RETURN)
    await shared.change(rewritten, ChangeKind.RESUBMIT, by="ann", draft=draft(title="In other words"))
    await refused(shared, rewritten, await shared.store_decision(rewritten, "max"), SamePerson)
    assert rewritten not in [task.experience_id for task in await shared.experiences.tasks("max")]


async def test_a_repeated_decision_is_answered_and_not_repeated(shared: World) -> None:
    """R8: the same id any number of times, also after the lifecycle moved on."""
    experience_id = await shared.propose()
    message = await shared.store_decision(experience_id, "cora")
    await shared.lifecycle.record_decision(experience_id, message)
    await shared.decide(experience_id, "otto")
    before = shared.everything()
    for _ in range(2):
        after, duplicate = await shared.lifecycle.record_decision(experience_id, message)
        assert (after.stage, duplicate) == (Stage.PUBLISHED, True)
    assert changed(shared.everything(), before) == []


async def test_a_refused_decision_does_not_turn_into_consent_later(shared: World) -> None:
    """R7, R23: once the reviewer was told "refused", a retry of the same id can't publish."""
    experience_id = await shared.propose()
    early = await shared.store_decision(experience_id, "otto", stage=Stage.OWNER_REVIEW)
    event = await shared.outbox.claim_one(experience_id, _LEASE)
    assert event is not None
    await shared.outbox.delivered([event], "started")
    event = await shared.outbox.claim_one(early.decision_id, _LEASE)
    assert event is not None
    await shared.outbox.refused(event, StaleStage("It moved on.", field="stage"))
    await shared.decide(experience_id, "cora")
    await refused(shared, experience_id, early, StaleStage)
    standing = await shared.experiences.standing("otto", early.decision_id)
    assert standing is not None
    assert (standing.state, standing.outcome) == ("refused", "StaleStage")


async def test_a_message_must_say_what_was_stored(shared: World) -> None:
    """R7: another reviewer, verdict, stage or digest than the stored decision's, or another experience's id."""
    experience_id, other = await shared.propose(), await shared.propose()
    message = await shared.store_decision(experience_id, "cora", Event.RETURN)
    for change in ({"reviewer_id": "carl"}, {"verdict": Event.ACCEPT}, {"digest": "0"}, {"stage": Stage.OWNER_REVIEW}):
        await refused(shared, experience_id, message.model_copy(update=change), UnknownCommand)
    await refused(shared, other, message, UnknownCommand)
    for decision_id in (new_id(), "no id", ""):
        await refused(shared, experience_id, message.model_copy(update={"decision_id": decision_id}), UnknownCommand)
    command = await shared.store_command(experience_id, ChangeKind.RESUBMIT, by="ann", draft=draft())
    await refused(shared, experience_id, message.model_copy(update={"decision_id": command.command_id}), UnknownCommand)
    for unknown in (new_id(), "no id"):
        await refused(shared, unknown, message, UnknownExperience)
        with pytest.raises(UnknownExperience):
            await shared.lifecycle.load(unknown)


async def test_a_decision_id_is_used_once(shared: World) -> None:
    """R24: the same id with another verdict, or by another reviewer, is a conflict."""
    experience_id = await shared.propose()
    message = await shared.store_decision(experience_id, "cora")
    decision = ReviewDecision(
        decision_id=message.decision_id,
        experience_id=experience_id,
        stage=message.stage,
        digest=message.digest,
        verdict=message.verdict,
        comment="Seen.",
    )
    before = shared.everything()
    assert (await shared.experiences.decide("cora", decision)).state == "pending"
    for who, other in (
        ("carl", decision),
        ("cora", decision.model_copy(update={"verdict": Event.REJECT})),
        ("cora", decision.model_copy(update={"comment": "Other."})),
    ):
        with pytest.raises(IdempotencyConflict):
            await shared.experiences.decide(who, other)
    assert changed(shared.everything(), before) == []


async def test_of_decisions_at_once_one_wins_and_the_other_is_told_why(shared: World) -> None:
    """R24: two curators press at the same moment, many times over."""
    for _ in range(5):
        experience_id = await shared.propose()
        messages = [await shared.store_decision(experience_id, who) for who in ("cora", "carl")]
        results = await asyncio.gather(
            *(shared.lifecycle.record_decision(experience_id, message) for message in messages),
            return_exceptions=True,
        )
        assert sorted(type(result).__name__ for result in results) == ["StaleStage", "tuple"]
        assert len(history(shared, experience_id)) == 2


async def test_one_decision_delivered_by_eight_counts_once(shared: World) -> None:
    """R8: exactly one publication, one event, whoever delivers."""
    experience_id = await shared.propose()
    await shared.decide(experience_id, "cora")
    message = await shared.store_decision(experience_id, "otto")
    results = await asyncio.gather(*(shared.lifecycle.record_decision(experience_id, message) for _ in range(8)))
    assert sorted(duplicate for _, duplicate in results) == [False] + [True] * 7
    assert shared.index_events(f"experience/{experience_id}") == 1
    assert shared.revision_states(experience_id) == ["current"]


async def test_reminders_are_recorded_once_for_each_stage_and_level(shared: World) -> None:
    """R7: remind, then escalate; a late reminder of a stage that was left changes nothing."""
    experience_id = await shared.propose()

    async def remind(level: str) -> tuple[bool, bool, bool]:
        now = await shared.lifecycle.record_reminder(
            Reminder(experience_id=experience_id, stage=Stage.CURATOR_REVIEW, revision=1, level=level)
        )
        return now.reminded, now.escalated, now.due_at is not None

    assert await remind("remind") == (True, False, True)
    before = shared.everything()
    assert await remind("remind") == (True, False, True)
    assert changed(shared.everything(), before) == []
    assert await remind("escalate") == (True, True, False)
    await shared.decide(experience_id, "cora")
    before = shared.everything()
    assert await remind("remind") == (False, False, True)
    assert changed(shared.everything(), before) == []
    assert [event for event, _, _ in history(shared, experience_id)] == ["propose", "remind", "escalate", "accept"]


async def test_tasks_are_the_reviews_that_wait_for_the_caller(world: World) -> None:
    """R7: by role and stage, the most urgent first, with the digest to send back."""
    first, second = await world.propose(), await world.propose(draft(domain_id="development"))
    world.owner.execute("UPDATE experiences SET due_at = now() - interval '1 day' WHERE id = %s", (second,))
    tasks = await world.experiences.tasks("cora")
    assert [task.experience_id for task in tasks] == [second, first]
    assert tasks[1].digest == (await world.lifecycle.load(first)).digest
    assert await world.experiences.tasks("otto") == []
    assert await world.experiences.tasks("ann") == []
    assert len(await world.experiences.tasks("cora", limit=1)) == 1
    assert await world.experiences.tasks("cora", limit=-1) == []
    await world.decide(first, "cora")
    assert [task.experience_id for task in await world.experiences.tasks("cora")] == [second]
    assert [task.stage for task in await world.experiences.tasks("otto")] == [Stage.OWNER_REVIEW]
