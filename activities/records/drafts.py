"""New drafts: a proposal's first one, one that a command brings, or the rest of one accepted in part (R5, R7, R10)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import RowMapping, text
from sqlalchemy.ext.asyncio import AsyncConnection

from activities.records.admissions import examine
from activities.records.article_rules import check_article, require_kind
from activities.records.cases import find_result
from activities.records.domains import require_domain
from activities.records.lifecycle_rows import add_transition, locked
from activities.records.outbox import add_event
from activities.records.publication import close_draft
from activities.records.rows import INSERT_REVISION, revision_values
from contracts.articles import AnyDraft, ArticleDraft, draft_of
from contracts.errors import UnverifiedResult
from contracts.lifecycle import Noted
from contracts.outbox import EventKind, Topic
from contracts.ports import PersonalDataFinder

_PROPOSED = text("""
INSERT INTO transitions (experience_id, seq, to_stage, event, revision, actor_id)
VALUES (CAST(:id AS uuid), 1, 'curator_review', 'propose', 1, :proposer_id)
""")
_NEW_DRAFT = text("""
UPDATE experiences SET revision = :number, domain_id = :domain_id WHERE id = CAST(:experience_id AS uuid)
""")
_CONTENT = text("SELECT content FROM revisions WHERE experience_id = CAST(:id AS uuid) AND number = :revision")


async def begin(
    connection: AsyncConnection,
    experience_id: str,
    draft: AnyDraft,
    *,
    proposer_id: str,
    tenant_id: str,
    finder: PersonalDataFinder | None,
) -> None:
    """Give a proposal that was just stored its first draft, examined, and add the event that starts its lifecycle.

    Args:
        connection: The proposer's transaction.
        experience_id: The proposal's row; the lifecycle is named after it, whatever kind of text it has.
        draft: What is proposed.
        proposer_id: Its author.
        tenant_id: Shown to operators; "" for an article.
        finder: Looks for personal data; None leaves that out, and the admission says so (R6).
    """
    await connection.execute(text(INSERT_REVISION), revision_values(experience_id, 1, draft, proposer_id))
    await examine(connection, experience_id, 1, draft, finder)
    await connection.execute(_PROPOSED, {"id": experience_id, "proposer_id": proposer_id})
    message = {"experience_id": experience_id, "domain_id": draft.domain_id, "tenant_id": tenant_id}
    await add_event(
        connection, Topic.LIFECYCLE, EventKind.START, f"experience/{experience_id}", message, event_id=experience_id
    )


async def add_draft(
    connection: AsyncConnection, row: RowMapping, draft: AnyDraft, author_id: str, finder: PersonalDataFinder | None
) -> RowMapping:
    """Add a draft that somebody wrote, examined like any other, and return the experience with it.

    Raises:
        OutcomeOverstated: It claims more than the case result (R5).
        UnverifiedResult, UnknownDomain, NotPublished: It rests on what isn't there any more.
        InvalidField: An article of another owner, a text of the other kind, or another effort than the result's.
    """
    require_kind(row["kind"], draft)
    if isinstance(draft, ArticleDraft):
        await check_article(connection, row["id"], draft)
    else:
        result = await find_result(connection, row["result_id"])
        if result is None:
            raise UnverifiedResult("The case result is gone.", field="result_id")
        draft.check_against(result)
        await require_domain(connection, draft.domain_id)
    values = revision_values(row["id"], row["revision"] + 1, draft, author_id)
    return await _insert(connection, row, draft, values, finder)


async def trim(
    connection: AsyncConnection,
    row: RowMapping,
    declined: Sequence[str],
    *,
    reviewer_id: str,
    finder: PersonalDataFinder | None,
) -> RowMapping:
    """Leave units out of the draft under review, and return the experience with the rest as its newest draft.

    The rest is a revision of its own with the same author, so that every reader reads a whole, immutable text and
    a declined unit can't leak. Whoever accepted the text before accepted this.

    Raises:
        InvalidField: A unit isn't in the draft, or none would be left.
    """
    content = (await connection.execute(_CONTENT, {"id": row["id"], "revision": row["revision"]})).scalar_one()
    draft = draft_of(content).without_units(declined)
    await close_draft(connection, row["id"], "trimmed")
    values = revision_values(row["id"], row["revision"] + 1, draft, row["author_id"], trimmed_from=row["revision"])
    row = await _insert(connection, row, draft, values, finder)
    await add_transition(connection, row, Noted.TRIM, row["stage"], actor_id=reviewer_id)
    return row


async def _insert(
    connection: AsyncConnection,
    row: RowMapping,
    draft: AnyDraft,
    values: dict[str, Any],
    finder: PersonalDataFinder | None,
) -> RowMapping:
    await connection.execute(text(INSERT_REVISION), values)
    await connection.execute(_NEW_DRAFT, values)
    await examine(connection, row["id"], values["number"], draft, finder)
    return await locked(connection, row["id"])
