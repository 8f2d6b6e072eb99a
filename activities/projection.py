"""The projector: from committed events to index entries, deterministic and repeatable (R9).

An event only says which key to look at. The projector reads the key's present state in the record and makes the
index hold exactly that, so late, repeated and reordered events all lead to the same content.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from time import perf_counter

import structlog

from activities.failures import failure_fields, failure_line
from activities.observation import SILENT, Telemetry
from activities.remembered_vectors import RememberedVectors
from contracts import limits
from contracts.errors import Unavailable
from contracts.index import IndexChange, Point, VectorName
from contracts.outbox import OutboxEvent, Topic
from contracts.ports import Embedder, Outbox, Projections, SearchIndex
from contracts.projection import Entry, ProjectionSource

_log = structlog.get_logger()


class Projector:
    """Brings the search index up to the outbox.

    Args:
        outbox: The events.
        projections: What the index should hold.
        index: The index.
        embedder: Makes the vectors; called in a thread, and not again for a text of the last minutes.
        lease: How long a batch is held; longer than its embedding takes.
        telemetry: Where traces and measures of each batch go.
    """

    def __init__(
        self,
        outbox: Outbox,
        projections: Projections,
        index: SearchIndex,
        embedder: Embedder,
        *,
        lease: timedelta = timedelta(minutes=2),
        telemetry: Telemetry = SILENT,
    ) -> None:
        self._outbox = outbox
        self._projections = projections
        self._index = index
        self._vectors = RememberedVectors(embedder)
        self._lease = lease
        self._telemetry = telemetry

    async def project_batch(self, limit: int = limits.PROJECTION_BATCH) -> int:
        """Project the oldest events and move the watermark; return how many were tried.

        Raises:
            Unavailable: Index or embedding is away; the events were given back and come again.
        """
        events = await self._outbox.claim(Topic.INDEX, limit, self._lease)
        if not events:
            return 0
        began = perf_counter()
        with self._telemetry.tracing.step("project batch", apart=True, events=len(events)):
            await self._project_batch(events)
        self._telemetry.measures.batch_projected(len(events), perf_counter() - began)
        return len(events)

    async def _project_batch(self, events: Sequence[OutboxEvent]) -> None:
        try:
            await self._project(events)
        except Unavailable as error:
            await self._give_back(events, error)
            raise
        except Exception as error:
            _log.warning("projection_batch_failed", events=len(events), **failure_fields(error))
            await self._project_apart(events)

    async def _give_back(self, events: Sequence[OutboxEvent], error: Unavailable) -> None:
        """Return events whose service is away, so that they don't wait for their leases to run out."""
        self._telemetry.measures.projection_failed(len(events), dead=False)
        for event in events:
            await self._outbox.postponed(event, error.type, may_die=False)

    async def _project_apart(self, events: Sequence[OutboxEvent]) -> None:
        """Project each event by itself, so that one that can't be projected doesn't hold up the others."""
        for number, event in enumerate(events):
            try:
                await self._project([event])
            except Unavailable as error:
                await self._give_back(events[number:], error)
                raise
            except Exception as error:
                dead = await self._outbox.postponed(event, failure_line(error), may_die=True)
                self._telemetry.measures.projection_failed(1, dead=dead)
                _log.error(
                    "projection_failed", event_id=event.event_id, key=event.key, dead=dead, **failure_fields(error)
                )

    async def _project(self, events: Sequence[OutboxEvent]) -> None:
        keys = list(dict.fromkeys(event.key for event in events))
        sources = await self._projections.desired(keys)
        points = await self._points([entry for source in sources for entry in source.entries])
        await self._index.apply([change for source in sources for change in _changes(source, points)])
        await self._projections.record(sources)
        await self._outbox.delivered(events, "projected")

    async def _points(self, entries: Sequence[Entry]) -> dict[str, Point]:
        """Return the entries as points, by id; equal texts are embedded once."""
        texts = list(dict.fromkeys(text for entry in entries for text in (entry.title, entry.meaning or entry.body)))
        vectors = dict(zip(texts, await asyncio.to_thread(self._vectors.embed, texts), strict=True))
        model = self._vectors.model
        return {
            entry.id: Point(
                id=entry.id,
                payload=entry.payload.model_copy(update={"model": model}),
                vectors={VectorName.TITLE: vectors[entry.title], VectorName.BODY: vectors[entry.meaning or entry.body]},
                lexical=f"{entry.title}\n{entry.title}\n{entry.body}",  # a word in the title counts for more
            )
            for entry in entries
        }


def _changes(source: ProjectionSource, points: dict[str, Point]) -> list[IndexChange]:
    return [
        IndexChange(
            collection,
            source.key,
            tuple(points[entry.id] for entry in source.entries if entry.collection is collection),
        )
        for collection in source.collections
    ]
