"""The case registry: state, papers and results (R3, R5).

No workflow runs for a case: its state lives in Postgres and changes in one transaction with its outbox event, and
nothing about it waits, has a deadline or is retried. A workflow for each case would be a second copy of that state,
which could disagree with the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from activities.records.case_merges import with_merges
from activities.records.database import Database
from activities.records.ids import is_id
from activities.records.publication import announce
from activities.records.rows import CASE, case_of
from contracts import limits
from contracts.arrivals import canonical, origin_key
from contracts.cases import Case, CaseResult, Origin, Paper
from contracts.errors import IdempotencyConflict, InvalidField, StaleRevision, UnknownCase, UnverifiedResult
from contracts.labels import CaseState, PaperKind
from contracts.text import check_text, digest

_PAPER = text("""
INSERT INTO case_papers (id, tenant_id, case_id, kind, title, text, digest, author_id)
VALUES (CAST(:id AS uuid), :tenant_id, CAST(:case_id AS uuid), :kind, :title, :text, :digest, :author_id)
ON CONFLICT DO NOTHING
""")
_RESULT = text("""
INSERT INTO case_results (id, tenant_id, case_id, outcome, proof_level, summary, execution_paper_id, proof_paper_id,
                          effort, recorded_by)
VALUES (CAST(:id AS uuid), :tenant_id, CAST(:case_id AS uuid), :outcome, :proof_level, :summary,
        CAST(:execution_paper_id AS uuid), CAST(:proof_paper_id AS uuid), CAST(:effort AS jsonb), :recorded_by)
ON CONFLICT DO NOTHING
""")
_FIND_RESULT = text("""
SELECT id::text AS id, case_id::text AS case_id, outcome, proof_level, summary, effort,
       execution_paper_id::text AS execution_paper_id, proof_paper_id::text AS proof_paper_id
  FROM case_results WHERE id = CAST(:id AS uuid)
""")
_CHANGE_STATE = text("""
UPDATE cases SET state = :state, waiting_on = :waiting_on, state_since = :at, revision = revision + 1
 WHERE id = CAST(:case_id AS uuid) AND revision = :expected
RETURNING tenant_id
""")
_STATE = text("""
INSERT INTO case_states (case_id, seq, tenant_id, state, waiting_on, changed_by, at)
SELECT CAST(:case_id AS uuid), coalesce(max(seq), 0) + 1, :tenant_id, :state, :waiting_on, :by, :at
  FROM case_states WHERE case_id = CAST(:case_id AS uuid)
""")
_LAST_CHANGE = text("""
SELECT 1 FROM case_states
 WHERE case_id = CAST(:case_id AS uuid)
   AND seq = (SELECT max(seq) FROM case_states WHERE case_id = CAST(:case_id AS uuid))
   AND state = :state AND waiting_on = :waiting_on AND at = :at AND changed_by = :by
""")
_EARLIEST, _LATEST = datetime(1900, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)


class Cases:
    """Reads and changes cases inside the caller's scope."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, principal_id: str, case_id: str) -> Case:
        """Return a case as it stands now, with the merge that stands on it.

        Raises:
            UnknownCase: There is none in the caller's scope.
        """
        async with self._database.as_principal(principal_id) as connection:
            return await self._with_merge(connection, await require_case(connection, case_id))

    async def listed(
        self, principal_id: str, *, tenant_id: str, state: CaseState | None = None, limit: int = 50
    ) -> list[Case]:
        """Return a tenant's newest cases that the caller may see, at most 200."""
        check_text(tenant_id, field="tenant_id", limit=limits.IDENTIFIER)
        where = "WHERE c.tenant_id = :tenant_id" + (" AND c.state = :state" if state is not None else "")
        sql = text(f"{CASE} {where} ORDER BY c.opened_at DESC, c.id LIMIT :limit")
        async with self._database.as_principal(principal_id) as connection:
            rows = await connection.execute(
                sql, {"tenant_id": tenant_id, "state": state, "limit": max(0, min(limit, 200))}
            )
            return await with_merges(self._database, connection, [case_of(row) for row in rows.mappings()])

    async def of_origin(self, principal_id: str, origin: Origin) -> Case | None:
        """Return the case of a source request, whose source and id are taken in any spelling of one identity (R1)."""
        sql = text(f"{CASE} WHERE o.key = :key")
        async with self._database.as_principal(principal_id) as connection:
            row = (await connection.execute(sql, {"key": origin_key(canonical(origin))})).mappings().first()
            return None if row is None else await self._with_merge(connection, case_of(row))

    async def change_state(
        self,
        principal_id: str,
        case_id: str,
        state: CaseState,
        *,
        expected_revision: int,
        at: datetime,
        waiting_on: str = "",
    ) -> Case:
        """Move a case to `state`, if it still is at `expected_revision` (R24).

        The caller's own change once more, as after a lost answer, is answered as it was the first time.

        Raises:
            UnknownCase: There is none in the caller's scope.
            StaleRevision: Somebody changed it in between; says to what.
            InvalidField: Waiting without saying on whom, or a time that can't be one.
        """
        check_moment(at, field="at")
        check_text(waiting_on, field="waiting_on", limit=limits.LINE, allow_blank=True)
        if (state is CaseState.WAITING) != bool(waiting_on.strip()):
            raise InvalidField("A waiting case says on whom.", field="waiting_on", accepted="who is awaited")
        values = {
            "case_id": case_id, "state": state, "waiting_on": waiting_on, "expected": expected_revision, "at": at,
        }  # fmt: skip
        async with self._database.as_principal(principal_id) as connection:
            case = await require_case(connection, case_id)
            tenant = (await connection.execute(_CHANGE_STATE, values)).scalar_one_or_none()
            if tenant is None and case.revision == expected_revision + 1:
                mine = await connection.execute(_LAST_CHANGE, {**values, "by": principal_id})
                if mine.first() is not None:
                    return await self._with_merge(connection, case)
            if tenant is None:
                case = await require_case(connection, case_id)
                raise StaleRevision(
                    f"The case is at revision {case.revision}, {case.state}.",
                    field="expected_revision",
                    accepted=str(case.revision),
                )
            await connection.execute(_STATE, {**values, "tenant_id": tenant, "by": principal_id})
            case = await self._with_merge(connection, await require_case(connection, case_id))
            await announce(connection, f"case/{case_id}")
            return case

    async def _with_merge(self, connection: AsyncConnection, case: Case) -> Case:
        return (await with_merges(self._database, connection, [case]))[0]

    async def add_papers(self, principal_id: str, case_id: str, papers: Sequence[Paper]) -> None:
        """File papers in a case; idempotent by each paper's id.

        Raises:
            UnknownCase: There is none in the caller's scope.
            IdempotencyConflict: A paper of this id says something else.
            InvalidField: A memory use is filed by the product itself.
        """
        async with self._database.as_principal(principal_id) as connection:
            case = await require_case(connection, case_id)
            await file_papers(connection, principal_id, case, papers)

    async def record_result(
        self,
        principal_id: str,
        result: CaseResult,
        papers: Sequence[Paper] = (),
        *,
        complete_at: datetime | None = None,
    ) -> None:
        """Record what a case ended with, filing its papers with it; idempotent by the result's id (R5).

        Args:
            principal_id: Who records it.
            result: Outcome and proof level, naming papers of the case.
            papers: Papers to file in the same transaction.
            complete_at: When given, the case is completed at this time.

        Raises:
            UnknownCase: There is none in the caller's scope.
            UnverifiedResult: A named paper is not an execution or proof paper of this case.
            IdempotencyConflict: The same id was used with other content.
            InvalidField: A time that can't be one, or an estimate that nobody means.
        """
        if complete_at is not None:
            check_moment(complete_at, field="complete_at")
        async with self._database.as_principal(principal_id) as connection:
            case = await require_case(connection, result.case_id)
            await file_papers(connection, principal_id, case, papers)
            await _require_papers(connection, result)
            values = {
                **result.model_dump(mode="json"),
                "effort": result.effort.model_dump_json() if result.effort else None,
                "tenant_id": case.origin.tenant_id,
                "recorded_by": principal_id,
            }
            added = (await connection.execute(_RESULT, values)).rowcount
            if not added and await find_result(connection, result.id) != result:
                raise IdempotencyConflict("This result was recorded with other content.", field="id")
            if added and result.effort is not None:  # a repeat of what was recorded before the rule stays one
                result.effort.check_estimate()
            if added and complete_at is not None and case.state is not CaseState.COMPLETED:
                state = {
                    "case_id": case.id, "state": CaseState.COMPLETED, "waiting_on": "", "expected": case.revision,
                    "at": complete_at, "tenant_id": case.origin.tenant_id, "by": principal_id,
                }  # fmt: skip
                if (await connection.execute(_CHANGE_STATE, state)).first() is None:
                    raise StaleRevision("The case changed meanwhile.", field="case_id", accepted="try again")
                await connection.execute(_STATE, state)
                await announce(connection, f"case/{case.id}")


def check_moment(moment: datetime, *, field: str) -> None:
    """Refuse a time without zone, and one that no case can mean and some database client can't read back.

    Raises:
        InvalidField: Names the field.
    """
    if moment.tzinfo is None or not _EARLIEST <= moment <= _LATEST:
        raise InvalidField(
            "The time has no zone, or is not of our days.",
            field=field,
            accepted=f"a time with its zone from {_EARLIEST.year} to {_LATEST.year}",
        )


async def require_case(connection: AsyncConnection, case_id: str) -> Case:
    """Return the case if the transaction's principal may see it.

    Raises:
        UnknownCase: It can't be seen (which is also the answer when it is another tenant's).
    """
    sql = text(f"{CASE} WHERE c.id = CAST(:id AS uuid)")
    row = (await connection.execute(sql, {"id": case_id})).mappings().first() if is_id(case_id) else None
    if row is None:
        raise UnknownCase("There is no such case in your scope.", field="case_id", accepted="a case you may see")
    return case_of(row)


async def file_papers(
    connection: AsyncConnection, principal_id: str, case: Case, papers: Sequence[Paper], *, by_product: bool = False
) -> None:
    """File papers inside the caller's transaction; see `Cases.add_papers`."""
    for paper in papers:
        if paper.kind is PaperKind.MEMORY_USE and not by_product:
            raise InvalidField(
                "A memory-use paper comes from a recorded decision only.",
                field="kind",
                accepted="evidence, execution, proof",
            )
        content = digest([paper.kind, paper.title, paper.text])
        values = {
            **paper.model_dump(),
            "tenant_id": case.origin.tenant_id,
            "case_id": case.id,
            "digest": content,
            "author_id": principal_id,
        }
        if (await connection.execute(_PAPER, values)).rowcount:
            continue
        stored = await connection.execute(
            text("SELECT digest FROM case_papers WHERE id = CAST(:id AS uuid) AND case_id = CAST(:case_id AS uuid)"),
            values,
        )
        if stored.scalar_one_or_none() != content:
            raise IdempotencyConflict("A paper of this id says something else.", field="papers.id")


async def find_result(connection: AsyncConnection, result_id: str) -> CaseResult | None:
    """Return a case result that the transaction's principal may see."""
    row = (await connection.execute(_FIND_RESULT, {"id": result_id})).mappings().first()
    return None if row is None else CaseResult.model_validate(dict(row))


async def _require_papers(connection: AsyncConnection, result: CaseResult) -> None:
    named = {"execution": result.execution_paper_id, "proof": result.proof_paper_id}
    for kind, paper_id in named.items():
        if paper_id is None:
            continue
        found = await connection.execute(
            text(
                "SELECT 1 FROM case_papers WHERE id = CAST(:id AS uuid) AND case_id = CAST(:case_id AS uuid)"
                " AND kind = :kind"
            ),
            {"id": paper_id, "case_id": result.case_id, "kind": kind},
        )
        if found.first() is None:
            raise UnverifiedResult(
                f"The {kind} paper is not one of this case.",
                field=f"{kind}_paper_id",
                accepted=f"the id of a paper of kind {kind} in this case",
            )
