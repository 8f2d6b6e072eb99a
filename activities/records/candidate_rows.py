"""Targets as the caller may see them now: the check of state, scope and revision behind every answer (R10)."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import RowMapping, text
from sqlalchemy.ext.asyncio import AsyncConnection

from activities.records.ids import array_of, is_id
from activities.records.rows import CASE, case_of
from contracts.articles import ArticleDraft
from contracts.candidates import CandidateRecord
from contracts.cases import Case
from contracts.experience import Draft
from contracts.labels import CandidateKind
from contracts.retrieval import OriginRef

# Row-level security shows the experience row, and with it case and origin, only inside the caller's scope (R21). The
# ids are told twice: from one condition alone, every experience is checked against the policy to join these few.
_PUBLISHED = text("""
SELECT r.kind, r.experience_id::text AS id, r.number, r.title, r.domain_id, CAST(r.content AS text) AS content,
       r.published_at, c.id::text AS case_id, o.source, o.external_id
  FROM revisions r
  LEFT JOIN experiences e ON e.id = r.experience_id AND e.id = ANY (CAST(:ids AS uuid[]))
  LEFT JOIN cases c ON c.id = e.case_id
  LEFT JOIN origins o ON o.id = c.origin_id
 WHERE r.experience_id = ANY (CAST(:ids AS uuid[])) AND r.state = 'current'
""")
_CURRENT = text("""
SELECT kind || '/' || experience_id, number FROM revisions
 WHERE experience_id = ANY (CAST(:ids AS uuid[])) AND state = 'current'
""")
# Of any tenant: what is one finished job counts once, whoever may see whose it was (R19).
_WORK = text("""
SELECT id::text, result_id::text FROM experiences WHERE id = ANY (CAST(:ids AS uuid[])) AND result_id IS NOT NULL
""")


def ids_by_kind(targets: Sequence[str]) -> dict[str, list[str]]:
    """Return the ids in `targets` by kind; what is no target of ours is left out."""
    ids: dict[str, list[str]] = {kind: [] for kind in CandidateKind}
    for target in targets:
        kind, _, target_id = target.partition("/")
        if kind in ids and is_id(target_id):
            ids[kind].append(target_id)
    return ids


async def resolve(connection: AsyncConnection, targets: Sequence[str]) -> dict[str, CandidateRecord]:
    """Return those of `targets` that the transaction's principal may see as current, by target."""
    ids = ids_by_kind(targets)
    records: list[CandidateRecord] = []
    if published := [*ids[CandidateKind.EXPERIENCE], *ids[CandidateKind.ARTICLE]]:
        rows = await connection.execute(_PUBLISHED, {"ids": array_of(published)})
        records += [published_record(row) for row in rows.mappings()]
    if ids[CandidateKind.CASE]:
        sql = text(f"{CASE} WHERE c.erased_at IS NULL AND c.id = ANY (CAST(:ids AS uuid[]))")
        rows = await connection.execute(sql, {"ids": array_of(ids[CandidateKind.CASE])})
        records += [case_record(row) for row in rows.mappings()]
    asked = frozenset(targets)  # an id may be asked for as what it isn't
    return {record.target: record for record in records if record.target in asked}


async def current_revisions(connection: AsyncConnection, targets: Sequence[str]) -> dict[str, int]:
    """Return the revision of each published target among these that is current now, by target (R10)."""
    ids = ids_by_kind(targets)
    published = [*ids[CandidateKind.EXPERIENCE], *ids[CandidateKind.ARTICLE]]
    rows = await connection.execute(_CURRENT, {"ids": array_of(published)})
    return {row[0]: row[1] for row in rows}


async def read_work(connection: AsyncConnection, targets: Sequence[str]) -> dict[str, str]:
    """Return the key of the finished job that each experience among `targets` tells of, by target.

    Args:
        connection: The system's transaction; the keys are to compare with each other, and are shown to nobody.
        targets: What may be compared.
    """
    ids = ids_by_kind(targets)[CandidateKind.EXPERIENCE]
    rows = await connection.execute(_WORK, {"ids": array_of(ids)})
    return {f"{CandidateKind.EXPERIENCE}/{row[0]}": row[1] for row in rows}


def published_record(row: RowMapping) -> CandidateRecord:
    """Return the revision in a row as a candidate."""
    return _article(row) if row["kind"] == CandidateKind.ARTICLE else _experience(row)


def _experience(row: RowMapping) -> CandidateRecord:
    origin = None
    if row["source"] is not None:
        origin = OriginRef(source=row["source"], external_id=row["external_id"])
    draft = Draft.model_validate_json(row["content"])
    return CandidateRecord(
        target=f"experience/{row['id']}",
        kind=CandidateKind.EXPERIENCE,
        revision=row["number"],
        title=row["title"],
        owner=row["domain_id"],
        state="current",
        draft=draft if row["case_id"] is not None else _without_places(draft),
        case=None,
        source_case=row["case_id"],
        source_origin=origin,
        published_at=row["published_at"],
    )


def _without_places(draft: Draft) -> Draft:
    """Return the approved text without its places in papers of a case that the caller can't see (R21)."""
    units = tuple(unit.model_copy(update={"spans": ()}) if unit.spans else unit for unit in draft.units)
    return draft.model_copy(update={"units": units})


def case_record(row: RowMapping) -> CandidateRecord:
    """Return the case in a row as a candidate."""
    return candidate_of(case_of(row))


def candidate_of(case: Case) -> CandidateRecord:
    """Return a live case as a candidate."""
    return CandidateRecord(
        target=f"case/{case.id}",
        kind=CandidateKind.CASE,
        revision=case.revision,
        title=case.title,
        owner=case.facts.domain_id or "",
        state=case.state,
        draft=None,
        case=case,
        source_case=case.id,
        source_origin=OriginRef(source=case.origin.source, external_id=case.origin.external_id),
        published_at=case.opened_at,
    )


def _article(row: RowMapping) -> CandidateRecord:
    article = ArticleDraft.model_validate_json(row["content"])
    return CandidateRecord(
        target=f"article/{row['id']}",
        kind=CandidateKind.ARTICLE,
        revision=row["number"],
        title=row["title"],
        owner=row["domain_id"],
        state="current",
        draft=None,
        case=None,
        source_case=None,
        source_origin=None,
        published_at=row["published_at"],
        text=article.body,
        concepts=article.concepts,
        limits=article.limits,
    )
