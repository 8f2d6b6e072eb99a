"""The outbox: what Postgres committed and the lifecycle and indexes have yet to learn (R8, R9)."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from contracts.labels import Collection
from contracts.model import Model


class Topic(StrEnum):
    """Who an event is for."""

    LIFECYCLE = "lifecycle"
    INDEX = "index"


class EventKind(StrEnum):
    """What an event asks for."""

    START = "start"
    DECIDE = "decide"
    SIGNAL = "signal"
    PROJECT = "project"
    ERASE = "erase"


class OutboxEvent(Model):
    """One row of the outbox. `position` is taken under a lock: commit order is position order."""

    position: int
    event_id: str
    topic: Topic
    kind: EventKind
    key: str
    """What the event is about (`experience/<id>`, `case/<id>`); events of one key and topic keep their order."""
    payload: dict[str, str]
    """Ids and labels only."""
    attempts: int


class Watermark(Model):
    """How far an index has followed the outbox (R15). Every event up to `position` is in it."""

    collection: Collection
    position: int
    head: int
    """Position of the newest committed event for this index."""
    pending: int
    """Events not yet in the index."""
    lag_seconds: float
    """Age of the oldest pending event; 0 when none."""
    as_of: datetime

    @property
    def is_current(self) -> bool:
        """Whether nothing is pending."""
        return self.pending == 0
