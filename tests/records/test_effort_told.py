"""The hours of an experience are its case result's, and one finished job counts once (R19)."""

from __future__ import annotations

from typing import Any

import pytest

from activities.retrieval.engine import RetrievalEngine
from contracts.cases import CaseResult, Effort
from contracts.effort import Comparison
from contracts.errors import InvalidField
from contracts.experience import Proposal
from contracts.identity import Profile
from contracts.lifecycle import Event
from contracts.limits import ESTIMATE_HOURS
from contracts.retrieval import Answer
from contracts.review import ChangeKind
from contracts.strategies import EFFORT_ASSESSMENT_3
from tests.records.asking import ask
from tests.records.test_retrieval_history import WORDS, NoIndex, rerun
from tests.records.world import World, draft, new_id

HOURS = Effort(estimate_hours=10, active_hours=20, waiting_hours=1)
OTHER = Effort(estimate_hours=10, active_hours=5, waiting_hours=1)
_COUNTED = """
UPDATE retrieval_candidates SET candidate = jsonb_set(candidate, '{effort,comparison}', '"counted"')
 WHERE request_id = %s
"""
_LOST = """
UPDATE retrieval_requests SET answer = jsonb_set(answer, '{effort,error,quantiles}',
       '{"least": 2, "p10": 2, "p50": 2, "p90": null, "most": null, "covers": 0.67}') WHERE id = %s
"""


def _as_before(world: World, sql: str, *values: Any) -> None:
    """Change what nobody changes, to have it as an earlier version left it."""
    world.owner.execute("SET session_replication_role = replica")
    try:
        world.owner.execute(sql.encode(), values)
    finally:
        world.owner.execute("SET session_replication_role = origin")


async def _told_five_times(world: World, *, by: str = "ann", tenant: str = "acme") -> CaseResult:
    """Publish five experiences of one case result."""
    result = await world.result(await world.open_case(by=by, tenant=tenant), by=by, effort=HOURS)
    for number in range(5):
        text = draft(title=f"Register row missing {number}", effort=HOURS)
        proposal = Proposal(experience_id=new_id(), result_id=result.id, draft=text)
        await world.experiences.propose(by, proposal)
        await world.decide(proposal.experience_id, "cora")
        await world.decide(proposal.experience_id, "otto")
    return result


async def _assessed(world: World) -> tuple[str, Answer]:
    strategy = EFFORT_ASSESSMENT_3
    pinned = Profile(
        id="assessor",
        domain_id="data",
        strategy_id=strategy.id,
        strategy_version=strategy.version,
        principals=("ann",),
    )
    await world.identities.add_profile(pinned)
    task = await ask(world, profile="assessor", objective=WORDS)
    nothing: Any = NoIndex()
    await RetrievalEngine(world.retrievals, nothing, nothing, nothing).answer(task.request.request_id)
    answer = await world.memory.answer("ann", task.request.request_id)
    assert answer is not None
    return task.request.request_id, answer


@pytest.mark.parametrize("tenant", ["acme", "elsewhere"])
async def test_r19_a_job_counts_once_whoever_may_see_whose_it_was(world: World, tenant: str) -> None:
    """R21: what tells that it is one job is in no answer."""
    if tenant != "acme":
        await world.tenant(tenant)
        await world.principal("bob", tenant)
    result = await _told_five_times(world, by="ann" if tenant == "acme" else "bob", tenant=tenant)
    request_id, answer = await _assessed(world)
    assert answer.effort is not None
    assert (answer.effort.active.n, answer.effort.active.quantiles) == (1, None)
    first, *again = answer.candidates
    assert first.effort is not None
    assert first.effort.comparison is Comparison.COUNTED
    assert {each.effort.comparison for each in again if each.effort} == {Comparison.SAME_WORK}
    assert {(each.ref, each.why) for each in answer.effort.apart} == {
        (each.ref, Comparison.SAME_WORK) for each in again
    }
    assert len(again) == 4
    kept = world.rows(
        "SELECT q::text, c::text FROM retrieval_requests q JOIN retrieval_candidates c ON c.request_id = q.id"
        " WHERE q.id = %s",
        request_id,
    )
    assert len(kept) == 5
    assert result.id not in str(kept)


async def test_r19_different_jobs_count_each(world: World) -> None:
    for number in range(5):
        await world.published(draft(title=f"Register row missing {number}", effort=HOURS))
    _, answer = await _assessed(world)
    assert answer.effort is not None
    assert (answer.effort.active.n, answer.effort.apart) == (5, ())


async def test_r20_an_answer_is_the_same_again_and_so_is_one_that_counted_each_text(world: World) -> None:
    await _told_five_times(world)
    request_id, answer = await _assessed(world)
    found = await rerun(world, request_id)
    assert (found.same, found.differences) == (True, ())
    assert len(found.candidates) == len(answer.candidates) == 5
    _as_before(world, _COUNTED, request_id)
    found = await rerun(world, request_id)
    assert (found.same, found.differences) == (True, ())


async def test_r19_an_answer_whose_range_lost_a_figure_is_read_and_says_so(world: World) -> None:
    for number in range(5):
        await world.published(draft(title=f"Register row missing {number}", effort=HOURS))
    request_id, _ = await _assessed(world)
    _as_before(world, _LOST, request_id)
    answer = await world.memory.answer("ann", request_id)
    assert answer is not None
    assert answer.effort is not None
    assert (answer.effort.error.n, answer.effort.error.quantiles) == (5, None)
    assert answer.effort.error.withheld
    assert answer.effort.active.quantiles is not None
    assert (await rerun(world, request_id)).same


async def test_r19_an_estimate_that_nobody_means_is_refused_and_one_of_before_still_reads(world: World) -> None:
    case_id = await world.open_case()
    before = world.everything()
    with pytest.raises(InvalidField) as refusal:
        await world.result(case_id, effort=Effort(estimate_hours=1e-303, active_hours=1e6))
    assert (refusal.value.field, str(ESTIMATE_HOURS) in refusal.value.accepted) == ("effort.estimate_hours", True)
    assert world.everything() == before, "nothing is half-written"
    for estimate in (0, ESTIMATE_HOURS, 1e6):
        await world.result(case_id, effort=Effort(estimate_hours=estimate))

    tiny = Effort(estimate_hours=1e-303, active_hours=1e6)
    result = await world.result(case_id, effort=HOURS)
    _as_before(world, "UPDATE case_results SET effort = %s::jsonb WHERE id = %s", tiny.model_dump_json(), result.id)
    await world.cases.record_result("ann", result.model_copy(update={"effort": tiny}))
    for number in range(4):
        await world.published(draft(title=f"Register row missing {number}", effort=HOURS))
    proposal = Proposal(experience_id=new_id(), result_id=result.id, draft=draft(title=WORDS, effort=tiny))
    await world.experiences.propose("ann", proposal)
    await world.decide(proposal.experience_id, "cora")
    await world.decide(proposal.experience_id, "otto")
    _, answer = await _assessed(world)
    assert answer.effort is not None
    assert (answer.effort.active.n, answer.effort.error.n) == (5, 4)


@pytest.mark.parametrize(
    ("recorded", "told", "field"),
    [
        (None, OTHER, "effort.estimate_hours"),
        (HOURS, OTHER, "effort.active_hours"),
        (HOURS, Effort(active_hours=20, waiting_hours=1), "effort.estimate_hours"),
        (HOURS, HOURS.model_copy(update={"changed_scope": "A second form."}), "effort.changed_scope"),
    ],
    ids=["none recorded", "other hours", "one left out", "changed scope"],
)
async def test_r19_a_proposal_with_other_hours_than_the_results_is_refused(
    world: World, recorded: Effort | None, told: Effort, field: str
) -> None:
    result = await world.result(await world.open_case(), effort=recorded)
    before = world.everything()
    proposal = Proposal(experience_id=new_id(), result_id=result.id, draft=draft(effort=told))
    with pytest.raises(InvalidField) as refusal:
        await world.experiences.propose("ann", proposal)
    assert refusal.value.field == field
    assert world.everything() == before
    await world.experiences.propose("ann", proposal.model_copy(update={"draft": draft(effort=None)}))


@pytest.mark.parametrize("kind", [ChangeKind.RESUBMIT, ChangeKind.CORRECT, ChangeKind.REVISE, ChangeKind.REINSTATE])
async def test_r19_a_text_whose_hours_differ_is_mended_by_any_change(world: World, kind: ChangeKind) -> None:
    """It was proposed before the two were held against each other: a change brings the result's hours, or none."""
    for effort, refused in ((OTHER, "InvalidField"), (HOURS, ""), (None, "")):
        experience_id = await _standing(world, kind)
        _as_before(
            world,
            "UPDATE case_results SET effort = %s::jsonb WHERE id = (SELECT result_id FROM experiences WHERE id = %s)",
            HOURS.model_dump_json(),
            experience_id,
        )
        digest = (await world.lifecycle.load(experience_id)).digest if kind is ChangeKind.REVISE else ""
        by = "cora" if kind is ChangeKind.REVISE else "otto"
        new = draft(title="Mended", effort=effort)
        command_id = new_id()
        done = await world.change(experience_id, kind, by=by, draft=new, digest=digest, command_id=command_id)
        assert (done.refused or "") == refused
        standing = await world.experiences.standing(by, command_id)
        assert standing is not None
        assert standing.field == ("effort.active_hours" if refused else "")
        assert refused == "" or standing.accepted.startswith("20.0 as the case result has it")


async def _standing(world: World, kind: ChangeKind) -> str:
    """Return an experience with other hours, where such a change may be made."""
    text = draft(effort=OTHER)
    if kind in (ChangeKind.RESUBMIT, ChangeKind.REVISE):
        experience_id = await world.propose(text)
        if kind is ChangeKind.RESUBMIT:
            await world.decide(experience_id, "cora", Event.RETURN)
        return experience_id
    experience_id = await world.published(text)
    if kind is ChangeKind.REINSTATE:
        await world.change(experience_id, ChangeKind.RETIRE)
    return experience_id
