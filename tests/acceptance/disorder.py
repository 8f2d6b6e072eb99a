"""Everything that can go wrong between an outbox and an index, on purpose: order, repeats, and leases that ran out.

The stand-ins here are the product's own adapters, made unreliable at one place each; a watcher looks on.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine

from activities.records.database import Database
from activities.records.outbox import SOURCES, OutboxTable, read_watermarks
from activities.records.projections import ProjectionsTable
from contracts.outbox import OutboxEvent, Topic
from contracts.projection import ProjectionSource

TAKEN = 48
"""Events that a runner holds, to hand them out in another order."""
REMEMBERED = 200
_LOOK = text("""
SELECT max(position) AS head, count(*) AS visible, count(*) FILTER (WHERE position <= :seen) AS known,
       min(position) FILTER (WHERE is_open AND source = 'case') AS "case",
       min(position) FILTER (WHERE is_open AND source = 'experience') AS experience,
       min(position) FILTER (WHERE is_open AND source = 'article') AS article,
       (SELECT jsonb_object_agg(collection, position) FROM watermarks) AS stored
  FROM (SELECT position, source, topic = 'index' AND delivered_at IS NULL AS is_open FROM outbox) AS o
""")
PAUSE = 0.01
"""Seconds between two looks, at the least: a look must not cost more than what it looks at."""


@dataclass
class Disorder:
    """How much goes wrong, and how often it did.

    Args:
        seed: Of every chance.
    """

    seed: int
    is_over: bool = False
    """From here on events come as they are, so that there is an end."""
    counts: Counter[str] = field(default_factory=Counter[str])

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)

    def happens(self, probability: float) -> bool:
        """Return whether something goes wrong this time."""
        return not self.is_over and self.chance.random() < probability


class ShuffledOutbox(OutboxTable):
    """An outbox that gives its events in any order, twice at times, and delivered ones again."""

    def __init__(self, database: Database, disorder: Disorder) -> None:
        super().__init__(database)
        self._disorder = disorder
        self._held: list[OutboxEvent] = []
        self._old: list[OutboxEvent] = []

    async def claim(self, topic: Topic, limit: int, lease: timedelta) -> list[OutboxEvent]:
        """Return leased events, some of them by now leased to another runner or delivered long ago."""
        disorder = self._disorder
        if len(self._held) < limit:
            self._held += await super().claim(topic, TAKEN, lease)
        disorder.chance.shuffle(self._held)
        batch, self._held = self._held[:limit], self._held[limit:]
        if batch and disorder.happens(0.3):
            batch.append(disorder.chance.choice(batch))
            disorder.counts["events twice in a batch"] += 1
        if self._old and disorder.happens(0.3):
            batch.append(disorder.chance.choice(self._old))
            disorder.counts["delivered events replayed"] += 1
        return batch

    async def delivered(self, events: Sequence[OutboxEvent], outcome: str) -> None:
        """Mark what is still held; what was lost meanwhile asks for its key again."""
        await super().delivered(events, outcome)
        self._old = [*self._old, *events][-REMEMBERED:]
        self._disorder.counts["events delivered"] += len(events)


class SlowProjections(ProjectionsTable):
    """Wishes that are old by the time that the index hears of them."""

    def __init__(self, database: Database, disorder: Disorder, pause: float) -> None:
        super().__init__(database)
        self._disorder = disorder
        self._pause = pause

    async def desired(self, keys: Sequence[str]) -> list[ProjectionSource]:
        """Return what the index should hold, after a while."""
        sources = await super().desired(keys)
        if self._disorder.happens(0.5):
            self._disorder.counts["batches projected late"] += 1
            await asyncio.sleep(self._disorder.chance.random() * self._pause)
        return sources


class Watcher:
    """Looks at outbox and watermarks in one snapshot, again and again, and keeps what must never be seen.

    Args:
        owner_url: Sees everything.
    """

    def __init__(self, owner_url: str) -> None:
        self._engine = create_async_engine(owner_url, isolation_level="REPEATABLE READ", pool_size=1)
        self._seen = self._visible = 0
        self._told: dict[str, int] = {}
        self.looks = 0
        self.behind = 0
        """Looks at which an index had something to take."""
        self.faults: list[str] = []

    async def watch(self, stop: asyncio.Event) -> None:
        """Look until told to stop."""
        try:
            while not stop.is_set():
                began = time.monotonic()
                await self.look()
                await asyncio.sleep(max(PAUSE, 4 * (time.monotonic() - began)))
        finally:
            await self._engine.dispose()

    async def look(self) -> None:
        """Look once."""
        async with self._engine.begin() as connection:
            row = (await connection.execute(_LOOK, {"seen": self._seen})).mappings().one()
            told = {mark.collection: mark.position for mark in await read_watermarks(connection)}
        self.looks += 1
        # Whatever is new must be behind everything that was there: positions are visible in commit order.
        if row["known"] != self._visible:
            self.faults.append(f"{row['known']} events up to position {self._seen}, {self._visible} before")
        self._seen, self._visible = row["head"] or 0, row["visible"]
        for collection, sources in SOURCES.items():
            oldest = min((row[source] for source in sources if row[source] is not None), default=None)
            self.behind += oldest is not None
            self._hold(f"{collection}, stored", (row["stored"] or {}).get(collection, 0), oldest)
            self._hold(f"{collection}, told", told[collection], oldest)

    def _hold(self, name: str, position: int, oldest: int | None) -> None:
        """Hold a watermark against the oldest undelivered event of its index, and against itself."""
        if oldest is not None and position >= oldest:
            self.faults.append(f"{name}: at {position}, undelivered {oldest}")
        if position < self._told.get(name, 0):
            self.faults.append(f"{name}: back to {position}")
        self._told[name] = position
