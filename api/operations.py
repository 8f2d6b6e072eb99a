"""Routes for operators: figures, the index beside the record, and events that were set aside."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body, Query, Response, status

from api.authentication import Caller
from api.checked_route import CheckedRoute
from api.documentation import PROBLEMS
from api.examples import RECONCILE
from api.id_in_path import IdInPath
from api.services import Services
from contracts.dead_letters import DeadLetter, GivenUp, Retried
from contracts.reconcile import ReconcileReport, ReconcileRequest, StoredReport
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
async def reindex(services: Services, _: Caller, response: Response) -> ReindexView:
    """Drop the index and begin to build it anew from the record; the watermarks tell when it is done (R9)."""
    response.headers["Location"] = "/v1/watermarks"
    return await services.reindexer.rebuild()


@router.post("/reconcile", summary="Compare record and indexes")
async def reconcile(
    services: Services, caller: Caller, request: Annotated[ReconcileRequest, Body(openapi_examples=RECONCILE)]
) -> ReconcileReport:
    """Compare every key and every point, and return what drifts; the report is kept (R9).

    With `repair`, a fresh projection is asked for each key that drifts; the watermarks tell when it is done.
    """
    report = await services.reconciler.reconcile(repair=request.repair)
    await services.reconcile_reports.keep(report, asked_by=caller.id, repaired=request.repair)
    return report


@router.get("/reconcile", summary="See the latest comparisons")
async def reconcile_reports(
    services: Services, _: Caller, limit: Annotated[int, Query(ge=1, le=100)] = 20
) -> list[StoredReport]:
    """Return the latest reports, those of the schedule too, newest first."""
    return await services.reconcile_reports.newest(limit)


@router.get("/dead-letters", summary="See what could not be delivered")
async def dead_letters(
    services: Services,
    _: Caller,
    after: Annotated[int, Query(ge=0, le=2**62, description="The last `position` that is known.")] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> list[DeadLetter]:
    """Return the events that were set aside, oldest first, with their last error and what waits for them (R23)."""
    return await services.dead_letters.letters(after=after, limit=limit)


@router.post("/dead-letters/retry", summary="Deliver everything again")
async def retry_all_dead_letters(services: Services, _: Caller) -> Retried:
    """Give every event that was set aside back for delivery, each in its old place."""
    return Retried(events=await services.dead_letters.retry_all())


@router.post("/dead-letters/{event_id}/retry", summary="Deliver an event again")
async def retry_dead_letter(services: Services, _: Caller, event_id: IdInPath) -> Retried:
    """Give an event back for delivery, in its old place; a repeat does nothing more."""
    return Retried(events=await services.dead_letters.retry(str(event_id)))


@router.post("/dead-letters/{event_id}/give-up", summary="Give an event up")
async def give_up_dead_letter(services: Services, _: Caller, event_id: IdInPath) -> GivenUp:
    """Take a decision or command that can't be delivered out of the way of the later ones, refused (R23)."""
    return await services.dead_letters.give_up(str(event_id))
