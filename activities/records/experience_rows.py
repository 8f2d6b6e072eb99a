"""Experiences as their people see them, and what a request must find there."""

from __future__ import annotations

from sqlalchemy import RowMapping, text
from sqlalchemy.ext.asyncio import AsyncConnection

from contracts.errors import IdempotencyConflict, NotReviewer, UnknownExperience
from contracts.experience import Draft, Proposal
from contracts.lifecycle import Stage, reviewer_role
from contracts.views import RevisionView

TASKS = """
SELECT e.id::text AS experience_id, e.tenant_id, e.domain_id, e.stage, e.revision, r.digest, r.title, e.outcome,
       e.due_at, e.reminded, e.escalated
  FROM experiences e
  JOIN revisions r ON r.experience_id = e.id AND r.number = e.revision
  JOIN domain_roles d ON d.domain_id = e.domain_id AND d.principal_id = (SELECT app_principal())
   AND (d.role, e.stage) IN (('curator', 'curator_review'), ('owner', 'owner_review'))
 WHERE r.author_id <> (SELECT app_principal()) AND e.proposer_id <> (SELECT app_principal())
   AND NOT EXISTS (SELECT 1 FROM review_decisions v WHERE v.experience_id = e.id AND v.revision = e.revision
                                                      AND v.reviewer_id = (SELECT app_principal()))
 ORDER BY e.due_at NULLS LAST, e.id LIMIT :limit
"""
VIEW = """
SELECT e.id::text AS experience_id, e.tenant_id, e.case_id::text AS case_id, e.domain_id, e.stage, e.outcome,
       e.revision, e.current_revision, e.suspended, e.superseded_by::text AS superseded_by, e.due_at, e.proposer_id,
       p.revision AS projected_revision
  FROM experiences e LEFT JOIN projections p ON p.target_id = e.id AND p.key = 'experience/' || e.id::text
 WHERE e.id = CAST(:id AS uuid)
"""


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


async def require_role(connection: AsyncConnection, domain_id: str) -> None:
    """Refuse a principal without a review role in the domain.

    Raises:
        NotReviewer: It holds none.
    """
    held = await connection.execute(text("SELECT 1 FROM domain_roles WHERE domain_id = :id"), {"id": domain_id})
    if held.first() is None:
        raise NotReviewer(
            f"Only curators and owners of {domain_id!r} may do this.",
            field="experience_id",
            accepted=f"a {reviewer_role(Stage.CURATOR_REVIEW)} or {reviewer_role(Stage.OWNER_REVIEW)} of the domain",
        )


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
