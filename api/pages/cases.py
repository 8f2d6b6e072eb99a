"""Pages of the case registry: a tenant's newest cases, and one case with all that belongs to it (R1, R2, R3)."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from api.id_in_path import IdInPath
from api.pages.html_route import HtmlRoute
from api.pages.queries import OPEN
from api.pages.render import render
from api.services import ApiServices, Services
from api.sessions import Session
from contracts import limits
from contracts.cases import Case
from contracts.errors import CaseloreError
from contracts.labels import CaseState
from contracts.related import RelatedAnswer

router = APIRouter(route_class=HtmlRoute, prefix="/cases", include_in_schema=False)

LISTED = 100
"""Cases of the list; each comes with its body."""


@router.get("")
async def cases(
    request: Request,
    services: Services,
    session: Session,
    tenant: Annotated[str | None, OPEN, Query(max_length=limits.IDENTIFIER)] = None,
    state: Annotated[CaseState | None, OPEN, Query()] = None,
) -> Response:
    """List the newest cases of a tenant of the reader's grants."""
    tenants = await services.listings.tenants(session.principal.id)
    chosen = tenant or (tenants[0].id if tenants else None)
    found: list[Case] = []
    if chosen is not None:
        found = await services.cases.listed(session.principal.id, tenant_id=chosen, state=state, limit=LISTED)
    return render(request, "cases.html", tenants=tenants, tenant=chosen, state=state, cases=found, most=LISTED)


@router.get("/{case_id}")
async def case(request: Request, services: Services, session: Session, case_id: IdInPath) -> Response:
    """Show a case: its request and papers as they came, its result, what it taught and what is related."""
    reader = session.principal.id
    found = await services.cases.get(reader, str(case_id))
    related, not_related = await _related(services, reader, found.id)
    return render(
        request,
        "case.html",
        case=found,
        record=await services.listings.of_case(reader, found.id),
        arrivals=await services.arrival_history.read(reader, found.id, limit=20),
        links=await services.case_links.of_case(reader, found.id),
        related=related,
        not_related=not_related,
        retrievals=await services.listings.retrievals(reader, case_id=found.id, limit=20),
    )


async def _related(services: ApiServices, reader: str, case_id: str) -> tuple[RelatedAnswer | None, str]:
    """Return related work; None with the reason when it can't be looked for now, which leaves the case readable."""
    try:
        return await services.related.related(reader, case_id, limit=8), ""
    except CaseloreError as refusal:
        return None, refusal.message
