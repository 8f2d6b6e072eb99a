"""The text of one case, wherever rows of the record hold it, and what is left in its place (R11).

Every column of a row that belongs to the case is emptied, unless it is an id, a digest, a time or a label; so is a
column that nobody here has heard of. JSON that the product reads back keeps its shape. What other cases and tenants
were shown of it goes as well, and their papers say that what they cite was erased.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from activities.records.erasure_columns import TextColumn, TextTable
from activities.records.memory_use_paper import paper_id
from activities.records.rows import searchable
from contracts import erased_records
from contracts.erased_text import ERASED
from contracts.erasure import PlaceCount
from contracts.experience import Draft

REMOVED = ("case_placeholders", "case_keys")
"""Tables whose rows nobody cites: they go. Without its key a placeholder's fingerprint says nothing."""
_SHAPED: Mapping[tuple[str, str], Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    ("case_results", "effort"): erased_records.erased_effort,
    ("commands", "content"): erased_records.erased_command,
    ("retrieval_requests", "request"): erased_records.erased_request,
    ("retrieval_requests", "answer"): erased_records.erased_answer,
    ("retrieval_candidates", "candidate"): erased_records.erased_asking,
}
_TAKEN_ELSEWHERE = frozenset({"revisions", *REMOVED})

_ROWS = "SELECT ctid::text AS at, {column}::text AS content FROM {table} t WHERE {where}"
_REFS = "t.ref = ANY (CAST(:refs AS text[]))"
_NEAREST = """
 t.abstained AND EXISTS (SELECT 1 FROM jsonb_array_elements(t.answer -> 'nearest') n
                          WHERE n ->> 'ref' = ANY (CAST(:refs AS text[])))
"""
_CITING = text("""
SELECT v.decision_id::text AS decision_id, coalesce(q.tenant_id, '') AS tenant_id
  FROM retrieval_verdicts v JOIN retrieval_requests q ON q.id = v.request_id WHERE v.ref = ANY (CAST(:refs AS text[]))
""")
_CONSULTED = text("""
SELECT y.paper_id::text AS paper_id, coalesce(q.tenant_id, '') AS tenant_id
  FROM consultation_citations z JOIN consultation_replies y ON y.consultation_id = z.consultation_id
  JOIN consultations c ON c.id = z.consultation_id JOIN retrieval_requests q ON q.id = c.request_id
 WHERE z.ref = ANY (CAST(:refs AS text[]))
""")
_PAPERS = text(
    "SELECT id::text AS id, text FROM case_papers"
    " WHERE id = ANY (CAST(:ids AS uuid[])) AND kind IN ('memory_use', 'evidence')"
)
_WORDS_ABOUT = (("retrieval_verdicts", "why"), ("consultation_citations", "why"), ("feedback_outcomes", "note"))
"""What was said of a candidate, beside its ref."""
_REVISIONS = text("""
SELECT experience_id::text AS id, number, digest, content, title FROM revisions
 WHERE experience_id = ANY (CAST(:all AS uuid[]))
   AND NOT (experience_id = ANY (CAST(:kept AS uuid[])) AND state IN ('current', 'suspended', 'draft'))
 ORDER BY experience_id, number
""")
_ERASE_REVISION = text("""
UPDATE revisions SET content = CAST(:content AS jsonb), title = :title, searchable = :searchable
 WHERE experience_id = CAST(:id AS uuid) AND number = :number
""")
_ORIGIN = text("""
SELECT source, external_id FROM origins WHERE id = (SELECT origin_id FROM cases WHERE id = CAST(:case_id AS uuid))
""")
_ASKED_FOR = """
 t.request -> 'origin' ->> 'external_id' = :external_id AND t.request -> 'origin' ->> 'source' = :source AND ({tenant})
"""


@dataclass
class CaseRows:
    """What of a case is in the record.

    Args:
        connection: A transaction, in which nothing else is changed.
        tenant_id: The case's tenant.
        case_id: The case.
        tables: Every table with text.
        withdrawn: Its experiences that leave retrieval.
        kept: Its experiences whose published text stays.
        dry: Count what there is, and change nothing.
    """

    connection: AsyncConnection
    tenant_id: str
    case_id: str
    tables: Sequence[TextTable]
    withdrawn: Sequence[str]
    kept: Sequence[str]
    dry: bool
    revisions: list[tuple[str, int, str]] = field(default_factory=list[tuple[str, int, str]])
    """Experience, number and digest of every revision that lost its text."""
    places: dict[str, list[int]] = field(default_factory=dict[str, list[int]])

    @property
    def counts(self) -> tuple[PlaceCount, ...]:
        """What was found, by table."""
        return tuple(PlaceCount(place=name, rows=rows, fields=fields) for name, (rows, fields) in self.places.items())

    async def erase(self) -> None:
        """Empty every place, or count them."""
        await self._origin_elsewhere()  # while the origin still says what it was
        for table in self.tables:
            if table.case and table.name not in _TAKEN_ELSEWHERE:
                await self._empty(table)
                for column in table.columns:
                    if (table.name, column.name) in _SHAPED:
                        await self._shape(table.name, column.name, table.case, _SHAPED[table.name, column.name])
        await self._revisions()
        await self._shown_elsewhere()
        for name in REMOVED:
            if any(table.name == name for table in self.tables):
                await self._remove(name)

    async def _empty(self, table: TextTable) -> None:
        columns = [column for column in table.columns if (table.name, column.name) not in _SHAPED]
        if not columns:
            return
        filled = [_is_filled(column) for column in columns]
        where = f"({table.case}) AND ({' OR '.join(filled)})"
        sums = " + ".join(f"count(*) FILTER (WHERE {each})" for each in filled)
        sql = text(f"SELECT count(*), {sums} FROM {table.name} t WHERE {where}")
        rows, fields = (await self.connection.execute(sql, self._values)).one()
        self._count(table.name, rows, fields)
        if rows and not self.dry:
            sets = ", ".join(f"{column.name} = {_emptied(column)}" for column in columns)
            await self.connection.execute(text(f"UPDATE {table.name} t SET {sets} WHERE {where}"), self._values)

    async def _shape(
        self,
        table: str,
        column: str,
        where: str,
        left: Callable[[Mapping[str, Any]], dict[str, Any]],
        **values: Any,
    ) -> None:
        """Replace JSON by what is left of it."""
        where = f"({where}) AND {column} IS NOT NULL" + ("" if self.dry else " FOR UPDATE")
        sql = text(_ROWS.format(table=table, column=column, where=where))
        changed = 0
        for row in (await self.connection.execute(sql, {**self._values, **values})).mappings().all():
            content = json.loads(row["content"])
            new = left(content)
            if new != content:
                changed += 1
                if not self.dry:
                    change = text(f"UPDATE {table} SET {column} = CAST(:new AS jsonb) WHERE ctid = CAST(:at AS tid)")
                    await self.connection.execute(change, {"new": json.dumps(new), "at": row["at"]})
        self._count(table, changed, changed)

    async def _revisions(self) -> None:
        values = {"all": [*self.withdrawn, *self.kept], "kept": list(self.kept)}
        for row in (await self.connection.execute(_REVISIONS, values)).mappings().all():
            left = erased_records.erased_draft(row["content"])
            if left == row["content"] and row["title"] == ERASED:
                continue
            self.revisions.append((row["id"], row["number"], row["digest"]))
            self._count("revisions", 1, 3)
            if not self.dry:
                words = {"content": json.dumps(left), "title": ERASED}
                of = {"id": row["id"], "number": row["number"], "searchable": searchable(Draft.model_validate(left))}
                await self.connection.execute(_ERASE_REVISION, {**words, **of})

    async def _origin_elsewhere(self) -> None:
        """Take the case's origin out of what was asked about it without naming the case."""
        row = (await self.connection.execute(_ORIGIN, self._values)).mappings().one()
        requests = self._table("retrieval_requests")
        if not row["external_id"].startswith(ERASED):
            where = _ASKED_FOR.format(tenant=requests.tenant)
            await self._shape("retrieval_requests", "request", where, erased_records.without_origin, **row)

    async def _shown_elsewhere(self) -> None:
        """Empty what answers showed of the case and its experiences, and mark the papers that cite them."""
        gone = [f"case/{self.case_id}", *(f"experience/{each}" for each in self.withdrawn)]
        kept = [f"experience/{each}" for each in self.kept]
        await self._shape("retrieval_candidates", "candidate", _REFS, erased_records.erased_candidate, refs=gone)
        await self._shape("retrieval_candidates", "candidate", _REFS, _without_source, refs=kept)
        nearest = partial(erased_records.erased_nearest, refs=gone)
        await self._shape("retrieval_requests", "answer", _NEAREST, nearest, refs=gone)
        for table, column in _WORDS_ABOUT:
            await self._words_about(table, column, gone)
        await self._citing_papers(gone)

    async def _words_about(self, table: str, column: str, gone: Sequence[str]) -> None:
        where = f"{_REFS} AND ({self._table(table).tenant}) AND t.{column} NOT IN ('', :erased)"
        values = {**self._values, "refs": list(gone), "erased": ERASED}
        found = await self.connection.execute(text(f"SELECT count(*) FROM {table} t WHERE {where}"), values)
        count = found.scalar_one()
        self._count(table, count, count)
        if count and not self.dry:
            await self.connection.execute(text(f"UPDATE {table} t SET {column} = :erased WHERE {where}"), values)

    async def _citing_papers(self, gone: Sequence[str]) -> None:
        citing = (await self.connection.execute(_CITING, {"refs": list(gone)})).mappings().all()
        tenants = {paper_id(row["decision_id"]): row["tenant_id"] for row in citing}
        consulted = (await self.connection.execute(_CONSULTED, {"refs": list(gone)})).mappings()
        tenants |= {row["paper_id"]: row["tenant_id"] for row in consulted}
        for paper in (await self.connection.execute(_PAPERS, {"ids": list(tenants)})).mappings().all():
            own = tenants[paper["id"]] == self.tenant_id
            marked = erased_records.marked_citations(paper["text"], gone, words=own)
            if marked == paper["text"]:
                continue
            self._count("case_papers", 1, 1)
            if not self.dry:
                await self.connection.execute(
                    text("UPDATE case_papers SET text = :text WHERE id = CAST(:id AS uuid)"),
                    {"text": marked, "id": paper["id"]},
                )

    async def _remove(self, name: str) -> None:
        where = "case_id = CAST(:case_id AS uuid)"
        found = await self.connection.execute(text(f"SELECT count(*) FROM {name} WHERE {where}"), self._values)
        count = found.scalar_one()
        self._count(name, count, count)
        if count and not self.dry:
            await self.connection.execute(text(f"DELETE FROM {name} WHERE {where}"), self._values)

    def _table(self, name: str) -> TextTable:
        return next(table for table in self.tables if table.name == name)

    @property
    def _values(self) -> dict[str, Any]:
        return {"case_id": self.case_id, "tenant": self.tenant_id}

    def _count(self, place: str, rows: int, fields: int) -> None:
        if rows:
            known = self.places.setdefault(place, [0, 0])
            known[0] += rows
            known[1] += fields


def _without_source(content: Mapping[str, Any]) -> dict[str, Any]:
    return {**content, "source_origin": None}


def _is_filled(column: TextColumn) -> str:
    name = f"t.{column.name}"
    if column.is_json:
        return f"coalesce({name}::text, '{{}}') NOT IN ('{{}}', '[]', 'null')"
    if column.is_list:
        return f"coalesce(cardinality({name}), 0) > 0"
    if column.is_opaque:
        return f"coalesce(length({name}), 0) > 0"
    if column.is_unique:
        return f"coalesce({name}, '') <> '' AND {name} NOT LIKE '{ERASED}%'"
    return f"coalesce({name}, '') NOT IN ('', '{ERASED}')"


def _emptied(column: TextColumn) -> str:
    name = f"t.{column.name}"
    if column.is_json:
        empty = (
            f"CASE WHEN {name} IS NULL THEN NULL WHEN jsonb_typeof({name}::jsonb) = 'array' THEN '[]' ELSE '{{}}' END"
        )
        return f"CAST({empty} AS {column.type})"
    if column.is_list:
        return f"CASE WHEN {name} IS NULL THEN NULL ELSE CAST('{{}}' AS {column.type}) END"
    if column.is_opaque:
        return f"CASE WHEN {name} IS NULL THEN NULL ELSE CAST('' AS {column.type}) END"
    if column.is_unique:
        return f"CASE WHEN {_is_filled(column)} THEN '{ERASED} ' || left(gen_random_uuid()::text, 8) ELSE {name} END"
    return f"CASE WHEN coalesce({name}, '') = '' THEN {name} ELSE '{ERASED}' END"
