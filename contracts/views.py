"""What people and agents are shown of experiences and reviews."""

from __future__ import annotations

from datetime import datetime

from contracts.experience import Draft
from contracts.labels import Outcome
from contracts.lifecycle import Stage
from contracts.model import Model


class ReviewTask(Model):
    """A review that waits for the caller (R7)."""

    experience_id: str
    tenant_id: str
    domain_id: str
    stage: Stage
    revision: int
    digest: str
    """To send with the decision: it binds the decision to this text."""
    title: str
    outcome: Outcome
    due_at: datetime | None
    reminded: bool
    escalated: bool


class RevisionView(Model):
    """One revision of an experience."""

    number: int
    state: str
    digest: str
    draft: Draft
    author_id: str
    published_at: datetime | None


class ExperienceView(Model):
    """Where an experience stands; saved and searchable are told apart (R23)."""

    experience_id: str
    tenant_id: str
    case_id: str
    domain_id: str
    proposer_id: str
    stage: Stage
    outcome: Outcome
    revision: int
    current_revision: int | None
    suspended: bool
    superseded_by: str | None
    due_at: datetime | None
    searchable: bool
    """The current revision is in the index."""
    revisions: tuple[RevisionView, ...]


class CommandView(Model):
    """What became of a stored decision or command (R23)."""

    command_id: str
    state: str
    """`pending`, `applied` or `refused`."""
    outcome: str
    """The stage that it led to, or the refusal's type."""


class Figures(Model):
    """Counts and times of a running Caselore, for operators and reports."""

    stages: dict[Stage, int]
    """Experiences in each stage."""
    searchable: int
    """Experiences whose current revision is in the index."""
    events: int
    """Experience events projected since the asked-for position."""
    lag_p50_seconds: float
    """From commit to searchable, over those events."""
    lag_p95_seconds: float
    dead: int
    """Events that were set aside for a person."""
    peak_memory_mb: float
    """Of the process that answers."""


class ReindexView(Model):
    """A rebuild of the index that was begun."""

    keys: int
    """How many entries will be projected anew."""
