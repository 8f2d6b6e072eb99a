"""How things stand, for a scraper: counts by stage, domain, topic and index; never a tenant, a case or a text (R21)."""

from __future__ import annotations

from contracts.erasure import ErasureState
from contracts.lifecycle import Stage
from contracts.model import Model
from contracts.outbox import Topic, Watermark


class StageGauge(Model):
    """How many experiences and articles of a domain stand at a stage."""

    domain_id: str
    stage: Stage
    count: int


class ReviewGauge(Model):
    """The open reviews of a domain at a stage (R7)."""

    domain_id: str
    stage: Stage
    waiting: int
    overdue: int
    """Whose deadline has passed; the escalated ones among them."""
    escalated: int
    """Nobody answered the reminder in time either."""
    oldest_seconds: float
    """How long the oldest has waited at this stage."""


class OutboxGauge(Model):
    """The undelivered events of a topic (R8)."""

    topic: Topic
    pending: int
    """Still to be delivered by themselves."""
    dead: int
    """Set aside for a person."""
    oldest_seconds: float
    """Age of the oldest pending one; 0 when none."""


class Gauges(Model):
    """The record at one moment."""

    stages: tuple[StageGauge, ...]
    reviews: tuple[ReviewGauge, ...]
    outbox: tuple[OutboxGauge, ...]
    watermarks: tuple[Watermark, ...]
    erasures: dict[ErasureState, int]
    audit_position: int
    """Of the newest row of the chain, which only grows."""
    reconciled_seconds_ago: float | None
    """None: record and indexes were never compared."""
    drifting: int | None
    """Keys that the last comparison found to differ."""
