"""Outbox, projections, index and model in memory."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Sequence
from datetime import timedelta

from contracts.errors import CaseloreError
from contracts.experience import Draft, KnowledgeUnit, RoutingSynopsis
from contracts.index import DenseQuery, Filter, Hit, IndexChange, LexicalQuery, Scope, Stored
from contracts.labels import Collection, Outcome, ProofLevel, UnitKind
from contracts.outbox import EventKind, OutboxEvent, Topic, Watermark
from contracts.projection import ProjectionSource, experience_source


class OutboxMemory:
    """`contracts.ports.Outbox` for one runner: no leases to lose, backoff of no time."""

    def __init__(self) -> None:
        self.events: list[OutboxEvent] = []
        self.done: dict[str, str] = {}
        """Outcomes by event id."""
        self.postponements: list[tuple[str, str, bool]] = []
        """Event id, error and whether it may die."""
        self.failures: list[Exception] = []
        """Raised by the next claims, one each."""
        self.claims = 0
        self._added = asyncio.Event()

    def add(self, topic: Topic, kind: EventKind, key: str, payload: dict[str, str] | None = None) -> str:
        """Add an event and return its id."""
        event = OutboxEvent(
            position=len(self.events) + 1,
            event_id=str(uuid.uuid4()),
            topic=topic,
            kind=kind,
            key=key,
            payload=payload or {},
            attempts=1,
        )
        self.events.append(event)
        self._added.set()
        return event.event_id

    async def claim(self, topic: Topic, limit: int, lease: timedelta) -> list[OutboxEvent]:
        """See `contracts.ports.Outbox.claim`."""
        self.claims += 1
        if self.failures:
            raise self.failures.pop(0)
        pending = [event for event in self.events if event.topic is topic and event.event_id not in self.done]
        first = {event.key: event for event in reversed(pending)}
        return sorted(first.values(), key=lambda event: event.position)[:limit]

    async def claim_one(self, event_id: str, lease: timedelta) -> OutboxEvent | None:
        """See `contracts.ports.Outbox.claim_one`."""
        claimable = await self.claim(Topic.LIFECYCLE, len(self.events), lease)
        return next((event for event in claimable if event.event_id == event_id), None)

    async def delivered(self, events: Sequence[OutboxEvent], outcome: str) -> None:
        """See `contracts.ports.Outbox.delivered`."""
        for event in events:
            self.done[event.event_id] = outcome

    async def refused(self, event: OutboxEvent, refusal: CaseloreError) -> None:
        """See `contracts.ports.Outbox.refused`."""
        self.done[event.event_id] = f"refused: {refusal.type}"

    async def wait(self, at_most: timedelta) -> None:
        """See `contracts.ports.Outbox.wait`."""
        self._added.clear()
        try:
            await asyncio.wait_for(self._added.wait(), min(at_most.total_seconds(), 0.2))
        except TimeoutError:
            return

    async def postponed(self, event: OutboxEvent, error: str, *, may_die: bool) -> bool:
        """See `contracts.ports.Outbox.postponed`; a poison event dies at the first failure."""
        self.postponements.append((event.event_id, error, may_die))
        if may_die:
            self.done[event.event_id] = "dead"
        return may_die


def draft(title: str) -> Draft:
    """Return a small draft."""
    return Draft(
        title=title,
        domain_id="data",
        outcome=Outcome.SUCCEEDED,
        proof_level=ProofLevel.EXECUTED,
        synopsis=RoutingSynopsis(request_type="printing", route="data", disposition="verified", text=f"About {title}."),
        units=(
            KnowledgeUnit(
                id="u1",
                kind=UnitKind.PROPOSITION,
                text=f"The row of {title} was missing.",
                concepts=("register",),
                outcome=Outcome.SUCCEEDED,
                proof_level=ProofLevel.EXECUTED,
            ),
        ),
    )


class ProjectionsMemory:
    """`contracts.ports.Projections` over a dictionary of published titles."""

    def __init__(self) -> None:
        self.published: dict[str, tuple[int, str | None]] = {}
        """Revision and title by experience id; no title: withdrawn."""
        self.poison: set[str] = set()
        """Keys that can't be read."""
        self.held: dict[str, tuple[int, str]] = {}
        """Recorded as projected: revision and content hash by key."""

    def source(self, key: str) -> ProjectionSource:
        """Return what the index should hold for `key`."""
        experience_id = key.partition("/")[2]
        revision, title = self.published.get(experience_id, (0, None))
        text = None if title is None else draft(title)
        return experience_source(experience_id, "acme", revision, "" if text is None else text.digest(), text)

    async def desired(self, keys: Sequence[str]) -> list[ProjectionSource]:
        """See `contracts.ports.Projections.desired`."""
        if poisoned := self.poison.intersection(keys):
            raise ValueError(f"can't read {sorted(poisoned)}")
        return [self.source(key) for key in keys]

    async def every_key(self) -> list[str]:
        """See `contracts.ports.Projections.every_key`."""
        return [f"experience/{experience_id}" for experience_id in self.published]

    async def record(self, sources: Sequence[ProjectionSource]) -> None:
        """See `contracts.ports.Projections.record`."""
        self.held |= {source.key: (source.revision, source.content_hash) for source in sources}

    async def announce(self, keys: Sequence[str], *, held: bool = False) -> None:
        """See `contracts.ports.Projections.announce`; tests add their events themselves."""
        raise NotImplementedError

    async def release(self) -> None:
        """See `contracts.ports.Projections.release`; nothing is ever held."""

    async def watermarks(self) -> list[Watermark]:
        """See `contracts.ports.Projections.watermarks`."""
        return []


class IndexMemory:
    """`contracts.ports.SearchIndex` that only keeps what it is told."""

    def __init__(self) -> None:
        self.points: dict[tuple[Collection, str], dict[str, str]] = {}
        """Payload digests by point id, by collection and target."""
        self.failures: list[Exception] = []
        """Raised by the next applications, one each."""

    async def open(self) -> None:
        """See `contracts.ports.SearchIndex.open`."""

    async def close(self) -> None:
        """See `contracts.ports.SearchIndex.close`."""

    async def apply(self, changes: Sequence[IndexChange]) -> None:
        """See `contracts.ports.SearchIndex.apply`."""
        if self.failures:
            raise self.failures.pop(0)
        for change in changes:
            self.points.pop((change.collection, change.target), None)
            if change.points:
                held = {point.id: f"{point.payload.digest()} {point.lexical}" for point in change.points}
                self.points[change.collection, change.target] = held

    async def search(
        self,
        collection: Collection,
        query: DenseQuery | LexicalQuery,
        *,
        scope: Scope,
        where: Filter,
        limit: int,
    ) -> list[Hit]:
        """See `contracts.ports.SearchIndex.search`; nothing is ever found."""
        return []

    async def stored(self, collection: Collection) -> list[Stored]:
        """See `contracts.ports.SearchIndex.stored`; payloads are not kept."""
        return []

    async def drop(self, collection: Collection) -> None:
        """See `contracts.ports.SearchIndex.drop`."""
        self.points = {place: held for place, held in self.points.items() if place[0] is not collection}

    async def compact(self, collection: Collection) -> None:
        """See `contracts.ports.SearchIndex.compact`."""


class LengthEmbedder:
    """`contracts.ports.Embedder` whose vectors say how long a text is."""

    model = "length@1"
    dimensions = 2

    def __init__(self) -> None:
        self.failures: list[Exception] = []
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """See `contracts.ports.Embedder.embed`."""
        if self.failures:
            raise self.failures.pop(0)
        self.texts += texts
        return [[1.0, float(len(text))] for text in texts]
