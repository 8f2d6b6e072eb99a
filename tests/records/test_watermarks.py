"""How far an index has come is never overstated (R9, R15, R23)."""

from __future__ import annotations

import asyncio
import random
from datetime import timedelta

from activities.records.outbox import OutboxTable, add_event
from activities.records.publication import announce
from contracts import limits
from contracts.labels import Collection
from contracts.outbox import EventKind, Topic, Watermark
from tests.records.world import World, new_id

LEASE = timedelta(seconds=30)


async def marks(world: World) -> dict[Collection, Watermark]:
    return {mark.collection: mark for mark in await world.projections.watermarks()}


async def publish(world: World, source: str = "experience", *, pause: float = 0, give_up: bool = False) -> int | None:
    """Add an index event and commit after a pause; return its position, None when it was rolled back."""
    event_id = new_id()
    async with world.database.as_system() as connection:
        await add_event(connection, Topic.INDEX, EventKind.PROJECT, f"{source}/{new_id()}", {}, event_id=event_id)
        await asyncio.sleep(pause)
        if give_up:
            await connection.rollback()
            return None
    return world.one("SELECT position FROM outbox WHERE event_id = %s", event_id)


async def test_an_empty_outbox_is_current(world: World) -> None:
    for mark in (await marks(world)).values():
        assert (mark.position, mark.head, mark.pending, mark.lag_seconds) == (0, 0, 0, 0)
        assert mark.is_current


async def test_each_index_follows_its_own_keys(world: World) -> None:
    """R15: a pending case holds back `cases` only; the same records answer every port."""
    first = await publish(world, "case")
    second = await publish(world, "experience")
    assert first is not None
    assert second is not None
    found = await marks(world)
    assert [mark.collection for mark in await world.retrievals.watermarks()] == list(Collection)
    assert (found[Collection.CASES].position, found[Collection.CASES].pending) == (first - 1, 1)
    assert (found[Collection.ROUTING].position, found[Collection.DETAIL].position) == (second - 1, second - 1)
    (case_event,) = await world.outbox.claim(Topic.INDEX, 1, LEASE)
    await world.outbox.delivered([case_event], "projected")
    found = await marks(world)
    assert found[Collection.CASES].is_current
    assert found[Collection.CASES].position == second
    assert not found[Collection.DETAIL].is_current
    assert found[Collection.DETAIL].lag_seconds >= 0


async def test_lag_is_the_age_of_the_oldest_pending_event(world: World) -> None:
    """R15: also of one that was set aside as dead: it is still not in the index."""
    await publish(world)
    world.owner.execute("UPDATE outbox SET created_at = now() - interval '1 hour'")
    await publish(world)
    (oldest,) = await world.outbox.claim(Topic.INDEX, 1, LEASE)
    assert 3590 < (await marks(world))[Collection.DETAIL].lag_seconds < 3700
    world.owner.execute(
        "UPDATE outbox SET failures = %s WHERE position = %s", (limits.OUTBOX_ATTEMPTS - 1, oldest.position)
    )
    assert await world.outbox.postponed(oldest, "ValueError", may_die=True)
    (newer,) = await world.outbox.claim(Topic.INDEX, 10, LEASE)
    await world.outbox.delivered([newer], "projected")
    mark = (await marks(world))[Collection.DETAIL]
    assert (mark.position, mark.pending) == (oldest.position - 1, 1)
    assert mark.lag_seconds > 3590


async def test_lifecycle_events_hold_back_no_index(world: World) -> None:
    async with world.database.as_system() as connection:
        await add_event(connection, Topic.LIFECYCLE, EventKind.START, f"experience/{new_id()}", {}, event_id=new_id())
    assert all(mark.is_current and mark.position == 0 for mark in (await marks(world)).values())


async def test_the_watermark_never_passes_an_event_that_commits_later(world: World) -> None:
    """R9, R23: publishers commit and roll back in random order while a projector delivers all it can see.

    Whatever position a reader is told, no event at or below it may turn up undelivered afterwards.
    """
    chance = random.Random(7)
    told: list[tuple[int, int]] = []
    stop = asyncio.Event()

    async def project() -> None:
        outbox = OutboxTable(world.database)
        while not stop.is_set():
            await outbox.delivered(await outbox.claim(Topic.INDEX, 3, LEASE), "projected")
            await asyncio.sleep(0)

    async def watch() -> None:
        while not stop.is_set():
            position = (await marks(world))[Collection.DETAIL].position
            seen = world.one("SELECT count(*) FROM outbox WHERE position <= %s", position)
            told.append((position, seen))
            await asyncio.sleep(0)

    runners = [asyncio.create_task(project()), asyncio.create_task(watch())]
    positions: list[int | None] = []
    for _ in range(6):
        positions += await asyncio.gather(
            *(publish(world, pause=chance.random() / 100, give_up=chance.random() < 0.2) for _ in range(6))
        )
    stop.set()
    await asyncio.gather(*runners)

    committed = sorted(position for position in positions if position is not None)
    assert len(committed) < len(positions), "some were rolled back"
    assert len(told) > 5
    assert [position for position, _ in told] == sorted(position for position, _ in told)
    for position, seen in told:
        assert seen == sum(1 for at in committed if at <= position), "an event below the watermark came later"


async def test_positions_commit_in_their_own_order(world: World) -> None:
    """R9: the second writer waits for its position until the first has committed."""
    async with world.database.as_system() as first:
        await announce(first, f"case/{new_id()}")
        second = asyncio.create_task(publish(world))
        await asyncio.sleep(0.1)
        assert not second.done()
        assert (await marks(world))[Collection.DETAIL].head == 0
    position = await second
    assert world.rows("SELECT position FROM outbox ORDER BY position") == [(1,), (position,)]


async def test_stored_watermarks_only_move_forward(world: World) -> None:
    """R15: through deliveries in any order, and against a lower value written by hand."""
    for _ in range(6):
        await publish(world)
    events = await world.outbox.claim(Topic.INDEX, 10, LEASE)
    moved: list[int] = []
    for event in [events[index] for index in (3, 0, 5, 1, 4, 2)]:
        await world.outbox.delivered([event], "projected")
        moved.append(world.one("SELECT position FROM watermarks WHERE collection = 'detail'"))
    first = events[0].position
    assert moved == [first - 1, first, first, first + 1, first + 1, first + 5]
    world.owner.execute("UPDATE watermarks SET position = 1000")
    await publish(world)
    await world.outbox.delivered(await world.outbox.claim(Topic.INDEX, 1, LEASE), "projected")
    assert world.one("SELECT min(position) FROM watermarks") == 1000


async def test_announcing_many_keys_is_one_statement_in_their_order(world: World) -> None:
    """R9: a rebuild asks for every key and holds the other writers up once, shortly."""
    keys = [f"case/{new_id()}" for _ in range(200)]
    await world.projections.announce(keys)
    assert [key for (key,) in world.rows("SELECT key FROM outbox ORDER BY position")] == keys
    await world.projections.announce([])
    assert (await marks(world))[Collection.CASES].pending == 200
