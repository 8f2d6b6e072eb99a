"""What a caller does around a retrieval: ask, read in full, decide with citations, report checks (R13, R20)."""

from __future__ import annotations

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from activities.records.candidate_rows import resolve
from activities.records.cases import file_papers, require_case
from activities.records.database import Database
from activities.records.memory_use_paper import check_paper, memory_use_paper
from activities.records.retrieval_requests import (
    find_request,
    require_candidate,
    require_consulted,
    require_profile,
    require_same,
    require_version,
    store_request,
)
from activities.records.retrieval_tasks import read_answer
from contracts.errors import (
    IdempotencyConflict,
    InvalidField,
    OutsideScope,
    UncitedCandidate,
    UnknownRetrieval,
)
from contracts.experience import Draft
from contracts.retrieval import Answer, CheckResult, MemoryUse, RetrievalRequest
from contracts.retrieval_record import without_own_counts
from contracts.text import digest

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
_FIND_CHECK = text("""
SELECT c.text, q.case_id::text AS case_id
  FROM fresh_checks c JOIN memory_uses u ON u.decision_id = c.decision_id
  JOIN retrieval_requests q ON q.id = u.request_id
 WHERE c.decision_id = CAST(:decision_id AS uuid) AND c.check_id = :check_id
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
            UnknownConsultation: No domain of the caller is asked by it.
            InvalidField: The profile is of another domain than the consulted one.
            IdempotencyConflict: The id was used for another request.
        """
        async with self._database.as_principal(principal_id) as connection:
            profile = await require_profile(connection, request.profile_id)
            version = request.strategy_version or profile["strategy_version"]
            await require_version(connection, profile["strategy_id"], version)
            await _require_tenant(connection, request.tenant_id)
            if request.consultation_id is not None:
                await require_consulted(connection, request.consultation_id, profile["domain_id"])
            tenant_id = None
            if request.case_id is not None:
                tenant_id = (await require_case(connection, request.case_id)).origin.tenant_id
            await store_request(
                connection,
                principal_id,
                request,
                strategy=(profile["strategy_id"], version),
                tenant_id=tenant_id,
                content=_content(principal_id, request),
            )

    async def answer(self, principal_id: str, request_id: str) -> Answer | None:
        """Return the stored answer; None while there is none.

        Raises:
            UnknownRetrieval: The caller can't see such a request.
        """
        async with self._database.as_principal(principal_id) as connection:
            row = await find_request(connection, request_id)
            answer = await read_answer(connection, request_id, row["answer"])
            return answer if row["principal_id"] == principal_id else without_own_counts(answer)

    async def read(self, principal_id: str, request_id: str, ref: str, revision: int) -> Draft | str:
        """Return a candidate's full text as it is current now, and record that its asker read it (R20).

        Raises:
            UnknownRetrieval: The caller can't see such a request.
            UncitedCandidate: The answer has no such candidate, or it is no longer current at that revision.
        """
        async with self._database.as_principal(principal_id) as connection:
            await find_request(connection, request_id)
            await require_candidate(connection, request_id, ref, revision)
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
            row = await find_request(connection, use.request_id)
            for citation in use.citations:
                await require_candidate(connection, use.request_id, citation.ref, citation.revision)
            content = digest([principal_id, use.model_dump(mode="json")])
            values = {**use.model_dump(include={"decision_id", "request_id", "summary"}), "digest": content}
            if not (await connection.execute(_USE, {**values, "decided_by": principal_id})).rowcount:
                await require_same(connection, "memory_uses", "decision_id", use.decision_id, content)
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
        """Record how a fresh check came out, and file that in the case's papers (R20).

        The same result again is harmless, another one a conflict.

        Raises:
            UnknownRetrieval: The caller can't see such a decision or check.
            IdempotencyConflict: The check was settled with another result.
        """
        async with self._database.as_principal(principal_id) as connection:
            check = (await connection.execute(_FIND_CHECK, result.model_dump())).mappings().first()
            if check is None:
                raise UnknownRetrieval("There is no such check in your scope.", field="check_id")
            if not (await connection.execute(_SETTLE_CHECK, result.model_dump())).rowcount:
                raise IdempotencyConflict("The check was settled with another result.", field="outcome")
            if check["case_id"] is not None:
                case = await require_case(connection, check["case_id"])
                paper = check_paper(result, asked=check["text"])
                await file_papers(connection, principal_id, case, [paper], by_product=True)


def _check_no_twins(use: MemoryUse) -> None:
    if len({(citation.ref, citation.revision) for citation in use.citations}) < len(use.citations):
        raise InvalidField("A candidate is cited twice.", field="citations.ref", accepted="one verdict on each")
    if len({check.check_id for check in use.checks}) < len(use.checks):
        raise InvalidField("Two checks have one id.", field="checks.check_id", accepted="a different id for each")


async def _require_tenant(connection: AsyncConnection, tenant_id: str | None) -> None:
    if tenant_id is None:
        return
    known = await connection.execute(text("SELECT 1 FROM grants WHERE tenant_id = :id"), {"id": tenant_id})
    if known.first() is None:
        raise OutsideScope(
            "A scope in the request can only narrow your grants.", field="tenant_id", accepted="a granted tenant"
        )


def _content(principal_id: str, request: RetrievalRequest) -> str:
    """Return the digest of who asks and what; a field that came later counts when it says something."""
    content = request.model_dump(mode="json")
    if content["consultation_id"] is None:
        del content["consultation_id"]
    return digest([principal_id, content])
