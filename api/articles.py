"""Routes for domain articles: propose, see, and list what is current (spec section 4).

Reviews, changes, differences, scopes and reads as of a moment are those of experience, under the article's id.
"""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Body, Query, Response, status

from activities.records.articles import MOST
from api.article_examples import ARTICLE_PROPOSAL
from api.authentication import Caller
from api.checked_route import CheckedRoute
from api.documentation import PROBLEMS
from api.id_in_path import IdInPath
from api.preconditions import published_digest, versioned
from api.services import Services
from api.settlement import proposal_view
from contracts import limits
from contracts.article_views import ArticlePage, ArticleView
from contracts.articles import ArticleKind, ArticleProposal
from contracts.views import CommandView

router = APIRouter(route_class=CheckedRoute, prefix="/v1", tags=["article"], responses=PROBLEMS)


@router.post(
    "/articles",
    summary="Propose an article",
    status_code=status.HTTP_201_CREATED,
    responses={200: {"model": CommandView, "description": "It had been proposed before"}},
)
async def propose(
    services: Services,
    caller: Caller,
    response: Response,
    proposal: Annotated[ArticleProposal, Body(openapi_examples=ARTICLE_PROPOSAL)],
) -> CommandView:
    """Store a proposal of the caller's domain, and start its lifecycle; two others of the domain review it (R7).

    It stands for the curator's review from here on, whether or not a worker runs at the moment.
    """
    stored = await services.articles.propose(caller.id, proposal)
    return await proposal_view(services, stored, response, at="/v1/articles")


@router.get("/articles", summary="List current articles")
async def list_articles(
    services: Services,
    caller: Caller,
    domain: Annotated[str | None, Query(max_length=limits.IDENTIFIER, description="Owned by this domain.")] = None,
    kind: Annotated[ArticleKind | None, Query(description="Of this kind only.")] = None,
    after: Annotated[UUID | None, Query(description="The `after` of the page before.")] = None,
    limit: Annotated[int, Query(ge=1, le=MOST)] = 50,
) -> ArticlePage:
    """Return the current articles, in order of their ids, without their texts."""
    return await services.articles.current(
        caller.id, domain=domain, kind=kind, after=None if after is None else str(after), limit=limit
    )


@router.get("/articles/{article_id}", summary="See an article")
async def get_article(services: Services, caller: Caller, response: Response, article_id: IdInPath) -> ArticleView:
    """Return an article: everybody sees its current revision, its domain's people where it stands (R23).

    What it builds on and what builds on it is named, with the revision that is current now.
    """
    view = await services.articles.view(caller.id, str(article_id))
    versioned(response, published_digest(view))
    return view
