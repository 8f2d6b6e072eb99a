"""Dead letters: events that were set aside because they could not be delivered, for a person to look at."""

from __future__ import annotations

from datetime import datetime

from contracts.model import Model
from contracts.outbox import EventKind, Topic


class DeadLetter(Model):
    """An event that was set aside.

    Nothing passes it silently: a dead index event holds its watermark back; a dead decision or command holds back
    what comes after it for the same experience, but for retirement and supersession.
    """

    event_id: str
    topic: Topic
    kind: EventKind
    key: str
    """`experience/<id>`, `case/<id>` or `article/<id>`."""
    position: int
    attempts: int
    failures: int
    error: str
    """The last failure's type and place, never a text of the record (R11)."""
    since: datetime
    """When it was set aside."""
    waiting: int
    """Later lifecycle events of the same key that wait for it."""


class Retried(Model):
    """What was given back for delivery."""

    events: int


class GivenUp(Model):
    """A dead letter that will not be delivered, and what became of its command."""

    event_id: str
    command_id: str | None = None
    """Refused as `Undeliverable` when the event carried one that was still pending."""
