"""Routes that go on from an answer: broaden it, and say how what it offered turned out (R18, R20)."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body, status

from api.authentication import Caller
from api.broadening_examples import BROADENING, FEEDBACK
from api.checked_route import CheckedRoute
from api.documentation import PROBLEMS
from api.id_in_path import IdInPath
from api.retrievals import answered
from api.services import Services
from contracts.broadening import Broadening
from contracts.errors import InvalidField
from contracts.feedback import Feedback, FeedbackView
from contracts.retrieval import Answer

router = APIRouter(route_class=CheckedRoute, prefix="/v1", tags=["retrieval"], responses=PROBLEMS)


@router.post("/retrievals/{request_id}/broadenings", summary="Ask again, further, for a reason")
async def broaden(
    services: Services,
    caller: Caller,
    request_id: IdInPath,
    broadening: Annotated[Broadening, Body(openapi_examples=BROADENING)],
) -> Answer:
    """Run a retrieval that reads further than the one before it, and return its candidates (R18).

    Another strategy, further domains, fewer facts to hold candidates against, more results or a larger budget: with
    the reason, which is kept in answer and case. What the caller may see stays as it is.
    """
    await services.broadenings.open(caller.id, str(request_id), broadening)
    return await answered(services, caller.id, broadening.request_id)


@router.post(
    "/decisions/{decision_id}/feedback",
    summary="Say how cited candidates turned out",
    status_code=status.HTTP_201_CREATED,
)
async def give_feedback(
    services: Services,
    caller: Caller,
    decision_id: IdInPath,
    feedback: Annotated[Feedback, Body(openapi_examples=FEEDBACK)],
) -> FeedbackView:
    """Record that candidates which a decision cites helped, misled or didn't apply.

    The latest word of each retrieval is counted beside the candidate in later answers; it moves no rank and bars
    nothing. Later feedback names the one that it takes over from in `replaces`.
    """
    if feedback.decision_id != str(decision_id):
        raise InvalidField("Path and body name two decisions.", field="decision_id", accepted=str(decision_id))
    return await services.feedbacks.give(caller.id, feedback)


@router.get("/decisions/{decision_id}/feedback", summary="Read the feedback on a decision")
async def list_feedback(services: Services, caller: Caller, decision_id: IdInPath) -> list[FeedbackView]:
    """Return all feedback on a decision, the oldest first; the last one on a candidate counts."""
    return await services.feedbacks.given(caller.id, str(decision_id))
