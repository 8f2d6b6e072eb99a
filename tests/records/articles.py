"""Articles for tests of the record."""

from __future__ import annotations

from typing import Any

from activities.records.articles import Articles
from contracts.articles import ArticleDraft, ArticleKind, ArticleProposal, SourceKind, SourceReference
from contracts.experience import Limits
from contracts.lifecycle import Stage
from tests.records.world import World, new_id


def article(**changes: Any) -> ArticleDraft:
    """Return a method of the domain `data`."""
    values: dict[str, Any] = {
        "kind": ArticleKind.METHOD,
        "title": "How a letter type is registered",
        "domain_id": "data",
        "body": "# Registering\n\nLook into the register first.\n\n# Afterwards\n\nStart the next print run.",
        "limits": Limits(products=("Policy",), version_from="7.2", version_to="7.4"),
        "sources": (SourceReference(kind=SourceKind.SYSTEM, locator="print register", version="7.4"),),
        "concepts": ("print register",),
    }
    return ArticleDraft(**{**values, **changes})


async def propose_article(world: World, content: ArticleDraft | None = None, *, by: str = "carl") -> str:
    """Propose an article; `carl` curates every domain, so `cora` and `otto` are left to review it."""
    proposal = ArticleProposal(article_id=new_id(), article=content or article())
    await Articles(world.database).propose(by, proposal)
    return proposal.article_id


async def published_article(world: World, content: ArticleDraft | None = None, *, by: str = "carl") -> str:
    """Publish an article through both reviews."""
    article_id = await propose_article(world, content, by=by)
    await world.decide(article_id, "cora")
    assert (await world.decide(article_id, "otto")).stage is Stage.PUBLISHED
    return article_id
