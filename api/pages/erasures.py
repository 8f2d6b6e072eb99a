"""Receipts of erasures, for administrators (R11)."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from api.id_in_path import IdInPath
from api.pages.html_route import HtmlRoute
from api.pages.render import render
from api.services import Services
from api.sessions import Session
from contracts.erasure import ErasureState

router = APIRouter(route_class=HtmlRoute, prefix="/erasures", include_in_schema=False)


@router.get("")
async def erasures(request: Request, services: Services, _: Session) -> Response:
    """List what was asked to be erased, newest first."""
    return render(request, "erasures.html", erasures=await services.listings.erasures())


@router.get("/{erasure_id}")
async def erasure(request: Request, services: Services, _: Session, erasure_id: IdInPath) -> Response:
    """Show what an erasure removed and checked, store by store, and what is out of reach."""
    receipt = await services.erasures.receipt(str(erasure_id))
    return render(
        request,
        "erasure.html",
        receipt=receipt,
        refresh=3 if receipt.state is ErasureState.RUNNING else 0,
        workflow=services.temporal.erasure(receipt.erasure_id),
    )
