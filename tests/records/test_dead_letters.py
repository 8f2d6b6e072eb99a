"""Events that were set aside: seen, retried in their place, given up, never passed silently (R8 to R10, R23)."""

from __future__ import annotations

import random
from datetime import timedelta

import pytest

from activities.records.dead_letters import DeadLetters
from activities.records.figures import FiguresTable
from activities.records.outbox import add_event
from contracts import limits
from contracts.errors import NotDead, UnknownEvent
from contracts.labels import Collection
from contracts.lifecycle import Event, Stage
from contracts.outbox import EventKind, OutboxEvent, Topic, Watermark
from contracts.review import ChangeKind
from tests.records.world import World, draft, new_id

LEASE = timedelta(seconds=30)


async def add(world: World, key: str, event: EventKind, **payload: str) -> str:
    event_id = new_id()
    topic = Topic.INDEX if event is EventKind.PROJECT else Topic.LIFECYCLE
    async with world.database.as_system() as connection:
        await add_event(connection, topic, event, key, payload, event_id=event_id)
    return event_id


async def claimed(world: World, topic: Topic = Topic.LIFECYCLE) -> list[OutboxEvent]:
    return await world.outbox.claim(topic, 100, LEASE)


async def dies(world: World, event_id: str, topic: Topic = Topic.LIFECYCLE) -> None:
    """Let an event that is next fail for the last time."""
    world.owner.execute("UPDATE outbox SET failures = %s WHERE event_id = %s", (limits.OUTBOX_ATTEMPTS - 1, event_id))
    for event in await claimed(world, topic):
        if event.event_id == event_id:
            assert await world.outbox.postponed(event, "ValueError at _send:78", may_die=True)
        else:
            await world.outbox.postponed(event, "DeliveryPending", may_die=False)
    world.owner.execute("UPDATE outbox SET available_at = now()")


def key() -> str:
    return f"experience/{new_id()}"


async def test_a_dead_letter_tells_what_failed_and_what_waits(world: World) -> None:
    """R11, R23: ids, labels and the last error's type and place."""
    letters, one = DeadLetters(world.database), key()
    dead = await add(world, one, EventKind.DECIDE, command_id=new_id())
    await add(world, one, EventKind.SIGNAL, kind="correct")
    await dies(world, dead)
    (letter,) = await letters.letters()
    assert (letter.event_id, letter.topic, letter.kind, letter.key) == (dead, Topic.LIFECYCLE, EventKind.DECIDE, one)
    assert (letter.error, letter.failures, letter.attempts) == ("ValueError at _send:78", limits.OUTBOX_ATTEMPTS, 1)
    assert letter.waiting == 1
    assert await letters.letters(after=letter.position) == []
    assert await letters.count() == 1
    assert (await FiguresTable(world.database).read(0)).dead == 1


async def test_nothing_but_an_ending_passes_a_dead_decision(world: World) -> None:
    """R10: a later decision or correction would jump the order silently; a retirement must not be held back."""
    one = key()
    dead = await add(world, one, EventKind.DECIDE)
    later = await add(world, one, EventKind.DECIDE)
    correction = await add(world, one, EventKind.SIGNAL, kind="correct")
    await dies(world, dead)
    assert await claimed(world) == []
    assert await world.outbox.claim_one(correction, LEASE) is None
    for ending in ("retire", "supersede"):
        event_id = await add(world, one, EventKind.SIGNAL, kind=ending)
        assert await claimed(world) == [], "it waits for the living ones before it"
        world.owner.execute("UPDATE outbox SET dead_at = now() WHERE event_id = ANY (%s)", ([later, correction],))
        (event,) = await claimed(world)
        assert event.event_id == event_id
        await world.outbox.delivered([event], "signalled")
        world.owner.execute("UPDATE outbox SET dead_at = NULL WHERE event_id = ANY (%s)", ([later, correction],))


async def test_a_dead_start_holds_nothing_back(world: World) -> None:
    """R10: every delivery starts a lifecycle that doesn't run."""
    one = key()
    dead = await add(world, one, EventKind.START)
    decision = await add(world, one, EventKind.DECIDE)
    await dies(world, dead)
    assert [event.event_id for event in await claimed(world)] == [decision]


async def test_a_retried_event_comes_in_its_old_place(world: World) -> None:
    """R10: before what waited for it; a second retry does nothing more."""
    letters, one = DeadLetters(world.database), key()
    first, second, third = [await add(world, one, EventKind.DECIDE) for _ in range(3)]
    await dies(world, first)
    assert await letters.retry(first) == 1
    assert await letters.retry(first) == 0
    for expected in (first, second, third):
        (event,) = await claimed(world)
        assert event.event_id == expected
        assert await letters.retry(expected) == 0, "a leased event is left alone"
        await world.outbox.delivered([event], "done")
    assert await letters.retry(first) == 0
    assert await letters.letters() == []
    with pytest.raises(UnknownEvent):
        await letters.retry(new_id())
    with pytest.raises(UnknownEvent):
        await letters.retry("42")


async def test_everything_can_be_retried_at_once_and_counts_its_failures_anew(world: World) -> None:
    letters = DeadLetters(world.database)
    ids = [await add(world, key(), EventKind.DECIDE) for _ in range(3)]
    for event_id in ids:
        await dies(world, event_id)
    assert await letters.count() == 3
    assert (await letters.retry_all(), await letters.retry_all()) == (3, 0)
    events = await claimed(world)
    assert sorted(event.event_id for event in events) == sorted(ids)
    assert not await world.outbox.postponed(events[0], "ValueError", may_die=True), "its first failure again"


async def test_what_is_given_up_is_refused_and_out_of_the_way(world: World) -> None:
    """R23: the decision had no effect and says so; the next one is delivered."""
    letters = DeadLetters(world.database)
    experience_id = await world.propose()
    world.owner.execute("UPDATE outbox SET delivered_at = now()")
    stuck = await world.store_decision(experience_id, "cora")
    await dies(world, stuck.decision_id)
    other = await world.store_decision(experience_id, "carl", Event.RETURN)
    assert await claimed(world) == []
    given_up = await letters.give_up(stuck.decision_id)
    assert given_up.command_id == stuck.decision_id
    standing = await world.experiences.standing("cora", stuck.decision_id)
    assert standing is not None
    assert (standing.state, standing.outcome) == ("refused", "Undeliverable")
    assert [event.event_id for event in await claimed(world)] == [other.decision_id]
    assert (await world.lifecycle.load(experience_id)).stage is Stage.CURATOR_REVIEW
    for event_id in (stuck.decision_id, other.decision_id):
        with pytest.raises(NotDead):
            await letters.give_up(event_id)


async def test_a_retirement_that_passed_a_dead_correction_makes_it_refused(world: World) -> None:
    """R10, R23: retried later, the correction finds a closed lifecycle, and says so."""
    letters = DeadLetters(world.database)
    experience_id = await world.published()
    world.owner.execute("UPDATE outbox SET delivered_at = now()")
    correction = await world.store_command(experience_id, ChangeKind.CORRECT, by="ann", draft=draft(title="New"))
    await dies(world, correction.command_id)
    retirement = await world.store_command(experience_id, ChangeKind.RETIRE)
    (event,) = await claimed(world)
    assert event.event_id == retirement.command_id
    await world.lifecycle.apply_command(experience_id, retirement)
    await world.outbox.delivered([event], "signalled")
    assert await letters.retry(correction.command_id) == 1
    assert (await world.lifecycle.apply_command(experience_id, correction)).refused == "LifecycleClosed"


async def test_an_index_event_can_not_be_given_up(world: World) -> None:
    """R9: its watermark would pass a change that no index holds."""
    dead = await add(world, key(), EventKind.PROJECT)
    await dies(world, dead, Topic.INDEX)
    with pytest.raises(NotDead) as refused:
        await DeadLetters(world.database).give_up(dead)
    assert refused.value.accepted == "a retry"


async def test_a_later_projection_of_its_key_serves_a_dead_event(world: World) -> None:
    """R9: it read the key's state after the change; only then does the watermark go on."""
    one = key()
    dead = await add(world, one, EventKind.PROJECT)
    await dies(world, dead, Topic.INDEX)
    other = await add(world, key(), EventKind.PROJECT)
    for event in await claimed(world, Topic.INDEX):
        assert event.event_id == other
        await world.outbox.delivered([event], "projected")
    assert (await marks(world)).pending == 1
    again = await add(world, one, EventKind.PROJECT)
    (event,) = await claimed(world, Topic.INDEX)
    assert event.event_id == again
    await world.outbox.delivered([event], "projected")
    assert (await marks(world)).is_current
    assert await DeadLetters(world.database).count() == 0
    assert (await FiguresTable(world.database).read(0)).dead == 0


async def test_a_watermark_never_passes_a_dead_or_undelivered_event(world: World) -> None:
    """R9, R15: events of random keys delivered in random order, some dying, some retried."""
    chance, letters = random.Random(7), DeadLetters(world.database)
    keys = [key() for _ in range(12)]
    dead: set[int] = set()
    for turn in range(60):
        await add(world, chance.choice(keys), EventKind.PROJECT)
        for event in await world.outbox.claim(Topic.INDEX, chance.randint(0, 2), LEASE):
            if chance.random() < 0.3:
                world.owner.execute(
                    "UPDATE outbox SET failures = %s WHERE position = %s", (limits.OUTBOX_ATTEMPTS - 1, event.position)
                )
                assert await world.outbox.postponed(event, "ValueError", may_die=True)
                dead.add(event.position)
            else:
                await world.outbox.delivered([event], "projected")
        if turn % 20 == 19:
            await letters.retry_all()
        undelivered = [row[0] for row in world.rows("SELECT position FROM outbox WHERE delivered_at IS NULL")]
        mark, stored = await marks(world), world.rows("SELECT position FROM watermarks WHERE collection = 'detail'")
        assert mark.pending == len(undelivered)
        for position in (mark.position, *(row[0] for row in stored)):
            assert all(position < each for each in undelivered)
    assert len(dead) > 5


async def marks(world: World) -> Watermark:
    return next(mark for mark in await world.projections.watermarks() if mark.collection is Collection.DETAIL)
