"""The page to sign in on."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from api.pages.html_route import HtmlRoute
from api.pages.render import render
from api.sessions import sign_in_offer

router = APIRouter(route_class=HtmlRoute, include_in_schema=False)


@router.get("/sign-in")
async def sign_in(request: Request) -> Response:
    """Show the ways to sign in."""
    offer = sign_in_offer(request)
    response = render(request, "sign_in.html", offer=offer)
    offer.attach(response)
    return response
