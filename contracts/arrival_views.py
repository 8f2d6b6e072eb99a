"""What people and agents are shown of a case's deliveries."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from pydantic import Field, JsonValue

from contracts.arrivals import Cleaning, Gaps
from contracts.case_hours import CaseHours, StateChange
from contracts.cases import BodyFormat, CaseFacts, Disposition
from contracts.model import Model


class ArrivalView(Model):
    """A delivery and what became of it (R1)."""

    arrival_id: str
    revision: int | None
    content_version: int
    """Counts the contents that came under one revision."""
    digest: str
    """Of the content, line ends aside; equal for a redelivery."""
    delivery_id: str
    disposition: Disposition
    occurred_at: datetime
    received_at: datetime
    redeliveries: int
    source: str
    """As it was sent; the case stands under the canonical spelling."""
    external_id: str
    """As it was sent."""
    subject: str
    body: str
    """As received; the first part of one that is over the limit (see `content_id`)."""
    body_format: BodyFormat
    written: str
    """The newly written part as plain text; "" when that is the body itself."""
    body_bytes: int
    content_id: str | None
    """Where the whole body is kept when it is over the limit."""
    source_state: str
    attributes: Mapping[str, JsonValue]
    facts: CaseFacts | None
    cleaned: tuple[Cleaning, ...]
    """Texts in which characters that can't be stored were replaced."""
    raw_content_id: str | None
    """Where the delivery is kept as it came, when something was cleaned."""
    delivery_id_reused: bool
    order_assumed: bool
    confusable: tuple[str, ...]
    """Labels that mix letters of scripts which look alike; they are compared as they are, never merged."""


class ArrivalHistory(Model):
    """All that came for a case."""

    case_id: str
    total: int
    """Arrivals of the case; a page may show fewer."""
    arrivals: tuple[ArrivalView, ...]
    gaps: Gaps
    conflicts: int = Field(ge=0)
    """Contents that came under a revision which had another; kept, and for a person to settle."""
    order_assumed: bool
    states: tuple[StateChange, ...]
    """As they were learned; a late delivery tells of an earlier time."""
    hours: CaseHours
