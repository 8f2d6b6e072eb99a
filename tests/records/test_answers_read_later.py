"""Answers that are read or decided on later: what was withdrawn since, who lost a right since (R10, R14, R20)."""

from __future__ import annotations

import json
from collections.abc import Awaitable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from activities.records.adoptions import AdoptionsTable
from activities.records.retrieval_history import RetrievalHistoryTable
from contracts.adoption import Adoption, AdoptionDecision, AdoptionVerdict, Pin
from contracts.candidates import RetrievalTask
from contracts.errors import (
    AdoptionNeeded,
    CaseloreError,
    DeliveryPending,
    IdempotencyConflict,
    UncitedCandidate,
    UnknownRetrieval,
    UnknownStrategy,
)
from contracts.outbox import Watermark
from contracts.retrieval import Candidate, Citation, CitationVerdict
from contracts.review import ChangeKind
from contracts.strategies import DATA_INVESTIGATION_2
from tests.records.articles import published_article
from tests.records.asking import NO_RANKINGS, answer, answered, ask, candidate, citing, request
from tests.records.world import NOON, World, changed, draft, new_id


async def shown(world: World, task: RetrievalTask, by: str = "ann") -> tuple[Candidate, ...]:
    """Return the candidates as the API and the pages read them, which is the same."""
    found = await world.memory.answer(by, task.request.request_id)
    record = await RetrievalHistoryTable(world.database).record(by, task.request.request_id)
    assert found is not None
    assert record.answer is not None
    assert record.answer.candidates == found.candidates
    return found.candidates


async def correct(world: World, experience_id: str, **fields: Any) -> None:
    await world.change(experience_id, ChangeKind.CORRECT, by="ann", draft=draft(title="Second"), **fields)
    await world.decide(experience_id, "cora")
    await world.decide(experience_id, "otto")


async def refused(world: World, error: type[CaseloreError], doing: Awaitable[Any], *, says: str = ".") -> None:
    before = world.everything()
    with pytest.raises(error, match=says):
        await doing
    assert changed(world.everything(), before) == []


async def test_r10_r20_a_stored_answer_shows_no_text_that_was_withdrawn_since(world: World) -> None:
    """For its asker, for who sees its case and for the operator; what was found and why stays."""
    await world.principal("amy", "acme")
    kept, retired, corrected, superseded, successor, suspended = [await world.published() for _ in range(6)]
    refs = [f"experience/{each}" for each in (kept, retired, corrected, superseded, suspended)]
    refs += [f"article/{await published_article(world)}", f"case/{await world.open_case()}"]
    given = [candidate(rank, ref) for rank, ref in enumerate(refs, start=1)]
    task = await answered(world, await ask(world, case_id=await world.open_case()), *given)
    assert await shown(world, task) == tuple(given)

    await world.change(retired, ChangeKind.RETIRE)
    await world.change(refs[5].partition("/")[2], ChangeKind.RETIRE)
    await correct(world, corrected)
    await world.change(superseded, ChangeKind.SUPERSEDE, superseded_by=successor)
    await world.change(suspended, ChangeKind.CORRECT, by="otto", draft=draft(title="New"), suspend=True)
    for reader in ("ann", "amy"):
        now = await shown(world, task, reader)
        withdrawn = "withdrawn since"
        assert [each.state for each in now] == [
            "current", withdrawn, "now revision 2", withdrawn, withdrawn, withdrawn, "current",
        ]  # fmt: skip
        assert [bool(each.extract) for each in now] == [True, *[False] * 5, True]
        assert [each.is_current for each in now] == [True, *[False] * 5, True]
        words = {"state", "extract", "extract_complete"}
        assert [each.model_dump(exclude=words) for each in now] == [each.model_dump(exclude=words) for each in given]
        assert all(each.extract_complete for each in now)
    record = await RetrievalHistoryTable(world.database).record(None, task.request.request_id)
    assert record.answer is not None
    assert record.answer.candidates == now
    raw = (await world.retrievals.load(task.request.request_id)).answer
    assert raw is not None
    assert raw.candidates == tuple(given), "what is composed again is compared with what was given"


async def test_r10_r20_what_isnt_current_any_more_is_not_chosen_and_can_be_rejected(world: World) -> None:
    retired, corrected = await world.published(), await world.published()
    refs = [f"experience/{each}" for each in (retired, corrected)]
    task = await answered(world, await ask(world), *(candidate(rank, ref) for rank, ref in enumerate(refs, start=1)))
    before = citing(task, *refs)
    await world.memory.decide("ann", before)
    await world.change(retired, ChangeKind.RETIRE)
    await correct(world, corrected)
    await refused(world, UncitedCandidate, world.memory.decide("ann", citing(task, refs[0])), says="withdrawn")
    await refused(world, UncitedCandidate, world.memory.decide("ann", citing(task, refs[1])), says="Accepted: 2")
    others = tuple(
        Citation(ref=ref, revision=1, verdict=verdict, why="It was withdrawn.")
        for ref, verdict in zip(refs, (CitationVerdict.REJECTED, CitationVerdict.NOT_APPLICABLE), strict=True)
    )
    await world.memory.decide("ann", citing(task, citations=others))
    stored = world.everything()
    await world.memory.decide("ann", before)
    assert changed(world.everything(), stored) == [], "a repeat of what was decided before"
    other = before.model_copy(update={"summary": "Something else."})
    await refused(world, IdempotencyConflict, world.memory.decide("ann", other))


async def test_r20_a_live_case_is_chosen_whatever_its_revision_is_by_now(world: World) -> None:
    case_id = await world.open_case()
    task = await answered(world, await ask(world), candidate(1, f"case/{case_id}"))
    world.owner.execute("UPDATE cases SET revision = revision + 1 WHERE id = %s", (case_id,))
    await world.memory.decide("ann", citing(task, f"case/{case_id}"))


async def test_r20_nothing_is_decided_before_there_is_an_answer(world: World) -> None:
    task = await ask(world, case_id=await world.open_case())
    ref = f"experience/{await world.published()}"
    for use in (citing(task), citing(task, ref)):
        await refused(world, DeliveryPending, world.memory.decide("ann", use))


async def test_r8_a_repeat_is_harmless_when_rights_have_lapsed_since(world: World) -> None:
    """R13, R20: what was stored under an id is answered as before; a new id meets the rights of now."""
    await world.tenant("other")
    await world.principal("bob", "acme", "other")
    await world.profile("lent", "bob")
    theirs = await world.open_case(by="bob", tenant="other")
    asked = request("lent", tenant_id="acme")
    await world.memory.open("bob", asked)
    task = await world.retrievals.load(asked.request_id)
    await answered(world, task, candidate(1, f"case/{theirs}", source_case=theirs))
    use = citing(task, f"case/{theirs}")
    await world.memory.decide("bob", use)

    world.owner.execute("UPDATE grants SET expires_at = %s WHERE principal_id = 'bob'", (_ago(),))
    world.owner.execute("DELETE FROM profile_members WHERE principal_id = 'bob'")
    before = world.everything()
    await world.memory.open("bob", asked)
    await world.memory.decide("bob", use)
    assert changed(world.everything(), before) == []
    again = asked.model_copy(update={"objective": "Something else."})
    await refused(world, IdempotencyConflict, world.memory.open("bob", again))
    await refused(
        world, IdempotencyConflict, world.memory.decide("bob", use.model_copy(update={"summary": "Another one."}))
    )
    await refused(world, CaseloreError, world.memory.open("bob", asked.model_copy(update={"request_id": new_id()})))
    await refused(world, UncitedCandidate, world.memory.decide("bob", use.model_copy(update={"decision_id": new_id()})))
    await refused(world, UnknownRetrieval, world.memory.decide("cora", use))


async def test_r20_a_decisions_paper_names_what_it_rests_on_by_ids_alone(world: World) -> None:
    """R21: a live case of another tenant than the paper's is not named in it, also when its reader saw it."""
    await world.tenant("other")
    await world.principal("bob", "other", "acme")
    theirs = await world.open_case(by="bob", tenant="other")
    await world.profile("data-agent", "bob")
    refs = [f"experience/{await world.published()}" for _ in range(3)]
    ours = f"case/{await world.open_case()}"
    case_id = await world.open_case()
    task = await ask(world, "bob", case_id=case_id)
    mark = Watermark.model_validate(
        {"collection": "detail", "position": 7, "head": 9, "pending": 2, "lag_seconds": 1.5, "as_of": NOON}
    )
    found = [candidate(rank, ref) for rank, ref in enumerate((*refs, ours, f"case/{theirs}"), start=1)]
    stored = answer(task, *found, watermarks=(mark,))
    await world.retrievals.save(task, stored, NO_RANKINGS)
    for ref in (refs[1], f"case/{theirs}"):
        await world.memory.read("bob", task.request.request_id, ref, 1)
    use = citing(task, refs[1], refs[0])
    await world.memory.decide("bob", use)
    await world.memory.read("bob", task.request.request_id, refs[2], 1)

    told = world.one("SELECT text FROM case_papers WHERE case_id = %s", case_id)
    paper = json.loads(told)
    assert (paper["strategy"], paper["strategy_digest"]) == ("data-investigation v1", stored.strategy_digest)
    assert paper["watermarks"] == [{"collection": "detail", "position": 7}]
    assert paper["candidates"] == [{"ref": ref, "revision": 1} for ref in (*refs, ours)]
    assert paper["reads"] == [{"ref": refs[1], "revision": 1}], "until the decision"
    assert [(each["ref"], each["read_in_full"]) for each in paper["citations"]] == [(refs[1], True), (refs[0], False)]
    assert theirs not in told
    assert found[0].extract not in told


async def test_r14_only_a_version_that_a_review_made_the_profiles_own_is_asked_for(world: World) -> None:
    for adopted in (False, True):
        if adopted:
            await decided(world, AdoptionVerdict.ADOPT, to=2, since=1)
        else:
            await refused(world, AdoptionNeeded, ask(world, strategy_version=2), says="Accepted: 1")
            await decided(world, AdoptionVerdict.DECLINE, to=2, since=1)
            await refused(world, AdoptionNeeded, ask(world, strategy_version=2), says="Accepted: 1")
    for version in (1, 2, None):
        assert (await ask(world, strategy_version=version)).strategy.version == (version or 2)
    await refused(world, AdoptionNeeded, ask(world, strategy_version=3), says="Accepted: 1, 2")
    await refused(world, UnknownStrategy, ask(world, strategy_version=99), says="Accepted: 1, 2")
    await decided(world, AdoptionVerdict.ADOPT, to=1, since=2)
    assert (await ask(world, strategy_version=2)).strategy == DATA_INVESTIGATION_2, "it was pinned before"
    await world.profile("another", "ann")
    await refused(world, AdoptionNeeded, ask(world, profile="another", strategy_version=2), says="Accepted: 1")


async def decided(world: World, verdict: AdoptionVerdict, *, to: int, since: int) -> None:
    table = AdoptionsTable(world.database)
    digest = world.one(
        "SELECT digest FROM strategy_versions WHERE strategy_id = 'data-investigation' AND version = %s", to
    )
    proposal = Adoption(
        id=new_id(),
        profile_id="data-agent",
        pin=Pin(strategy_id="data-investigation", version=to),
        digest=digest,
        expected=Pin(strategy_id="data-investigation", version=since),
        reason="To try.",
    )
    view = await table.propose("cora", proposal)
    await table.decide(
        "otto", view.id, AdoptionDecision(decision_id=new_id(), verdict=verdict, digest=digest, reason="Tried.")
    )


def _ago() -> datetime:
    return datetime.now(UTC) - timedelta(hours=1)
