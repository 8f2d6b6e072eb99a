"""The lifecycle of an experience as a pure table: stage x event -> stage, or a named refusal.

    curator_review --accept--> owner_review --accept--> published --correct--> curator_review (next revision)
          |                         |                       |
          +--return--> returned <---+                       +--retire--> retired
          |               |                                 +--supersede--> superseded
          |               +--resubmit--> curator_review
          +--reject--> rejected      (or back to published, when a correction is rejected)

A correction runs through both reviews while the published revision stays current, unless its requester
suspended it. Retirement and supersession also end a running correction.
"""

from __future__ import annotations

from enum import StrEnum

from contracts.errors import InvalidField, LifecycleClosed, NotPublished, StaleStage


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


REVIEWED = frozenset({Stage.CURATOR_REVIEW, Stage.OWNER_REVIEW})
"""Stages that wait for a reviewer."""
CLOSED = frozenset({Stage.REJECTED, Stage.RETIRED, Stage.SUPERSEDED})
"""Stages that nothing leaves."""
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
    (Stage.PUBLISHED, Event.CORRECT): Stage.CURATOR_REVIEW,
}
_ENDINGS = {Event.RETIRE: Stage.RETIRED, Event.SUPERSEDE: Stage.SUPERSEDED}


def transition(stage: Stage, event: Event, *, has_current: bool) -> Stage:
    """Return the stage that `event` leads to.

    Args:
        stage: Where the lifecycle stands.
        event: What was decided or asked for.
        has_current: Whether a published revision exists (a correction may be under review beside it).

    Raises:
        LifecycleClosed: The lifecycle has ended.
        NotPublished: The change needs a published revision.
        StaleStage: The event has no meaning in this stage.
    """
    if stage in CLOSED:
        raise LifecycleClosed(f"The experience is {stage}.", field="stage", accepted="nothing any more")
    if event in _ENDINGS:
        if not has_current:
            raise NotPublished(f"Nothing is published that {event} could end.", field="event")
        return _ENDINGS[event]
    if event is Event.CORRECT and not has_current:
        raise NotPublished("Nothing is published that could be corrected.", field="event")
    to = _TABLE.get((stage, event))
    if to is None:
        accepted = ", ".join(sorted(known for at, known in _TABLE if at is stage))
        raise StaleStage(f"{event} is not a step from {stage}.", field="stage", accepted=accepted)
    if to is Stage.REJECTED and has_current:
        return Stage.PUBLISHED  # only the correction is rejected
    return to


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
