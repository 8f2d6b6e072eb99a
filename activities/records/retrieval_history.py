"""A past retrieval: all that is recorded of it, and the record as it stood when it was answered (R20).

What was current is told by the numbers that the engine kept, for the clocks of an answer and of a change differ. Where
none were kept yet, revisions tell when they were current: a published one is never published again. Cases are live and
keep no earlier text beside their state, so a case counts as it was only while its revision is still the one of then.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime
from typing import Any

from pydantic import ValidationError
from sqlalchemy import RowMapping, text
from sqlalchemy.ext.asyncio import AsyncConnection

from activities.records.candidate_rows import case_record, ids_by_kind, published_record
from activities.records.consultation_rows import OF_RETRIEVAL, view_of
from activities.records.database import Database
from activities.records.feedbacks import FEEDBACK_OF
from activities.records.ids import is_id
from activities.records.retrieval_tasks import read_answer
from activities.records.retrievals import RetrievalsTable
from activities.records.rows import CASE
from activities.records.supersessions import read_earlier
from contracts.articles import draft_of
from contracts.candidates import CandidateRecord, Earlier, Past, Resolution, RetrievalTask
from contracts.errors import InvalidInput, UnknownRetrieval
from contracts.feedback import FeedbackView
from contracts.labels import CandidateKind
from contracts.rankings import Rankings
from contracts.retrieval import Citation, FreshCheck, MemoryUse, RetrievalRequest
from contracts.retrieval_record import BroadeningDone, CheckDone, ReadDone, RetrievalRecord, UseDone, as_shown
from contracts.strategy import Strategy

_RANKINGS = text("SELECT rankings FROM retrieval_requests WHERE id = CAST(:id AS uuid)")
_REVISIONS = """
SELECT r.kind, r.experience_id::text AS id, r.number, r.digest, r.title, r.domain_id,
       CAST(r.content AS text) AS content, r.published_at,
       CAST(NULL AS text) AS case_id, CAST(NULL AS text) AS source, CAST(NULL AS text) AS external_id
  FROM revisions r
"""
_NUMBERED = text(f"""{_REVISIONS}
  JOIN unnest(CAST(:ids AS uuid[]), CAST(:numbers AS integer[])) AS kept (id, number)
    ON kept.id = r.experience_id AND kept.number = r.number
""")
_THEN = text(f"""{_REVISIONS}
 WHERE r.experience_id = ANY (CAST(:ids AS uuid[])) AND r.published_at <= :at
   AND (r.ended_at IS NULL OR r.ended_at > :at)
   AND NOT coalesce((SELECT t.suspended FROM transitions t WHERE t.experience_id = r.experience_id AND t.at <= :at
                      ORDER BY t.seq DESC LIMIT 1), false)
""")
_CASES = text(f"""
SELECT k.*, x.erased_at IS NOT NULL AS is_erased
  FROM ({CASE} WHERE c.id = ANY (CAST(:ids AS uuid[]))) k JOIN cases x ON x.id = CAST(k.id AS uuid)
""")
_SEEN_CASES = text("SELECT id::text FROM cases WHERE id = ANY (CAST(:ids AS uuid[]))")
_RECORD = text("""
SELECT q.id::text AS request_id, q.principal_id, q.profile_id, q.requested_at, q.request, q.answer, v.definition,
       v.digest, q.rankings IS NOT NULL AS can_rerun
  FROM retrieval_requests q
  JOIN strategy_versions v ON v.strategy_id = q.strategy_id AND v.version = q.strategy_version
 WHERE q.id = CAST(:id AS uuid)
""")
_READS = text("""
SELECT ref, revision, read_at FROM retrieval_reads WHERE request_id = CAST(:id AS uuid) ORDER BY read_at, ref, revision
""")
_USES = text("""
SELECT decision_id::text AS decision_id, request_id::text AS request_id, summary, decided_by, decided_at,
       count(*) OVER () AS of_all
  FROM memory_uses WHERE request_id = CAST(:id AS uuid) ORDER BY decided_at, decision_id LIMIT :limit
""")
_BROADENINGS = text("""
SELECT request_id::text AS request_id, reason, widened, asked_by, asked_at, count(*) OVER () AS of_all
  FROM broadenings WHERE broadened_from = CAST(:id AS uuid) ORDER BY asked_at, request_id LIMIT :limit
""")
_VERDICTS = text("""
SELECT decision_id::text AS decision_id, ref, revision, verdict, why FROM retrieval_verdicts
 WHERE decision_id = ANY (CAST(:ids AS uuid[])) ORDER BY ref, revision
""")
_CHECKS = text("""
SELECT decision_id::text AS decision_id, check_id, text, outcome, note, settled_at, settled_by FROM fresh_checks
 WHERE decision_id = ANY (CAST(:ids AS uuid[])) ORDER BY check_id
""")
_CHANGED = "has changed since; what it said then is not kept as one text"
_ERASED = "was erased since"
MOST_USES = 200
"""Decisions of one retrieval, and broadenings, that its record holds."""


class RetrievalHistoryTable:
    """`contracts.ports.RetrievalHistory` on Postgres, and the record of one retrieval."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._retrievals = RetrievalsTable(database)

    async def load(self, request_id: str) -> RetrievalTask:
        """See `contracts.ports.RetrievalHistory.load`."""
        return await self._retrievals.load(request_id)

    async def rankings(self, request_id: str) -> Rankings | None:
        """See `contracts.ports.RetrievalHistory.rankings`."""
        async with self._database.as_system() as connection:
            kept = (await connection.execute(_RANKINGS, {"id": request_id})).scalar_one_or_none()
        return None if kept is None else Rankings.model_validate(kept)

    async def as_of(self, task: RetrievalTask, targets: Sequence[str], rankings: Rankings, at: datetime) -> Past:
        """See `contracts.ports.RetrievalHistory.as_of`.

        Read across scopes: what the caller was shown may be outside its grants by now. Nothing of it is told again
        (see `contracts.retrieval_record.Rerun`).
        """
        del task
        hidden = frozenset(rankings.not_permitted)
        asked = [target for target in targets if target not in hidden]
        async with self._database.as_system() as connection:
            revisions, earlier = await _published_then(connection, asked, rankings, at)
            ids = ids_by_kind(asked)[CandidateKind.CASE]
            cases = (await connection.execute(_CASES, {"ids": ids})).mappings().all()
        records: dict[str, CandidateRecord] = {}
        unknown: dict[str, str] = {}
        for row in revisions:
            record = _published(row)
            if record is None:
                unknown[f"{row['kind']}/{row['id']}"] = _ERASED
            else:
                records[record.target] = replace(record, supersedes=earlier.get(record.target, ()))
        for row in cases:
            target = f"{CandidateKind.CASE}/{row['id']}"
            if target not in rankings.cases:
                continue  # the caller could not see it then
            if row["is_erased"]:
                unknown[target] = _ERASED
                continue
            records[target] = case_record(row)
            if records[target].revision != rankings.cases[target]:
                unknown[target] = _CHANGED
        gone = frozenset(each for each in targets if each not in records and each not in hidden)
        erased = frozenset(target for target, why in unknown.items() if why == _ERASED)
        return Past(Resolution(records, gone, hidden & {*targets}), unknown, erased)

    async def record(self, principal_id: str | None, request_id: str) -> RetrievalRecord:
        """Return everything that is recorded of a retrieval.

        Args:
            principal_id: Who reads, under row-level security; None reads as the system, for an operator.
            request_id: The retrieval.

        Raises:
            UnknownRetrieval: There is none that the reader may see.
        """
        async with self._reading(principal_id) as connection:
            found = await connection.execute(_RECORD, {"id": request_id if is_id(request_id) else None})
            row = found.mappings().first()
            if row is None:
                raise UnknownRetrieval("There is no such retrieval in your scope.", field="request_id")
            reads = (await connection.execute(_READS, {"id": request_id})).mappings()
            asked = (await connection.execute(OF_RETRIEVAL, {"id": request_id})).mappings()
            most = {"id": request_id, "limit": MOST_USES}
            wider = (await connection.execute(_BROADENINGS, most)).mappings().all()
            uses = (await connection.execute(_USES, most)).mappings().all()
            record = RetrievalRecord(
                **{name: row[name] for name in row if name not in ("definition", "digest", "answer", "request")},
                strategy=Strategy.model_validate(row["definition"]),
                strategy_digest=row["digest"],
                request=RetrievalRequest.model_validate(row["request"]),
                answer=await read_answer(connection, request_id, row["answer"]),
                reads=tuple(ReadDone.model_validate(dict(each)) for each in reads),
                uses=await _uses(connection, uses),
                uses_left_out=_left_out(uses),
                consultations=tuple(view_of(each) for each in asked),
                broadenings=tuple(
                    BroadeningDone(**{name: each[name] for name in BroadeningDone.model_fields}) for each in wider
                ),
                broadenings_left_out=_left_out(wider),
            )
        return record if principal_id is None else as_shown(record, principal_id)

    async def require(self, principal_id: str, request_id: str) -> None:
        """Refuse a retrieval that the principal may not see.

        Raises:
            UnknownRetrieval: There is none in its scope.
        """
        async with self._database.as_principal(principal_id) as connection:
            found = await connection.execute(_RECORD, {"id": request_id if is_id(request_id) else None})
            if found.first() is None:
                raise UnknownRetrieval("There is no such retrieval in your scope.", field="request_id")

    async def seen_cases(self, principal_id: str, targets: Sequence[str]) -> set[str]:
        """Return those cases among `targets` that the principal may see now (R4)."""
        ids = ids_by_kind(targets)[CandidateKind.CASE]
        async with self._database.as_principal(principal_id) as connection:
            found = await connection.execute(_SEEN_CASES, {"ids": ids})
            return {f"{CandidateKind.CASE}/{case_id}" for case_id in found.scalars()}

    @asynccontextmanager
    async def _reading(self, principal_id: str | None) -> AsyncGenerator[AsyncConnection]:
        if principal_id is None:
            async with self._database.as_system() as connection:
                yield connection
            return
        async with self._database.as_principal(principal_id) as connection:
            yield connection


def _left_out(rows: Sequence[RowMapping]) -> int:
    """Return how many rows there are beyond these."""
    return rows[0]["of_all"] - len(rows) if rows else 0


async def _uses(connection: AsyncConnection, rows: Sequence[RowMapping]) -> tuple[UseDone, ...]:
    ids = {"ids": [row["decision_id"] for row in rows]}
    verdicts = (await connection.execute(_VERDICTS, ids)).mappings().all()
    checks = (await connection.execute(_CHECKS, ids)).mappings().all()
    feedback = (await connection.execute(FEEDBACK_OF, ids)).mappings().all()
    return tuple(
        UseDone(
            use=MemoryUse(
                **{name: row[name] for name in ("decision_id", "request_id", "summary")},
                citations=tuple(Citation.model_validate(each) for each in _of(row, verdicts)),
                checks=tuple(FreshCheck.model_validate(each) for each in _of(row, checks)),
            ),
            decided_by=row["decided_by"],
            decided_at=row["decided_at"],
            checks=tuple(CheckDone.model_validate(each) for each in _of(row, checks)),
            feedback=tuple(FeedbackView.model_validate(each) for each in _of(row, feedback)),
        )
        for row in rows
    )


async def _published_then(
    connection: AsyncConnection, targets: Sequence[str], rankings: Rankings, at: datetime
) -> tuple[Sequence[RowMapping], dict[str, tuple[Earlier, ...]]]:
    """Return the revisions that were current then, and what each target had taken over from."""
    current = rankings.current()
    if current is None:
        by_kind = ids_by_kind(targets)
        ids = [*by_kind[CandidateKind.EXPERIENCE], *by_kind[CandidateKind.ARTICLE]]
        rows = (await connection.execute(_THEN, {"ids": ids, "at": at})).mappings().all()
        return rows, await read_earlier(connection, ids, at)
    numbers = {target.partition("/")[2]: current[target] for target in targets if target in current}
    values = {"ids": list(numbers), "numbers": list(numbers.values())}
    rows = (await connection.execute(_NUMBERED, values)).mappings().all()
    kept = {target: {(each.ref, each.revision) for each in known} for target, known in rankings.earlier.items()}
    successors = [target.partition("/")[2] for target in targets if target in kept]
    now = await read_earlier(connection, successors)
    return rows, {
        target: tuple(each for each in known if (each.ref, each.revision) in kept.get(target, ()))
        for target, known in now.items()
    }


def _of(use: RowMapping, rows: Sequence[RowMapping]) -> list[dict[str, Any]]:
    return [dict(row) for row in rows if row["decision_id"] == use["decision_id"]]


def _published(row: RowMapping) -> CandidateRecord | None:
    """Return the revision; None when its text is not the one that was published any more."""
    try:
        if draft_of(json.loads(row["content"])).digest() != row["digest"]:
            return None
    except (ValidationError, InvalidInput):
        return None
    return published_record(row)
