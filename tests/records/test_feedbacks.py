"""Feedback: given by who may see the decision, kept whole, counted without naming a tenant (R20, R21)."""

from __future__ import annotations

import asyncio

import pytest
import pytest_asyncio
from sqlalchemy import text
from sqlalchemy.exc import ProgrammingError

from activities.records.retrieval_history import RetrievalHistoryTable
from contracts import limits
from contracts.errors import (
    IdempotencyConflict,
    InvalidField,
    StaleRevision,
    UncitedCandidate,
    UnknownRetrieval,
)
from contracts.feedback import CandidateFeedback, CandidateOutcome, Usefulness, UsefulnessCounts
from contracts.retrieval import Citation, CitationVerdict, MemoryUse
from tests.records.asking import NO_RANKINGS, answer, answered, ask, candidate, citing
from tests.records.broadening import feedback
from tests.records.world import World, changed, new_id

HELPED, MISLED = Usefulness.HELPED, Usefulness.MISLED


@pytest_asyncio.fixture(scope="module", name="many")
async def fixture_many(shared: World) -> World:
    """`ann` and `amy` work for acme, and one person for each of three other tenants."""
    await shared.principal("amy", "acme")
    for name in ("b", "c", "d"):
        await shared.tenant(name)
        await shared.principal(f"{name}-agent", name)
    await shared.profile("data-agent", "amy", "b-agent", "c-agent", "d-agent")
    return shared


async def decided(world: World, who: str, *refs: str, with_case: bool = True) -> MemoryUse:
    """Let somebody decide on an answer that holds `refs`."""
    tenant = "acme" if who in ("ann", "amy") else who[0]
    case_id = await world.open_case(by=who, tenant=tenant) if with_case else None
    task = await answered(world, await ask(world, who, case_id=case_id), *map(candidate, range(1, len(refs) + 1), refs))
    use = citing(task, *refs)
    await world.memory.decide(who, use)
    return use


async def counted(world: World, who: str, ref: str) -> CandidateFeedback:
    """Return what is counted beside a candidate in somebody's next retrieval."""
    resolution = await world.retrievals.resolve(await ask(world, who), [ref])
    return resolution.records[ref].feedback


async def test_r20_feedback_is_given_once_and_read_again(many: World) -> None:
    use = await decided(many, "ann", *[f"experience/{await many.published()}" for _ in range(2)])
    said = feedback(use)
    given = await many.feedbacks.give("ann", said)
    before = many.everything()
    assert await many.feedbacks.give("ann", said) == given
    assert changed(many.everything(), before) == []
    assert (given.given_by, {outcome.usefulness for outcome in given.outcomes}) == ("ann", {HELPED})
    assert await many.feedbacks.given("amy", use.decision_id) == [given], "a colleague with the grant sees it"
    assert many.rows("SELECT actor_id FROM audit WHERE action = 'feedback' AND cause_id = %s", said.feedback_id) == [
        ("ann",)
    ]
    for twin in (
        said.model_copy(update={"outcomes": said.outcomes[:1]}),
        said.model_copy(update={"replaces": new_id()}),
    ):
        with pytest.raises(IdempotencyConflict):
            await many.feedbacks.give("ann", twin)
    assert changed(many.everything(), before) == []


async def test_r24_later_feedback_takes_over_candidate_by_candidate(many: World) -> None:
    """What was said before is kept, and who has not read it is told."""
    refs = [f"experience/{await many.published()}" for _ in range(2)]
    use = await decided(many, "ann", *refs)
    first = await many.feedbacks.give("ann", feedback(use))
    corrected = (CandidateOutcome(ref=refs[0], revision=1, usefulness=MISLED),)
    for replaces in (None, new_id()):
        with pytest.raises(StaleRevision, match=first.feedback_id):
            await many.feedbacks.give("amy", feedback(use, outcomes=corrected, replaces=replaces))
    second = await many.feedbacks.give("amy", feedback(use, outcomes=corrected, replaces=first.feedback_id))
    assert await many.feedbacks.given("ann", use.decision_id) == [first, second]
    assert (await counted(many, "ann", refs[0])).own == UsefulnessCounts(misled=1)
    assert (await counted(many, "ann", refs[1])).own == UsefulnessCounts(helped=1)


async def test_r24_of_many_at_once_one_is_first(many: World) -> None:
    use = await decided(many, "ann", f"experience/{await many.published()}")
    ended = await asyncio.gather(*(many.feedbacks.give("ann", feedback(use)) for _ in range(6)), return_exceptions=True)
    assert [type(each) for each in ended if isinstance(each, Exception)] == [StaleRevision] * 5
    assert len(await many.feedbacks.given("ann", use.decision_id)) == 1


async def test_r20_only_what_was_cited_and_only_by_who_may_see_the_decision(many: World) -> None:
    ref, other = [f"experience/{await many.published()}" for _ in range(2)]
    use = await decided(many, "ann", ref)
    before = many.everything()
    for outcome in (
        CandidateOutcome(ref=other, revision=1, usefulness=HELPED),
        CandidateOutcome(ref=ref, revision=2, usefulness=HELPED),
        CandidateOutcome(ref=ref, revision=2**40, usefulness=HELPED),
    ):
        with pytest.raises(UncitedCandidate):
            await many.feedbacks.give("ann", feedback(use, outcomes=(outcome,)))
    for who in ("b-agent", "nobody"):
        with pytest.raises(UnknownRetrieval):
            await many.feedbacks.give(who, feedback(use))
        with pytest.raises(UnknownRetrieval):
            await many.feedbacks.given(who, use.decision_id)
    for decision_id in (new_id(), "no id"):
        with pytest.raises(UnknownRetrieval):
            await many.feedbacks.given("ann", decision_id)
    assert changed(many.everything(), before) == []


async def test_r22_feedback_on_one_decision_has_an_end(many: World) -> None:
    use = await decided(many, "ann", f"experience/{await many.published()}")
    latest = None
    for _ in range(limits.FEEDBACKS):
        latest = (await many.feedbacks.give("ann", feedback(use, replaces=latest))).feedback_id
    with pytest.raises(InvalidField):
        await many.feedbacks.give("ann", feedback(use, replaces=latest))


async def test_r21_counts_of_others_show_only_when_they_name_no_tenant(many: World) -> None:
    """Exact inside one's own scope; over all tenants from the third on; never of what has no tenant."""
    ref = f"experience/{await many.published()}"
    own = UsefulnessCounts(helped=1)
    await many.feedbacks.give("ann", feedback(await decided(many, "ann", ref)))
    await many.feedbacks.give("ann", feedback(await decided(many, "ann", ref, with_case=False)))
    await many.feedbacks.give("b-agent", feedback(await decided(many, "b-agent", ref), MISLED))
    await many.feedbacks.give("b-agent", feedback(await decided(many, "b-agent", ref), MISLED))
    assert await counted(many, "amy", ref) == CandidateFeedback(own=own)
    assert await counted(many, "ann", ref) == CandidateFeedback(own=UsefulnessCounts(helped=2))
    assert await counted(many, "b-agent", ref) == CandidateFeedback(own=UsefulnessCounts(misled=2))
    assert await counted(many, "d-agent", ref) == CandidateFeedback()

    await many.feedbacks.give("c-agent", feedback(await decided(many, "c-agent", ref)))
    everywhere = UsefulnessCounts(helped=2, misled=2)
    assert await counted(many, "amy", ref) == CandidateFeedback(own=own, everywhere=everywhere)
    assert await counted(many, "d-agent", ref) == CandidateFeedback(everywhere=everywhere)


async def test_r21_counts_stay_apart_by_revision_and_cases_are_never_counted_across_tenants(many: World) -> None:
    await many.principal("all", "acme", "b", "c", "d")
    case = f"case/{await many.open_case()}"
    for who in ("b-agent", "c-agent", "d-agent"):
        await many.feedbacks.give(who, feedback(await decided(many, who, case)))
    async with many.database.as_principal("ann") as connection:
        assert (
            await connection.execute(text("SELECT * FROM feedback_totals WHERE ref = :ref"), {"ref": case})
        ).all() == []
    ref = f"experience/{await many.published()}"
    task = await answered(many, await ask(many), candidate(1, ref, 7))
    rejected = Citation(ref=ref, revision=7, verdict=CitationVerdict.REJECTED, why="It isn't current any more.")
    use = citing(task, citations=(rejected,))
    await many.memory.decide("ann", use)
    await many.feedbacks.give("ann", feedback(use))
    assert await counted(many, "ann", ref) == CandidateFeedback(), "its first revision was said nothing about"


async def test_r21_an_answer_shows_its_reader_no_counts_of_the_askers(many: World) -> None:
    ref = f"experience/{await many.published()}"
    counts = CandidateFeedback(own=UsefulnessCounts(helped=3), everywhere=UsefulnessCounts(helped=9))
    task = await ask(many, case_id=await many.open_case())
    shown = candidate(1, ref).model_copy(update={"feedback": counts})
    await many.retrievals.save(task, answer(task, shown), NO_RANKINGS)
    for who, own in (("ann", counts.own), ("amy", UsefulnessCounts())):
        stored = await many.memory.answer(who, task.request.request_id)
        assert stored is not None
        assert stored.candidates[0].feedback == CandidateFeedback(own=own, everywhere=counts.everywhere)
        record = await RetrievalHistoryTable(many.database).record(who, task.request.request_id)
        assert record.answer == stored, "and neither does the record of the retrieval"


async def test_r4_no_sql_of_the_application_speaks_of_a_decision_by_feedback_on_another(many: World) -> None:
    """An outcome is of its own feedback's decision: the key of a decision that can't be seen is no way to it."""
    ref = f"experience/{await many.published()}"
    theirs, own = await decided(many, "b-agent", ref), await decided(many, "ann", ref)
    said = await many.feedbacks.give("ann", feedback(own))
    before = many.everything()
    with pytest.raises(ProgrammingError, match="row-level security"):
        async with many.database.as_principal("ann") as connection:
            await connection.execute(
                text(
                    "INSERT INTO feedback_outcomes (feedback_id, decision_id, number, ref, revision, usefulness)"
                    " VALUES (CAST(:id AS uuid), CAST(:decision AS uuid), 2, :ref, 1, 'misled')"
                ),
                {"id": said.feedback_id, "decision": theirs.decision_id, "ref": ref},
            )
    assert changed(many.everything(), before) == []
