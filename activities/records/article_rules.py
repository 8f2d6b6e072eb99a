"""What an article's text must find in the record: its owner, what it builds on, and the kind of lifecycle it is in."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import RowMapping, text
from sqlalchemy.ext.asyncio import AsyncConnection

from activities.records.domains import require_domain
from contracts.articles import AnyDraft, ArticleDraft, draft_of, kind_of
from contracts.errors import InvalidField, NotPublished
from contracts.labels import CandidateKind
from contracts.review import ChangeCommand

_KINDS = text("SELECT id::text AS id, kind FROM experiences WHERE id = ANY (CAST(:ids AS uuid[]))")
_CURRENT = text("""
SELECT kind || '/' || experience_id::text FROM revisions
 WHERE experience_id = ANY (CAST(:ids AS uuid[])) AND state = 'current'
""")
_OWNER = text("SELECT domain_id FROM experiences WHERE id = CAST(:id AS uuid)")
_CONTENT = text("SELECT content FROM revisions WHERE experience_id = CAST(:id AS uuid) AND number = :revision")


async def require_kinds(connection: AsyncConnection, command: ChangeCommand) -> None:
    """Refuse a text, or a successor, of another kind than what is changed.

    Raises:
        InvalidField: An experience's draft is sent for an article, or the other way round.
    """
    ids = [command.experience_id, *filter(None, [command.superseded_by])]
    kinds = {row.id: row.kind for row in await connection.execute(_KINDS, {"ids": ids})}
    kind = kinds.get(command.experience_id, CandidateKind.EXPERIENCE)
    require_kind(kind, command.text)
    if command.superseded_by is not None and kinds.get(command.superseded_by, kind) != kind:
        raise InvalidField(f"This is an {kind}.", field="superseded_by", accepted=f"an {kind} that takes over")


def require_kind(kind: str, draft: AnyDraft | None) -> None:
    """Refuse a text of another kind than its lifecycle's.

    Raises:
        InvalidField: Names the field that would be taken.
    """
    if draft is None or kind_of(draft) == kind:
        return
    sent, taken = ("draft", "article") if kind == CandidateKind.ARTICLE else ("article", "draft")
    raise InvalidField(f"This is an {kind}.", field=sent, accepted=f"the whole new text in {taken!r}")


async def check_article(connection: AsyncConnection, article_id: str, article: ArticleDraft) -> None:
    """Refuse an article that would change hands, or that names what isn't published.

    Raises:
        UnknownDomain: There is no such domain.
        InvalidField: It has another owner, or builds on itself.
        NotPublished: Something that it builds on is not published.
    """
    await require_domain(connection, article.domain_id)
    owner = (await connection.execute(_OWNER, {"id": article_id})).scalar_one_or_none()
    if owner not in (None, article.domain_id):
        raise InvalidField(
            f"The article is owned by {owner!r}.",
            field="domain_id",
            accepted=f"{owner}, or a new article that supersedes this one",
        )
    await _check_references(connection, article_id, article.references)


async def require_references(connection: AsyncConnection, row: RowMapping) -> None:
    """Refuse to publish an article while something that it builds on isn't published any more.

    Raises:
        NotPublished: Names the reference.
    """
    if row["kind"] != CandidateKind.ARTICLE:
        return
    values = {"id": row["id"], "revision": row["revision"]}
    article = draft_of((await connection.execute(_CONTENT, values)).scalar_one())
    if isinstance(article, ArticleDraft):
        await _check_references(connection, row["id"], article.references)


async def _check_references(connection: AsyncConnection, article_id: str, references: Sequence[str]) -> None:
    if not references:
        return
    ids = [reference.partition("/")[2] for reference in references]
    current = set((await connection.execute(_CURRENT, {"ids": ids})).scalars())
    for position, reference in enumerate(references):
        field = f"references[{position}]"
        if reference == f"article/{article_id}":
            raise InvalidField("An article can't build on itself.", field=field, accepted="another text")
        if reference not in current:
            raise NotPublished(f"{reference} is not published.", field=field, accepted="what is current")
