"""Pages of domain articles: the list, and one article with its revisions and what builds on it."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from api.id_in_path import IdInPath
from api.pages.html_route import HtmlRoute
from api.pages.queries import OPEN
from api.pages.render import render
from api.services import Services
from api.sessions import Session
from contracts import limits
from contracts.articles import ArticleKind
from contracts.lifecycle import REVIEWED

router = APIRouter(route_class=HtmlRoute, prefix="/articles", include_in_schema=False)


@router.get("")
async def articles(
    request: Request,
    services: Services,
    session: Session,
    domain: Annotated[str | None, OPEN, Query(max_length=limits.IDENTIFIER)] = None,
    kind: Annotated[ArticleKind | None, OPEN, Query()] = None,
    after: Annotated[UUID | None, OPEN, Query()] = None,
) -> Response:
    """List the current articles of every domain."""
    page = await services.articles.current(
        session.principal.id, domain=domain, kind=kind, after=None if after is None else str(after), limit=50
    )
    return render(request, "articles.html", page=page, domain=domain or "", kind=kind)


@router.get("/{article_id}")
async def article(request: Request, services: Services, session: Session, article_id: IdInPath) -> Response:
    """Show an article: everybody its current revision, its domain's people where it stands."""
    view = await services.articles.view(session.principal.id, str(article_id))
    shown = next((each for each in view.revisions if each.number == view.current_revision), view.revisions[-1])
    return render(
        request,
        "article.html",
        view=view,
        shown=shown,
        others=[each for each in reversed(view.revisions) if each.number != shown.number],
        citations=await services.listings.citations(session.principal.id, f"article/{view.article_id}"),
        is_reviewed=view.stage in REVIEWED,
        workflow=services.temporal.experience(view.article_id) if session.principal.administers else "",
    )
