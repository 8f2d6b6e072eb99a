"""Routes for proposing experience and seeing where it stands (R5, R23)."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body, Query, Response, status

from api.authentication import Caller
from api.bodies import HIGHEST_REVISION
from api.checked_route import CheckedRoute
from api.documentation import PROBLEMS
from api.examples import PROPOSAL
from api.id_in_path import IdInPath
from api.preconditions import published_digest, versioned
from api.services import Services
from api.settlement import proposal_view
from contracts.draft_difference import DraftDifference
from contracts.experience import Proposal
from contracts.views import CommandView, ExperienceView

router = APIRouter(route_class=CheckedRoute, prefix="/v1", tags=["experience"], responses=PROBLEMS)


@router.post(
    "/experiences",
    summary="Propose an experience",
    status_code=status.HTTP_201_CREATED,
    responses={200: {"model": CommandView, "description": "It had been proposed before"}},
)
async def propose(
    services: Services,
    caller: Caller,
    response: Response,
    proposal: Annotated[Proposal, Body(openapi_examples=PROPOSAL)],
) -> CommandView:
    """Store a proposal from a recorded case result, and start its lifecycle (R5).

    It stands for the curator's review from here on, whether or not a worker runs at the moment.
    """
    stored = await services.experiences.propose(caller.id, proposal)
    return await proposal_view(services, stored, response, at="/v1/experiences")


@router.get("/experiences/{experience_id}", summary="See where an experience stands")
async def get_experience(
    services: Services, caller: Caller, response: Response, experience_id: IdInPath
) -> ExperienceView:
    """Return an experience with its revisions; saved and searchable are told apart (R23)."""
    view = await services.experiences.view(caller.id, str(experience_id))
    versioned(response, published_digest(view))
    return view


@router.get("/experiences/{experience_id}/difference", summary="Compare two revisions")
async def difference(
    services: Services,
    caller: Caller,
    experience_id: IdInPath,
    from_revision: Annotated[int, Query(alias="from", ge=1, le=HIGHEST_REVISION, description="The older revision.")],
    to_revision: Annotated[int, Query(alias="to", ge=1, le=HIGHEST_REVISION, description="The newer revision.")],
) -> DraftDifference:
    """Return what differs between two revisions, field by field and word by word (R7)."""
    return await services.experiences.difference(
        caller.id, str(experience_id), from_revision=from_revision, to_revision=to_revision
    )
