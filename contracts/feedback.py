"""Feedback: how a cited candidate turned out. It is counted beside the candidate and moves nothing (R15, R20, R21)."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Self

from pydantic import Field, model_validator

from contracts import limits
from contracts.errors import InvalidField
from contracts.model import Model
from contracts.text import Id, Identifier, OptionalParagraph


class Usefulness(StrEnum):
    """How a candidate turned out for the work that cited it."""

    HELPED = "helped"
    MISLED = "misled"
    NOT_APPLICABLE = "not_applicable"


class CandidateOutcome(Model):
    """How one cited candidate turned out, at the revision that was cited."""

    ref: Identifier
    revision: int
    usefulness: Usefulness
    note: OptionalParagraph = ""


class Feedback(Model):
    """What became of candidates that a decision cites. `feedback_id` is the idempotency key.

    Later feedback takes over from earlier, candidate by candidate; the earlier is kept.
    """

    feedback_id: Id
    decision_id: Id
    replaces: Id | None = None
    """The decision's latest feedback, as the caller read it; None for the first (R24)."""
    outcomes: tuple[CandidateOutcome, ...] = Field(min_length=1, max_length=limits.CITATIONS)

    @model_validator(mode="after")
    def _one_outcome_each(self) -> Self:
        if len({(outcome.ref, outcome.revision) for outcome in self.outcomes}) < len(self.outcomes):
            raise InvalidField("A candidate is named twice.", field="outcomes.ref", accepted="one outcome for each")
        return self


class FeedbackView(Feedback):
    """Feedback as it was given."""

    given_by: str
    given_at: datetime


class UsefulnessCounts(Model):
    """How often a candidate was said to have helped, misled or not applied, by the latest word of each retrieval."""

    helped: int = 0
    misled: int = 0
    not_applicable: int = 0


class CandidateFeedback(Model):
    """What is counted beside a candidate at its revision. It has no effect on rank or eligibility."""

    own: UsefulnessCounts = UsefulnessCounts()
    """In the decisions that the asker may see."""
    everywhere: UsefulnessCounts | None = None
    """In all tenants; None while fewer than `limits.FEEDBACK_TENANTS` of them said anything (R21)."""
