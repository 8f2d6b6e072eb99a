"""The route that lists related work of a case (R2, R16)."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from activities.related import MOST
from api.authentication import Caller
from api.checked_route import CheckedRoute
from api.documentation import PROBLEMS
from api.id_in_path import IdInPath
from api.services import Services
from contracts.related import RelatedAnswer

router = APIRouter(route_class=CheckedRoute, prefix="/v1", tags=["cases"], responses=PROBLEMS)


@router.get("/cases/{case_id}/related", summary="List related work")
async def related_cases(
    services: Services,
    caller: Caller,
    case_id: IdInPath,
    limit: Annotated[int, Query(ge=1, le=MOST)] = 10,
    include_later: Annotated[bool, Query(description="Whether cases opened after this one count too.")] = False,
) -> RelatedAnswer:
    """Return cases to look at beside this one: linked, of the same request or object, and alike, with the reasons.

    Likeness is never more than a reason to look: nothing is merged by it. The answer says how far the index of
    cases has come and what was not read, so that an empty list is no proof of absence.
    """
    return await services.related.related(caller.id, str(case_id), limit=limit, include_later=include_later)
