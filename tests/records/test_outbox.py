"""Claim, lease, delivery, backoff and dead letters of the outbox (R8, R9, R10)."""

from __future__ import annotations

import asyncio
import time
from datetime import timedelta

import pytest

from activities.records.outbox import OutboxTable, add_event
from contracts import limits
from contracts.errors import LifecycleClosed, StaleStage
from contracts.outbox import EventKind, OutboxEvent, Topic
from contracts.review import ChangeKind
from tests.records.world import World, changed, draft, new_id

LEASE = timedelta(seconds=30)
GONE = timedelta(milliseconds=1)
"""A lease that has run out by the next statement."""


async def add(world: World, *keys: str, topic: Topic = Topic.LIFECYCLE) -> list[str]:
    """Add an event for each key, each in a transaction of its own; return their ids."""
    ids = [new_id() for _ in keys]
    for event_id, key in zip(ids, keys, strict=True):
        async with world.database.as_system() as connection:
            kind = EventKind.SIGNAL if topic is Topic.LIFECYCLE else EventKind.PROJECT
            await add_event(connection, topic, kind, key, {"note": "x"}, event_id=event_id)
    return ids


async def claim(world: World, topic: Topic = Topic.LIFECYCLE, limit: int = 10, lease: timedelta = LEASE) -> list[str]:
    return [event.event_id for event in await world.outbox.claim(topic, limit, lease)]


async def taken(world: World, topic: Topic = Topic.LIFECYCLE, lease: timedelta = LEASE) -> OutboxEvent:
    (event,) = await world.outbox.claim(topic, 1, lease)
    return event


def key() -> str:
    return f"experience/{new_id()}"


async def test_lifecycle_events_of_one_key_come_one_by_one_in_order(world: World) -> None:
    """R10: a decision is not overtaken by a later one of its experience; other keys don't wait."""
    one, two = key(), key()
    a, b, c, d = await add(world, one, one, two, one)
    first = await world.outbox.claim(Topic.LIFECYCLE, 10, LEASE)
    assert [event.event_id for event in first] == [a, c]
    assert [event.position for event in first] == sorted(event.position for event in first)
    assert await claim(world) == []
    await world.outbox.delivered(first[:1], "done")
    assert await claim(world) == [b]
    assert await world.outbox.claim_one(d, LEASE) is None
    assert (await claim(world, limit=0)) == []
    assert await claim(world, Topic.INDEX) == []


async def test_inline_delivery_takes_its_event_only_in_its_turn(world: World) -> None:
    """R8: and never one that is held or done."""
    one = key()
    a, b = await add(world, one, one)
    assert await world.outbox.claim_one(b, LEASE) is None
    event = await world.outbox.claim_one(a, LEASE)
    assert event is not None
    assert (event.event_id, event.key, event.payload, event.attempts) == (a, one, {"note": "x"}, 1)
    assert await world.outbox.claim_one(a, LEASE) is None
    await world.outbox.delivered([event], "done")
    assert await world.outbox.claim_one(a, LEASE) is None
    assert await world.outbox.claim_one(b, LEASE) is not None
    assert await world.outbox.claim_one(new_id(), LEASE) is None


async def test_a_lost_lease_is_claimed_again_and_its_late_holder_marks_nothing(world: World) -> None:
    """R8, R9: fenced by the number of the attempt."""
    (a,) = await add(world, key())
    late = await taken(world, lease=GONE)
    held = await taken(world)
    assert (late.event_id, held.event_id) == (a, a)
    assert (late.attempts, held.attempts) == (1, 2)
    before = world.everything()
    await world.outbox.delivered([late], "late")
    await world.outbox.refused(late, StaleStage("It moved on.", field="stage"))
    assert not await world.outbox.postponed(late, "late", may_die=True)
    assert changed(world.everything(), before) == []
    await world.outbox.delivered([held], "done")
    assert world.rows("SELECT outcome, delivered_at IS NOT NULL, claimed_until FROM outbox") == [("done", True, None)]


async def test_a_late_projection_that_fails_is_asked_for_once_more(world: World) -> None:
    """R9: it may have written to the index before it failed."""
    one = key()
    await add(world, one, topic=Topic.INDEX)
    (late,) = await world.outbox.claim(Topic.INDEX, 10, GONE)
    await world.outbox.delivered(await world.outbox.claim(Topic.INDEX, 10, LEASE), "projected")
    assert not await world.outbox.postponed(late, "IndexUnavailable", may_die=False)
    (again,) = await world.outbox.claim(Topic.INDEX, 10, LEASE)
    assert (again.key, again.payload) == (one, {"why": "lease lost"})


async def test_a_late_projection_is_asked_for_once_more(world: World) -> None:
    """R9: whoever wrote after losing the lease may have overwritten a newer entry."""
    one, two = key(), key()
    await add(world, one, one, two, topic=Topic.INDEX)
    late = await world.outbox.claim(Topic.INDEX, 10, GONE)
    assert len(late) == 3
    held = await world.outbox.claim(Topic.INDEX, 10, LEASE)
    await world.outbox.delivered(held, "projected")
    assert {mark.pending for mark in await world.projections.watermarks()} == {0}
    await world.outbox.delivered(late, "projected")
    again = await world.outbox.claim(Topic.INDEX, 10, LEASE)
    assert sorted(event.key for event in again) == sorted([one, two])
    assert {event.position for event in again}.isdisjoint(event.position for event in held)
    await world.outbox.delivered(again, "projected")
    assert await claim(world, Topic.INDEX) == []


async def test_index_events_of_a_key_are_held_by_one_runner(world: World) -> None:
    """R9: a claim takes all events of a key (one projection serves them), two claims never share a key."""
    one, two = key(), key()
    a, b, c = await add(world, one, one, two, topic=Topic.INDEX)
    assert await claim(world, Topic.INDEX, limit=1) == [a, b]
    (d,) = await add(world, one, topic=Topic.INDEX)
    assert await claim(world, Topic.INDEX) == [c]
    assert await claim(world, Topic.INDEX) == []
    world.owner.execute("UPDATE outbox SET claimed_until = now() - interval '1 s'")
    assert await claim(world, Topic.INDEX) == [a, b, c, d]


@pytest.mark.parametrize("topic", list(Topic))
async def test_claimers_at_once_never_share_a_key(world: World, topic: Topic) -> None:
    """R9: four runners ask at the same moment, round after round; every event is delivered once."""
    keys = [key() for _ in range(12)]
    ids = await add(world, *(name for name in keys for _ in range(6)), topic=topic)
    delivered: list[OutboxEvent] = []
    while len(delivered) < len(ids):
        claims = await asyncio.gather(*(world.outbox.claim(topic, 2, LEASE) for _ in range(4)))
        held = [{event.key for event in events} for events in claims]
        assert sum(map(len, held)) == len(set[str]().union(*held)), "two runners hold one key"
        assert any(claims)
        await asyncio.gather(*(world.outbox.delivered(events, "done") for events in claims))
        delivered += [event for events in claims for event in events]
    assert sorted(event.event_id for event in delivered) == sorted(ids)
    for name in keys:
        positions = [event.position for event in delivered if event.key == name]
        assert positions == sorted(positions)


async def test_a_postponed_event_comes_back_later_each_time(world: World) -> None:
    """R10: with a backoff that doubles up to a minute; the one behind it waits for its turn."""
    one = key()
    a, _ = await add(world, one, one)
    pauses: list[float] = []
    for _ in range(9):
        event = await taken(world)
        assert event.event_id == a
        assert not await world.outbox.postponed(event, "DeliveryPending", may_die=False)
        assert await claim(world) == []
        pauses.append(
            float(world.one("SELECT extract(epoch FROM available_at - now()) FROM outbox WHERE event_id = %s", a))
        )
        world.owner.execute("UPDATE outbox SET available_at = now()")
    assert pauses == pytest.approx([0.5, 1, 2, 4, 8, 16, 32, 60, 60], abs=0.4)


async def test_an_event_that_keeps_failing_is_set_aside_and_does_not_hold_up_a_retirement(world: World) -> None:
    """R10: dead after `OUTBOX_ATTEMPTS` failures of its own; it stays visible, undelivered."""
    one = key()
    broken, behind = await add(world, one, one)
    world.owner.execute('UPDATE outbox SET payload = \'{"kind": "retire"}\' WHERE event_id = %s', (behind,))
    for attempt in range(1, limits.OUTBOX_ATTEMPTS + 1):
        event = await taken(world)
        dead = await world.outbox.postponed(event, "ValueError", may_die=True)
        assert dead == (attempt == limits.OUTBOX_ATTEMPTS)
        world.owner.execute("UPDATE outbox SET available_at = now()")
    assert await claim(world) == [behind]
    assert world.rows(
        "SELECT dead_at IS NOT NULL, delivered_at IS NULL, outcome FROM outbox WHERE event_id = %s", broken
    ) == [(True, True, "ValueError")]


async def test_an_outage_does_not_count_towards_the_end_of_an_event(world: World) -> None:
    """R10: durable however long a service is away; the first failure of the event itself is its first."""
    await add(world, key())
    for _ in range(limits.OUTBOX_ATTEMPTS + 3):
        assert not await world.outbox.postponed(await taken(world), "DeliveryPending", may_die=False)
        world.owner.execute("UPDATE outbox SET available_at = now()")
    assert not await world.outbox.postponed(await taken(world), "ValueError", may_die=True)


async def test_a_refused_event_settles_its_command(world: World) -> None:
    """R23: in one transaction; an applied command stays applied."""
    experience_id = await world.published()
    command = await world.store_command(experience_id, ChangeKind.CORRECT, by="ann", draft=draft(title="Second"))
    world.owner.execute("UPDATE outbox SET delivered_at = now() WHERE event_id <> %s", (command.command_id,))
    await world.outbox.refused(await taken(world), LifecycleClosed("It has ended.", field="stage", accepted="nothing"))
    standing = await world.experiences.standing("ann", command.command_id)
    assert standing is not None
    assert (standing.state, standing.outcome) == ("refused", "LifecycleClosed")
    assert (standing.field, standing.accepted) == ("stage", "nothing")
    assert (await world.lifecycle.apply_command(experience_id, command)).refused == "LifecycleClosed"
    assert await claim(world) == []

    applied = await world.store_command(experience_id, ChangeKind.RETIRE)
    await world.lifecycle.apply_command(experience_id, applied)
    await world.outbox.refused(await taken(world), LifecycleClosed("It has ended.", field="stage", accepted="nothing"))
    standing = await world.experiences.standing("otto", applied.command_id)
    assert standing is not None
    assert standing.state == "applied"


async def test_a_repeated_event_id_adds_nothing(world: World) -> None:
    one = key()
    (event_id,) = await add(world, one)
    async with world.database.as_principal("ann") as connection:
        await add_event(connection, Topic.LIFECYCLE, EventKind.SIGNAL, one, {}, event_id=event_id)
    assert world.one("SELECT count(*) FROM outbox") == 1


async def test_waiting_ends_when_an_event_is_committed(world: World) -> None:
    """R10: a notification wakes the runner; without one it wakes by itself."""
    outbox = OutboxTable(world.database)
    try:
        await outbox.wait(LEASE)  # the first call only starts to listen
        started = time.monotonic()
        await outbox.wait(timedelta(milliseconds=150))
        assert 0.1 < time.monotonic() - started < 5

        waiting = asyncio.create_task(outbox.wait(LEASE))
        async with world.database.as_system() as connection:
            await add_event(connection, Topic.INDEX, EventKind.PROJECT, key(), {}, event_id=new_id())
            await asyncio.sleep(0.1)
            assert not waiting.done()
        await asyncio.wait_for(waiting, 5)

        await add(world, key())  # while nobody waits
        started = time.monotonic()
        await outbox.wait(LEASE)
        assert time.monotonic() - started < 5
    finally:
        await outbox.close()


async def test_waiting_goes_on_after_its_connection_was_cut(world: World) -> None:
    """R10: a database restart ends the wait with an error or not at all; the next one listens again."""
    outbox = OutboxTable(world.database)
    try:
        await outbox.wait(LEASE)
        world.owner.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND query = 'LISTEN caselore_outbox'"
        )
        await outbox.wait(timedelta(seconds=1))
        await outbox.wait(timedelta(seconds=1))
        waiting = asyncio.create_task(outbox.wait(LEASE))
        await asyncio.sleep(0.05)
        await add(world, key())
        await asyncio.wait_for(waiting, 5)
    finally:
        await outbox.close()
