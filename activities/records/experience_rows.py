"""Experiences as their people see them, and what a request must find there."""

from __future__ import annotations

from sqlalchemy import RowMapping, text
from sqlalchemy.ext.asyncio import AsyncConnection

from contracts.articles import AnyDraft, draft_of
from contracts.draft_fields import require_path
from contracts.errors import IdempotencyConflict, InvalidField, UnknownExperience
from contracts.experience import Draft, Proposal
from contracts.review import ReviewDecision
from contracts.views import RevisionView

VIEW = """
SELECT e.id::text AS experience_id, e.tenant_id, e.case_id::text AS case_id, e.domain_id, e.stage, e.outcome,
       e.revision, e.current_revision, e.suspended, e.superseded_by::text AS superseded_by, e.due_at, e.proposer_id,
       ARRAY(SELECT s.id::text FROM experiences s WHERE s.superseded_by = e.id ORDER BY s.id) AS supersedes,
       p.revision AS projected_revision
  FROM experiences e LEFT JOIN projections p ON p.target_id = e.id AND p.key = 'experience/' || e.id::text
 WHERE e.id = CAST(:id AS uuid) AND e.kind = 'experience'
"""

_REVISION = text("SELECT content FROM revisions WHERE experience_id = CAST(:id AS uuid) AND number = :number")
_NUMBERS = text("SELECT number FROM revisions WHERE experience_id = CAST(:id AS uuid) ORDER BY number")


def revision_of(row: RowMapping) -> RevisionView:
    """Return one revision as people are shown it."""
    return RevisionView(
        number=row["number"],
        state=row["state"],
        digest=row["digest"],
        draft=Draft.model_validate(row["content"]),
        author_id=row["author_id"],
        published_at=row["published_at"],
    )


async def require_experience(connection: AsyncConnection, experience_id: str) -> str:
    """Return the domain of an experience that the transaction's principal may see.

    Raises:
        UnknownExperience: It can't be seen.
    """
    sql = text("SELECT domain_id FROM experiences WHERE id = CAST(:id AS uuid)")
    domain = (await connection.execute(sql, {"id": experience_id})).scalar_one_or_none()
    if domain is None:
        raise UnknownExperience("There is no such experience in your scope.", field="experience_id")
    return domain


async def require_revision(connection: AsyncConnection, experience_id: str, number: int, *, field: str) -> AnyDraft:
    """Return the text of one revision.

    Raises:
        InvalidField: There is none of this number.
    """
    values = {"id": experience_id, "number": number}
    content = (await connection.execute(_REVISION, values)).scalar_one_or_none()
    if content is None:
        numbers = (await connection.execute(_NUMBERS, values)).scalars()
        raise InvalidField(
            f"There is no revision {number}.", field=field, accepted=", ".join(map(str, numbers)) or "no revision"
        )
    return draft_of(content)


async def check_comments(connection: AsyncConnection, decision: ReviewDecision) -> None:
    """Refuse a decision that comments on a field which the draft that it names doesn't have.

    A draft that isn't there any more is the lifecycle's to refuse.

    Raises:
        InvalidField: Names the fields that there are.
    """
    if not decision.comments:
        return
    sql = text(
        "SELECT content FROM revisions WHERE experience_id = CAST(:id AS uuid) AND digest = :digest"
        " ORDER BY number DESC LIMIT 1"
    )
    values = {"id": decision.experience_id, "digest": decision.digest}
    content = (await connection.execute(sql, values)).scalar_one_or_none()
    if content is None:
        return
    draft = draft_of(content)
    for position, comment in enumerate(decision.comments):
        require_path(draft, comment.field, field=f"comments[{position}].field")


async def require_same_proposal(connection: AsyncConnection, principal_id: str, proposal: Proposal) -> None:
    """Refuse a proposal whose id was used for another one.

    Raises:
        IdempotencyConflict: It was.
    """
    same = await connection.execute(
        text(
            "SELECT 1 FROM experiences e JOIN revisions r ON r.experience_id = e.id AND r.number = 1"
            " WHERE e.id = CAST(:id AS uuid) AND e.proposer_id = :who AND e.result_id = CAST(:result AS uuid)"
            " AND r.digest = :digest"
        ),
        {
            "id": proposal.experience_id,
            "who": principal_id,
            "result": proposal.result_id,
            "digest": proposal.draft.digest(),
        },
    )
    if same.first() is None:
        raise IdempotencyConflict("This id was used for another proposal.", field="experience_id")
