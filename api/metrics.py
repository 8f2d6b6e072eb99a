"""What a scraper reads: for administrators here, and for everybody on a listener that a deployment may open."""

from __future__ import annotations

from fastapi import APIRouter, Response

from api.authentication import Caller
from api.checked_route import CheckedRoute
from api.services import Services

TEXT = "text/plain; version=0.0.4; charset=utf-8"
"""Prometheus' text format."""

router = APIRouter(route_class=CheckedRoute, include_in_schema=False)


@router.get("/metrics")
async def metrics(services: Services, _: Caller) -> Response:
    """Return counts, times and how the record stands, without any tenant, case or text (R12, R21)."""
    return Response(await services.metrics(), media_type=TEXT)
