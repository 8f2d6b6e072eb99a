"""Projectors that hold the same keys, as after a lost lease, don't stop each other (R9)."""

from __future__ import annotations

import asyncio

from contracts.projection import ProjectionSource, experience_source
from tests.records.world import World, draft, new_id


async def test_two_that_record_the_same_keys_never_wait_for_each_other(shared: World) -> None:
    """Neither both with entries, in whatever order, nor one that takes away what the other one holds."""
    ids = [new_id() for _ in range(12)]
    held = [experience_source(each, "acme", 1, "hash", draft()) for each in ids]
    gone = [experience_source(each, "acme", 2, "hash", None) for each in ids]
    mixed = [*held[::2], *gone[1::2]]
    for _ in range(10):
        orders: list[list[ProjectionSource]] = [held, held[::-1], mixed, mixed[::-1], gone[::-1]]
        await asyncio.gather(*(shared.projections.record(sources) for sources in orders))
    await shared.projections.record(held)
    recorded = shared.projected()
    assert all(recorded[f"experience/{each}"] == (1, "hash") for each in ids)
