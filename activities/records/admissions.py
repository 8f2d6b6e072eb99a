"""What admission found in each draft, kept as places, and what reviewers said about it (R5, R6).

`examine` runs in the transaction that writes a draft, `require_resolved` in the one that records a decision: a draft
that nobody examined can't be accepted. What follows from a draft's fields alone isn't kept: `text_findings` finds it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from sqlalchemy import RowMapping, text
from sqlalchemy.ext.asyncio import AsyncConnection

from activities.records.ids import is_id
from contracts.admission import (
    FROM_TEXT_ALONE,
    NO_CASE,
    CaseEvidence,
    Check,
    Finding,
    Severity,
    examine_bounds,
    examine_draft,
    still_holds,
)
from contracts.articles import AnyDraft, ArticleDraft, draft_of, is_reference
from contracts.draft_fields import text_fields
from contracts.errors import InvalidField, UnresolvedFindings
from contracts.lifecycle import Event
from contracts.masking import placeholder, spread_names
from contracts.personal_data import Certainty, PersonalData, PersonalDataKind
from contracts.ports import PersonalDataFinder
from contracts.review import ReviewDecision

_EVIDENCE = text("""
SELECT r.execution_paper_id IS NOT NULL AS has_execution, r.proof_paper_id IS NOT NULL AS has_proof,
       coalesce((SELECT jsonb_object_agg(p.id::text, char_length(p.text)) FROM case_papers p
                  WHERE p.case_id = e.case_id), '{}') AS papers,
       ARRAY(SELECT p.kind || ' ' || p.number::text FROM case_placeholders p
              WHERE p.case_id = e.case_id AND p.kind <> 'name_part') AS placeholders
  FROM experiences e JOIN case_results r ON r.id = e.result_id
 WHERE e.id = CAST(:id AS uuid)
""")
# Of the case's own texts: where people are greeted and sign. Their names may stand in the draft with nothing beside
# them that tells a name.
_CONTEXT = text("""
WITH texts AS (
  SELECT c.title, coalesce(nullif(c.written, ''), c.body) AS body, e.case_id
    FROM experiences e JOIN cases c ON c.id = e.case_id WHERE e.id = CAST(:id AS uuid)
)
SELECT title FROM texts
 UNION ALL
SELECT CASE WHEN length(body) <= 4000 THEN body ELSE left(body, 2000) || chr(10) || right(body, 2000) END FROM texts
 UNION ALL
(SELECT left(p.text, 1000) FROM texts JOIN case_papers p ON p.case_id = texts.case_id
  ORDER BY p.created_at, p.id LIMIT 4)
""")
_ADMISSION = text("""
INSERT INTO admissions (experience_id, revision, personal_data)
VALUES (CAST(:id AS uuid), :revision, :personal_data) ON CONFLICT (experience_id, revision) DO NOTHING
""")
_FINDING = text("""
INSERT INTO admission_findings (experience_id, revision, finding_id, seq, check_name, severity, field, start_at, end_at,
                                kind, certainty)
VALUES (CAST(:id AS uuid), :revision, :finding_id, :seq, :check, :severity, :field, :start, :end, :kind, :certainty)
""")
_EARLIER = text("""
SELECT d.finding_id, d.revision, d.reason, d.dismissed_by, d.decision_id::text AS decision_id, r.content
  FROM finding_dismissals d
  JOIN revisions r ON r.experience_id = d.experience_id AND r.number = d.revision
 WHERE d.experience_id = CAST(:id AS uuid) AND d.revision < :revision AND d.finding_id = ANY(:findings)
 ORDER BY d.revision DESC
""")
_DISMISS = text("""
INSERT INTO finding_dismissals (experience_id, revision, finding_id, reason, dismissed_by, decision_id, carried_from)
VALUES (CAST(:id AS uuid), :revision, :finding_id, :reason, :dismissed_by, CAST(:decision_id AS uuid), :carried_from)
ON CONFLICT (experience_id, revision, finding_id) DO NOTHING
""")
_EXAMINED = text("SELECT 1 FROM admissions WHERE experience_id = CAST(:id AS uuid) AND revision = :revision")
_FOUND = text("""
SELECT f.finding_id, f.check_name, f.field, f.start_at, f.end_at, f.kind, f.certainty,
       d.finding_id IS NOT NULL AS is_dismissed
  FROM admission_findings f
  LEFT JOIN finding_dismissals d USING (experience_id, revision, finding_id)
 WHERE f.experience_id = CAST(:id AS uuid) AND f.revision = :revision
 ORDER BY f.seq
""")
_CONTENT = text("SELECT content FROM revisions WHERE experience_id = CAST(:id AS uuid) AND number = :revision")


async def examine(
    connection: AsyncConnection, experience_id: str, number: int, draft: AnyDraft, finder: PersonalDataFinder | None
) -> None:
    """Write down what admission finds in revision `number`; idempotent (R5, R6).

    A dismissal of an earlier revision holds for the same finding in the very same text; other findings are open.

    Args:
        connection: The transaction that wrote the draft, as its proposer or as the system.
        experience_id: Whose draft it is.
        number: Of the revision.
        draft: Its text.
        finder: Looks for personal data; None examines the structure only, and the admission says so.
    """
    row = (await connection.execute(_EVIDENCE, {"id": experience_id})).mappings().first()
    values: dict[str, Any] = {"id": experience_id, "revision": number, "personal_data": finder is not None}
    if not (await connection.execute(_ADMISSION, values)).rowcount:
        return
    places: dict[str, Sequence[PersonalData]] = {}
    if finder is not None:
        context = list((await connection.execute(_CONTEXT, values)).scalars())
        places = await asyncio.to_thread(_places, draft, context, finder)
    found = examine_draft(draft, NO_CASE if row is None else _evidence(row), places)
    findings = [finding for finding in found if finding.check not in FROM_TEXT_ALONE]
    if not findings:
        return
    await connection.execute(
        _FINDING,
        [
            {
                "id": experience_id,
                "revision": number,
                "finding_id": finding.id,
                "seq": seq,
                "check": finding.check,
                "severity": finding.severity,
                "field": finding.field,
                "start": finding.start,
                "end": finding.end,
                "kind": finding.kind or "",
                "certainty": finding.certainty or "",
            }
            for seq, finding in enumerate(findings)
        ],
    )
    if number > 1:
        await _carry_over(connection, experience_id, number, draft, findings)


def _evidence(row: RowMapping) -> CaseEvidence:
    named = (each.split(" ") for each in row["placeholders"])
    return CaseEvidence(
        papers=row["papers"],
        has_execution=row["has_execution"],
        has_proof=row["has_proof"],
        placeholders=frozenset(placeholder(PersonalDataKind(kind), int(number)) for kind, number in named),
    )


def _places(draft: AnyDraft, context: Sequence[str], finder: PersonalDataFinder) -> dict[str, Sequence[PersonalData]]:
    """Return what the finder finds in each field, and where a name of the case's own texts stands again."""
    texts = {
        field.path: field.text
        for field in text_fields(draft)
        if field.text.strip() and not is_id(field.text) and not is_reference(field.text)
    }
    of_case = {f"\0{number}": words for number, words in enumerate(context)}
    found = {path: finder.find(words) for path, words in (texts | of_case).items()}
    spread = spread_names(texts | of_case, found)
    return {path: spread[path] for path in texts if spread.get(path)}


async def _carry_over(
    connection: AsyncConnection, experience_id: str, number: int, draft: AnyDraft, findings: Sequence[Finding]
) -> None:
    open_ones = {finding.id: finding for finding in findings if finding.severity is Severity.MUST_RESOLVE}
    values = {"id": experience_id, "revision": number, "findings": list(open_ones)}
    for row in (await connection.execute(_EARLIER, values)).mappings():
        finding = open_ones.get(row["finding_id"])
        if finding is None or not still_holds(draft_of(row["content"]), draft, finding.field):
            continue
        await connection.execute(
            _DISMISS,
            {
                "id": experience_id,
                "revision": number,
                "finding_id": finding.id,
                "reason": row["reason"],
                "dismissed_by": row["dismissed_by"],
                "decision_id": row["decision_id"],
                "carried_from": row["revision"],
            },
        )
        del open_ones[finding.id]


async def require_resolved(
    connection: AsyncConnection, experience_id: str, revision: int, decision: ReviewDecision, reviewer_id: str
) -> None:
    """Record the decision's dismissals, and refuse an acceptance while a finding stands open (R6).

    A dismissal holds for both stages of its revision. Units that the decision declines needn't be resolved.

    Raises:
        InvalidField: A dismissal names no finding of this draft, or one that can't be dismissed.
        UnresolvedFindings: The draft was never examined, or a finding is open.
    """
    values: dict[str, Any] = {"id": experience_id, "revision": revision}
    rows = (await connection.execute(_FOUND, values)).mappings().all()
    findings = {row["finding_id"]: finding_of(row) for row in rows}
    findings |= {finding.id: finding for finding in await text_findings(connection, experience_id, revision)}
    for position in range(len(decision.dismissed)):
        await _dismiss(connection, values, findings, position, decision, reviewer_id)
    if decision.verdict is not Event.ACCEPT:
        return
    if (await connection.execute(_EXAMINED, values)).first() is None:
        raise UnresolvedFindings(
            "This draft was never examined.", field="experience_id", accepted="a return, and a new draft"
        )
    dismissed = {row["finding_id"] for row in rows if row["is_dismissed"]}
    dismissed |= {dismissal.finding_id for dismissal in decision.dismissed}
    declined = await _declined_paths(connection, values, decision)
    for finding in findings.values():
        is_open = finding.severity is Severity.MUST_FIX or (
            finding.severity is Severity.MUST_RESOLVE and finding.id not in dismissed
        )
        if is_open and not finding.field.startswith(declined):
            raise UnresolvedFindings(finding.message, field=finding.field, accepted=finding.accepted)


async def text_findings(connection: AsyncConnection, experience_id: str, revision: int) -> tuple[Finding, ...]:
    """Return what follows from a draft's fields alone, also where it was examined before this was looked at (R22)."""
    content = await connection.execute(_CONTENT, {"id": experience_id, "revision": revision})
    stored = content.scalar_one_or_none()
    return () if stored is None else examine_bounds(draft_of(stored))


async def _dismiss(
    connection: AsyncConnection,
    values: dict[str, Any],
    findings: dict[str, Finding],
    position: int,
    decision: ReviewDecision,
    reviewer_id: str,
) -> None:
    dismissal = decision.dismissed[position]
    finding = findings.get(dismissal.finding_id)
    if finding is None or finding.severity is not Severity.MUST_RESOLVE:
        raise InvalidField(
            "There is no finding of this id to dismiss." if finding is None else "This finding can't be dismissed.",
            field=f"dismissed[{position}].finding_id",
            accepted=", ".join(each.id for each in findings.values() if each.severity is Severity.MUST_RESOLVE)
            or "none: nothing is to be dismissed",
        )
    dismissed = {
        **values,
        "finding_id": finding.id,
        "reason": dismissal.reason,
        "dismissed_by": reviewer_id,
        "decision_id": decision.decision_id,
        "carried_from": None,
    }
    await connection.execute(_DISMISS, dismissed)


async def _declined_paths(
    connection: AsyncConnection, values: dict[str, Any], decision: ReviewDecision
) -> tuple[str, ...]:
    if not decision.declined_units:
        return ()
    draft = draft_of((await connection.execute(_CONTENT, values)).scalar_one())
    if isinstance(draft, ArticleDraft):
        return ()  # refused with the decision itself
    return tuple(
        f"units[{position}]." for position, unit in enumerate(draft.units) if unit.id in decision.declined_units
    )


def finding_of(row: RowMapping) -> Finding:
    """Return the finding in a row."""
    return Finding(
        id=row["finding_id"],
        check=Check(row["check_name"]),
        field=row["field"],
        start=row["start_at"],
        end=row["end_at"],
        kind=PersonalDataKind(row["kind"]) if row["kind"] else None,
        certainty=Certainty(row["certainty"]) if row["certainty"] else None,
    )
