"""The page of what became of a decision or change: pending, applied or refused (R23)."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request
from starlette import status
from starlette.responses import Response

from api.id_in_path import IdInPath
from api.pages.html_route import HtmlRoute
from api.pages.queries import OPEN
from api.pages.refusals import told
from api.pages.render import render
from api.pages.subjects import Subject, find_subject
from api.problems import recorded_refusal
from api.services import ApiServices, Services
from api.sessions import Session
from contracts.errors import NotFound, UnknownCommand
from contracts.lifecycle import REVIEWED

router = APIRouter(route_class=HtmlRoute, prefix="/commands", include_in_schema=False)

_AGAIN = 2
"""Seconds after which the page of something pending loads itself anew."""


@router.get("/{command_id}")
async def command(
    request: Request,
    services: Services,
    session: Session,
    command_id: IdInPath,
    of: Annotated[UUID | None, OPEN, Query()] = None,
) -> Response:
    """Show what became of a decision or change, and what comes next."""
    reader = session.principal.id
    standing = await services.experiences.standing(reader, str(command_id))
    if standing is None:
        raise UnknownCommand("There is no such decision or change in your scope.", field="command_id")
    subject = await _subject(services, reader, of)
    refusal = None
    if standing.state == "refused":
        refusal = told(recorded_refusal(standing.outcome, standing.field, standing.accepted))
    following = await services.experiences.tasks(reader, limit=2)
    is_pending = standing.state == "pending"
    return render(
        request,
        "command.html",
        status=status.HTTP_202_ACCEPTED if is_pending else status.HTTP_200_OK,
        refresh=_AGAIN if is_pending else 0,
        standing=standing,
        subject=subject,
        is_reviewed=subject is not None and subject.stage in REVIEWED,
        is_searchable=await _is_searchable(services, reader, subject),
        refusal=refusal,
        upcoming=next((task for task in following if subject is None or task.experience_id != subject.id), None),
    )


async def _subject(services: ApiServices, reader: str, of: UUID | None) -> Subject | None:
    try:
        return None if of is None else await find_subject(services, reader, str(of))
    except NotFound:
        return None


async def _is_searchable(services: ApiServices, reader: str, subject: Subject | None) -> bool:
    if subject is None or subject.current is None:
        return False
    if subject.is_article:
        return (await services.articles.view(reader, subject.id)).searchable
    return (await services.experiences.view(reader, subject.id)).searchable
