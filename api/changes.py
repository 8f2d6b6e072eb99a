"""Routes for changes to an experience, and for what became of decisions and changes (R10)."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Body, Query, Response, status

from api.article_examples import ARTICLE_CHANGE
from api.authentication import Caller
from api.checked_route import CheckedRoute
from api.documentation import PROBLEMS
from api.examples import CHANGE
from api.id_in_path import IdInPath
from api.preconditions import if_match
from api.services import Services
from api.settlement import command_view, settled, view_of
from contracts.errors import UnknownCommand
from contracts.review import ChangeCommand
from contracts.views import CommandView

router = APIRouter(route_class=CheckedRoute, prefix="/v1", tags=["review"], responses=PROBLEMS)


@router.post(
    "/changes",
    summary="Resubmit, correct, revise, retire, supersede or reinstate",
    status_code=status.HTTP_202_ACCEPTED,
    responses={200: {"model": CommandView, "description": "It has taken effect"}},
    openapi_extra=if_match("digest"),
)
async def change(
    services: Services,
    caller: Caller,
    response: Response,
    command: Annotated[ChangeCommand, Body(openapi_examples={**CHANGE, **ARTICLE_CHANGE})],
    wait: Annotated[float, Query(ge=0, le=30, description="Seconds to wait for its effect.")] = 0,
) -> CommandView:
    """Store a change and signal the lifecycle; it is durable even when no worker runs (R10).

    202 and `Location` while it is on its way; 200, or its refusal, when it is settled, which the same command
    again or `wait` find out. `If-Match` takes the tag of the review's sheet for `revise`, and the tag of the
    experience or article for `correct`.
    """
    stored = await services.experiences.command(caller.id, command)
    standing = await settled(services, caller.id, stored, within=timedelta(seconds=wait))
    response.status_code = status.HTTP_200_OK
    return command_view(standing, response)


@router.get("/commands/{command_id}", summary="See what became of a decision or change")
async def get_command(services: Services, caller: Caller, command_id: IdInPath) -> CommandView:
    """Return whether a decision or change is pending, applied or refused, and what it led to (R23)."""
    standing = await services.experiences.standing(caller.id, str(command_id))
    if standing is None:
        raise UnknownCommand("There is no such decision or change in your scope.", field="command_id")
    return view_of(standing)
