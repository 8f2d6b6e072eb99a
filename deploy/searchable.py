"""Waiting until what is saved can also be found (R23)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from api.client import CaseloreClient
from contracts.errors import IndexUnavailable
from contracts.outbox import Watermark


async def until_searchable(
    client: CaseloreClient, *, seconds: float = 1800, seen: Callable[[int], None] = lambda _: None
) -> list[Watermark]:
    """Return the watermarks when every index holds all that was committed when the wait began.

    Args:
        client: Any signed-in client.
        seconds: How long to wait at most.
        seen: Is told how many events are pending at each look.

    Raises:
        IndexUnavailable: The indexes did not get there in time.
    """
    deadline = time.monotonic() + seconds
    goal = max(watermark.head for watermark in await client.watermarks())
    while True:
        watermarks = await client.watermarks()
        seen(sum(watermark.pending for watermark in watermarks if watermark.position < goal))
        if all(watermark.position >= goal for watermark in watermarks):
            return watermarks
        if time.monotonic() > deadline:
            raise IndexUnavailable(
                f"The index is still behind position {goal}.", field="watermark", accepted="waiting longer"
            )
        await asyncio.sleep(0.2)
