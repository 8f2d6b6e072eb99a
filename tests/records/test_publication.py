"""Proposals and the moment of publication: one transaction, or nothing (R5, R8)."""

from __future__ import annotations

import asyncio
from typing import Any

import psycopg
import pytest
from psycopg import errors

from activities.records import lifecycle as lifecycle_module
from contracts.errors import IdempotencyConflict, OutcomeOverstated, UnknownDomain, UnverifiedResult
from contracts.experience import Proposal
from contracts.labels import Outcome
from contracts.lifecycle import Event, Stage
from contracts.outbox import EventKind, Topic
from contracts.review import ChangeKind
from tests.records.world import World, changed, draft, libpq, new_id


async def test_a_proposal_is_stored_with_the_event_that_starts_its_lifecycle(shared: World) -> None:
    """R5, R8: linked to case, result and papers; the event carries ids and labels only (R11)."""
    experience_id = await shared.propose()
    ((topic, kind, payload),) = shared.rows(
        "SELECT topic, kind, payload FROM outbox WHERE event_id = %s", experience_id
    )
    assert (topic, kind) == (Topic.LIFECYCLE, EventKind.START)
    assert payload == {"experience_id": experience_id, "domain_id": "data", "tenant_id": "acme"}
    now = await shared.lifecycle.load(experience_id)
    assert (now.stage, now.revision, now.current_revision, now.tenant_id) == (Stage.CURATOR_REVIEW, 1, None, "acme")
    assert now.due_at is not None
    assert now.digest == draft().digest()


async def test_a_repeated_proposal_is_answered_and_another_under_its_id_refused(shared: World) -> None:
    """R24."""
    result = await shared.result(await shared.open_case())
    proposal = Proposal(experience_id=new_id(), result_id=result.id, draft=draft())
    assert (await shared.experiences.propose("ann", proposal)).state == "pending"
    await shared.principal("ben", "acme")
    other_result = await shared.result(await shared.open_case())
    before = shared.everything()
    assert (await shared.experiences.propose("ann", proposal)).event_id == proposal.experience_id
    for who, changes in (
        ("ann", {"draft": draft(title="Other")}),
        ("ann", {"result_id": other_result.id}),
        ("ben", {}),
    ):
        with pytest.raises(IdempotencyConflict):
            await shared.experiences.propose(who, proposal.model_copy(update=changes))
    assert changed(shared.everything(), before) == []


async def test_one_proposal_sent_by_eight_is_one_experience(shared: World) -> None:
    """R24: equal requests at once; each is answered."""
    result = await shared.result(await shared.open_case())
    proposal = Proposal(experience_id=new_id(), result_id=result.id, draft=draft())
    await asyncio.gather(*(shared.experiences.propose("ann", proposal) for _ in range(8)))
    assert shared.one("SELECT count(*) FROM revisions WHERE experience_id = %s", proposal.experience_id) == 1


async def test_a_proposal_needs_a_recorded_result_that_says_as_much(shared: World) -> None:
    """R5: no result, another tenant's, another outcome, an unknown domain; nothing is written."""
    await shared.tenant("far")
    await shared.principal("flo", "far")
    foreign = await shared.result(await shared.open_case(by="flo", tenant="far"), by="flo")
    failed = await shared.result(await shared.open_case(), outcome=Outcome.FAILED)
    succeeded = await shared.result(await shared.open_case())
    before = shared.everything()
    for result_id, content, error in (
        (new_id(), draft(), UnverifiedResult),
        (foreign.id, draft(), UnverifiedResult),
        (failed.id, draft(), OutcomeOverstated),
        (succeeded.id, draft(domain_id="kitchen"), UnknownDomain),
    ):
        with pytest.raises(error):
            await shared.experiences.propose(
                "ann", Proposal(experience_id=new_id(), result_id=result_id, draft=content)
            )
    assert changed(shared.everything(), before) == []


async def test_a_failure_after_publication_leaves_neither_revision_nor_event(
    shared: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R8: publication and event are one transaction; then the same decision publishes once."""
    experience_id = await shared.propose()
    await shared.decide(experience_id, "cora")
    message = await shared.store_decision(experience_id, "otto")
    publish, announce = lifecycle_module.publish, lifecycle_module.announce

    async def fails(*arguments: Any) -> None:
        await (publish if len(arguments) == 4 else announce)(*arguments)
        raise ConnectionError("the process dies here")

    before = shared.everything()
    for step in ("publish", "announce"):
        with monkeypatch.context() as patched:
            patched.setattr(lifecycle_module, step, fails)
            with pytest.raises(ConnectionError):
                await shared.lifecycle.record_decision(experience_id, message)
        assert changed(shared.everything(), before) == []
    after, duplicate = await shared.lifecycle.record_decision(experience_id, message)
    assert (after.stage, duplicate) == (Stage.PUBLISHED, False)
    assert shared.index_events(f"experience/{experience_id}") == 1


async def test_a_failure_while_a_command_is_applied_leaves_it_pending(
    shared: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R8, R10: not half-retired, not settled; the retry applies it."""
    experience_id = await shared.published()
    message = await shared.store_command(experience_id, ChangeKind.RETIRE)
    before = shared.everything()

    async def fails(*_: Any) -> None:
        raise ConnectionError("the process dies here")

    with monkeypatch.context() as patched:
        patched.setattr(lifecycle_module, "announce", fails)
        with pytest.raises(ConnectionError):
            await shared.lifecycle.apply_command(experience_id, message)
    assert changed(shared.everything(), before) == []
    assert (await shared.lifecycle.apply_command(experience_id, message)).refused == ""


async def test_a_killed_session_publishes_nothing(shared: World) -> None:
    """R8: the connection is cut from the server's side in the middle of the publishing transaction."""
    experience_id = await shared.propose()
    before = shared.everything()
    connection = psycopg.connect(libpq(shared.urls.system))
    connection.execute(
        "UPDATE revisions SET state = 'current', published_at = now() WHERE experience_id = %s", (experience_id,)
    )
    connection.execute(
        "INSERT INTO outbox (event_id, topic, kind, key, payload)"
        " VALUES (gen_random_uuid(), 'index', 'project', %s, '{}')",
        (f"experience/{experience_id}",),
    )
    shared.owner.execute("SELECT pg_terminate_backend(%s)", (connection.info.backend_pid,))
    with pytest.raises((errors.AdminShutdown, psycopg.OperationalError)):
        connection.execute("SELECT 1")
    connection.close()
    assert changed(shared.everything(), before) == []


async def test_searchable_is_not_the_same_as_saved(shared: World) -> None:
    """R23: published in the record, searchable once its revision was projected, not after it ended."""
    experience_id = await shared.published()
    key = f"experience/{experience_id}"

    async def searchable() -> bool:
        return (await shared.experiences.view("ann", experience_id)).searchable

    assert not await searchable()
    await shared.projections.record(await shared.projections.desired([key]))
    assert await searchable()
    await shared.change(experience_id, ChangeKind.CORRECT, by="ann", draft=draft(title="Second"))
    assert await searchable()
    await shared.decide(experience_id, "cora")
    await shared.decide(experience_id, "otto")
    assert not await searchable()
    await shared.projections.record(await shared.projections.desired([key]))
    assert await searchable()
    await shared.change(experience_id, ChangeKind.RETIRE)
    assert not await searchable()


async def test_a_view_shows_every_revision_to_those_who_may_see_the_experience(shared: World) -> None:
    """R4, R21: with drafts for its tenant and reviewers, unknown to everybody else."""
    experience_id = await shared.published()
    await shared.change(experience_id, ChangeKind.CORRECT, by="ann", draft=draft(title="Second"))
    await shared.decide(experience_id, "cora", Event.RETURN)
    for who in ("ann", "carl"):
        view = await shared.experiences.view(who, experience_id)
        assert [(r.number, r.state, r.draft.title) for r in view.revisions] == [
            (1, "current", "Missing register row"), (2, "returned", "Second"),
        ]  # fmt: skip
    await shared.principal("outsider")
    for who, wanted in (("outsider", experience_id), ("ann", new_id()), ("ann", "no id"), ("ann", "")):
        with pytest.raises(Exception, match="no such experience"):
            await shared.experiences.view(who, wanted)
