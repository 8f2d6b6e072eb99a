"""Who works on a review, and what waits for whom in which order (R7)."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from activities.records.review_claims import ReviewClaims
from activities.records.review_queue import QueueFilter
from contracts import limits
from contracts.errors import InvalidField, NotReviewer, ReviewClaimed, StaleStage, UnknownExperience
from contracts.lifecycle import Event, Stage
from contracts.review import ChangeKind
from contracts.views import ClaimedBy
from tests.records.world import NOTHINGS_ID, World, draft, new_id


@pytest.fixture(name="claims")
def fixture_claims(shared: World) -> ReviewClaims:
    return ReviewClaims(shared.database)


def expire(world: World, experience_id: str) -> None:
    sql = "UPDATE review_claims SET claimed_until = clock_timestamp() WHERE experience_id = %s"
    world.owner.execute(sql, (experience_id,))


async def listed(world: World, who: str, wanted: QueueFilter | None = None, *, limit: int = 500) -> list[str]:
    tasks = await world.experiences.tasks(who, limit=limit, wanted=wanted or QueueFilter())
    return [task.experience_id for task in tasks]


async def test_a_claimed_review_is_one_persons_to_decide(shared: World, claims: ReviewClaims) -> None:
    experience_id = await shared.propose()
    claim = await claims.claim("cora", experience_id)
    assert (claim.claimed_by, claim.revision, claim.stage) == ("cora", 1, Stage.CURATOR_REVIEW)
    left = claim.claimed_until - datetime.now(UTC)
    assert limits.REVIEW_CLAIM - timedelta(minutes=1) < left <= limits.REVIEW_CLAIM + timedelta(minutes=1)
    with pytest.raises(ReviewClaimed, match="cora works on this review until 20"):
        await shared.decide(experience_id, "carl")
    with pytest.raises(ReviewClaimed):
        await claims.claim("carl", experience_id)
    assert (await shared.decide(experience_id, "cora")).stage is Stage.OWNER_REVIEW


async def test_a_release_frees_it_and_only_the_holder_can(shared: World, claims: ReviewClaims) -> None:
    experience_id = await shared.propose()
    await claims.claim("cora", experience_id)
    standing = await claims.release("carl", experience_id)
    assert standing is not None
    assert standing.claimed_by == "cora"
    assert await claims.release("cora", experience_id) is None
    assert await claims.release("cora", experience_id) is None
    assert (await claims.claim("carl", experience_id)).claimed_by == "carl"


async def test_a_claim_ends_by_itself(shared: World, claims: ReviewClaims) -> None:
    experience_id = await shared.propose()
    await claims.claim("cora", experience_id)
    expire(shared, experience_id)
    assert (await claims.claim("carl", experience_id)).claimed_by == "carl"
    expire(shared, experience_id)
    assert (await shared.decide(experience_id, "cora")).stage is Stage.OWNER_REVIEW


async def test_claiming_again_renews(shared: World) -> None:
    experience_id = await shared.propose()
    short = await ReviewClaims(shared.database, lasts=timedelta(minutes=1)).claim("cora", experience_id)
    again = await ReviewClaims(shared.database).claim("cora", experience_id)
    assert again.claimed_until > short.claimed_until + timedelta(minutes=30)
    assert shared.one("SELECT count(*) FROM review_claims WHERE experience_id = %s", experience_id) == 1


async def test_a_claim_is_for_one_revision_at_one_stage(shared: World, claims: ReviewClaims) -> None:
    """It neither holds up the next stage nor the next draft."""
    experience_id = await shared.propose()
    await claims.claim("cora", experience_id)
    await shared.decide(experience_id, "cora")
    assert (await claims.claim("olga", experience_id)).stage is Stage.OWNER_REVIEW
    await shared.decide(experience_id, "olga", Event.RETURN)
    await shared.change(experience_id, ChangeKind.RESUBMIT, by="ann", draft=draft(title="Anew"))
    tasks = {task.experience_id: task for task in await shared.experiences.tasks("carl", limit=500)}
    assert tasks[experience_id].claimed_by is None
    assert (await claims.claim("carl", experience_id)).revision == 2


async def test_only_one_of_two_who_claim_at_once_gets_it(shared: World, claims: ReviewClaims) -> None:
    """R24."""
    for _ in range(5):
        experience_id = await shared.propose()
        answers = await asyncio.gather(
            *(claims.claim(who, experience_id) for who in ("cora", "carl")), return_exceptions=True
        )
        assert sorted(type(answer).__name__ for answer in answers) == ["ClaimView", "ReviewClaimed"]


async def test_only_a_review_that_waits_for_the_person_can_be_claimed(shared: World, claims: ReviewClaims) -> None:
    experience_id = await shared.propose()
    for who, refusal in (("otto", NotReviewer), ("ann", NotReviewer), ("nobody", UnknownExperience)):
        with pytest.raises(refusal):
            await claims.claim(who, experience_id)
    published = await shared.published()
    with pytest.raises(StaleStage):
        await claims.claim("cora", published)
    for unknown in (new_id(), "no id"):
        with pytest.raises(UnknownExperience):
            await claims.claim("cora", unknown)
        with pytest.raises(UnknownExperience):
            await claims.release("cora", unknown)


async def test_the_queue_is_filtered_by_domain_stage_due_date_and_claim(world: World) -> None:
    claims = ReviewClaims(world.database)
    data = await world.propose()
    development = await world.propose(draft(domain_id="development"))
    with_owner = await world.propose()
    await world.decide(with_owner, "carl")
    await claims.claim("cora", data)
    soon = datetime.now(UTC) + timedelta(days=1)
    world.owner.execute("UPDATE experiences SET due_at = %s WHERE id = %s", (soon, development))
    assert await listed(world, "cora") == [development, data]
    for wanted, expected in (
        (QueueFilter(domain_id="data"), [data]),
        (QueueFilter(domain_id="unknown"), []),
        (QueueFilter(stage=Stage.OWNER_REVIEW), []),
        (QueueFilter(due_before=soon + timedelta(seconds=1)), [development]),
        (QueueFilter(due_before=soon), []),
        (QueueFilter(claimed=ClaimedBy.ME), [data]),
        (QueueFilter(claimed=ClaimedBy.NOBODY), [development]),
        (QueueFilter(claimed=ClaimedBy.OTHERS), []),
    ):
        assert await listed(world, "cora", wanted) == expected, wanted
    assert await listed(world, "carl", QueueFilter(claimed=ClaimedBy.OTHERS)) == [data]
    assert await listed(world, "otto", QueueFilter(stage=Stage.OWNER_REVIEW)) == [with_owner]
    (task,) = [task for task in await world.experiences.tasks("carl") if task.experience_id == data]
    assert task.claimed_by == "cora"
    assert task.claimed_until is not None


async def test_escalated_and_overdue_come_first_and_are_due_before_any_time(world: World) -> None:
    """R7: an escalated review has no further deadline, and must not fall to the end for it."""
    calm, late, lost = [await world.propose() for _ in range(3)]
    world.owner.execute(
        "UPDATE experiences SET reminded = true, due_at = now() + interval '9 days' WHERE id = %s", (late,)
    )
    world.owner.execute(
        "UPDATE experiences SET reminded = true, escalated = true, due_at = NULL WHERE id = %s", (lost,)
    )
    assert await listed(world, "cora") == [lost, late, calm]
    long_ago = QueueFilter(due_before=datetime(2020, 1, 1, tzinfo=UTC))
    assert await listed(world, "cora", long_ago) == [lost, late]
    tasks = await world.experiences.tasks("cora")
    assert [task.is_overdue for task in tasks] == [True, True, False]


async def test_pages_follow_each_other_without_gap_or_repetition(world: World) -> None:
    everything = {await world.propose() for _ in range(7)}
    world.owner.execute("UPDATE experiences SET due_at = '2026-03-02T12:00:00.000001Z'")  # ties, to the microsecond
    one, two, *_ = sorted(everything)
    world.owner.execute("UPDATE experiences SET escalated = true, due_at = NULL WHERE id = ANY(%s)", ([one, two],))
    seen: list[str] = []
    after: str | None = None
    while page := await world.experiences.tasks("cora", limit=2, wanted=QueueFilter(after=after)):
        seen += [task.experience_id for task in page]
        after = page[-1].cursor
    assert seen[:2] == [one, two]
    assert len(seen) == 7
    assert set(seen) == everything


@pytest.mark.parametrize(
    "after", ["", "x", "2~infinity", f"3~infinity~{NOTHINGS_ID}", f"1~noon~{NOTHINGS_ID}", "2~infinity~x"]
)
async def test_what_is_no_cursor_is_refused(shared: World, after: str) -> None:
    """R22."""
    with pytest.raises(InvalidField) as refused:
        await shared.experiences.tasks("cora", wanted=QueueFilter(after=after))
    assert refused.value.field == "after"


async def test_a_lent_role_shows_in_the_queue_with_whose_it_is(world: World) -> None:
    """R7."""
    await world.principal("dora")
    world.owner.execute(
        "INSERT INTO delegations (id, delegator_id, delegate_id, domain_id, role, reason, expires_at)"
        " VALUES (%s, 'cora', 'dora', 'data', 'curator', 'away', now() + interval '1 day')",
        (new_id(),),
    )
    experience_id = await world.propose()
    await world.propose(draft(domain_id="development"))
    (task,) = await world.experiences.tasks("dora")
    assert (task.experience_id, task.on_behalf_of) == (experience_id, "cora")
    assert [task.on_behalf_of for task in await world.experiences.tasks("cora")] == [None, None]
    assert (await ReviewClaims(world.database).claim("dora", experience_id)).claimed_by == "dora"
    with pytest.raises(ReviewClaimed):
        await world.decide(experience_id, "cora")
    assert (await world.decide(experience_id, "dora")).stage is Stage.OWNER_REVIEW


async def test_a_reviewers_own_edit_does_not_wait_for_that_reviewer(world: World) -> None:
    """R7: nor does a draft that came after it was returned."""
    experience_id = await world.propose()
    digest = (await world.lifecycle.load(experience_id)).digest
    await world.change(experience_id, ChangeKind.REVISE, by="cora", draft=draft(title="Edited"), digest=digest)
    assert await listed(world, "cora") == []
    assert await listed(world, "carl") == [experience_id]
    with pytest.raises(NotReviewer):
        await ReviewClaims(world.database).claim("cora", experience_id)
