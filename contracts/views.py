"""What people and agents are shown of experiences and reviews."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import Field

from contracts.admission import Severity
from contracts.experience import Draft
from contracts.labels import CandidateKind, Outcome
from contracts.lifecycle import Stage
from contracts.model import Model
from contracts.review_sheet import AdmissionView, HistoryEntry


class ClaimedBy(StrEnum):
    """Which reviews to list, by who works on them."""

    ME = "me"
    NOBODY = "nobody"
    OTHERS = "others"


class ReviewTask(Model):
    """A review that waits for the caller (R7)."""

    experience_id: str
    tenant_id: str
    """"" for an article: it is of its domain and of no tenant."""
    domain_id: str
    stage: Stage
    revision: int
    digest: str
    """To send with the decision: it binds the decision to this text."""
    title: str
    outcome: Outcome | None
    """None: an article claims none."""
    due_at: datetime | None
    """When the next reminder or escalation is due; None once it is escalated."""
    reminded: bool
    """Its deadline has passed."""
    escalated: bool
    """Nobody answered the reminder in time either."""
    findings: dict[Severity, int] = Field(default_factory=dict)
    """Open findings of its admission."""
    claimed_by: str | None = None
    claimed_until: datetime | None = None
    on_behalf_of: str | None = None
    """Who delegated it to the caller."""
    kind: CandidateKind = CandidateKind.EXPERIENCE
    """`experience` or `article`: the draft that a change would bring."""
    cursor: str = ""
    """To send as `after` for the tasks that come after this one."""

    @property
    def is_overdue(self) -> bool:
        """Whether its deadline has passed."""
        return self.reminded or self.escalated


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
    """What took over; hidden from retrieval since then (R10)."""
    due_at: datetime | None
    searchable: bool
    """The current revision is in the index."""
    revisions: tuple[RevisionView, ...]
    supersedes: tuple[str, ...] = ()
    """What it took over from, as far as the caller may see."""
    history: tuple[HistoryEntry, ...] = ()
    """What happened and what was said: a returned draft's comments tell its author what to change, and where."""
    admission: AdmissionView | None = None
    """What was found in the newest draft."""


class CommandView(Model):
    """What became of a stored decision or command (R23)."""

    command_id: str
    state: str
    """`pending`, `applied` or `refused`."""
    outcome: str
    """The stage that it led to, or the refusal's type."""
    field: str = ""
    """Of a refusal: the input at fault."""
    accepted: str = ""
    """Of a refusal: what would be accepted."""


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
