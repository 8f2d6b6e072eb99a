"""The lifecycle of an experience as a pure table: stage x event -> stage, or a named refusal.

    curator_review --accept--> owner_review --accept--> published --correct--> curator_review (next revision)
      |  |  ^                    |  |                       |
      |  |  +--------revise------+  |                       +--retire--> retired --reinstate--> curator_review
      |  +--return--> returned <----+                       +--supersede--> superseded
      |                  |
      |                  +--resubmit--> curator_review
      +--reject--> where the draft rests: rejected; published, of a correction; retired, of a reinstatement

A correction runs through both reviews while the published revision stays current, unless its requester
suspended it. Retirement and supersession also end a running correction. A reinstatement runs through both
reviews while nothing is current. `revise` is a reviewer's own draft: curator_review or owner_review leads to
curator_review, so that two others review it.

Beside these events a history holds what the record notes by itself (`Noted`): the proposal, passed deadlines, and
`trim`, by which an acceptance leaves declined units out. A trim stays in its stage and comes right before its accept.
"""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum

from contracts.errors import InvalidField, LifecycleClosed, NotPublished, SamePerson, StaleStage


class Stage(StrEnum):
    """Where the newest draft of an experience stands."""

    CURATOR_REVIEW = "curator_review"
    OWNER_REVIEW = "owner_review"
    RETURNED = "returned"
    PUBLISHED = "published"
    REJECTED = "rejected"
    RETIRED = "retired"
    SUPERSEDED = "superseded"


class Event(StrEnum):
    """What a reviewer decides or a command asks for."""

    ACCEPT = "accept"
    RETURN = "return"
    REJECT = "reject"
    RESUBMIT = "resubmit"
    CORRECT = "correct"
    RETIRE = "retire"
    SUPERSEDE = "supersede"
    REVISE = "revise"
    REINSTATE = "reinstate"


class Noted(StrEnum):
    """What a history holds beside the events of the table: the record notes it by itself."""

    PROPOSE = "propose"
    REMIND = "remind"
    ESCALATE = "escalate"
    TRIM = "trim"
    """An acceptance left declined units out; the rest is a revision of its own."""


REVIEWED = frozenset({Stage.CURATOR_REVIEW, Stage.OWNER_REVIEW})
"""Stages that wait for a reviewer."""
CLOSED = frozenset({Stage.REJECTED, Stage.RETIRED, Stage.SUPERSEDED})
"""Stages at which a lifecycle ends; only a reinstatement leaves one of them, `retired`."""
RESTS = frozenset({Stage.REJECTED, Stage.PUBLISHED, Stage.RETIRED})
"""Where an experience stands when its draft comes to nothing."""
VERDICTS = frozenset({Event.ACCEPT, Event.RETURN, Event.REJECT})
"""Events that are a reviewer's decision; the others are commands."""

_TABLE: dict[tuple[Stage, Event], Stage] = {
    (Stage.CURATOR_REVIEW, Event.ACCEPT): Stage.OWNER_REVIEW,
    (Stage.CURATOR_REVIEW, Event.RETURN): Stage.RETURNED,
    (Stage.CURATOR_REVIEW, Event.REJECT): Stage.REJECTED,
    (Stage.OWNER_REVIEW, Event.ACCEPT): Stage.PUBLISHED,
    (Stage.OWNER_REVIEW, Event.RETURN): Stage.RETURNED,
    (Stage.OWNER_REVIEW, Event.REJECT): Stage.REJECTED,
    (Stage.RETURNED, Event.RESUBMIT): Stage.CURATOR_REVIEW,
    (Stage.CURATOR_REVIEW, Event.REVISE): Stage.CURATOR_REVIEW,
    (Stage.OWNER_REVIEW, Event.REVISE): Stage.CURATOR_REVIEW,
    (Stage.PUBLISHED, Event.CORRECT): Stage.CURATOR_REVIEW,
    (Stage.RETIRED, Event.REINSTATE): Stage.CURATOR_REVIEW,
}
_WAYS_ON = {
    Stage.REJECTED: "a new proposal",
    Stage.RETIRED: Event.REINSTATE.value,
    Stage.SUPERSEDED: "a correction or retirement of the experience that took over",
}
_ENDINGS = {Event.RETIRE: Stage.RETIRED, Event.SUPERSEDE: Stage.SUPERSEDED}


def transition(stage: Stage, event: Event, *, rests_at: Stage) -> Stage:
    """Return the stage that `event` leads to.

    Args:
        stage: Where the lifecycle stands.
        event: What was decided or asked for.
        rests_at: Where the experience stands when its draft comes to nothing, one of `RESTS`: `published` beside a
            current revision, `retired` after a retirement, `rejected` when nothing was published before.

    Raises:
        LifecycleClosed: The lifecycle has ended.
        NotPublished: The change needs a published revision.
        StaleStage: The event has no meaning in this stage.
    """
    if stage in CLOSED and (stage, event) not in _TABLE:
        raise LifecycleClosed(f"The experience is {stage}.", field="stage", accepted=_WAYS_ON[stage])
    if rests_at is not Stage.PUBLISHED:
        if event in _ENDINGS:
            raise NotPublished(f"Nothing is published that {event} could end.", field="event")
        if event is Event.CORRECT:
            raise NotPublished("Nothing is published that could be corrected.", field="event")
    if event in _ENDINGS:
        return _ENDINGS[event]
    to = _TABLE.get((stage, event))
    if to is None:
        accepted = ", ".join(sorted(known for at, known in _TABLE if at is stage))
        raise StaleStage(f"{event} is not a step from {stage}.", field="stage", accepted=accepted)
    return rests_at if to is Stage.REJECTED else to


def check_apart(
    reviewer: str, on_behalf_of: str | None, *, authors: Collection[str], reviewers: Collection[str]
) -> None:
    """Refuse a reviewer who had a part in the draft; whom a reviewer stands in for counts as much (R7).

    Args:
        reviewer: Who decides.
        on_behalf_of: Whose delegated role that is; None when it is the reviewer's own.
        authors: Who proposed the experience, or wrote a draft that this one goes back to.
        reviewers: Who decided on this text before, with those whom they stood in for.

    Raises:
        SamePerson: One of the two wrote it or has reviewed it.
    """
    deciding = {reviewer} if on_behalf_of is None else {reviewer, on_behalf_of}
    if deciding & set(authors):
        raise SamePerson("Who proposed or wrote a draft can't review it, nor be stood in for.", field="reviewer")
    if deciding & set(reviewers):
        raise SamePerson("Curator and owner must be two people.", field="reviewer")


def reviewer_role(stage: Stage) -> str:
    """Return the domain role whose decision `stage` waits for (R7).

    Raises:
        InvalidField: The stage waits for nobody's review.
    """
    if stage is Stage.CURATOR_REVIEW:
        return "curator"
    if stage is Stage.OWNER_REVIEW:
        return "owner"
    raise InvalidField(f"{stage} waits for no review.", field="stage", accepted="curator_review, owner_review")
