"""Routes for curators and owners: what waits for them, and their decisions (R7)."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body, Query, Response

from api.authentication import Caller
from api.checked_route import CheckedRoute
from api.documentation import PENDING, PROBLEMS
from api.examples import DECISION
from api.services import Services
from api.settlement import command_view, settled
from contracts.review import ReviewDecision
from contracts.views import CommandView, ReviewTask

router = APIRouter(route_class=CheckedRoute, prefix="/v1", tags=["review"], responses=PROBLEMS)


@router.get("/reviews", summary="List the reviews that wait for you")
async def list_reviews(
    services: Services, caller: Caller, limit: Annotated[int, Query(ge=1, le=500)] = 50
) -> list[ReviewTask]:
    """Return the reviews that wait for the caller, most urgent first (R7)."""
    return await services.experiences.tasks(caller.id, limit=limit)


@router.post("/reviews", summary="Decide a review", responses=PENDING)
async def decide(
    services: Services,
    caller: Caller,
    response: Response,
    decision: Annotated[ReviewDecision, Body(openapi_examples=DECISION)],
) -> CommandView:
    """Store a decision and wait for its effect; the same decision again gets its first answer (R7).

    200 when it took effect, the refusal when it did not, 202 when no worker answered in time: it is stored
    then, and `Location` says where to look.
    """
    stored = await services.experiences.decide(caller.id, decision)
    return command_view(await settled(services, caller.id, stored, within=services.patience), response)
