"""What a review sheet shows of the record, read as the reviewer; and the published text that may resemble it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import RowMapping, text
from sqlalchemy.ext.asyncio import AsyncConnection

from activities.records.cases import find_result
from activities.records.database import Database
from activities.records.ids import is_id
from activities.records.outbox import read_watermarks
from activities.records.review_history import read_admission, read_claim, read_history
from contracts.articles import AnyDraft, ArticleDraft, draft_of
from contracts.draft_difference import DraftDifference, draft_difference
from contracts.errors import UnknownExperience
from contracts.experience import Draft
from contracts.outbox import Watermark
from contracts.review_sheet import (
    SPAN_TEXT,
    CaseProof,
    Published,
    PublishedArticle,
    ReviewSheet,
    SheetPaper,
    SpanText,
)
from contracts.scope_difference import scope_difference

_HEAD = text("""
SELECT e.id::text AS experience_id, coalesce(e.tenant_id, '') AS tenant_id, e.kind, e.domain_id, e.proposer_id,
       e.stage, e.outcome, e.revision, e.due_at, e.reminded, e.escalated, e.current_revision, e.suspended,
       e.case_id::text AS case_id, e.result_id::text AS result_id, r.author_id, r.digest, r.content
  FROM experiences e JOIN revisions r ON r.experience_id = e.id AND r.number = e.revision
 WHERE e.id = CAST(:id AS uuid)
""")
_TEXTS = text("""
SELECT number, content FROM revisions WHERE experience_id = CAST(:id AS uuid) AND number = ANY(:numbers)
""")
_CASE = text("SELECT 1 FROM cases WHERE id = CAST(:id AS uuid)")
_PAPERS = text("""
SELECT id::text AS id, kind, title, char_length(text) AS characters FROM case_papers
 WHERE case_id = CAST(:id AS uuid) ORDER BY created_at, id
""")
_SPANS = text("""
SELECT s.n, CASE WHEN s.start < char_length(p.text)
                 THEN substr(p.text, CAST(s.start + 1 AS int), CAST(least(s.stop - s.start, :most) AS int)) END AS text
  FROM unnest(CAST(:papers AS uuid[]), CAST(:starts AS bigint[]), CAST(:stops AS bigint[]))
       WITH ORDINALITY AS s (paper_id, start, stop, n)
  JOIN case_papers p ON p.id = s.paper_id AND p.case_id = CAST(:id AS uuid)
""")
_PUBLISHED = text("""
SELECT experience_id::text AS experience_id, number AS revision, content AS draft FROM revisions
 WHERE experience_id = ANY (CAST(:ids AS uuid[])) AND kind = 'experience' AND state = 'current'
""")
# Row-level security keeps text search from its index. What is current may be read by everybody; it is looked for as
# the system, and read again as the caller. Any word may match: the operators of plainto_tsquery are turned into OR.
_WORDS = """
SELECT r.experience_id::text FROM revisions r,
       (SELECT CAST(replace(CAST(plainto_tsquery('simple', :words) AS text), ' & ', ' | ') AS tsquery) AS q) AS asked
 WHERE r.kind = 'experience' AND r.state = 'current' AND r.search @@ q {pending}
 ORDER BY ts_rank(r.search, q) DESC, r.experience_id LIMIT :limit
"""
_PENDING = """AND r.experience_id IN (SELECT CAST(split_part(key, '/', 2) AS uuid) FROM outbox
               WHERE topic = 'index' AND delivered_at IS NULL AND source = 'experience')"""
_PHRASES = text("""
SELECT r.experience_id::text FROM revisions r,
       (SELECT string_agg('(' || CAST(phraseto_tsquery('simple', p) AS text) || ')', ' | ')::tsquery AS q
          FROM unnest(CAST(:phrases AS text[])) p WHERE numnode(phraseto_tsquery('simple', p)) > 0) AS asked
 WHERE r.kind = 'experience' AND r.state = 'current' AND r.search @@ q
 ORDER BY r.published_at DESC, r.experience_id LIMIT :limit
""")
_ARTICLES = text("""
SELECT experience_id::text AS article_id, number AS revision, title, digest FROM revisions
 WHERE kind = 'article' AND state = 'current' AND domain_id = :domain
""")
_NO_CASE = "An article comes from no case: its sources are named in it."
_UNSEEN = "You have no grant for this case: its result, papers and the words of its papers are not shown."


class ReviewSheetsTable:
    """`contracts.review_sheet.ReviewSheetRecords` on Postgres."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def sheet(self, principal_id: str, experience_id: str) -> ReviewSheet:
        """See `contracts.review_sheet.ReviewSheetRecords.sheet`."""
        async with self._database.as_principal(principal_id) as connection:
            values = {"id": experience_id if is_id(experience_id) else None}
            row = (await connection.execute(_HEAD, values)).mappings().first()
            if row is None:
                raise UnknownExperience("There is no such experience in your scope.", field="experience_id")
            draft = draft_of(row["content"])
            earlier, current = await self._earlier(connection, row)
            return ReviewSheet(
                **{name: row[name] for name in row if name in ReviewSheet.model_fields},
                draft=draft if isinstance(draft, Draft) else None,
                article=draft if isinstance(draft, ArticleDraft) else None,
                claim=await read_claim(connection, experience_id),
                admission=await read_admission(connection, experience_id, row["revision"]),
                proof=await _proof(connection, row, draft),
                since_earlier=_since(row, row["revision"] - 1, earlier, draft),
                since_current=_since(row, row["current_revision"], current, draft),
                scope=None if current is None else scope_difference(current, draft),
                history=await read_history(connection, experience_id),
            )

    async def _earlier(self, connection: AsyncConnection, row: RowMapping) -> tuple[AnyDraft | None, AnyDraft | None]:
        """Return the revision before the newest draft, and the published one when the draft is another."""
        newest, current = row["revision"], row["current_revision"]
        numbers = [newest - 1, *([] if current in (None, newest) else [current])]
        rows = await connection.execute(_TEXTS, {"id": row["experience_id"], "numbers": numbers})
        texts = {found.number: draft_of(found.content) for found in rows}
        return texts.get(newest - 1), None if current == newest else texts.get(current)

    async def published(self, principal_id: str, experience_ids: Sequence[str]) -> list[Published]:
        """See `contracts.review_sheet.ReviewSheetRecords.published`."""
        async with self._database.as_principal(principal_id) as connection:
            rows = await connection.execute(_PUBLISHED, {"ids": [each for each in experience_ids if is_id(each)]})
            return [Published(row.experience_id, row.revision, Draft.model_validate(row.draft)) for row in rows]

    async def articles_of(self, domain_id: str) -> list[PublishedArticle]:
        """See `contracts.review_sheet.ReviewSheetRecords.articles_of`."""
        async with self._database.as_system() as connection:
            rows = (await connection.execute(_ARTICLES, {"domain": domain_id})).mappings()
            return [PublishedArticle(**row) for row in rows]

    async def by_text(self, words: str, *, limit: int, pending_only: bool) -> list[str]:
        """See `contracts.review_sheet.ReviewSheetRecords.by_text`."""
        sql = text(_WORDS.format(pending=_PENDING if pending_only else ""))
        async with self._database.as_system() as connection:
            return list((await connection.execute(sql, {"words": words, "limit": limit})).scalars())

    async def by_phrases(self, phrases: Sequence[str], *, limit: int) -> list[str]:
        """See `contracts.review_sheet.ReviewSheetRecords.by_phrases`."""
        async with self._database.as_system() as connection:
            return list((await connection.execute(_PHRASES, {"phrases": list(phrases), "limit": limit})).scalars())

    async def watermarks(self) -> list[Watermark]:
        """See `contracts.review_sheet.ReviewSheetRecords.watermarks`."""
        async with self._database.as_system() as connection:
            return await read_watermarks(connection)


def _since(row: RowMapping, number: int | None, before: AnyDraft | None, after: AnyDraft) -> DraftDifference | None:
    if before is None or number is None:
        return None
    return DraftDifference(from_revision=number, to_revision=row["revision"], changes=draft_difference(before, after))


async def _proof(connection: AsyncConnection, row: RowMapping, draft: AnyDraft) -> CaseProof:
    """Return the result, the papers and the words that units rest on, as far as the caller may see the case (R4)."""
    if isinstance(draft, ArticleDraft):
        return CaseProof(case_id="", is_visible=False, note=_NO_CASE)
    values = {"id": row["case_id"]}
    if (await connection.execute(_CASE, values)).first() is None:
        return CaseProof(case_id=row["case_id"], is_visible=False, note=_UNSEEN)
    papers = (await connection.execute(_PAPERS, values)).mappings()
    return CaseProof(
        case_id=row["case_id"],
        is_visible=True,
        result=await find_result(connection, row["result_id"]),
        papers=tuple(SheetPaper.model_validate(dict(paper)) for paper in papers),
        spans=await _spans(connection, row["case_id"], draft),
    )


async def _spans(connection: AsyncConnection, case_id: str, draft: Draft) -> tuple[SpanText, ...]:
    spans = [
        (f"units[{at}].spans[{number}]", span)
        for at, unit in enumerate(draft.units)
        for number, span in enumerate(unit.spans)
    ]
    known = [place for place, (_, span) in enumerate(spans) if is_id(span.paper_id)]
    values: dict[str, Any] = {
        "id": case_id,
        "most": SPAN_TEXT,
        "papers": [spans[place][1].paper_id for place in known],
        "starts": [spans[place][1].start for place in known],
        "stops": [spans[place][1].end for place in known],
    }
    found = {known[row.n - 1]: row.text for row in await connection.execute(_SPANS, values)}
    return tuple(
        SpanText(
            field=field,
            paper_id=span.paper_id,
            start=span.start,
            end=span.end,
            text=found.get(place),
            is_cut=found.get(place) is not None and span.end - span.start > SPAN_TEXT,
        )
        for place, (field, span) in enumerate(spans)
    )
