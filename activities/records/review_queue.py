"""The reviews that wait for somebody, most urgent first, page by page (R7)."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import RowMapping, text
from sqlalchemy.ext.asyncio import AsyncConnection

from activities.records.ids import is_id
from contracts import limits
from contracts.admission import Severity
from contracts.errors import InvalidField
from contracts.lifecycle import Stage
from contracts.text import check_text
from contracts.views import ClaimedBy, ReviewTask

MOST = 500
_NEVER = "infinity"
# What is escalated or overdue has a later deadline than it first had, or none: it is urgent all the same.
_URGENCY = "CASE WHEN e.escalated THEN 0 WHEN e.reminded THEN 1 ELSE 2 END"
_DUE = "coalesce(e.due_at, 'infinity')"
# Who wrote the draft or one that it goes back to, and who has accepted it before units were left out of it, can't
# review it, nor can anybody on their behalf: as `review_decisions` has it, which has the last word.
_WAITING = f"""
SELECT e.id, {_URGENCY} AS urgency, {_DUE} AS due, d.on_behalf_of
  FROM (SELECT DISTINCT domain_id FROM app_review_roles()) mine
  JOIN experiences e ON e.domain_id = mine.domain_id
  JOIN LATERAL (
    SELECT array_agg(p.who) AS people FROM (
      SELECT e.proposer_id AS who
       UNION ALL
      SELECT r.author_id FROM revisions r
       WHERE r.experience_id = e.id AND r.number <= e.revision
         AND r.number > (SELECT coalesce(max(b.number), 0) FROM revisions b
                          WHERE b.experience_id = e.id AND b.number < e.revision
                            AND b.state NOT IN ('returned', 'trimmed'))
       UNION ALL
      SELECT unnest(ARRAY[v.reviewer_id, v.on_behalf_of]) FROM review_decisions v
       WHERE v.experience_id = e.id AND v.revision <= e.revision
         AND v.revision > (SELECT coalesce(max(b.number), 0) FROM revisions b
                            WHERE b.experience_id = e.id AND b.number < e.revision AND b.state <> 'trimmed')
    ) p WHERE p.who IS NOT NULL
  ) taken ON (SELECT app_principal()) <> ALL (taken.people)
  JOIN LATERAL (
    SELECT a.on_behalf_of FROM app_review_roles() a
     WHERE a.domain_id = e.domain_id
       AND (a.role, e.stage) IN (('curator', 'curator_review'), ('owner', 'owner_review'))
       AND coalesce(a.on_behalf_of <> ALL (taken.people), true)
     ORDER BY a.on_behalf_of NULLS FIRST LIMIT 1
  ) d ON true
 WHERE e.stage IN ('curator_review', 'owner_review')"""
_LIVE_CLAIM = """
  LEFT JOIN review_claims c ON c.experience_id = e.id AND c.revision = e.revision AND c.stage = e.stage
   AND c.claimed_until > clock_timestamp()"""
TASKS = f"""
WITH waiting AS MATERIALIZED ({_WAITING}
   AND (CAST(:domain AS text) IS NULL OR e.domain_id = :domain)
   AND (CAST(:stage AS text) IS NULL OR e.stage = :stage)
   AND (CAST(:due_before AS timestamptz) IS NULL OR e.due_at < :due_before OR e.reminded OR e.escalated)
   AND (CAST(:after_urgency AS int) IS NULL
        OR ({_URGENCY}, {_DUE}, e.id) > (:after_urgency, CAST(:after_due AS timestamptz), CAST(:after_id AS uuid)))
), page AS MATERIALIZED (
SELECT w.*, c.claimed_by, c.claimed_until FROM waiting w JOIN experiences e ON e.id = w.id {_LIVE_CLAIM}
 WHERE CASE CAST(:claimed AS text)
       WHEN 'me' THEN c.claimed_by = (SELECT app_principal())
       WHEN 'nobody' THEN c.claimed_by IS NULL
       WHEN 'others' THEN c.claimed_by <> (SELECT app_principal())
       ELSE true END
 ORDER BY w.urgency, w.due, w.id LIMIT :limit
)
SELECT e.id::text AS experience_id, coalesce(e.tenant_id, '') AS tenant_id, e.kind, e.domain_id, e.stage, e.revision,
       r.digest, r.title, e.outcome, e.due_at, e.reminded, e.escalated, page.urgency, page.claimed_by,
       page.claimed_until, page.on_behalf_of, f.must_fix, f.must_resolve, f.notice
  FROM page
  JOIN experiences e ON e.id = page.id
  JOIN revisions r ON r.experience_id = e.id AND r.number = e.revision
  CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE g.severity = 'must_fix') AS must_fix,
           count(*) FILTER (WHERE g.severity = 'must_resolve' AND x.finding_id IS NULL) AS must_resolve,
           count(*) FILTER (WHERE g.severity = 'notice') AS notice
      FROM admission_findings g LEFT JOIN finding_dismissals x USING (experience_id, revision, finding_id)
     WHERE g.experience_id = e.id AND g.revision = e.revision
  ) f
 ORDER BY page.urgency, page.due, page.id
"""
MAY_REVIEW = f"{_WAITING} AND e.id = CAST(:id AS uuid)"
"""A row when the review of an experience waits for the transaction's principal."""


@dataclass(frozen=True, slots=True)
class QueueFilter:
    """Which of the waiting reviews to list; None leaves nothing out."""

    domain_id: str | None = None
    stage: Stage | None = None
    due_before: datetime | None = None
    """Those that are overdue already count as due before any time."""
    claimed: ClaimedBy | None = None
    after: str | None = None
    """The `cursor` of the last task of the page before."""


EVERYTHING = QueueFilter()


async def list_tasks(connection: AsyncConnection, wanted: QueueFilter, limit: int) -> list[ReviewTask]:
    """Return the reviews that wait for the transaction's principal, most urgent first, at most `MOST`.

    Raises:
        InvalidField: `after` is no task's cursor.
        UnstorableText: The domain can't be one.
    """
    if wanted.domain_id is not None:
        check_text(wanted.domain_id, field="domain", limit=limits.IDENTIFIER)
    urgency, due, last = (None, None, None) if wanted.after is None else _position(wanted.after)
    values: dict[str, Any] = {
        "domain": wanted.domain_id,
        "stage": wanted.stage,
        "due_before": wanted.due_before,
        "claimed": wanted.claimed,
        "after_urgency": urgency,
        "after_due": due,
        "after_id": last,
        "limit": max(0, min(limit, MOST)),
    }
    rows = await connection.execute(text(TASKS), values)
    return [_task(row) for row in rows.mappings()]


def _task(row: RowMapping) -> ReviewTask:
    due = _NEVER if row["due_at"] is None else row["due_at"].astimezone(UTC).isoformat(timespec="microseconds")
    counts = {severity: row[severity.value] for severity in Severity if row[severity.value]}
    return ReviewTask.model_validate(
        {**row, "findings": counts, "cursor": f"{row['urgency']}~{due}~{row['experience_id']}"}
    )


def _position(cursor: str) -> tuple[int, datetime | str, str]:
    urgency, _, rest = cursor.partition("~")
    due, _, last = rest.partition("~")
    moment = _moment(due)
    if urgency not in ("0", "1", "2") or not is_id(last) or moment is None:
        raise InvalidField("This is no place in the queue.", field="after", accepted="the `cursor` of a listed task")
    return int(urgency), moment, str(uuid.UUID(last))


def _moment(text: str) -> datetime | str | None:
    if text == _NEVER:
        return text
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else None
