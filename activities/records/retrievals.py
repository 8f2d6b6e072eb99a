"""Retrieval's reads and its memory-use record (R10, R13, R16, R20)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from activities.records.candidate_rows import ids_by_kind, read_work, resolve
from activities.records.database import Database, narrowed_to
from activities.records.feedback_counts import Cited, read_feedback
from activities.records.ids import array_of
from activities.records.outbox import read_watermarks
from activities.records.retrieval_tasks import read_answer, read_task
from activities.records.supersessions import read_earlier
from contracts.candidates import CandidateRecord, CanonicalLookup, Earlier, Found, Resolution, RetrievalTask
from contracts.feedback import CandidateFeedback
from contracts.index import Scope
from contracts.keys import identity, spellings
from contracts.labels import CandidateKind
from contracts.outbox import Watermark
from contracts.rankings import Rankings
from contracts.retrieval import Answer

# Row-level security keeps array and text search from using their indexes (their operators may leak), so such a
# search runs as the system inside the caller's derived scope, and what it finds is read again as the caller.
_IN_SCOPE = "(c.tenant_id = ANY (CAST(:tenants AS text[])) OR c.id = ANY (CAST(:cases AS uuid[])))"
# What the registry knows in the caller's own tenants and its grants leave out is found too, and counted (R15, R21).
_OF_OWN_TENANTS = """c.tenant_id IN (
   SELECT tenant_id FROM grants WHERE principal_id = :who AND (expires_at IS NULL OR expires_at > now())
      AND (CAST(:narrowed AS text[]) IS NULL OR tenant_id = ANY (CAST(:narrowed AS text[]))))"""
_ORIGIN = text(f"""
SELECT 'case/' || c.id::text FROM cases c JOIN origins o ON o.id = c.origin_id
 WHERE o.source = :source AND o.external_id = :external_id AND ({_IN_SCOPE} OR {_OF_OWN_TENANTS})
   AND (CAST(:tenant AS text) IS NULL OR c.tenant_id = :tenant)
 ORDER BY {_IN_SCOPE} DESC, c.opened_at DESC, c.id LIMIT :limit
""")
_OBJECTS = text(f"""
SELECT 'case/' || c.id::text FROM cases c
 WHERE c.object_refs && CAST(:refs AS text[]) AND ({_IN_SCOPE} OR {_OF_OWN_TENANTS})
   AND (CAST(:tenant AS text) IS NULL OR c.tenant_id = :tenant)
 ORDER BY {_IN_SCOPE} DESC, c.opened_at DESC, c.id LIMIT :limit
""")
# Read as the caller: the case that the work is for, and what people decided that it is linked to (R2).
_OF_CASE = text("""
SELECT c.object_refs,
       ARRAY(SELECT 'case/' || CASE WHEN l.case_id = c.id THEN l.other_case_id ELSE l.case_id END::text
               FROM case_links l WHERE c.id IN (l.case_id, l.other_case_id) AND l.removed_at IS NULL
              ORDER BY l.decided_at DESC, l.id LIMIT :limit) AS links
  FROM cases c WHERE c.id = CAST(:id AS uuid)
""")
_SEEN = text("""
SELECT 'case/' || c.id::text AS target, c.revision FROM cases c
 WHERE c.erased_at IS NULL AND c.id = ANY (CAST(:case AS uuid[]))
UNION ALL
SELECT 'experience/' || r.experience_id::text, r.number FROM revisions r
 WHERE r.experience_id = ANY (CAST(:experience AS uuid[])) AND r.kind = 'experience' AND r.state = 'current'
UNION ALL
SELECT 'article/' || r.experience_id::text, r.number FROM revisions r
 WHERE r.experience_id = ANY (CAST(:article AS uuid[])) AND r.kind = 'article' AND r.state = 'current'
""")
# Any word may match; rank decides. plainto_tsquery joins by AND, so its operators are turned into OR. Texts are kept as
# they came, and full text takes a composed and a decomposed letter for two: it is asked for both spellings (R22).
_QUERY = """
(SELECT CAST(replace(CAST(plainto_tsquery('simple', normalize(:text, NFC) || ' ' || normalize(:text, NFD)) AS text),
                     ' & ', ' | ') AS tsquery) AS q) AS asked"""
_PENDING = """
 AND {id} IN (SELECT CAST(split_part(key, '/', 2) AS uuid) FROM outbox
               WHERE topic = 'index' AND delivered_at IS NULL AND source = '{source}')
"""
_CANONICAL = {
    CandidateKind.EXPERIENCE: f"""
SELECT 'experience/' || r.experience_id::text AS target, ts_rank(r.search, q) AS rank
  FROM revisions r, {_QUERY}
 WHERE r.kind = 'experience' AND r.state = 'current' AND r.search @@ q
   AND (cardinality(CAST(:domains AS text[])) = 0 OR r.domain_id = ANY (CAST(:domains AS text[])))
   AND r.outcome = ANY (CAST(:outcomes AS text[])) {{pending}}""",
    CandidateKind.CASE: f"""
SELECT 'case/' || c.id::text AS target, ts_rank(c.search, q) AS rank
  FROM cases c, {_QUERY}
 WHERE c.search @@ q AND {_IN_SCOPE} {{pending}}""",
    CandidateKind.ARTICLE: f"""
SELECT 'article/' || r.experience_id::text AS target, ts_rank(r.search, q) AS rank
  FROM revisions r, {_QUERY}
 WHERE r.kind = 'article' AND r.state = 'current' AND r.search @@ q
   AND (cardinality(CAST(:domains AS text[])) = 0 OR r.domain_id = ANY (CAST(:domains AS text[]))) {{pending}}""",
}
_ID = {
    CandidateKind.EXPERIENCE: "r.experience_id",
    CandidateKind.CASE: "c.id",
    CandidateKind.ARTICLE: "r.experience_id",
}
_SAVE = text("""
WITH saved AS (
  UPDATE retrieval_requests SET answer = CAST(:answer AS jsonb), abstained = :abstained, answered_at = :answered_at,
         rankings = CAST(:rankings AS jsonb)
   WHERE id = CAST(:id AS uuid) AND answer IS NULL
  RETURNING id
), listed AS (
  INSERT INTO retrieval_candidates (request_id, rank, ref, revision, candidate)
  SELECT saved.id, c.rank, c.candidate ->> 'ref', CAST(c.candidate ->> 'revision' AS integer), c.candidate
    FROM saved, jsonb_array_elements(CAST(:candidates AS jsonb)) WITH ORDINALITY AS c (candidate, rank)
)
SELECT count(*) FROM saved
""")
_USED = text("""
UPDATE strategy_versions SET first_used_at = clock_timestamp()
 WHERE strategy_id = :strategy_id AND version = :version AND first_used_at IS NULL
""")


class RetrievalsTable:
    """`contracts.ports.RetrievalRecords` on Postgres."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._used: set[str] = set()

    async def load(self, request_id: str) -> RetrievalTask:
        """See `contracts.ports.RetrievalRecords.load`."""
        async with self._database.as_system_apart() as connection:
            return await read_task(connection, request_id)

    @asynccontextmanager
    async def _as_caller(self, task: RetrievalTask) -> AsyncGenerator[AsyncConnection]:
        """Open a transaction that sees what the caller may see, with the credential that it asked with (R4)."""
        with narrowed_to(task.narrowed_to):
            async with self._database.as_principal(task.principal_id) as connection:
                yield connection

    async def registry(self, task: RetrievalTask, limit: int) -> list[Found]:
        """See `contracts.ports.RetrievalRecords.registry`."""
        request = task.request
        most = limit + 1  # the case that the work is for is found, too, and is not news
        refs, linked = list(request.object_refs), list[str]()
        if request.case_id is not None:
            async with self._as_caller(task) as connection:
                case = (await connection.execute(_OF_CASE, {"id": request.case_id, "limit": limit})).mappings().first()
            if case is not None:
                refs, linked = [*refs, *case["object_refs"]], list(case["links"])
        same, related = await self._registered(task, refs, most)
        by_field = {"origin": same, "links": linked, "object_refs": related}
        targets = [each for each in dict.fromkeys((*same, *linked, *related)) if each != f"case/{request.case_id}"]
        async with self._as_caller(task) as connection:
            seen = await _seen(connection, targets)
        return [
            Found(target, seen.get(target, 0), tuple(field for field, hits in by_field.items() if target in hits))
            for target in sorted(targets, key=lambda target: target not in seen)
        ][:limit]

    async def _registered(self, task: RetrievalTask, refs: Sequence[str], most: int) -> tuple[list[str], list[str]]:
        """Return the cases of the request's origin and those of any of the objects."""
        request = task.request
        values = {
            **_scope_values(task.scope),
            "who": task.principal_id,
            "narrowed": None if task.narrowed_to is None else list(task.narrowed_to),
            "tenant": request.tenant_id,
            "limit": most,
        }
        same: list[str] = []
        related: list[str] = []
        async with self._database.as_system_apart() as connection:
            if request.origin is not None:
                origin = {name: identity(value) for name, value in request.origin.model_dump().items()}
                same = list((await connection.execute(_ORIGIN, {**values, **origin})).scalars())
            if refs:
                spelt = sorted({spelling for ref in refs for spelling in (ref, *spellings(ref))})
                related = list((await connection.execute(_OBJECTS, {**values, "refs": spelt})).scalars())
        return same, related

    async def canonical(self, task: RetrievalTask, lookup: CanonicalLookup) -> list[Found]:
        """See `contracts.ports.RetrievalRecords.canonical`."""
        parts = [
            _CANONICAL[kind].format(pending=_PENDING.format(id=_ID[kind], source=kind) if lookup.pending_only else "")
            for kind in lookup.kinds
        ]
        sql = text(f"SELECT target FROM ({' UNION ALL '.join(parts)}) AS found ORDER BY rank DESC, target LIMIT :limit")
        values = {
            "text": lookup.text,
            "domains": list(lookup.domains),
            "outcomes": list(lookup.outcomes),
            "limit": lookup.limit,
            **_scope_values(task.scope),
        }
        async with self._database.as_system_apart() as connection:
            targets = list((await connection.execute(sql, values)).scalars())
        async with self._as_caller(task) as connection:
            seen = await _seen(connection, targets)
        return [Found(target, seen[target], ("text",)) for target in targets if target in seen]

    async def resolve(self, task: RetrievalTask, targets: Sequence[str], others: Sequence[str] = ()) -> Resolution:
        """See `contracts.ports.RetrievalRecords.resolve`."""
        (seen, others_seen), (earlier, counted, work) = await asyncio.gather(
            self._seen_now(task, targets, others), self._beside(task, targets)
        )
        for target, record in seen.items():
            beside = counted.get((target, record.revision))
            if target in earlier or target in work or beside is not None:
                feedback = beside or record.feedback
                seen[target] = replace(
                    record, supersedes=earlier.get(target, ()), feedback=feedback, work=work.get(target, "")
                )
        unseen = [target for target in targets if target not in seen]
        unseen += [target for target in others if target not in others_seen]
        withdrawn, not_permitted = await self._explain(task, unseen)
        return Resolution(records=seen, withdrawn=withdrawn, not_permitted=not_permitted)

    async def seen(self, task: RetrievalTask, targets: Sequence[str]) -> dict[str, CandidateRecord]:
        """See `contracts.ports.RetrievalRecords.seen`."""
        return (await self._seen_now(task, targets, ()))[0]

    async def _seen_now(
        self, task: RetrievalTask, targets: Sequence[str], others: Sequence[str]
    ) -> tuple[dict[str, CandidateRecord], dict[str, int]]:
        async with self._as_caller(task) as connection:
            return await resolve(connection, targets), await _seen(connection, others)

    async def _beside(
        self, task: RetrievalTask, targets: Sequence[str]
    ) -> tuple[dict[str, tuple[Earlier, ...]], dict[Cited, CandidateFeedback], dict[str, str]]:
        """Return what each target took over from, what is counted beside it, and where hours are compared its work.

        Read as the system, while the others are checked.
        """
        by_kind = ids_by_kind(targets)
        ids = [*by_kind[CandidateKind.EXPERIENCE], *by_kind[CandidateKind.ARTICLE]]
        async with self._database.as_system_apart() as connection:
            earlier = await read_earlier(connection, ids) if ids else {}
            work = await read_work(connection, targets) if task.strategy.effort_minimum is not None else {}
            counted = await read_feedback(connection, targets, scope=task.scope, asker=task.principal_id)
            return earlier, counted, work

    async def _explain(self, task: RetrievalTask, unseen: Sequence[str]) -> tuple[frozenset[str], frozenset[str]]:
        """Tell what the caller can't see apart: no longer current, or outside its grants in its own tenants (R21)."""
        cases = ids_by_kind(unseen)[CandidateKind.CASE]
        withdrawn = frozenset(target for target in unseen if not target.startswith("case/"))
        if not cases:
            return withdrawn, frozenset()
        async with self._database.as_system_apart() as connection:
            rows = await connection.execute(
                text(
                    "SELECT c.id::text FROM cases c WHERE c.erased_at IS NULL AND c.id = ANY (CAST(:ids AS uuid[]))"
                    " AND c.tenant_id IN (SELECT tenant_id FROM grants WHERE principal_id = :who"
                    " AND (expires_at IS NULL OR expires_at > now())"
                    " AND (CAST(:narrowed AS text[]) IS NULL OR tenant_id = ANY (CAST(:narrowed AS text[]))))"
                ),
                {
                    "ids": array_of(cases),
                    "who": task.principal_id,
                    "narrowed": None if task.narrowed_to is None else list(task.narrowed_to),
                },
            )
            return withdrawn, frozenset(f"case/{case_id}" for case_id in rows.scalars())

    async def watermarks(self) -> list[Watermark]:
        """See `contracts.ports.RetrievalRecords.watermarks`."""
        async with self._database.as_system_apart() as connection:
            return await read_watermarks(connection)

    async def save(self, task: RetrievalTask, answer: Answer, rankings: Rankings) -> Answer:
        """See `contracts.ports.RetrievalRecords.save`."""
        values = {
            "id": task.request.request_id,
            "answer": answer.model_dump_json(exclude={"candidates"}),
            "abstained": answer.abstained,
            "answered_at": answer.answered_at,
            "rankings": rankings.model_dump_json(exclude_defaults=True),
            "candidates": f"[{','.join(candidate.model_dump_json() for candidate in answer.candidates)}]",
        }
        is_new = answer.strategy_digest not in self._used
        async with self._database.as_system() if is_new else self._database.as_system_apart() as connection:
            if not (await connection.execute(_SAVE, values)).scalar_one():
                stored = await connection.execute(
                    text("SELECT answer FROM retrieval_requests WHERE id = CAST(:id AS uuid)"), values
                )
                return await read_answer(connection, task.request.request_id, stored.scalar_one()) or answer
            if is_new:
                await connection.execute(_USED, {"strategy_id": task.strategy.id, "version": task.strategy.version})
        self._used.add(answer.strategy_digest)  # after the commit: it is told once by each process
        return answer


def _scope_values(scope: Scope) -> dict[str, Any]:
    return {"tenants": sorted(scope.tenants), "cases": sorted(scope.cases)}


async def _seen(connection: AsyncConnection, targets: Sequence[str]) -> dict[str, int]:
    """Return the revision of each current target that the transaction's principal may see."""
    if not targets:
        return {}
    ids = {kind: array_of(each) for kind, each in ids_by_kind(targets).items()}
    rows = await connection.execute(_SEEN, ids)
    return {row[0]: row[1] for row in rows}
