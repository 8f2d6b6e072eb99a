"""Waiting until the indexes have reached an outbox position, for a bounded time (R23)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from contracts.outbox import Watermark
from contracts.ports import RetrievalRecords


@dataclass(frozen=True, slots=True)
class Progress:
    """The watermarks at the end of a wait, and a note when it ended too early."""

    watermarks: list[Watermark]
    note: str = ""


async def wait_for(
    records: RetrievalRecords, watermarks: list[Watermark], position: int | None, *, seconds: float, every: float
) -> Progress:
    """Return the watermarks once every index has reached `position`, or as they are after `seconds`.

    Args:
        records: Where the watermarks are.
        watermarks: As they were read last.
        position: The outbox position; None doesn't wait.
        seconds: The longest wait.
        every: Seconds between two looks.
    """
    if position is None:
        return Progress(watermarks)
    try:
        async with asyncio.timeout(seconds):
            while not _reached(watermarks, position):
                await asyncio.sleep(every)
                watermarks = await records.watermarks()
    except TimeoutError:
        behind = ", ".join(f"{mark.collection} at {mark.position}" for mark in watermarks if mark.position < position)
        return Progress(watermarks, f"Waited {seconds:g} s for position {position}: {behind or 'no index known'}.")
    return Progress(watermarks)


def _reached(watermarks: Sequence[Watermark], position: int) -> bool:
    """Return whether every index has all events up to `position`.

    An index without pending events has reached every position that is committed, also when the last events
    were not for it.
    """
    newest = max((mark.head for mark in watermarks), default=-1)
    return bool(watermarks) and all(
        mark.position >= position or (mark.is_current and newest >= position) for mark in watermarks
    )
