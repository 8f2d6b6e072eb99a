"""What was current at a moment, against a model that replays the same events (R10)."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from activities.records.as_of import AsOfReads
from contracts.as_of import ExperienceAsOf
from contracts.errors import InvalidField, UnknownExperience
from contracts.experience import Draft
from contracts.lifecycle import Event, Stage
from contracts.review import ChangeKind
from tests.records.world import World, draft

MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True)
class Standing:
    """Where the model says that an experience stands."""

    stage: Stage
    revision: int
    current: int | None = None
    suspended: bool = False
    superseded_by: str | None = None


@dataclass
class Modelled:
    """One experience, the model of it, and what the model said at each of its times."""

    id: str
    now: Standing
    drafts: dict[int, Draft]
    told: list[tuple[datetime, Standing]]


def at_of(world: World, experience_id: str) -> datetime:
    """Return when the newest transition was written."""
    return world.one("SELECT max(at) FROM transitions WHERE experience_id = %s", experience_id)


async def step(world: World, one: Modelled, chance: random.Random, successor: str) -> bool:
    """Do a random thing that is possible, in record and model; False when the life has ended."""
    now = one.now
    if now.stage in (Stage.CURATOR_REVIEW, Stage.OWNER_REVIEW):
        who = "cora" if now.stage is Stage.CURATOR_REVIEW else "otto"
        verdict = chance.choice([Event.ACCEPT, Event.ACCEPT, Event.ACCEPT, Event.RETURN, Event.REJECT])
        await world.decide(one.id, who, verdict)
        if verdict is Event.RETURN:
            after = Standing(Stage.RETURNED, now.revision, now.current, now.suspended)
        elif verdict is Event.REJECT:
            stage = Stage.REJECTED if now.current is None else Stage.PUBLISHED
            after = Standing(stage, now.revision, now.current)
        elif now.stage is Stage.CURATOR_REVIEW:
            after = Standing(Stage.OWNER_REVIEW, now.revision, now.current, now.suspended)
        else:
            after = Standing(Stage.PUBLISHED, now.revision, now.revision)
    elif now.stage in (Stage.RETURNED, Stage.PUBLISHED):
        text = draft(title=f"Revision {now.revision + 1}")
        kinds = [ChangeKind.RESUBMIT] if now.stage is Stage.RETURNED else [ChangeKind.CORRECT] * 3
        kinds += [] if now.current is None else [ChangeKind.RETIRE]
        kind = chance.choice(kinds)
        suspend = kind is ChangeKind.CORRECT and chance.random() < 0.5
        given = {} if kind is ChangeKind.RETIRE else {"draft": text, "suspend": suspend}
        outcome = await world.change(one.id, kind, by="otto" if kind is ChangeKind.RETIRE else "ann", **given)
        assert not outcome.refused
        if kind is ChangeKind.RETIRE:
            after = Standing(Stage.RETIRED, now.revision)
        else:
            one.drafts[now.revision + 1] = text
            after = Standing(Stage.CURATOR_REVIEW, now.revision + 1, now.current, suspend or now.suspended)
    else:
        return False
    one.now = after
    one.told.append((at_of(world, one.id), after))
    return True


def told_at(one: Modelled, at: datetime) -> Standing | None:
    return next((standing for when, standing in reversed(one.told) if when <= at), None)


def standing_of(found: ExperienceAsOf) -> Standing:
    return Standing(found.stage, found.revision, found.current_revision, found.suspended, found.superseded_by)


@pytest.mark.parametrize("seed", range(3))
async def test_every_moment_is_answered_as_the_replayed_model_says(world: World, seed: int) -> None:
    """Random lives, asked before, at and after each of their events, one by one and as the list."""
    chance, reads = random.Random(seed), AsOfReads(world.database)
    lives: list[Modelled] = []
    for _ in range(4):
        text = draft()
        experience_id = await world.propose(text)
        first = Standing(Stage.CURATOR_REVIEW, 1)
        lives.append(Modelled(experience_id, first, {1: text}, [(at_of(world, experience_id), first)]))
    for _ in range(40):
        await step(world, chance.choice(lives), chance, "")
    moments = sorted(when for one in lives for when, _ in one.told)
    for at in [each + shift for each in moments for shift in (-MICROSECOND, timedelta(0), MICROSECOND)]:
        current: dict[str, int] = {}
        for one in lives:
            expected = told_at(one, at)
            if expected is None:
                with pytest.raises(UnknownExperience):
                    await reads.experience("ann", one.id, at)
                continue
            found = await reads.experience("ann", one.id, at)
            assert standing_of(found) == expected
            assert found.draft == (None if expected.current is None else one.drafts[expected.current])
            if expected.current is not None and not expected.suspended:
                current[one.id] = expected.current
        page = await reads.current("ann", at)
        assert {entry.experience_id: entry.revision for entry in page.entries} == current
        assert {entry.experience_id: entry.digest for entry in page.entries} == {
            one.id: one.drafts[current[one.id]].digest() for one in lives if one.id in current
        }


async def test_a_superseded_one_names_its_successor_from_then_on(world: World) -> None:
    reads = AsOfReads(world.database)
    old, new = await world.published(), await world.published()
    before = datetime.now(UTC)
    world.owner.execute("SELECT pg_sleep(0.002)")
    now = await world.lifecycle.load(old)
    message = await world.store_command(old, ChangeKind.SUPERSEDE, superseded_by=new)
    assert not (await world.lifecycle.apply_command(old, message)).refused
    at = at_of(world, old)
    found = await reads.experience("ann", old, at)
    assert (found.stage, found.superseded_by, found.current_revision) == (Stage.SUPERSEDED, new, None)
    found = await reads.experience("ann", old, before)
    assert (found.stage, found.superseded_by, found.current_revision) == (Stage.PUBLISHED, None, now.revision)


async def test_the_list_comes_page_by_page_and_by_domain(world: World) -> None:
    reads = AsOfReads(world.database)
    ids = sorted([await world.published(draft(title=f"T{number}")) for number in range(5)])
    elsewhere = await world.published(draft(domain_id="development"))
    at = at_of(world, elsewhere)
    pages = [await reads.current("ann", at, limit=2, domain="data")]
    while pages[-1].after is not None:
        pages.append(await reads.current("ann", at, limit=2, domain="data", after=pages[-1].after))
    assert [len(page.entries) for page in pages] == [2, 2, 1]
    assert [entry.experience_id for page in pages for entry in page.entries] == ids
    assert [entry.experience_id for entry in (await reads.current("ann", at, domain="development")).entries] == [
        elsewhere
    ]


async def test_the_future_is_refused_and_foreign_experiences_are_none(world: World) -> None:
    """R4: another tenant's history looks like none, also when its text is published for all."""
    reads = AsOfReads(world.database)
    await world.tenant("other")
    await world.principal("eve", "other")
    experience_id = await world.published()
    at = at_of(world, experience_id)
    for moment in (datetime.now(UTC) + timedelta(hours=1), datetime(2026, 1, 1)):
        with pytest.raises(InvalidField) as refused:
            await reads.experience("ann", experience_id, moment)
        assert refused.value.field == "at"
        with pytest.raises(InvalidField):
            await reads.current("ann", moment)
    with pytest.raises(UnknownExperience):
        await reads.experience("eve", experience_id, at)
    assert (await reads.current("eve", at)).entries == ()
    assert len((await reads.current("cora", at)).entries) == 1


async def test_an_erased_text_is_not_there_any_more(world: World) -> None:
    """R11: the digest is."""
    experience_id = await world.published()
    at = at_of(world, experience_id)
    world.owner.execute("SET session_replication_role = replica")
    world.owner.execute("UPDATE revisions SET content = '{}'")
    found = await AsOfReads(world.database).experience("ann", experience_id, at)
    assert found.draft is None
    assert found.digest == world.one("SELECT digest FROM revisions")
