"""How long calls take, and how late the event loop comes to its turn."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Self

_LOOK_EVERY = 0.005
"""Seconds between two looks at whether the event loop comes to its turn."""
_LATE = 50.0
"""Milliseconds from which a turn is late."""


@dataclass(frozen=True)
class Timing:
    """Milliseconds."""

    p50: float
    p90: float
    p99: float

    @classmethod
    def of(cls, taken: Sequence[float]) -> Self:
        """Return the timing of calls that took so many milliseconds each."""
        ranked = sorted(taken)
        return cls(*(round(ranked[min(len(ranked) - 1, int(len(ranked) * part))], 2) for part in (0.5, 0.9, 0.99)))


async def timed(rounds: int, call: Callable[[int], Awaitable[object]]) -> list[float]:
    """Return how many milliseconds each `call` takes, after a warm-up of a tenth of the rounds."""

    async def nothing(_: int) -> str:
        return ""

    return await timed_after(rounds, nothing, lambda _, number: call(number))


async def timed_after(
    rounds: int, prepare: Callable[[int], Awaitable[str]], call: Callable[[str, int], Awaitable[object]]
) -> list[float]:
    """Return how long each `call` takes on what `prepare` made, which isn't counted."""
    taken: list[float] = []
    for number in range(-max(1, rounds // 10), rounds):
        made = await prepare(number)
        began = time.perf_counter()
        await call(made, number)
        if number >= 0:
            taken.append(1000 * (time.perf_counter() - began))
    return taken


class LoopWatch:
    """Measures how long the event loop was kept from its turn, in milliseconds."""

    def __init__(self) -> None:
        self.late: list[float] = []

    @asynccontextmanager
    async def watching(self) -> AsyncGenerator[None]:
        """Look while the block runs."""
        watch = asyncio.create_task(self._look())
        try:
            yield
        finally:
            watch.cancel()

    async def _look(self) -> None:
        while True:
            began = time.perf_counter()
            await asyncio.sleep(_LOOK_EVERY)
            self.late.append(1000 * (time.perf_counter() - began - _LOOK_EVERY))

    def figures(self) -> dict[str, float]:
        """Return the longest, and how often it was over 50 ms."""
        return {
            "longest_ms": round(max(self.late, default=0.0), 1),
            "over_50_ms": sum(late > _LATE for late in self.late),
            "looks": len(self.late),
        }
