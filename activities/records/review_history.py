"""What happened to an experience and what was said, and what admission found in a draft: read in one's own scope."""

from __future__ import annotations

from typing import Any

from sqlalchemy import RowMapping, text
from sqlalchemy.ext.asyncio import AsyncConnection

from activities.records.admissions import finding_of, text_findings
from contracts.review import FieldComment
from contracts.review_sheet import AdmissionView, ClaimView, DismissalView, HistoryEntry, ListedFinding

_HISTORY = text("""
SELECT t.seq, t.event, t.from_stage, t.to_stage, t.revision, t.at, t.actor_id, d.on_behalf_of,
       coalesce(c.content ->> 'comment', c.content ->> 'reason', '') AS comment,
       coalesce(c.content -> 'comments', '[]') AS comments,
       coalesce(c.content -> 'declined_units', '[]') AS declined_units
  FROM transitions t
  LEFT JOIN commands c ON c.id = t.cause_id
  LEFT JOIN review_decisions d ON d.decision_id = t.cause_id
 WHERE t.experience_id = CAST(:id AS uuid) ORDER BY t.seq
""")
_ADMISSION = text("""
SELECT examined_at, personal_data FROM admissions WHERE experience_id = CAST(:id AS uuid) AND revision = :revision
""")
_FINDINGS = text("""
SELECT f.finding_id, f.check_name, f.field, f.start_at, f.end_at, f.kind, f.certainty,
       d.reason, d.dismissed_by, d.dismissed_at, d.carried_from
  FROM admission_findings f LEFT JOIN finding_dismissals d USING (experience_id, revision, finding_id)
 WHERE f.experience_id = CAST(:id AS uuid) AND f.revision = :revision ORDER BY f.seq
""")
_CLAIM = text("""
SELECT c.experience_id::text AS experience_id, c.revision, c.stage, c.claimed_by, c.claimed_until
  FROM review_claims c
  JOIN experiences e ON e.id = c.experience_id AND e.revision = c.revision AND e.stage = c.stage
 WHERE c.experience_id = CAST(:id AS uuid) AND c.claimed_until > clock_timestamp()
""")


async def read_history(connection: AsyncConnection, experience_id: str) -> tuple[HistoryEntry, ...]:
    """Return every step, oldest first."""
    rows = await connection.execute(_HISTORY, {"id": experience_id})
    return tuple(_entry(row) for row in rows.mappings())


def _entry(row: RowMapping) -> HistoryEntry:
    comments = tuple(FieldComment.model_validate(comment) for comment in row["comments"])
    return HistoryEntry.model_validate({**row, "comments": comments})


async def read_admission(connection: AsyncConnection, experience_id: str, revision: int) -> AdmissionView:
    """Return what was found in a revision, with what reviewers dismissed."""
    values: dict[str, Any] = {"id": experience_id, "revision": revision}
    admission = (await connection.execute(_ADMISSION, values)).mappings().first()
    if admission is None:
        return AdmissionView(revision=revision)
    rows = (await connection.execute(_FINDINGS, values)).mappings().all()
    computed = await text_findings(connection, experience_id, revision)
    return AdmissionView(
        revision=revision,
        examined_at=admission["examined_at"],
        personal_data_examined=admission["personal_data"],
        findings=(*map(_listed, rows), *(ListedFinding(finding=finding) for finding in computed)),
    )


def _listed(row: RowMapping) -> ListedFinding:
    dismissal = None if row["dismissed_by"] is None else DismissalView.model_validate(dict(row))
    return ListedFinding(finding=finding_of(row), dismissal=dismissal)


async def read_claim(connection: AsyncConnection, experience_id: str) -> ClaimView | None:
    """Return who works on the review as it stands; None when nobody does, or not any more."""
    row = (await connection.execute(_CLAIM, {"id": experience_id})).mappings().first()
    return None if row is None else ClaimView.model_validate(dict(row))
