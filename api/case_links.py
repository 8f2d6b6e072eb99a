"""Routes for decisions that cases belong together: link, merge, and their removal (R2)."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body, status

from api.authentication import Caller
from api.checked_route import CheckedRoute
from api.documentation import PROBLEMS
from api.examples import CASE_LINK, LINK_REMOVAL
from api.id_in_path import IdInPath
from api.services import Services
from contracts.cases import CaseLink
from contracts.related import CaseLinkRecord, CaseLinks, LinkRemoval

router = APIRouter(route_class=CheckedRoute, prefix="/v1", tags=["cases"], responses=PROBLEMS)


@router.get("/cases/{case_id}/links", summary="See every decision on a case")
async def case_links(services: Services, caller: Caller, case_id: IdInPath) -> CaseLinks:
    """Return links and merges of a case, removed ones too, oldest first, and where its work goes on (R2)."""
    return await services.case_links.of_case(caller.id, str(case_id))


@router.post("/cases/links", summary="Link two cases, or merge one into the other", status_code=status.HTTP_201_CREATED)
async def link_cases(
    services: Services, caller: Caller, link: Annotated[CaseLink, Body(openapi_examples=CASE_LINK)]
) -> CaseLinkRecord:
    """Record the caller's decision that two cases belong together, once by its id (R2).

    `merged_into` says that the work of `case_id` goes on in `other_case_id`; both cases stay in the registry.
    """
    return await services.case_links.link(caller.id, link)


@router.post("/cases/links/{link_id}/removal", summary="Remove a link, or split a merged case")
async def remove_link(
    services: Services,
    caller: Caller,
    link_id: IdInPath,
    removal: Annotated[LinkRemoval, Body(openapi_examples=LINK_REMOVAL)],
) -> CaseLinkRecord:
    """End a decision with a reason; it stays in the history of both cases (R2)."""
    return await services.case_links.remove(caller.id, str(link_id), removal.reason)
