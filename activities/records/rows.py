"""Rows to records of `contracts`, and the words of a revision that full text looks through."""

from __future__ import annotations

from typing import Any

from sqlalchemy import RowMapping

from contracts.arrivals import INDEXED_BODY
from contracts.articles import AnyDraft, ArticleDraft, kind_of
from contracts.cases import Case, CaseFacts, Origin
from contracts.projection import unit_text
from contracts.review import Snapshot

CASE = """
SELECT c.id::text AS id, c.tenant_id, o.source, o.external_id, c.title, c.body, c.state, c.waiting_on, c.domain_id,
       c.request_type, c.symptom_tags, c.product, c.system, c.environment, c.version, c.object_refs,
       c.opened_at, c.revision, c.source_state, c.order_assumed, c.written, c.body_bytes,
       c.content_id::text AS content_id
  FROM cases c JOIN origins o ON o.id = c.origin_id
"""

RESTS_AT = """
CASE WHEN e.current_revision IS NOT NULL THEN 'published'
     WHEN EXISTS (SELECT 1 FROM revisions p WHERE p.experience_id = e.id AND p.state = 'retired') THEN 'retired'
     ELSE 'rejected' END
"""
"""Where an experience `e` stands when its draft comes to nothing (`contracts.lifecycle.transition`)."""

SNAPSHOT = f"""
SELECT e.id::text AS experience_id, coalesce(e.tenant_id, '') AS tenant_id, e.domain_id, e.stage, e.revision, r.digest,
       e.current_revision, e.suspended, {RESTS_AT} AS rests_at, e.due_at, e.reminded, e.escalated
  FROM experiences e JOIN revisions r ON r.experience_id = e.id AND r.number = e.revision
"""


def case_of(row: RowMapping) -> Case:
    """Return the case in a row of `CASE`."""
    return Case(
        id=row["id"],
        origin=Origin(tenant_id=row["tenant_id"], source=row["source"], external_id=row["external_id"]),
        title=row["title"],
        body=row["body"],
        state=row["state"],
        waiting_on=row["waiting_on"],
        facts=CaseFacts(
            domain_id=row["domain_id"],
            request_type=row["request_type"],
            symptom_tags=tuple(row["symptom_tags"]),
            product=row["product"],
            system=row["system"],
            environment=row["environment"],
            version=row["version"],
            object_refs=tuple(row["object_refs"]),
        ),
        opened_at=row["opened_at"],
        revision=row["revision"],
        source_state=row["source_state"],
        order_assumed=row["order_assumed"],
        written=row["written"],
        body_bytes=row["body_bytes"],
        indexed_bytes=len((row["written"] or row["body"])[:INDEXED_BODY].encode()),
        content_id=row["content_id"],
    )


def snapshot_of(row: RowMapping) -> Snapshot:
    """Return the snapshot in a row of `SNAPSHOT`."""
    return Snapshot.model_validate(dict(row))


def searchable(draft: AnyDraft) -> str:
    """Return the approved words of a draft for full text; the title is a column of its own."""
    if isinstance(draft, ArticleDraft):
        return "\n".join([*draft.concepts, draft.body])
    synopsis = draft.synopsis
    words = [synopsis.text, synopsis.request_type, *synopsis.symptom_tags, synopsis.route, synopsis.disposition]
    for unit in draft.units:
        words += [unit_text(unit), *unit.concepts]
    return "\n".join(words)


def revision_values(
    experience_id: str, number: int, draft: AnyDraft, author_id: str, *, trimmed_from: int | None = None
) -> dict[str, Any]:
    """Return the values of `INSERT_REVISION`."""
    return {
        "experience_id": experience_id,
        "number": number,
        "kind": kind_of(draft),
        "outcome": None if isinstance(draft, ArticleDraft) else draft.outcome,
        "proof_level": None if isinstance(draft, ArticleDraft) else draft.proof_level,
        "domain_id": draft.domain_id,
        "title": draft.title,
        "content": draft.model_dump_json(),
        "digest": draft.digest(),
        "author_id": author_id,
        "searchable": searchable(draft),
        "trimmed_from": trimmed_from,
    }


INSERT_REVISION = """
INSERT INTO revisions (experience_id, number, kind, outcome, proof_level, domain_id, title, content, digest, author_id,
                       searchable, trimmed_from)
VALUES (:experience_id, :number, :kind, :outcome, :proof_level, :domain_id, :title, CAST(:content AS jsonb), :digest,
        :author_id, :searchable, :trimmed_from)
"""
