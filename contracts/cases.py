"""Arrivals, cases, papers and results: the live registry that experience comes from."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Self

from pydantic import AwareDatetime, Field, JsonValue, model_validator

from contracts import limits
from contracts.errors import InvalidField, UnverifiedResult
from contracts.labels import CaseState, Outcome, PaperKind, ProofLevel
from contracts.model import Model
from contracts.text import (
    Body,
    DeliveredBody,
    ExternalId,
    Id,
    Identifier,
    Labels,
    Line,
    OptionalLine,
    OptionalParagraph,
    Paragraph,
)


class Origin(Model):
    """The canonical identity of a source request inside a tenant (R1)."""

    tenant_id: Identifier
    source: Identifier
    external_id: ExternalId


class CaseFacts(Model):
    """What is known about a case beside its text; used for filters and validity."""

    domain_id: Identifier | None = None
    request_type: OptionalLine = ""
    symptom_tags: Labels = ()
    product: OptionalLine = ""
    system: OptionalLine = ""
    environment: OptionalLine = ""
    version: OptionalLine = ""
    object_refs: Labels = ()


class BodyFormat(StrEnum):
    """How a body is written."""

    TEXT = "text"
    HTML = "html"


class Delivery(Model):
    """One delivery of a source request, as it came."""

    origin: Origin
    revision: int | None = Field(default=None, ge=0, le=2**31 - 1)
    delivery_id: Identifier
    occurred_at: AwareDatetime
    received_at: AwareDatetime
    subject: OptionalLine = ""
    body: DeliveredBody = ""
    body_format: BodyFormat = BodyFormat.TEXT
    state: OptionalLine = ""
    """The request's state in the source's own word, such as `resolved`; "" leaves the case's state as it is."""
    attributes: Mapping[str, JsonValue] = Field(default_factory=dict[str, JsonValue])
    """Further fields of the source, kept as they came."""
    facts: CaseFacts | None = None
    """What the source already knows about the case; None leaves the case's facts as they are."""


class ContentKind(StrEnum):
    """What is kept by reference beside an arrival."""

    BODY = "body"
    """A body over the limit, whole."""
    RAW = "raw"
    """A delivery before characters were replaced, as ASCII JSON."""


class Content(Model):
    """A text that is kept by reference."""

    id: str
    case_id: str
    kind: ContentKind
    text: str
    bytes: int
    sha256: str
    """Of the text in UTF-8."""


class Disposition(StrEnum):
    """What intake did with a delivery (R1)."""

    OPENED = "opened"
    ATTACHED = "attached"
    CONFLICT = "conflict"
    LATE = "late"


class Receipt(Model):
    """What a sender learns about its delivery."""

    arrival_id: str
    case_id: str
    disposition: Disposition
    content_version: int = 1
    delivery_id_reused: bool = False
    """The source had used the delivery id before, for other content; taken all the same."""
    order_assumed: bool = False
    """It has no revision and the time of another: which is the later one was assumed."""
    redelivered: bool = False
    """Whether this delivery had come before; everything else is then the first answer (R1)."""


class Case(Model):
    """A case of the registry, as it stands now."""

    id: str
    origin: Origin
    title: OptionalLine
    body: Body
    """As received; the first part of one that is over the limit (see `content_id`)."""
    state: CaseState
    waiting_on: OptionalLine = ""
    facts: CaseFacts
    opened_at: datetime
    revision: int
    """Row version, for optimistic writes (R24)."""
    source_state: OptionalLine = ""
    """The state in the source's own word, of the delivery that the case goes by."""
    order_assumed: bool = False
    """Two deliveries without a revision had one time: which is the later one was assumed (R1)."""
    written: Body = ""
    """The newly written part of the body as plain text; "" when that is the body itself."""
    body_bytes: int = 0
    """Of the whole body as delivered."""
    indexed_bytes: int = 0
    """Of the text that searches see; less than there is when the tail is not indexed (R22)."""
    content_id: str | None = None
    """Where the whole body is kept when it is over the limit."""
    merged_into: str | None = None
    """The case in which the work goes on, by a merge that stands (R2)."""
    merged_elsewhere: bool = False
    """It was merged into a case that the reader may not see."""

    @property
    def searchable(self) -> str:
        """The text that indexes see."""
        return self.written or self.body


class Paper(Model):
    """A case paper: evidence, execution or proof record (or a memory use). `id` is the idempotency key."""

    id: Id
    kind: PaperKind
    title: Line
    text: Body


class Effort(Model):
    """What the work took, with waiting and changed scope apart (R19). Hours."""

    estimate_hours: float | None = Field(default=None, ge=0, le=1e6, allow_inf_nan=False)
    active_hours: float | None = Field(default=None, ge=0, le=1e6, allow_inf_nan=False)
    waiting_hours: float | None = Field(default=None, ge=0, le=1e6, allow_inf_nan=False)
    changed_scope: OptionalParagraph = ""

    @property
    def has_changed_scope(self) -> bool:
        """Whether its hours are those of another scope than the one that was estimated."""
        return bool(self.changed_scope.strip())

    def check_estimate(self) -> None:
        """Refuse an estimate that nobody means, when it is recorded; what was recorded before still reads.

        Raises:
            InvalidField: It is neither 0 nor at least `limits.ESTIMATE_HOURS`.
        """
        if self.estimate_hours and self.estimate_hours < limits.ESTIMATE_HOURS:
            raise InvalidField(
                "The estimate is too small to compare anything with.",
                field="effort.estimate_hours",
                accepted=f"0, or at least {limits.ESTIMATE_HOURS:g} hours",
            )


class CaseResult(Model):
    """What a case or one of its stages ended with, and the papers that show it (R5).

    A success, verified or executed, names its execution paper, and a verified one its proof paper too.
    """

    id: Id
    case_id: Id
    outcome: Outcome
    proof_level: ProofLevel
    summary: Paragraph
    execution_paper_id: Id | None = None
    proof_paper_id: Id | None = None
    effort: Effort | None = None

    @model_validator(mode="after")
    def _papers_carry_the_level(self) -> Self:
        if self.proof_level.rank >= ProofLevel.EXECUTED.rank and self.execution_paper_id is None:
            raise UnverifiedResult(
                f"Proof level {self.proof_level} needs an execution paper.",
                field="execution_paper_id",
                accepted="the id of an execution paper of this case",
            )
        if self.proof_level is ProofLevel.VERIFIED and self.proof_paper_id is None:
            raise UnverifiedResult(
                "Proof level verified needs a proof paper.",
                field="proof_paper_id",
                accepted="the id of a proof paper of this case",
            )
        if self.outcome is Outcome.SUCCEEDED and self.proof_level.rank < ProofLevel.EXECUTED.rank:
            raise UnverifiedResult(
                "A succeeded result needs to have been executed.",
                field="proof_level",
                accepted="executed or verified, or outcome unverified",
            )
        if self.outcome is Outcome.UNVERIFIED and self.proof_level is ProofLevel.VERIFIED:
            raise InvalidField(
                "An unverified outcome can't have proof level verified.",
                field="outcome",
                accepted="succeeded, failed or rejected_route",
            )
        return self


class CaseLinkKind(StrEnum):
    """How two cases belong together; always a principal's decision, and reversible (R2)."""

    RELATED = "related"
    DUPLICATE_OF = "duplicate_of"
    MERGED_INTO = "merged_into"
    """The work goes on in the other case; undone by a split."""


class CaseLink(Model):
    """A decision that two cases belong together. `id` is the caller's idempotency key."""

    id: Id
    case_id: Id
    other_case_id: Id
    kind: CaseLinkKind
    reason: Paragraph
