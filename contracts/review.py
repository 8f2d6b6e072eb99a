"""Review decisions and lifecycle commands, and the messages that carry them to the lifecycle.

Messages hold ids, digests and labels only: texts stay in Postgres, so that an erasure reaches them (R11).
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Self

from pydantic import Field, model_validator

from contracts import limits
from contracts.articles import AnyDraft, ArticleDraft
from contracts.errors import InvalidField
from contracts.experience import Draft
from contracts.lifecycle import VERDICTS, Event, Stage
from contracts.model import Model
from contracts.text import Id, Identifier, Line, OptionalLine, OptionalParagraph, Paragraph


class FieldComment(Model):
    """A reviewer's remark on one field of a draft, by its path (`title`, `units[0].text`)."""

    field: Line
    text: Paragraph


class Dismissal(Model):
    """A reviewer's word that a finding of admission is no personal data, and why (R6)."""

    finding_id: Line
    """As listed with the draft; it names check, field and place."""
    reason: Paragraph


class ReviewDecision(Model):
    """What a reviewer decided, on which text, at which stage (R7).

    `decision_id` is minted by the form or client: it is the idempotency key and the Update id.
    """

    decision_id: Id
    experience_id: Id
    stage: Stage
    digest: str
    verdict: Event
    comment: OptionalParagraph = ""
    comments: tuple[FieldComment, ...] = Field(default=(), max_length=limits.COMMENTS)
    declined_units: tuple[Identifier, ...] = Field(default=(), max_length=limits.UNITS_PER_REVISION)
    """Accept: units that are left out of what goes on; the rest is accepted."""
    dismissed: tuple[Dismissal, ...] = Field(default=(), max_length=limits.DISMISSALS)
    acknowledged_scope: OptionalLine = ""
    """Owner's accept: digest of the scope difference that was shown (R10)."""

    @model_validator(mode="after")
    def _verdict_is_a_reviewers(self) -> Self:
        if self.verdict not in VERDICTS:
            raise InvalidField(
                f"{self.verdict} is not a review verdict.", field="verdict", accepted="accept, return, reject"
            )
        if self.verdict is not Event.ACCEPT and not self.comment.strip():
            raise InvalidField(
                "A return or rejection needs a comment.", field="comment", accepted="what is wrong, in words"
            )
        if self.verdict is not Event.ACCEPT and self.declined_units:
            raise InvalidField(
                "Units are declined with an acceptance of the rest.", field="declined_units", accepted="verdict accept"
            )
        return self


class ChangeKind(StrEnum):
    """What a command asks a lifecycle to do (R10)."""

    RESUBMIT = "resubmit"
    CORRECT = "correct"
    RETIRE = "retire"
    SUPERSEDE = "supersede"
    REVISE = "revise"
    """A reviewer's own draft in place of the one under review."""
    REINSTATE = "reinstate"


WITH_DRAFT = frozenset({ChangeKind.RESUBMIT, ChangeKind.CORRECT, ChangeKind.REVISE, ChangeKind.REINSTATE})
"""Changes that bring a new text."""


class ChangeCommand(Model):
    """A requested change; `command_id` is its idempotency key and travels in the signal (R10)."""

    command_id: Id
    experience_id: Id
    kind: ChangeKind
    reason: Paragraph
    draft: Draft | None = None
    """The new text of an experience, whole: for resubmit, correct, revise and reinstate."""
    article: ArticleDraft | None = None
    """The new text of an article, whole, in the place of `draft`."""
    digest: OptionalLine = ""
    """Of the text that was read: the draft for revise, the published one for correct. When another has taken its
    place meanwhile, the change is refused (R24). Revise needs it; a correction without it is of whatever is current."""
    suspend: bool = False
    """Correct: hide the current revision at once."""
    superseded_by: Id | None = None
    """Supersede: the experience that takes over; for an article, the article."""
    acknowledged_scope: OptionalLine = ""
    """Supersede: digest of the scope difference that was shown (R10)."""

    @model_validator(mode="after")
    def _kind_has_its_fields(self) -> Self:
        if self.kind in WITH_DRAFT and self.text is None:
            raise InvalidField(f"A {self.kind} needs a draft.", field="draft", accepted="the whole new text")
        if self.draft is not None and self.article is not None:
            raise InvalidField("A change brings one text.", field="article", accepted="a draft or an article")
        if self.kind is ChangeKind.REVISE and not self.digest.strip():
            raise InvalidField(
                "An edit names the draft that it was made from.", field="digest", accepted="the digest of that draft"
            )
        if self.kind is ChangeKind.SUPERSEDE and self.superseded_by is None:
            raise InvalidField(
                "A supersession names what takes over.", field="superseded_by", accepted="an experience id"
            )
        if self.superseded_by == self.experience_id:
            raise InvalidField(
                "An experience can't supersede itself.", field="superseded_by", accepted="another experience id"
            )
        return self

    @property
    def text(self) -> AnyDraft | None:
        """The new text, of either kind."""
        return self.draft if self.article is None else self.article


class Snapshot(Model):
    """Where an experience stands in Postgres: all that its lifecycle workflow needs to know."""

    experience_id: str
    tenant_id: str
    domain_id: str
    stage: Stage
    revision: int
    """Number of the newest draft."""
    digest: str
    """Of the newest draft."""
    current_revision: int | None = None
    suspended: bool = False
    """The current revision is hidden while its correction is reviewed."""
    rests_at: Stage | None = None
    """Where it stands when the draft comes to nothing; None in histories from before this was told."""
    due_at: datetime | None = None
    """When a reminder is due; None in stages that wait for nobody."""
    reminded: bool = False
    escalated: bool = False


class DecisionMessage(Model):
    """Argument of the lifecycle's `decide` update; the comment is in Postgres under `decision_id`."""

    decision_id: str
    stage: Stage
    digest: str
    verdict: Event
    reviewer_id: str


class DecisionOutcome(Model):
    """What a decision led to; a repeated one gets the present stage, with `duplicate`."""

    stage: Stage
    revision: int
    duplicate: bool = False


class CommandMessage(Model):
    """Argument of the lifecycle's change signals; the command is in Postgres under `command_id`."""

    command_id: str


class CommandOutcome(Model):
    """What became of a command: applied, or refused with a stable error type."""

    command_id: str
    snapshot: Snapshot | None = None
    refused: str = ""
    """Error type, "" when applied."""


class Reminder(Model):
    """A deadline that passed: first remind, later escalate (R7)."""

    experience_id: str
    stage: Stage
    revision: int
    level: str = Field(pattern="^(remind|escalate)$")


class LifecycleStart(Model):
    """Argument of the lifecycle workflow; everything but the id is carried over continue-as-new."""

    experience_id: str
    snapshot: Snapshot | None = None
    seen: tuple[str, ...] = ()
    """Newest handled decision and command ids."""
    waiting: tuple[CommandMessage, ...] = ()
    """Signalled commands that are not applied yet."""


class DecisionRequest(Model):
    """Argument of the activity that records a decision."""

    experience_id: str
    decision: DecisionMessage


class DecisionRecord(Model):
    """What that activity recorded."""

    snapshot: Snapshot
    duplicate: bool


class CommandRequest(Model):
    """Argument of the activity that applies a command."""

    experience_id: str
    command: CommandMessage
