"""The client's calls on domain articles."""

from __future__ import annotations

from api.client_transport import ClientTransport
from contracts.article_views import ArticlePage, ArticleView
from contracts.articles import ArticleKind, ArticleProposal
from contracts.views import CommandView


class ArticleCalls(ClientTransport):
    """Articles; their reviews and changes are those of experience, under the article's id."""

    async def propose_article(self, proposal: ArticleProposal) -> CommandView:
        """Propose an article of a domain that the caller has a part in."""
        return await self.call("POST", "/v1/articles", CommandView, body=proposal)

    async def get_article(self, article_id: str) -> ArticleView:
        """Return an article as far as the caller may see it."""
        return await self.call("GET", f"/v1/articles/{article_id}", ArticleView)

    async def articles(
        self,
        *,
        domain: str | None = None,
        kind: ArticleKind | None = None,
        after: str | None = None,
        limit: int = 50,
    ) -> ArticlePage:
        """Return current articles, in order of ids.

        Args:
            domain: Owned by this domain.
            kind: Of this kind only.
            after: The `after` of the page before.
            limit: Articles of one page.
        """
        query = {"domain": domain, "kind": kind, "after": after, "limit": limit}
        return await self.call("GET", "/v1/articles", ArticlePage, query=query)
