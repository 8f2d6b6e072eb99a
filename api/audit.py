"""Routes for what was done and what was current: the audit chain, and reads as of a moment (R10)."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import AwareDatetime

from activities.records.as_of import MOST
from api.authentication import Caller
from api.checked_route import CheckedRoute
from api.documentation import PROBLEMS
from api.id_in_path import IdInPath
from api.services import Services
from contracts import limits
from contracts.as_of import CurrentPage, ExperienceAsOf
from contracts.audit import AuditHead, AuditRow
from contracts.text import Id, check_text

router = APIRouter(route_class=CheckedRoute, prefix="/v1", tags=["audit"], responses=PROBLEMS)

Moment = Annotated[AwareDatetime, Query(description="A moment up to now, with its zone.")]


@router.get("/audit", summary="See what was done, and by whom")
async def audit_rows(
    services: Services,
    caller: Caller,
    subject: Annotated[
        str | None, Query(max_length=limits.LINE, description="What it was done to: `experience/<id>`, `case/<id>`.")
    ] = None,
    actor: Annotated[str | None, Query(max_length=limits.LINE, description="Who did it.")] = None,
    after: Annotated[int, Query(ge=0, le=2**62, description="The last `seq` that is known.")] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> list[AuditRow]:
    """Return rows of the audit chain in their order.

    Whose key is good for administration sees all; everybody else the rows of their experiences and cases, and of their
    own acts (R4).
    """
    for field, value in (("subject", subject), ("actor", actor)):
        if value is not None:
            check_text(value, field=field, limit=limits.LINE)
    if caller.administers:
        return await services.audit.rows(subject=subject, actor=actor, after=after, limit=limit)
    return await services.audit.rows_for(caller.id, subject=subject, actor=actor, after=after, limit=limit)


@router.get("/audit/head", summary="Read the head of the audit chain")
async def audit_head(services: Services, _: Caller) -> AuditHead:
    """Return the newest row's number and hash: kept elsewhere, it shows later that nothing before it was changed."""
    return await services.audit.head()


@router.get("/experiences/{experience_id}/as-of", summary="See where an experience stood")
async def experience_as_of(services: Services, caller: Caller, experience_id: IdInPath, at: Moment) -> ExperienceAsOf:
    """Return stage, current revision with its text, suspension and successor as they were at a moment (R10)."""
    return await services.as_of.experience(caller.id, str(experience_id), at)


@router.get("/as-of", summary="List what was current")
async def current_as_of(
    services: Services,
    caller: Caller,
    at: Moment,
    domain: Annotated[str | None, Query(max_length=limits.IDENTIFIER, description="Only of this domain.")] = None,
    after: Annotated[Id | None, Query(max_length=limits.IDENTIFIER, description="`after` of the page before.")] = None,
    limit: Annotated[int, Query(ge=1, le=MOST)] = 100,
) -> CurrentPage:
    """Return the revisions that were current and not suspended at a moment, of the caller's scope, page by page."""
    if domain is not None:
        check_text(domain, field="domain", limit=limits.IDENTIFIER)
    return await services.as_of.current(caller.id, at, domain=domain, after=after, limit=limit)
