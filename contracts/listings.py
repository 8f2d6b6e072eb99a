"""Lists that people look through: experiences, citations, retrievals, papers, erasures, and lag over time."""

from __future__ import annotations

from datetime import datetime

from contracts.cases import CaseResult
from contracts.erasure import ErasureState
from contracts.feedback import Usefulness
from contracts.labels import CandidateKind, Outcome, PaperKind, ProofLevel
from contracts.lifecycle import Stage
from contracts.model import Model
from contracts.retrieval import CheckOutcome, CitationVerdict


class ExperienceHead(Model):
    """An experience or article in a list."""

    experience_id: str
    kind: CandidateKind
    domain_id: str
    title: str
    """Of its newest draft."""
    stage: Stage
    outcome: Outcome | None
    proof_level: ProofLevel | None
    revision: int
    current_revision: int | None
    suspended: bool
    since: datetime
    """When it came to its stage."""


class ExperiencePage(Model):
    """A page of experiences, the last to move first."""

    entries: tuple[ExperienceHead, ...]
    after: str | None = None
    """Where the next page begins; None at the end."""


class CitedCheck(Model):
    """A fresh check of a decision, and how it came out (R20)."""

    check_id: str
    text: str
    outcome: CheckOutcome | None
    """None: nobody has reported it yet."""
    note: str = ""


class CitedUse(Model):
    """One decision that cites a text: by whom, what for, and how it went, as far as the reader may see it (R20)."""

    decision_id: str
    request_id: str
    revision: int
    """The one that was read."""
    verdict: CitationVerdict
    why: str
    summary: str
    decided_by: str
    decided_at: datetime
    strategy: str
    case_id: str | None
    checks: tuple[CitedCheck, ...] = ()
    usefulness: Usefulness | None = None
    """How it turned out, by the latest feedback on the decision; None while nobody said."""
    note: str = ""
    """Of that feedback."""


class Citations(Model):
    """Who cited a text, newest first. Decisions outside the reader's scope are neither shown nor counted (R21)."""

    uses: tuple[CitedUse, ...]
    verdicts: dict[CitationVerdict, int]
    """Over all of them, those that the list has no room for included."""
    held: int
    """Fresh checks of these decisions that held."""
    failed: int


class RetrievalHead(Model):
    """A retrieval in a list."""

    request_id: str
    principal_id: str
    profile_id: str
    strategy: str
    objective: str
    case_id: str | None
    requested_at: datetime
    answered_at: datetime | None
    abstained: bool
    candidates: int
    decisions: int


class FiledPaper(Model):
    """A paper of a case, whole, with who filed it."""

    id: str
    kind: PaperKind
    title: str
    text: str
    author_id: str
    filed_at: datetime


class CaseRecordView(Model):
    """What a case holds beside its request: papers, results, and the experience that came of them."""

    papers: tuple[FiledPaper, ...]
    papers_left_out: int
    """Older papers that one page has no room for."""
    results: tuple[CaseResult, ...]
    experiences: tuple[ExperienceHead, ...]


class ErasureHead(Model):
    """An erasure in a list."""

    erasure_id: str
    tenant_id: str
    of_case: bool
    reason: str
    state: ErasureState
    requested_by: str
    requested_at: datetime
    finished_at: datetime | None


class LagSample(Model):
    """How long changes took to become searchable, over a stretch of time (R23)."""

    begins: datetime
    events: int
    median_seconds: float
    longest_seconds: float
