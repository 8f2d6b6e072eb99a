"""The style sheet and the script of the pages. Nothing of them is in a page itself, so that a strict policy holds."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from api.pages.html_route import HtmlRoute
from api.pages.render import STATIC_FILES, static_bytes, static_tag
from contracts.errors import NotFound

router = APIRouter(route_class=HtmlRoute, include_in_schema=False)


@router.get("/static/{name}")
async def static_file(request: Request, name: str, v: Annotated[str, Query(max_length=64)] = "") -> Response:
    """Return a static file; under the address that its content has in pages it may be kept for good."""
    if name not in STATIC_FILES:
        raise NotFound("There is no such file.", field="name", accepted=", ".join(STATIC_FILES))
    tag = f'"{static_tag(name)}"'
    kept = "public, max-age=31536000, immutable" if v == static_tag(name) else "no-cache"
    headers = {"Cache-Control": kept, "ETag": tag, "X-Content-Type-Options": "nosniff"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(static_bytes(name), headers={**headers, "Content-Type": STATIC_FILES[name]})
