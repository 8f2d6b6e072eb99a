"""Routes for operators: figures and the rebuilding of the index."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, status

from api.authentication import Caller
from api.checked_route import CheckedRoute
from api.documentation import PROBLEMS
from api.services import Services
from contracts.views import Figures, ReindexView

router = APIRouter(route_class=CheckedRoute, prefix="/v1", tags=["operations"], responses=PROBLEMS)


@router.get("/figures", summary="Counts and times")
async def figures(
    services: Services,
    _: Caller,
    since: Annotated[int, Query(ge=0, le=2**62, description="Outbox position that lag is counted from")] = 0,
) -> Figures:
    """Return experiences by stage, and how long it takes from commit to searchable (R23)."""
    return await services.figures.read(since)


@router.post("/reindex", summary="Rebuild the search index", status_code=status.HTTP_202_ACCEPTED)
async def reindex(services: Services, _: Caller) -> ReindexView:
    """Drop the index and begin to build it anew from the record; the watermarks tell when it is done (R9)."""
    return await services.reindexer.rebuild()
