"""What a caller does around a retrieval: ask, read in full, decide with citations, report checks (R13, R20)."""

from __future__ import annotations

from typing import Any

from sqlalchemy import RowMapping, text
from sqlalchemy.ext.asyncio import AsyncConnection

from activities.records.candidate_rows import resolve
from activities.records.cases import file_papers, require_case
from activities.records.database import Database
from activities.records.ids import is_id
from activities.records.memory_use_paper import memory_use_paper
from activities.records.retrievals import read_answer
from contracts import limits
from contracts.errors import (
    IdempotencyConflict,
    InvalidField,
    OutsideScope,
    UncitedCandidate,
    UnknownProfile,
    UnknownRetrieval,
    UnknownStrategy,
)
from contracts.experience import Draft
from contracts.retrieval import Answer, CheckResult, MemoryUse, RetrievalRequest
from contracts.text import check_text, digest

_PROFILE = text("""
SELECT p.id, p.strategy_id, p.strategy_version FROM profiles p JOIN profile_members m ON m.profile_id = p.id
 WHERE p.id = :profile_id AND m.principal_id = (SELECT app_principal())
""")
_OPEN = text("""
INSERT INTO retrieval_requests (id, principal_id, profile_id, strategy_id, strategy_version, tenant_id, case_id,
                                request, digest)
VALUES (CAST(:id AS uuid), :principal_id, :profile_id, :strategy_id, :version, :tenant_id, CAST(:case_id AS uuid),
        CAST(:request AS jsonb), :digest)
ON CONFLICT (id) DO NOTHING
""")
_USE = text("""
INSERT INTO memory_uses (decision_id, request_id, digest, summary, decided_by)
VALUES (CAST(:decision_id AS uuid), CAST(:request_id AS uuid), :digest, :summary, :decided_by)
ON CONFLICT (decision_id) DO NOTHING
""")
_VERDICT = text("""
INSERT INTO retrieval_verdicts (decision_id, request_id, ref, revision, verdict, why)
VALUES (CAST(:decision_id AS uuid), CAST(:request_id AS uuid), :ref, :revision, :verdict, :why)
""")
_CHECK = text("""
INSERT INTO fresh_checks (decision_id, check_id, text) VALUES (CAST(:decision_id AS uuid), :check_id, :text)
""")
_SETTLE_CHECK = text("""
UPDATE fresh_checks SET outcome = :outcome, note = :note, settled_at = clock_timestamp()
 WHERE decision_id = CAST(:decision_id AS uuid) AND check_id = :check_id
   AND (outcome IS NULL OR (outcome = :outcome AND note = :note))
""")


class MemoryUses:
    """The caller's side of retrieval, under row-level security."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def open(self, principal_id: str, request: RetrievalRequest) -> None:
        """Store a request; idempotent by `request_id` (R13).

        Raises:
            UnknownProfile: The principal doesn't hold the profile.
            UnknownStrategy: The profile's strategy has no such version.
            OutsideScope: The tenant is not in the caller's grants.
            UnknownCase: The case is not in the caller's scope.
            IdempotencyConflict: The id was used for another request.
        """
        async with self._database.as_principal(principal_id) as connection:
            profile = (await connection.execute(_PROFILE, {"profile_id": request.profile_id})).mappings().first()
            if profile is None:
                raise UnknownProfile(
                    f"You don't hold a profile {request.profile_id!r}.",
                    field="profile_id",
                    accepted="a profile that an administrator gave you",
                )
            values: dict[str, Any] = {
                "id": request.request_id,
                "principal_id": principal_id,
                "profile_id": request.profile_id,
                "strategy_id": profile["strategy_id"],
                "version": request.strategy_version or profile["strategy_version"],
                "tenant_id": None,
                "case_id": request.case_id,
                "request": request.model_dump_json(),
                "digest": digest([principal_id, request.model_dump(mode="json")]),
            }
            await _require_version(connection, values)
            await _require_tenant(connection, request.tenant_id)
            if request.case_id is not None:
                values["tenant_id"] = (await require_case(connection, request.case_id)).origin.tenant_id
            if not (await connection.execute(_OPEN, values)).rowcount:
                await _require_same(connection, "retrieval_requests", "id", request.request_id, values["digest"])

    async def answer(self, principal_id: str, request_id: str) -> Answer | None:
        """Return the stored answer; None while there is none.

        Raises:
            UnknownRetrieval: The caller can't see such a request.
        """
        async with self._database.as_principal(principal_id) as connection:
            row = await _request(connection, request_id)
            return await read_answer(connection, request_id, row["answer"])

    async def read(self, principal_id: str, request_id: str, ref: str, revision: int) -> Draft | str:
        """Return a candidate's full text as it is current now, and record that its asker read it (R20).

        Raises:
            UnknownRetrieval: The caller can't see such a request.
            UncitedCandidate: The answer has no such candidate, or it is no longer current at that revision.
        """
        async with self._database.as_principal(principal_id) as connection:
            await _request(connection, request_id)
            await _require_candidate(connection, request_id, ref, revision)
            record = (await resolve(connection, [ref])).get(ref)
            if record is None or record.revision != revision:
                raise UncitedCandidate(
                    f"{ref} is no longer current at revision {revision}.",
                    field="revision",
                    accepted=str(record.revision) if record else "nothing: it was withdrawn",
                )
            await connection.execute(
                text(
                    "INSERT INTO retrieval_reads (request_id, ref, revision)"
                    " SELECT q.id, :ref, :revision FROM retrieval_requests q"
                    " WHERE q.id = CAST(:id AS uuid) AND q.principal_id = :reader ON CONFLICT DO NOTHING"
                ),
                {"id": request_id, "ref": ref, "revision": revision, "reader": principal_id},
            )
            if record.draft is not None:
                return record.draft
            return record.case.body if record.case is not None else record.text

    async def decide(self, principal_id: str, use: MemoryUse) -> None:
        """Store the cited decision, and file it in the case's papers; idempotent by `decision_id` (R20).

        Raises:
            UnknownRetrieval: The caller can't see such a request.
            UncitedCandidate: A citation is not among the answer's candidates.
            IdempotencyConflict: The id was used for another decision.
            InvalidField: A candidate has two verdicts, or two checks have one id.
        """
        _check_no_twins(use)
        async with self._database.as_principal(principal_id) as connection:
            row = await _request(connection, use.request_id)
            for citation in use.citations:
                await _require_candidate(connection, use.request_id, citation.ref, citation.revision)
            content = digest([principal_id, use.model_dump(mode="json")])
            values = {**use.model_dump(include={"decision_id", "request_id", "summary"}), "digest": content}
            if not (await connection.execute(_USE, {**values, "decided_by": principal_id})).rowcount:
                await _require_same(connection, "memory_uses", "decision_id", use.decision_id, content)
                return
            for citation in use.citations:
                await connection.execute(_VERDICT, {**values, **citation.model_dump()})
            for check in use.checks:
                await connection.execute(_CHECK, {**values, **check.model_dump()})
            if row["case_id"] is not None:
                case = await require_case(connection, row["case_id"])
                paper = memory_use_paper(use, strategy=f"{row['strategy_id']} v{row['strategy_version']}")
                await file_papers(connection, principal_id, case, [paper], by_product=True)

    async def settle_check(self, principal_id: str, result: CheckResult) -> None:
        """Record how a fresh check came out; the same result again is harmless, another one a conflict.

        Raises:
            UnknownRetrieval: The caller can't see such a decision or check.
            IdempotencyConflict: The check was settled with another result.
        """
        async with self._database.as_principal(principal_id) as connection:
            known = await connection.execute(
                text(
                    "SELECT 1 FROM fresh_checks WHERE decision_id = CAST(:decision_id AS uuid) AND check_id = :check_id"
                ),
                result.model_dump(),
            )
            if known.first() is None:
                raise UnknownRetrieval("There is no such check in your scope.", field="check_id")
            if not (await connection.execute(_SETTLE_CHECK, result.model_dump())).rowcount:
                raise IdempotencyConflict("The check was settled with another result.", field="outcome")


def _check_no_twins(use: MemoryUse) -> None:
    if len({(citation.ref, citation.revision) for citation in use.citations}) < len(use.citations):
        raise InvalidField("A candidate is cited twice.", field="citations.ref", accepted="one verdict on each")
    if len({check.check_id for check in use.checks}) < len(use.checks):
        raise InvalidField("Two checks have one id.", field="checks.check_id", accepted="a different id for each")


async def _request(connection: AsyncConnection, request_id: str) -> RowMapping:
    sql = text(
        "SELECT answer, case_id::text AS case_id, strategy_id, strategy_version FROM retrieval_requests"
        " WHERE id = CAST(:id AS uuid)"
    )
    row = (await connection.execute(sql, {"id": request_id})).mappings().first() if is_id(request_id) else None
    if row is None:
        raise UnknownRetrieval("There is no such retrieval in your scope.", field="request_id")
    return row


async def _require_version(connection: AsyncConnection, values: dict[str, Any]) -> None:
    known = await connection.execute(
        text("SELECT version FROM strategy_versions WHERE strategy_id = :strategy_id ORDER BY version"), values
    )
    versions = list(known.scalars())
    if values["version"] not in versions:
        raise UnknownStrategy(
            f"{values['strategy_id']!r} has no version {values['version']}.",
            field="strategy_version",
            accepted=", ".join(map(str, versions)),
        )


async def _require_tenant(connection: AsyncConnection, tenant_id: str | None) -> None:
    if tenant_id is None:
        return
    known = await connection.execute(text("SELECT 1 FROM grants WHERE tenant_id = :id"), {"id": tenant_id})
    if known.first() is None:
        raise OutsideScope(
            "A scope in the request can only narrow your grants.", field="tenant_id", accepted="a granted tenant"
        )


async def _require_candidate(connection: AsyncConnection, request_id: str, ref: str, revision: int) -> None:
    check_text(ref, field="ref", limit=limits.IDENTIFIER)
    known = await connection.execute(
        text(
            "SELECT 1 FROM retrieval_candidates WHERE request_id = CAST(:id AS uuid) AND ref = :ref"
            " AND revision = :revision"
        ),
        {"id": request_id, "ref": ref, "revision": revision},
    )
    if known.first() is None:
        raise UncitedCandidate(
            f"{ref} at revision {revision} is not a candidate of this answer.",
            field="citations.ref",
            accepted="a ref and revision from the answer",
        )


async def _require_same(connection: AsyncConnection, table: str, column: str, row_id: str, content: str) -> None:
    stored = await connection.execute(
        text(f"SELECT digest FROM {table} WHERE {column} = CAST(:id AS uuid)"), {"id": row_id}
    )
    if stored.scalar_one_or_none() != content:
        raise IdempotencyConflict("This id was used before with other content.", field=column)
