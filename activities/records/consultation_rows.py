"""Rows of consultations as each side may see them (R18, R21)."""

from __future__ import annotations

from sqlalchemy import RowMapping, text
from sqlalchemy.ext.asyncio import AsyncConnection

from activities.records.ids import is_id
from contracts.consultation import Asked, ConsultationState, ConsultationView, ReplyCitation, ReplyView
from contracts.errors import UnknownConsultation

# Row-level security leaves out what the reader's side doesn't know: to the consulted domain a question is its brief.
_VIEW = """
SELECT b.consultation_id::text AS consultation_id, b.domain_id, b.brief, b.asked_at, y.reply_id::text AS reply_id,
       y.text, y.digest, y.replied_as, y.replied_at, w.withdrawn_at, c.request_id::text AS request_id, c.reason,
       c.asked_by, q.case_id::text AS case_id,
       (SELECT jsonb_agg(jsonb_build_object('ref', z.ref, 'revision', z.revision, 'why', z.why)
                         ORDER BY z.ref, z.revision)
          FROM consultation_citations z WHERE z.consultation_id = b.consultation_id) AS citations,
       b.domain_id IN (SELECT app_consulted_domains()) AS is_consulted
  FROM consultation_briefs b
  LEFT JOIN consultation_replies y ON y.consultation_id = b.consultation_id
  LEFT JOIN consultation_withdrawals w ON w.consultation_id = b.consultation_id
  LEFT JOIN consultations c ON c.id = b.consultation_id
  LEFT JOIN retrieval_requests q ON q.id = c.request_id
"""
_ONE = text(f"{_VIEW} WHERE b.consultation_id = CAST(:id AS uuid)")
OF_RETRIEVAL = text(f"""{_VIEW}
 WHERE c.request_id = CAST(:id AS uuid) ORDER BY b.asked_at, b.consultation_id
""")
_LISTED = f"""{_VIEW}
 WHERE CAST(:state AS text) IS NULL OR :state = CASE WHEN y.consultation_id IS NOT NULL THEN 'replied'
                                                      WHEN w.consultation_id IS NOT NULL THEN 'withdrawn'
                                                      ELSE 'open' END
 ORDER BY b.asked_at {{order}}, b.consultation_id LIMIT :limit
"""
OLDEST_FIRST = text(_LISTED.format(order="ASC"))
NEWEST_FIRST = text(_LISTED.format(order="DESC"))


async def require_consultation(connection: AsyncConnection, consultation_id: str) -> RowMapping:
    """Return a consultation.

    Raises:
        UnknownConsultation: The transaction's principal may not see it.
    """
    row = None
    if is_id(consultation_id):
        row = (await connection.execute(_ONE, {"id": consultation_id})).mappings().first()
    if row is None:
        raise UnknownConsultation(
            "You are on neither side of such a consultation, or it was withdrawn.", field="consultation_id"
        )
    return row


def view_of(row: RowMapping) -> ConsultationView:
    """Return what its reader is told of a row."""
    reply = asked = None
    if row["reply_id"] is not None:
        reply = ReplyView(
            text=row["text"],
            citations=tuple(ReplyCitation.model_validate(citation) for citation in row["citations"] or ()),
            replied_as=row["replied_as"],
            replied_at=row["replied_at"],
        )
    if row["asked_by"] is not None:
        asked = Asked.model_validate({name: row[name] for name in Asked.model_fields})
    return ConsultationView(
        **{name: row[name] for name in ("consultation_id", "domain_id", "brief", "asked_at", "is_consulted")},
        state=_state(row),
        reply=reply,
        withdrawn_at=row["withdrawn_at"],
        asked=asked,
    )


def _state(row: RowMapping) -> ConsultationState:
    if row["reply_id"] is not None:
        return ConsultationState.REPLIED
    return ConsultationState.OPEN if row["withdrawn_at"] is None else ConsultationState.WITHDRAWN
