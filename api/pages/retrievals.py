"""The retrieval inspector: why each candidate, what was not read, and the decisions that cite it (R15, R16, R20)."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import AwareDatetime
from starlette import status
from starlette.responses import RedirectResponse, Response

from api.bodies import Read
from api.id_in_path import IdInPath
from api.pages.forms import posted, record_of
from api.pages.html_route import HtmlRoute
from api.pages.queries import OPEN
from api.pages.render import render
from api.services import Services
from api.sessions import Session

router = APIRouter(route_class=HtmlRoute, prefix="/retrievals", include_in_schema=False)

PAGE = 50
"""Retrievals of one page."""
_AGAIN = 3
"""Seconds after which the page of a retrieval without an answer loads itself anew."""


@router.get("")
async def retrievals(
    request: Request,
    services: Services,
    session: Session,
    before: Annotated[AwareDatetime | None, OPEN, Query()] = None,
) -> Response:
    """List the reader's retrievals and those for cases that it may see, newest first."""
    found = await services.listings.retrievals(session.principal.id, before=before, limit=PAGE)
    more = found[-1].requested_at.isoformat() if len(found) == PAGE else None
    return render(request, "retrievals.html", retrievals=found, before=before, more=more)


@router.get("/{request_id}")
async def retrieval(request: Request, services: Services, session: Session, request_id: IdInPath) -> Response:
    """Show one retrieval from question to result."""
    record = await services.retrieval_history.record(session.principal.id, str(request_id))
    return render(
        request,
        "retrieval.html",
        refresh=0 if record.answer is not None else _AGAIN,
        record=record,
        read_in_full=[(read.ref, read.revision) for read in record.reads],
        workflow=services.temporal.retrieval(record.request_id) if session.principal.administers else "",
    )


@router.post("/{request_id}/read")
async def read(request: Request, services: Services, session: Session, request_id: IdInPath) -> Response:
    """Record that the asker reads a candidate in full, and show it (R20)."""
    typed = await posted(request)
    wanted = record_of(Read, {name: typed.line(name) for name in ("ref", "revision")})
    await services.memory_uses.read(session.principal.id, str(request_id), wanted.ref, wanted.revision)
    kind, _, id_ = wanted.ref.partition("/")
    return RedirectResponse(f"/{kind}s/{id_}", status_code=status.HTTP_303_SEE_OTHER)
