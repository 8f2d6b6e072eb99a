"""Routes for curators and owners: what waits for them, the page of a review, claims, and their decisions (R7)."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body, Query, Response
from pydantic import AwareDatetime

from activities.records.review_queue import QueueFilter
from api.authentication import Caller
from api.bodies import Release
from api.checked_route import CheckedRoute
from api.documentation import PENDING, PROBLEMS
from api.examples import DECISION
from api.id_in_path import IdInPath
from api.preconditions import if_match, versioned
from api.services import Services
from api.settlement import command_view, settled
from contracts import limits
from contracts.lifecycle import Stage
from contracts.review import ReviewDecision
from contracts.review_sheet import ClaimView, ReviewSheet
from contracts.views import ClaimedBy, CommandView, ReviewTask

router = APIRouter(route_class=CheckedRoute, prefix="/v1", tags=["review"], responses=PROBLEMS)


@router.get("/reviews", summary="List the reviews that wait for you")
async def list_reviews(
    services: Services,
    caller: Caller,
    domain: Annotated[str | None, Query(max_length=limits.IDENTIFIER, description="Of this domain only.")] = None,
    stage: Annotated[Stage | None, Query(description="At this stage only.")] = None,
    due_before: Annotated[
        AwareDatetime | None, Query(description="Due before this time; what is overdue always is.")
    ] = None,
    claimed: Annotated[ClaimedBy | None, Query(description="By who works on them.")] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    after: Annotated[
        str | None, Query(max_length=limits.LINE, description="The `cursor` of the last task of the page before.")
    ] = None,
) -> list[ReviewTask]:
    """Return the reviews that wait for the caller, most urgent first, those that were delegated included (R7).

    Each tells its open findings by severity, and who works on it.
    """
    wanted = QueueFilter(domain, stage, due_before, claimed, after)
    return await services.experiences.tasks(caller.id, limit=limit, wanted=wanted)


@router.post("/reviews", summary="Decide a review", responses=PENDING, openapi_extra=if_match("digest"))
async def decide(
    services: Services,
    caller: Caller,
    response: Response,
    decision: Annotated[ReviewDecision, Body(openapi_examples=DECISION)],
) -> CommandView:
    """Store a decision and wait for its effect; the same decision again gets its first answer (R7).

    200 when it took effect, the refusal when it did not, 202 when no worker answered in time: it is stored
    then, and `Location` says where to look. `If-Match` takes the tag of the review's sheet.
    """
    stored = await services.experiences.decide(caller.id, decision)
    return command_view(await settled(services, caller.id, stored, within=services.patience), response)


@router.get("/reviews/{experience_id}", summary="See all that a review needs")
async def get_review(services: Services, caller: Caller, response: Response, experience_id: IdInPath) -> ReviewSheet:
    """Return the draft with its findings, proof, differences, history and what resembles it (R5, R6, R7).

    The result and the words of papers are shown to who may see the case. Near-duplicates and contradictions are
    listed, never resolved; what could not be looked through is told.
    """
    sheet = await services.review_desk.sheet(caller.id, str(experience_id))
    versioned(response, sheet.digest)
    return sheet


@router.post("/reviews/{experience_id}/claim", summary="Work on a review")
async def claim_review(services: Services, caller: Caller, experience_id: IdInPath) -> ClaimView:
    """Keep a review for the caller, for two hours; claiming again renews it. Others' decisions wait meanwhile (R7).

    The claim is for this revision at this stage. A decision or a release ends it earlier.
    """
    return await services.review_claims.claim(caller.id, str(experience_id))


@router.post("/reviews/{experience_id}/release", summary="Leave a review to others")
async def release_review(services: Services, caller: Caller, experience_id: IdInPath) -> Release:
    """Give the caller's claim back; harmless when there is none (R7)."""
    return Release(claim=await services.review_claims.release(caller.id, str(experience_id)))
