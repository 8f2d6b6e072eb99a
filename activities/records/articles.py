"""What people ask of domain articles: propose, see where they stand, and list what is current (spec section 4).

From its proposal on an article is in the lifecycle of experience: claims, decisions, changes, sheets and reads as of
a moment are those of `activities.records.experiences` and its neighbours.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from sqlalchemy import RowMapping, text
from sqlalchemy.ext.asyncio import AsyncConnection

from activities.records.article_rules import check_article
from activities.records.database import Database
from activities.records.delegations import roles_held
from activities.records.domains import require_domain
from activities.records.drafts import begin
from activities.records.experiences import Stored
from activities.records.ids import is_id
from activities.records.review_history import read_admission, read_history
from contracts import limits
from contracts.article_views import ArticleHead, ArticlePage, ArticleRevisionView, ArticleView, LinkedText
from contracts.articles import ArticleDraft, ArticleKind, ArticleProposal
from contracts.errors import IdempotencyConflict, NotReviewer, UnknownArticle
from contracts.labels import DomainRole
from contracts.ports import PersonalDataFinder
from contracts.text import check_text

MOST = 200
"""Articles of one page."""
_FIRST = str(uuid.UUID(int=0))

_PROPOSE = text("""
INSERT INTO experiences (id, kind, domain_id, proposer_id, stage, revision, stage_since, due_at)
VALUES (CAST(:article_id AS uuid), 'article', :domain_id, :proposer_id, 'curator_review', 1, clock_timestamp(),
        clock_timestamp() + :due_in)
ON CONFLICT DO NOTHING
""")
_SAME = text("""
SELECT 1 FROM experiences e JOIN revisions r ON r.experience_id = e.id AND r.number = 1
 WHERE e.id = CAST(:article_id AS uuid) AND e.kind = 'article' AND e.proposer_id = :proposer_id AND r.digest = :digest
""")
# Row-level security shows everybody the current revision, and the lifecycle to its domain's people and proposer.
_REVISIONS = text("""
SELECT r.number, r.state, r.digest, r.content, r.author_id, r.published_at, r.domain_id, e.id IS NOT NULL AS is_ours,
       e.stage, e.proposer_id, e.suspended, e.superseded_by::text AS superseded_by, e.due_at,
       CASE WHEN e.id IS NULL THEN r.number ELSE e.current_revision END AS current_revision,
       ARRAY(SELECT s.id::text FROM experiences s WHERE s.superseded_by = e.id ORDER BY s.id) AS supersedes,
       (SELECT p.revision FROM projections p WHERE p.key = 'article/' || r.experience_id) AS projected_revision
  FROM revisions r LEFT JOIN experiences e ON e.id = r.experience_id
 WHERE r.experience_id = CAST(:id AS uuid) AND r.kind = 'article' ORDER BY r.number
""")
_LINKED = text("""
SELECT kind || '/' || experience_id::text AS ref, number, title FROM revisions
 WHERE experience_id = ANY (CAST(:ids AS uuid[])) AND state = 'current'
""")
_LINKING = text("""
SELECT 'article/' || experience_id::text AS ref, number, title FROM revisions
 WHERE kind = 'article' AND state = 'current' AND content -> 'references' @> to_jsonb(CAST(:ref AS text))
 ORDER BY experience_id LIMIT :limit
""")
_LIST = text("""
SELECT experience_id::text AS article_id, number AS revision, digest, domain_id, content ->> 'kind' AS kind, title,
       published_at
  FROM revisions
 WHERE kind = 'article' AND state = 'current' AND experience_id > CAST(:after AS uuid)
   AND (CAST(:domain AS text) IS NULL OR domain_id = :domain)
   AND (CAST(:kind AS text) IS NULL OR content ->> 'kind' = :kind)
 ORDER BY experience_id LIMIT :limit
""")


class Articles:
    """The people's side of articles.

    Args:
        database: The record.
        finder: Looks for personal data in proposals; None leaves that out, and each admission says so (R6).
        review_deadline: From a proposal to its first reminder.
    """

    def __init__(
        self,
        database: Database,
        *,
        finder: PersonalDataFinder | None = None,
        review_deadline: timedelta = limits.REVIEW_DEADLINE,
    ) -> None:
        self._database = database
        self._finder = finder
        self._review_deadline = review_deadline

    async def propose(self, principal_id: str, proposal: ArticleProposal) -> Stored:
        """Store a proposal and the event that starts its lifecycle; idempotent by `article_id`.

        An article is of its domain: who proposes one has a review role there, own or lent, and reviews it no more.

        Raises:
            UnknownDomain: There is no such domain.
            NotReviewer: The proposer has no part in the domain.
            NotPublished: The article names what isn't published.
            IdempotencyConflict: The id was used for another proposal.
        """
        article = proposal.article
        values: dict[str, Any] = {
            "article_id": proposal.article_id,
            "domain_id": article.domain_id,
            "proposer_id": principal_id,
            "due_in": self._review_deadline,
            "digest": article.digest(),
        }
        async with self._database.as_principal(principal_id) as connection:
            await require_domain(connection, article.domain_id)
            if not await roles_held(connection, principal_id, article.domain_id, *DomainRole):
                raise NotReviewer(
                    f"You have no part in {article.domain_id!r}.",
                    field="domain_id",
                    accepted="a domain that you curate or own, also for somebody else",
                )
            if (await connection.execute(_SAME, values)).first() is not None:
                return Stored(event_id=proposal.article_id, state="applied", outcome="")
            await check_article(connection, proposal.article_id, article)
            if not (await connection.execute(_PROPOSE, values)).rowcount:
                return await _repeated(connection, values)
            await begin(
                connection,
                proposal.article_id,
                article,
                proposer_id=principal_id,
                tenant_id="",
                finder=self._finder,
            )
        return Stored(event_id=proposal.article_id, state="pending", outcome="")

    async def view(self, principal_id: str, article_id: str) -> ArticleView:
        """Return an article as far as the caller may see it.

        Raises:
            UnknownArticle: Nothing of it can be seen.
        """
        async with self._database.as_principal(principal_id) as connection:
            values = {"id": article_id if is_id(article_id) else None}
            rows = (await connection.execute(_REVISIONS, values)).mappings().all()
            if not rows:
                raise UnknownArticle("There is no such article in your scope.", field="article_id")
            newest = rows[-1]
            article = ArticleDraft.model_validate(newest["content"])
            view = ArticleView(
                article_id=article_id,
                domain_id=newest["domain_id"],
                current_revision=newest["current_revision"],
                searchable=any(
                    row["state"] == "current" and row["number"] == newest["projected_revision"] for row in rows
                ),
                revisions=tuple(_revision(row) for row in rows),
                references=await _linked(connection, article.references),
                referenced_by=await _linking(connection, f"article/{article_id}"),
            )
            if not newest["is_ours"]:
                return view
            more = {name: newest[name] for name in ("stage", "proposer_id", "suspended", "superseded_by", "due_at")}
            return ArticleView.model_validate(
                {
                    **dict(view),
                    **more,
                    "supersedes": tuple(newest["supersedes"]),
                    "history": await read_history(connection, article_id),
                    "admission": await read_admission(connection, article_id, newest["number"]),
                }
            )

    async def current(
        self,
        principal_id: str,
        *,
        domain: str | None = None,
        kind: ArticleKind | None = None,
        after: str | None = None,
        limit: int = 50,
    ) -> ArticlePage:
        """Return current articles, in order of ids, at most `MOST`.

        Raises:
            UnstorableText: The domain can't be one.
        """
        if domain is not None:
            check_text(domain, field="domain", limit=limits.IDENTIFIER)
        limit = max(1, min(limit, MOST))
        values = {"domain": domain, "kind": kind, "after": after or _FIRST, "limit": limit}
        async with self._database.as_principal(principal_id) as connection:
            rows = (await connection.execute(_LIST, values)).mappings().all()
        found = tuple(ArticleHead.model_validate(dict(row)) for row in rows)
        return ArticlePage(articles=found, after=found[-1].article_id if len(found) == limit else None)


async def _repeated(connection: AsyncConnection, values: dict[str, Any]) -> Stored:
    """Return the standing of the same proposal that was stored meanwhile; refuse any other."""
    if (await connection.execute(_SAME, values)).first() is None:
        raise IdempotencyConflict("This id was used for another proposal.", field="article_id")
    return Stored(event_id=values["article_id"], state="applied", outcome="")


def _revision(row: RowMapping) -> ArticleRevisionView:
    return ArticleRevisionView(
        number=row["number"],
        state=row["state"],
        digest=row["digest"],
        article=ArticleDraft.model_validate(row["content"]),
        author_id=row["author_id"] if row["is_ours"] else None,
        published_at=row["published_at"],
    )


async def _linked(connection: AsyncConnection, references: Sequence[str]) -> tuple[LinkedText, ...]:
    if not references:
        return ()
    ids = [reference.partition("/")[2] for reference in references]
    found = {row.ref: row for row in await connection.execute(_LINKED, {"ids": ids})}
    return tuple(
        LinkedText(ref=ref, revision=found[ref].number, title=found[ref].title)
        if ref in found
        else LinkedText(ref=ref, revision=None)
        for ref in references
    )


async def _linking(connection: AsyncConnection, ref: str) -> tuple[LinkedText, ...]:
    rows = await connection.execute(_LINKING, {"ref": ref, "limit": MOST})
    return tuple(LinkedText(ref=row.ref, revision=row.number, title=row.title) for row in rows)
