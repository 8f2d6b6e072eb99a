"""Corrected, suspended, superseded and retired text is gone from every answer when the database says so (R10, R16)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest_asyncio

from contracts.casefile import CaseRecord
from contracts.experience import Draft
from contracts.labels import Collection
from contracts.lifecycle import Event, Stage
from contracts.retrieval import Answer, RouteState
from contracts.review import ChangeKind, ReviewDecision
from contracts.strategy import Route
from deploy.cast import Cast
from deploy.importing import experience_id
from deploy.runtime import Runtime
from tests.acceptance.crew import Crew, hired
from tests.acceptance.office import Office, by_ref, fresh, ref_of, running_office, settings_in
from tests.acceptance.samples import case, rewritten

PROFILES = {
    "root-support": Collection.ROUTING,
    "data-specialist": Collection.DETAIL,
    "development-specialist": Collection.ROUTING,
    "effort-assessor": Collection.DETAIL,
}
"""Profiles whose strategies reach experience of `data`, by every route, and the index that they reach it in."""


@dataclass
class Standing:
    runtime: Runtime
    office: Office
    crew: Crew


@pytest_asyncio.fixture(scope="module")
async def standing(folder: Path) -> AsyncIterator[Standing]:
    with hired() as crew:
        async with running_office(settings_in(folder)) as (runtime, office):
            yield Standing(runtime, office, crew)


async def test_r10_retired_text_is_gone_while_the_projector_stands_still(standing: Standing) -> None:
    record = case("RET-1", "Spool directory full", "The spool directory of the lantern server had no room left.")
    await standing.office.publish(record)
    async with standing.crew.without("projection"):
        view = await standing.office.change(record, ChangeKind.RETIRE)
        assert (view.state, view.outcome) == ("applied", Stage.RETIRED)
        await _is_withdrawn(standing, record, "The spool directory of the lantern server had no room left.")
    await _has_left_the_index(standing, record)


async def test_r10_superseded_text_gives_way_to_its_successor(standing: Standing) -> None:
    words = "A marigold certificate had expired on the gateway."
    record = case("SUP-1", "Expired certificate on the gateway", words)
    successor = case("SUP-2", "Marigold certificates expire unseen", "Watch the marigold certificate's last day.")
    await standing.office.publish(record, successor)
    async with standing.crew.without("projection"):
        view = await standing.office.change(record, ChangeKind.SUPERSEDE, superseded_by=experience_id(successor))
        assert (view.state, view.outcome) == ("applied", Stage.SUPERSEDED)
        answer = await _is_withdrawn(standing, record, words)
        assert ref_of(successor) in by_ref(answer)
    shown = await standing.office.cast.proposer.get_experience(experience_id(record))
    assert (shown.superseded_by, shown.current_revision) == (experience_id(successor), None)
    await _has_left_the_index(standing, record)


async def test_r10_suspended_text_is_hidden_while_its_correction_is_reviewed(standing: Standing) -> None:
    words = "The harbour ledger rounds half a cent down."
    record = case("SUS-1", "Harbour ledger rounds down", words)
    await standing.office.publish(record)
    corrected = rewritten(record, "Harbour ledger rounds to even", "The harbour ledger rounds half a cent to even.")
    async with standing.crew.without("projection"):
        await standing.office.change(record, ChangeKind.CORRECT, draft=corrected, suspend=True)
        await _is_withdrawn(standing, record, words)
    await _has_left_the_index(standing, record)
    await _accept(standing.office, record, corrected)
    await standing.office.searchable()
    found = by_ref(await standing.office.ask(words))[ref_of(record)]
    assert (found.revision, found.title) == (2, corrected.title)


async def test_r10_a_published_correction_is_shown_though_only_the_old_text_is_in_the_index(standing: Standing) -> None:
    old = "The juniper parser accepts a comma as decimal sign."
    new = "The juniper parser refuses a comma as decimal sign."
    record = case("COR-1", "Juniper parser and the comma", old)
    await standing.office.publish(record)
    corrected = rewritten(record, "Juniper parser refuses the comma", new)
    async with standing.crew.without("projection"):
        await standing.office.change(record, ChangeKind.CORRECT, draft=corrected)
        during = by_ref(await standing.office.ask(old))[ref_of(record)]
        assert (during.revision, during.title) == (1, "Juniper parser and the comma"), "current until it is replaced"
        await _accept(standing.office, record, corrected)
        assert await _revisions_held(standing, record) == {1}
        for profile, collection in PROFILES.items():
            answer = await standing.office.ask(old, profile=profile)
            found = by_ref(answer)[ref_of(record)]
            assert (found.revision, found.title) == (2, corrected.title)
            assert new in found.extract
            assert old not in found.extract
            assert any(line.startswith(f"{collection}: pending events") for line in answer.not_read)
            by_index = {Route.LEXICAL, Route.DENSE_TITLE, Route.DENSE_BODY}
            assert by_index.isdisjoint(match.route for match in found.reason), "its place in the index is an old one"
    await standing.office.searchable()
    assert await _revisions_held(standing, record) == {2}


async def test_r16_without_an_index_the_record_answers_and_the_answer_says_so(standing: Standing) -> None:
    words = "The walnut queue stops when a message has no sender."
    record = case("IDX-1", "Walnut queue stops", words)
    await standing.office.publish(record)
    async with standing.crew.without("projection"):
        begun = await standing.office.admin.reindex()
        assert begun.keys > 0
        assert not await standing.runtime.parts.index.stored(Collection.DETAIL)
        answer = await standing.office.ask(words)
        found = by_ref(answer)[ref_of(record)]
        assert {match.route for match in found.reason} == {Route.CANONICAL}
        assert any(line.startswith("detail: pending events") for line in answer.not_read)
        assert any(line.startswith("detail: read from the record") for line in answer.notes)
        assert any(mark.pending for mark in answer.watermarks if mark.collection is Collection.DETAIL)
    await standing.office.searchable()
    answer = await standing.office.ask(words)
    assert Route.DENSE_BODY in {match.route for match in by_ref(answer)[ref_of(record)].reason}
    assert not any(line.startswith("detail: pending") for line in answer.not_read)


async def test_r16_a_broken_index_is_named_and_replaced_by_the_record(standing: Standing) -> None:
    words = "The copper relay answers twice after a restart."
    record = case("IDX-2", "Copper relay answers twice", words)
    await standing.office.publish(record)
    index = standing.runtime.parts.index
    await index.close()
    try:
        answer = await standing.office.ask(words)
    finally:
        await index.open()
    found = by_ref(answer)[ref_of(record)]
    assert {match.route for match in found.reason} == {Route.CANONICAL}
    failed = {(report.collection, report.route) for report in answer.routes if report.state is RouteState.FAILED}
    assert {(Collection.DETAIL, Route.LEXICAL), (Collection.DETAIL, Route.DENSE_BODY)} <= failed
    assert any(line.startswith("detail by lexical:") for line in answer.not_read)


async def test_r10_changes_sent_while_nobody_works_take_effect_when_somebody_does(standing: Standing) -> None:
    retired = case("OFF-1", "Amber lamp blinks", "The amber lamp blinks when the tray is empty.")
    corrected = case("OFF-2", "Violet lamp blinks", "The violet lamp blinks when the lid is open.")
    await standing.office.publish(retired, corrected)
    draft = rewritten(corrected, "Violet lamp is steady", "The violet lamp is steady when the lid is open.")
    async with standing.crew.without("lifecycle", "projection"):
        views = [
            await standing.office.change(retired, ChangeKind.RETIRE, wait=0),
            await standing.office.change(corrected, ChangeKind.CORRECT, draft=draft, wait=0),
        ]
        assert {view.state for view in views} == {"pending"}
        assert set(by_ref(await standing.office.ask("amber violet lamp blinks"))) >= {
            ref_of(retired),
            ref_of(corrected),
        }
    cast = standing.office.cast
    settled = [await _settled(cast, view.command_id) for view in views]
    assert settled == [("applied", Stage.RETIRED), ("applied", Stage.CURATOR_REVIEW)]
    assert (await cast.owner.get_experience(experience_id(corrected))).current_revision == 1
    found = by_ref(await standing.office.ask("amber violet lamp blinks"))
    assert ref_of(retired) not in found
    assert found[ref_of(corrected)].revision == 1
    await _has_left_the_index(standing, retired)


async def _is_withdrawn(standing: Standing, record: CaseRecord, words: str) -> Answer:
    """Check that no profile is shown the experience, though the index still finds it; return the last answer."""
    assert await _revisions_held(standing, record) == {1}
    answers = {profile: await standing.office.ask(words, profile=profile) for profile in PROFILES}
    for profile, answer in answers.items():
        assert ref_of(record) not in by_ref(answer), profile
        assert all(words not in candidate.extract for candidate in answer.candidates), profile
        assert answer.withdrawn == 1, profile
    return answers["root-support"]


async def _has_left_the_index(standing: Standing, record: CaseRecord) -> None:
    await standing.office.searchable()
    assert await _revisions_held(standing, record) == set()


async def _revisions_held(standing: Standing, record: CaseRecord) -> set[int]:
    return {
        each.payload.revision
        for collection in (Collection.ROUTING, Collection.DETAIL)
        for each in await standing.runtime.parts.index.stored(collection)
        if each.payload.target == ref_of(record)
    }


async def _accept(office: Office, record: CaseRecord, draft: Draft) -> None:
    """Let curator and owner accept a correction."""
    for client, stage in ((office.cast.curator, Stage.CURATOR_REVIEW), (office.cast.owner, Stage.OWNER_REVIEW)):
        decision = ReviewDecision(
            decision_id=fresh(),
            experience_id=experience_id(record),
            stage=stage,
            digest=draft.digest(),
            verdict=Event.ACCEPT,
        )
        view = await client.decide(decision, wait=20)
        assert view.state == "applied"


async def _settled(cast: Cast, command_id: str) -> tuple[str, str]:
    """Return what became of a command, once it is known."""
    view = await cast.owner.get_command(command_id)
    for _ in range(100):
        if view.state != "pending":
            break
        await asyncio.sleep(0.2)
        view = await cast.owner.get_command(command_id)
    return view.state, view.outcome
