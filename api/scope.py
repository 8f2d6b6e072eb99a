"""Route for the scope difference that an owner acknowledges (R10)."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query

from api.authentication import Caller
from api.checked_route import CheckedRoute
from api.documentation import PROBLEMS
from api.id_in_path import IdInPath
from api.services import Services
from contracts import limits
from contracts.scope_difference import ScopeDifference
from contracts.text import Identifier

router = APIRouter(route_class=CheckedRoute, prefix="/v1", tags=["review"], responses=PROBLEMS)


@router.get("/experiences/{experience_id}/scope", summary="Compare where two texts apply")
async def scope(
    services: Services,
    caller: Caller,
    experience_id: IdInPath,
    superseded_by: Annotated[UUID | None, Query(description="The experience that would take over.")] = None,
    declined_unit: Annotated[
        list[Identifier] | None, Query(max_length=limits.UNITS_PER_REVISION, description="Units to be left out.")
    ] = None,
) -> ScopeDifference:
    """Return what a correction, or a successor, changes about where the published text applies.

    Its `digest` goes as `acknowledged_scope` with the owner's acceptance of a correction, or with a supersession.
    """
    return await services.scope.difference(
        caller.id,
        str(experience_id),
        superseded_by=None if superseded_by is None else str(superseded_by),
        declined_units=declined_unit or (),
    )
