"""A retrieval request, its answer, and the decision that an agent cites from it (R13 to R20)."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import Field

from contracts import limits
from contracts.effort import ComparedEffort, EffortSummary
from contracts.erased_text import ERASED
from contracts.experience import Limits
from contracts.feedback import CandidateFeedback
from contracts.labels import CandidateKind, Collection, Outcome, ProofLevel, ValidityState
from contracts.model import Model
from contracts.outbox import Watermark
from contracts.strategy import Route
from contracts.text import ExternalId, Id, Identifier, Line, OptionalLine, OptionalParagraph, Paragraph
from contracts.widening import BroadenedFrom


class OriginRef(Model):
    """A source identity inside the caller's tenant."""

    source: Identifier
    external_id: ExternalId


class RetrievalRequest(Model):
    """What an agent asks for. The scope derives from its identity; `tenant_id` can only narrow (R13).

    `request_id` is the caller's idempotency key and names the workflow.
    """

    request_id: Id
    profile_id: Identifier
    purpose: Line
    objective: Paragraph
    """The objective or symptom, in words."""
    tenant_id: Identifier | None = None
    case_id: Id | None = None
    """The case that the work is for; the memory use goes into its papers."""
    origin: OriginRef | None = None
    strategy_version: int | None = None
    """A version of the profile's pinned strategy; None takes the pinned one."""
    product: OptionalLine = ""
    system: OptionalLine = ""
    environment: OptionalLine = ""
    version: OptionalLine = ""
    schema_version: OptionalLine = ""
    object_refs: tuple[Line, ...] = Field(default=(), max_length=limits.LABELS_PER_FIELD)
    required_proof: ProofLevel = ProofLevel.NONE
    not_older_than: datetime | None = None
    results: int | None = Field(default=None, ge=1, le=limits.RESULTS)
    tokens: int = Field(default=limits.TOKENS_DEFAULT, ge=200, le=limits.TOKENS)
    wait_for_position: int | None = Field(default=None, ge=0)
    """Wait until every index has reached this outbox position (R23)."""
    consultation_id: Id | None = None
    """The consultation that the caller works on for its own domain; it opens nothing that its grants don't (R18)."""


class Validity(Model):
    """A candidate's limits held against the request, with the reasons."""

    state: ValidityState
    reasons: tuple[str, ...] = ()


class Match(Model):
    """Why a candidate was found: one route, its rank there and the fields that matched."""

    route: Route
    collection: Collection
    rank: int
    fields: tuple[str, ...] = ()


class Superseded(Model):
    """What a candidate took over from; its text is shown to nobody any more (R10)."""

    ref: str
    revision: int


CURRENT = "current"
"""The state of a published candidate whose text still stands."""


class Candidate(Model):
    """One cited candidate to weigh; never a remedy that was chosen (R15, R20)."""

    rank: int
    kind: CandidateKind
    owner: str
    """Owning domain."""
    ref: str
    """`experience/<id>`, `case/<id>` or `article/<id>`."""
    revision: int
    title: str
    extract: str
    """Approved text; cut to the token budget."""
    extract_complete: bool = True
    source_case: str | None = None
    """Only inside the caller's scope (R21)."""
    source_origin: OriginRef | None = None
    state: str
    """`current`, or a case's state. In an answer that is read later: `withdrawn since` or `now revision <n>` (R10)."""
    outcome: Outcome | None = None
    proof_level: ProofLevel | None = None
    reason: tuple[Match, ...]
    limits: Limits = Limits()
    validity: Validity
    contrast: str = ""
    """Why it stands apart: `shown to contrast: failed`; never a fix (R5). "" for what may apply."""
    far: str = ""
    """`far from the objective`: it doesn't clear the strategy's bar, so nothing counts on it; "" when it does."""
    supersedes: tuple[Superseded, ...] = ()
    feedback: CandidateFeedback = CandidateFeedback()
    """How it turned out for those who cited it; shown, and without effect on rank or eligibility."""
    effort: ComparedEffort | None = None
    """Its own hours and whether they count in the ranges; only where the strategy compares effort (R19)."""

    @property
    def is_current(self) -> bool:
        """Whether it may be read and chosen: a live case, or a published text that stands as it was answered (R10)."""
        return self.kind is CandidateKind.CASE or self.state == CURRENT

    def as_of_now(self, current: int | None) -> Candidate:
        """Return it as an answer may show it later: without the text that isn't current any more (R10).

        What was found, why, and how it was weighed stays: decisions cite it (R20).

        Args:
            current: The revision of it that is published now; None when none is.
        """
        if self.kind is CandidateKind.CASE or current == self.revision:
            return self
        state = "withdrawn since" if current is None else f"now revision {current}"
        extract = ERASED if self.extract == ERASED else ""  # what was erased says so for good
        return self.model_copy(update={"state": state, "extract": extract, "extract_complete": True})


class RouteState(StrEnum):
    """How a route ended."""

    OK = "ok"
    FAILED = "failed"
    SKIPPED = "skipped"


class RouteReport(Model):
    """What a route did, so that nothing is dropped in silence (R15)."""

    route: Route
    collection: Collection
    state: RouteState
    found: int = 0
    why: str = ""


class Nearest(Model):
    """What came nearest when nothing clears the bar, and why it doesn't apply (R15)."""

    ref: str
    revision: int
    why: tuple[str, ...]


class Answer(Model):
    """Everything that a caller needs to weigh and cite a retrieval (R15, R16)."""

    request_id: str
    strategy_id: str
    strategy_version: int
    strategy_digest: str
    candidates: tuple[Candidate, ...]
    watermarks: tuple[Watermark, ...]
    routes: tuple[RouteReport, ...]
    not_read: tuple[str, ...] = ()
    """Sources that were not, or not fully, read, each with the reason."""
    omitted_by_permission: int = 0
    """Found inside the caller's own tenants and left out by grants; never counts of another tenant (R21)."""
    withdrawn: int = 0
    """Found in an index and left out because Postgres no longer holds them as current (R10)."""
    abstained: bool = False
    """Nothing clears the bar: every candidate is out of range or far from the objective."""
    nearest: tuple[Nearest, ...] = ()
    """When it abstains: the published text that came nearest. Empty when none was found at all."""
    notes: tuple[str, ...] = ()
    answered_at: datetime
    effort: EffortSummary | None = None
    """What the candidates' work took; only where the strategy compares effort (R19)."""
    broadened: BroadenedFrom | None = None
    """Which retrieval this one broadens, and why; None for one that stands by itself (R18)."""


class RetrievalReceipt(Model):
    """What the retrieval workflow returns: ids and counts; the answer itself is in Postgres."""

    request_id: str
    candidates: int
    abstained: bool


class CitationVerdict(StrEnum):
    """What an agent made of a candidate (R20)."""

    CHOSEN = "chosen"
    REJECTED = "rejected"
    NOT_APPLICABLE = "not_applicable"


class Citation(Model):
    """A verdict on one candidate of one answer, at the revision that was read."""

    ref: Identifier
    revision: int
    verdict: CitationVerdict
    why: Paragraph


class FreshCheck(Model):
    """A discriminating check that the agent needs before it acts."""

    check_id: Identifier
    text: Paragraph


class MemoryUse(Model):
    """The agent's cited decision on an answer (R20). `decision_id` is the idempotency key."""

    decision_id: Id
    request_id: Id
    summary: Paragraph
    citations: tuple[Citation, ...] = Field(default=(), max_length=limits.CITATIONS)
    checks: tuple[FreshCheck, ...] = Field(default=(), max_length=limits.CITATIONS)


class CheckOutcome(StrEnum):
    """How a fresh check came out."""

    HELD = "held"
    FAILED = "failed"


class CheckResult(Model):
    """What a fresh check showed, later."""

    decision_id: Id
    check_id: Identifier
    outcome: CheckOutcome
    note: OptionalParagraph = ""
