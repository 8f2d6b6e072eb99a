"""Pages of experience: the list, and one experience with its states, revisions and citations (R10, R20, R23)."""

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
from contracts.errors import UnknownExperience
from contracts.labels import CandidateKind
from contracts.lifecycle import REVIEWED, Stage

router = APIRouter(route_class=HtmlRoute, prefix="/experiences", include_in_schema=False)


@router.get("")
async def experiences(
    request: Request,
    services: Services,
    session: Session,
    domain: Annotated[str | None, OPEN, Query(max_length=limits.IDENTIFIER)] = None,
    stage: Annotated[Stage | None, OPEN, Query()] = None,
    words: Annotated[str, Query(max_length=limits.LINE)] = "",
    after: Annotated[str | None, OPEN, Query(max_length=limits.LINE)] = None,
) -> Response:
    """List the experience of the reader's cases and domains, the last to move first."""
    page = await services.listings.experiences(
        session.principal.id, kind=CandidateKind.EXPERIENCE, stage=stage, domain=domain, words=words, after=after
    )
    return render(
        request,
        "experiences.html",
        page=page,
        domain=domain or "",
        stage=stage,
        words=words,
        is_filtered=bool(domain or stage or words.strip()),
    )


@router.get("/{experience_id}")
async def experience(request: Request, services: Services, session: Session, experience_id: IdInPath) -> Response:
    """Show where an experience stands, its revisions, and who cited it and how it went.

    Who has no part in it is shown what is published of it.
    """
    reader, id_ = session.principal.id, str(experience_id)
    citations = await services.listings.citations(reader, f"experience/{id_}")
    try:
        view = await services.experiences.view(reader, id_)
    except UnknownExperience:
        return await _published(request, services, reader, id_)
    shown = next((each for each in view.revisions if each.number == view.current_revision), view.revisions[-1])
    return render(
        request,
        "experience.html",
        view=view,
        shown=shown,
        others=[each for each in reversed(view.revisions) if each.number != shown.number],
        citations=citations,
        is_reviewed=view.stage in REVIEWED,
        workflow=services.temporal.experience(id_) if session.principal.administers else "",
    )


async def _published(request: Request, services: ApiServices, reader: str, experience_id: str) -> Response:
    revision, domain = await services.listings.published(reader, experience_id)
    return render(request, "published.html", revision=revision, domain=domain, experience_id=experience_id)
