"""The page of indexes and projection: how far they are, how long changes take, and what was set aside (R9, R23)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from api.pages.html_route import HtmlRoute
from api.pages.lag_chart import lag_chart
from api.pages.render import render
from api.services import Services
from api.sessions import Session

router = APIRouter(route_class=HtmlRoute, include_in_schema=False)

_STRETCHES = {1: timedelta(minutes=2), 6: timedelta(minutes=10), 24: timedelta(minutes=30), 168: timedelta(hours=4)}
"""The width of a bar, by the hours that are looked back on."""


@router.get("/status")
async def show_status(
    request: Request,
    services: Services,
    session: Session,
    hours: Annotated[int, Query(ge=1, le=168)] = 24,
) -> Response:
    """Show how far each index is and how long changes took; to administrators also figures and what was set aside."""
    step = next(step for most, step in _STRETCHES.items() if hours <= most)
    until = datetime.now(UTC)
    since = until - timedelta(hours=hours)
    is_administrator = session.principal.administers
    samples = await services.listings.lag(since=since, until=until, step=step)
    return render(
        request,
        "status.html",
        marks=await services.projections.watermarks(),
        chart=lag_chart(samples, since=since, until=until, step=step),
        hours=hours,
        step=step,
        choices=tuple(_STRETCHES),
        figures=await services.figures.read(0) if is_administrator else None,
        letters=await services.dead_letters.letters(after=0, limit=20) if is_administrator else (),
        reports=await services.reconcile_reports.newest(5) if is_administrator else (),
    )
