"""A past retrieval shown whole, and its answer composed again from the record as it was then (R10, R20)."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from activities.records.retrieval_history import RetrievalHistoryTable
from activities.retrieval.engine import RetrievalEngine
from activities.retrieval.rerun import NOT_AS_OF, Rerunner
from contracts.candidates import RetrievalTask
from contracts.cases import CaseFacts
from contracts.errors import IndexUnavailable, UnknownRetrieval
from contracts.identity import Profile
from contracts.labels import Outcome
from contracts.rankings import KeptFinding, Rankings
from contracts.retrieval import Answer
from contracts.retrieval_record import Rerun
from contracts.review import ChangeKind
from contracts.strategies import DATA_INVESTIGATION_2
from tests.records.articles import article, published_article
from tests.records.asking import answered, ask, candidate, check_result, citing
from tests.records.test_erasures import Office
from tests.records.world import World, draft, libpq

WORDS = "register row missing"


BY_TIME_ALONE = "UPDATE retrieval_requests SET rankings = rankings - 'resolved' - 'earlier' WHERE id = %s"
"""Makes what is kept of a retrieval what it was before the current revisions were kept."""


class NoIndex:
    """An index that is away, so that every route is read from the record; and what else an engine needs."""

    model = "none"
    dimensions = 1

    async def search(self, *_: Any, **__: Any) -> Any:
        raise IndexUnavailable("The index is down.")

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [[1.0] for _ in texts]

    def now(self) -> datetime:
        return datetime.now(UTC)


class Slow(NoIndex):
    """The same, on a machine whose clock is behind the database's."""

    def now(self) -> datetime:
        return super().now() - timedelta(seconds=30)


async def answer_of(world: World, machine: Any = None, **fields: Any) -> tuple[RetrievalTask, Answer]:
    """Ask and answer, through the engine."""
    nothing: Any = machine or NoIndex()
    task = await ask(world, objective=WORDS, **fields)
    await RetrievalEngine(world.retrievals, nothing, nothing, nothing).answer(task.request.request_id)
    done = await world.retrievals.load(task.request.request_id)
    assert done.answer is not None
    return done, done.answer


def refs(answer: Answer | Rerun) -> list[tuple[str, int]]:
    return [(each.ref, each.revision) for each in answer.candidates]


def history(world: World) -> RetrievalHistoryTable:
    return RetrievalHistoryTable(world.database)


async def rerun(world: World, request_id: str) -> Rerun:
    return await Rerunner(history(world)).rerun(request_id)


async def library(world: World) -> dict[str, str]:
    """Publish what a question about the register finds, one of each kind of later fate."""
    names = ("retired", "corrected", "superseded", "suspended", "left")
    found = {name: await world.published(draft(title=f"Register row missing: {name}")) for name in names}
    found["successor"] = await world.published(draft(title="Register row missing: successor"))
    old = await world.published(draft(title="Register row, long ago"))
    assert not (await world.change(old, ChangeKind.SUPERSEDE, superseded_by=found["left"])).refused
    found["failed"] = await world.published(draft(title="Register restart", outcome=Outcome.FAILED))
    found["article"] = await published_article(world, article(title="The register row"))
    return found


async def move_on(world: World, found: dict[str, str]) -> None:
    """Let everything change that can."""
    await world.change(found["retired"], ChangeKind.RETIRE)
    await world.change(found["article"], ChangeKind.RETIRE)
    await world.change(
        found["corrected"], ChangeKind.CORRECT, by="ann", draft=draft(title="Register row missing: corrected again")
    )
    await world.decide(found["corrected"], "cora")
    await world.decide(found["corrected"], "otto")
    outcome = await world.change(found["superseded"], ChangeKind.SUPERSEDE, superseded_by=found["successor"])
    assert not outcome.refused
    await world.change(found["suspended"], ChangeKind.CORRECT, by="otto", draft=draft(title="New"), suspend=True)
    await world.published(draft(title="Register row missing: one more", text=f"{WORDS} {WORDS} {WORDS}"))


async def test_the_same_state_gives_the_same_candidates_whatever_came_after_r20(world: World) -> None:
    """R10, R20: a live question meanwhile shows the new state."""
    found = await library(world)
    task, first = await answer_of(world, results=20, tokens=8000)
    assert {ref for ref, _ in refs(first)} == {
        f"{'article' if name == 'article' else 'experience'}/{each}" for name, each in found.items()
    }
    assert any(each.supersedes for each in first.candidates)

    at_once = await rerun(world, task.request.request_id)
    assert (at_once.same, at_once.differences, at_once.unknown) == (True, (), NOT_AS_OF)
    await move_on(world, found)
    later = await rerun(world, task.request.request_id)
    assert (later.same, later.differences) == (True, ())
    assert (refs(later), later.as_of) == (refs(first), first.answered_at)

    _, live = await answer_of(world, results=20, tokens=8000)
    now = dict(refs(live))
    for name in ("retired", "superseded", "suspended"):
        assert f"experience/{found[name]}" not in now
    assert f"article/{found['article']}" not in now
    assert now[f"experience/{found['corrected']}"] == 2
    assert set(now) - {ref for ref, _ in refs(first)}, "what was published since"


async def test_what_was_kept_without_numbers_goes_by_time_r20(world: World) -> None:
    found = await library(world)
    task, _ = await answer_of(world, results=20, tokens=8000)
    world.owner.execute(BY_TIME_ALONE, (task.request.request_id,))
    await move_on(world, found)
    again = await rerun(world, task.request.request_id)
    assert (again.same, again.differences) == (True, ())


async def test_a_clock_that_is_behind_changes_nothing_r20(world: World) -> None:
    """R20: what has just been published or superseded by the database's clock was there, whatever the engine's says."""
    found = await library(world)
    task, first = await answer_of(world, Slow(), results=20, tokens=8000)
    assert any(each.supersedes for each in first.candidates)
    at_once = await rerun(world, task.request.request_id)
    await move_on(world, found)
    later = await rerun(world, task.request.request_id)
    for again in (at_once, later):
        assert (again.same, again.differences, refs(again)) == (True, (), refs(first))


async def test_a_change_that_was_not_committed_yet_changes_nothing_r20(world: World) -> None:
    """R20: a retirement tells a time before its commit, and an answer may be given between the two."""
    name = await world.published(draft(title=WORDS))
    with psycopg.connect(libpq(world.urls.owner)) as other:
        other.execute("SET session_replication_role = replica")
        other.execute(
            "UPDATE revisions SET state = 'retired', ended_at = clock_timestamp() WHERE experience_id = %s", (name,)
        )
        task, first = await answer_of(world)
        other.commit()
    again = await rerun(world, task.request.request_id)
    assert (again.same, refs(again)) == (True, refs(first))
    assert refs(again) == [(f"experience/{name}", 1)]


async def test_what_was_looked_for_and_not_current_stays_left_out_r20(world: World) -> None:
    """R10, R20: also where its time would say otherwise."""
    there, not_yet = [f"experience/{await world.published(draft(title=WORDS))}" for _ in range(2)]
    task = await ask(world)
    kept = Rankings(
        domain_id="data",
        findings=tuple(KeptFinding(ref=ref, revision=1) for ref in (there, not_yet)),
        resolved=(1, 0),
    )
    past = await history(world).as_of(task, [there, not_yet], kept, datetime.now(UTC))
    assert (set(past.resolution.records), past.resolution.withdrawn, past.unknown) == ({there}, {not_yet}, {})


async def test_a_second_strategy_with_a_contrast_comes_out_again_too(world: World) -> None:
    await library(world)
    pinned: dict[str, Any] = {"strategy_id": "data-investigation", "strategy_version": DATA_INVESTIGATION_2.version}
    await world.identities.add_profile(Profile(id="second", domain_id="data", principals=("ann",), **pinned))
    task = await ask(world, profile="second", objective=WORDS)
    nothing: Any = NoIndex()
    await RetrievalEngine(world.retrievals, nothing, nothing, nothing).answer(task.request.request_id)
    done = await world.retrievals.load(task.request.request_id)
    assert done.answer is not None
    assert done.strategy == DATA_INVESTIGATION_2
    assert [each.contrast for each in done.answer.candidates if each.contrast] == ["shown to contrast: failed"]
    found = await rerun(world, task.request.request_id)
    assert (found.same, found.differences) == (True, ())
    assert [each.contrast for each in found.candidates] == [each.contrast for each in done.answer.candidates]


async def test_a_case_that_changed_is_named_and_one_that_did_not_is_compared(world: World) -> None:
    """R20: what can't be had as of then is said, never guessed."""
    facts = CaseFacts(object_refs=("doc/1",))
    same, moved = [await world.open_case(facts=facts, body="Register row missing.") for _ in range(2)]
    task, first = await answer_of(world, object_refs=("doc/1",))
    assert {ref for ref, _ in refs(first)} == {f"case/{same}", f"case/{moved}"}
    assert (await rerun(world, task.request.request_id)).unknown == NOT_AS_OF
    world.owner.execute("UPDATE cases SET body = 'Other.', revision = revision + 1 WHERE id = %s", (moved,))
    after = await rerun(world, task.request.request_id)
    assert (after.same, after.differences) == (True, ())
    assert after.unknown[0].startswith(f"case/{moved}: has changed since")


async def test_an_erased_candidate_is_named_and_the_others_come_out_again_r11_r20(world: World) -> None:
    await library(world)
    task, first = await answer_of(world, results=4, tokens=8000)
    gone = next(each.ref for each in first.candidates if each.ref.startswith("experience/"))
    case_id = world.one("SELECT case_id::text FROM experiences WHERE id = %s", gone.partition("/")[2])
    await Office(world).erase(case_id=case_id)
    again = await rerun(world, task.request.request_id)
    assert (again.same, again.differences) == (True, ())
    assert f"{gone}: was erased since" in again.unknown
    assert [ref for ref in refs(again) if ref in refs(first)] == [ref for ref in refs(first) if ref[0] != gone]


async def test_a_changed_text_that_was_shown_is_a_difference(world: World) -> None:
    """The comparison can fail: a record that was tampered with doesn't come out the same."""
    name = await world.published(draft(title="Register row missing"))
    task, _ = await answer_of(world)
    world.owner.execute(
        "UPDATE retrieval_candidates SET candidate = jsonb_set(candidate, '{title}', '\"Another\"')"
        " WHERE request_id = %s",
        (task.request.request_id,),
    )
    found = await rerun(world, task.request.request_id)
    assert not found.same
    assert [(each.rank, each.fields) for each in found.differences] == [(1, ("title",))]
    world.owner.execute(BY_TIME_ALONE, (task.request.request_id,))
    world.owner.execute("UPDATE revisions SET published_at = now() WHERE experience_id = %s", (name,))
    found = await rerun(world, task.request.request_id)
    assert [(each.then, each.again) for each in found.differences] == [(f"experience/{name} revision 1", None)]


async def test_what_is_kept_holds_no_word_of_any_text_r11(world: World) -> None:
    await library(world)
    task, _ = await answer_of(world)
    kept = str(world.one("SELECT rankings FROM retrieval_requests WHERE id = %s", task.request.request_id))
    assert "experience/" in kept
    assert not any(word in kept.lower() for word in ("register", "row missing", "atlas"))


async def test_what_keeps_nothing_says_so(world: World) -> None:
    open_one = await ask(world)
    with pytest.raises(UnknownRetrieval, match="Nothing is kept"):
        await rerun(world, open_one.request.request_id)
    with pytest.raises(UnknownRetrieval, match="no such"):
        await rerun(world, str(uuid.uuid4()))
    task, _ = await answer_of(world)
    world.owner.execute("UPDATE retrieval_requests SET rankings = NULL")
    with pytest.raises(UnknownRetrieval, match="Nothing is kept"):
        await rerun(world, task.request.request_id)
    assert not (await history(world).record("ann", task.request.request_id)).can_rerun


async def test_a_retrieval_is_shown_from_question_to_check_r20(world: World) -> None:
    names = [f"experience/{await world.published()}" for _ in range(2)]
    task = await answered(world, await ask(world), *(candidate(rank, ref) for rank, ref in enumerate(names, start=1)))
    request_id = task.request.request_id
    await world.memory.read("ann", request_id, names[0], 1)
    use = citing(task, *names)
    await world.memory.decide("ann", use)
    await world.memory.settle_check("ann", check_result(use, note="It was absent."))

    for reader in ("ann", None):
        shown = await history(world).record(reader, request_id)
        assert (shown.principal_id, shown.profile_id, shown.request) == ("ann", "data-agent", task.request)
        assert (shown.strategy, shown.strategy_digest) == (task.strategy, task.strategy.digest())
        assert shown.answer is not None
        assert [each.ref for each in shown.answer.candidates] == names
        assert [(each.ref, each.revision) for each in shown.reads] == [(names[0], 1)]
        (done,) = shown.uses
        assert done.use == use.model_copy(update={"citations": done.use.citations})
        assert {(each.ref, each.verdict) for each in done.use.citations} == {
            (each.ref, each.verdict) for each in use.citations
        }
        assert [(each.check_id, each.outcome, each.note) for each in done.checks] == [("row", "held", "It was absent.")]


async def test_nobody_else_is_shown_a_retrieval_r4(world: World) -> None:
    await world.tenant("other")
    await world.principal("bob", "other")
    task, _ = await answer_of(world)
    for reader in ("bob", "nobody"):
        for doing in (history(world).record, history(world).require):
            with pytest.raises(UnknownRetrieval):
                await doing(reader, task.request.request_id)
    with pytest.raises(UnknownRetrieval):
        await history(world).record("ann", "no id")


async def test_only_cases_in_scope_are_seen_of_a_rerun_r21(world: World) -> None:
    await world.tenant("other")
    await world.principal("bob", "other")
    case_id = await world.open_case()
    named = [f"case/{case_id}", f"case/{uuid.uuid4()}", "case/no id", "experience/x"]
    assert await history(world).seen_cases("ann", named) == {f"case/{case_id}"}
    assert await history(world).seen_cases("bob", named) == set()


async def test_a_colleague_is_not_told_of_a_case_that_only_the_asker_could_see_r21(world: World) -> None:
    """A retrieval for a case is its tenant's; what it found elsewhere, by further grants, is not."""
    await world.tenant("other")
    await world.principal("mia", "acme", "other")
    await world.profile("data-agent", "mia")
    ours, theirs = await world.open_case(), await world.open_case(by="mia", tenant="other")
    refs_of = [f"case/{each}" for each in (ours, theirs)]
    task = await ask(world, "mia", case_id=ours)
    candidates = [candidate(at, ref, source_case=ref[5:]) for at, ref in enumerate(refs_of, start=1)]
    await answered(world, task, *candidates)
    request_id = task.request.request_id
    for ref in refs_of:
        await world.memory.read("mia", request_id, ref, 1)
    await world.memory.decide("mia", citing(task, *refs_of))

    asker = await history(world).record("mia", request_id)
    assert (len(asker.reads), len(asker.uses[0].use.citations)) == (2, 2)
    colleague = await history(world).record("ann", request_id)
    assert ([each.ref for each in colleague.reads], len(colleague.uses[0].use.citations)) == ([refs_of[0]], 1)
    assert theirs not in colleague.model_dump_json()
