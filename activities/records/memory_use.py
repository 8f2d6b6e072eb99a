"""What a caller does around a retrieval: ask, read in full, decide with citations, report checks (R13, R20)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row, RowMapping, text
from sqlalchemy.ext.asyncio import AsyncConnection

from activities.records.candidate_rows import current_revisions, ids_by_kind, resolve
from activities.records.cases import file_papers, require_case
from activities.records.database import Database
from activities.records.ids import array_of
from activities.records.memory_use_paper import Basis, check_paper, memory_use_paper
from activities.records.retrieval_requests import (
    find_request,
    is_stored,
    require_adopted,
    require_candidate,
    require_consulted,
    require_profile,
    require_same,
    require_tenant,
    store_request,
)
from activities.records.retrieval_tasks import read_answer
from contracts.errors import (
    DeliveryPending,
    IdempotencyConflict,
    InvalidField,
    UncitedCandidate,
    UnknownRetrieval,
)
from contracts.experience import Draft
from contracts.labels import CandidateKind
from contracts.retrieval import Answer, CheckResult, Citation, CitationVerdict, MemoryUse, RetrievalRequest
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
_CANDIDATES = text("SELECT ref, revision FROM retrieval_candidates WHERE request_id = CAST(:id AS uuid) ORDER BY rank")
_READS = text("""
SELECT ref, revision FROM retrieval_reads WHERE request_id = CAST(:id AS uuid) ORDER BY read_at, ref, revision
""")
_CASES_OF = text("""
SELECT 'case/' || id FROM cases WHERE id = ANY (CAST(:ids AS uuid[])) AND tenant_id = :tenant_id
""")
_FIND_CHECK = text("""
SELECT c.text, q.case_id::text AS case_id
  FROM fresh_checks c JOIN memory_uses u ON u.decision_id = c.decision_id
  JOIN retrieval_requests q ON q.id = u.request_id
 WHERE c.decision_id = CAST(:decision_id AS uuid) AND c.check_id = :check_id
""")
_SETTLE_CHECK = text("""
UPDATE fresh_checks SET outcome = :outcome, note = :note, settled_at = clock_timestamp(), settled_by = :settled_by
 WHERE decision_id = CAST(:decision_id AS uuid) AND check_id = :check_id AND outcome IS NULL
""")
_SETTLED_SO = text("""
SELECT 1 FROM fresh_checks
 WHERE decision_id = CAST(:decision_id AS uuid) AND check_id = :check_id AND outcome = :outcome AND note = :note
""")


class MemoryUses:
    """The caller's side of retrieval, under row-level security."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def open(self, principal_id: str, request: RetrievalRequest) -> None:
        """Store a request; idempotent by `request_id`, whatever has changed since it was stored (R13).

        Raises:
            UnknownProfile: The principal doesn't hold the profile.
            UnknownStrategy: The profile's strategy has no such version.
            AdoptionNeeded: It has, and nobody adopted it for the profile (R14).
            OutsideScope: The tenant is not in the caller's grants.
            UnknownCase: The case is not in the caller's scope.
            UnknownConsultation: No domain of the caller is asked by it.
            InvalidField: The profile is of another domain than the consulted one.
            IdempotencyConflict: The id was used for another request.
        """
        content = _content(principal_id, request)
        async with self._database.as_principal(principal_id) as connection:
            # Before every check: rights and pins may have changed since it was stored.
            if await is_stored(connection, "retrieval_requests", "id", request.request_id, content, field="request_id"):
                return
            profile = await require_profile(connection, request.profile_id)
            version = request.strategy_version or profile["strategy_version"]
            if version != profile["strategy_version"]:
                await require_adopted(connection, profile, version)
            await require_tenant(connection, request.tenant_id)
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
                content=content,
            )

    async def answer(self, principal_id: str, request_id: str) -> Answer | None:
        """Return the stored answer without what isn't current any more (R10); None while there is none.

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
                raise _no_longer_current(ref, revision, record.revision if record else None, field="revision")
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

        A repeat is harmless whatever has changed since it was stored.

        Raises:
            UnknownRetrieval: The caller can't see such a request.
            DeliveryPending: The retrieval has no answer yet that could be decided on.
            UncitedCandidate: A citation is not among the answer's candidates, or what it chooses isn't current any
                more (R10); that can still be rejected.
            IdempotencyConflict: The id was used for another decision.
            InvalidField: A candidate has two verdicts, or two checks have one id.
        """
        _check_no_twins(use)
        async with self._database.as_principal(principal_id) as connection:
            row = await find_request(connection, use.request_id)
            content = digest([principal_id, use.model_dump(mode="json")])
            if await is_stored(connection, "memory_uses", "decision_id", use.decision_id, content):
                return
            if row["answer"] is None:
                raise DeliveryPending("The retrieval has no answer yet.", field="request_id", accepted="wait for it")
            for citation in use.citations:
                await require_candidate(connection, use.request_id, citation.ref, citation.revision)
            await _require_chosen_current(connection, use.citations)
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
                paper = memory_use_paper(use, await _basis(connection, use.request_id, row, case.origin.tenant_id))
                await file_papers(connection, principal_id, case, [paper], by_product=True)

    async def settle_check(self, principal_id: str, result: CheckResult) -> None:
        """Record how a fresh check came out, and file that in the case's papers (R20).

        The same result again is harmless, and who reported it first stays; another one is a conflict.

        Raises:
            UnknownRetrieval: The caller can't see such a decision or check.
            IdempotencyConflict: The check was settled with another result.
        """
        async with self._database.as_principal(principal_id) as connection:
            check = (await connection.execute(_FIND_CHECK, result.model_dump())).mappings().first()
            if check is None:
                raise UnknownRetrieval("There is no such check in your scope.", field="check_id")
            values = {**result.model_dump(), "settled_by": principal_id}
            is_new = (await connection.execute(_SETTLE_CHECK, values)).rowcount > 0
            if not is_new and (await connection.execute(_SETTLED_SO, values)).first() is None:
                raise IdempotencyConflict("The check was settled with another result.", field="outcome")
            if check["case_id"] is not None:
                case = await require_case(connection, check["case_id"])
                paper = check_paper(result, asked=check["text"])
                await file_papers(connection, principal_id, case, [paper], by_product=True)


async def _require_chosen_current(connection: AsyncConnection, citations: Sequence[Citation]) -> None:
    """Refuse to choose a published text that was withdrawn or has another revision by now (R10, R20)."""
    chosen = [each for each in citations if each.verdict is CitationVerdict.CHOSEN]
    published = [each for each in chosen if not _is_case(each.ref)]
    current = await current_revisions(connection, [each.ref for each in published]) if published else {}
    for each in published:
        if current.get(each.ref) != each.revision:
            raise _no_longer_current(each.ref, each.revision, current.get(each.ref), field="citations.revision")


def _no_longer_current(ref: str, revision: int, current: int | None, *, field: str) -> UncitedCandidate:
    return UncitedCandidate(
        f"{ref} is no longer current at revision {revision}.",
        field=field,
        accepted="nothing: it was withdrawn" if current is None else str(current),
    )


async def _basis(connection: AsyncConnection, request_id: str, row: RowMapping, tenant_id: str) -> Basis:
    """Return what a decision on a stored request rests on.

    Args:
        connection: A transaction of who decides.
        request_id: The request.
        row: What is stored of it.
        tenant_id: Of the case that it is filed in: a case of another tenant isn't named there (R21).
    """
    candidates = (await connection.execute(_CANDIDATES, {"id": request_id})).all()
    reads = (await connection.execute(_READS, {"id": request_id})).all()
    cases = ids_by_kind([each.ref for each in (*candidates, *reads)])[CandidateKind.CASE]
    named: set[str] = set()
    if cases:
        values = {"ids": array_of(cases), "tenant_id": tenant_id}
        named = set((await connection.execute(_CASES_OF, values)).scalars())

    def told(rows: Sequence[Row[Any]]) -> tuple[tuple[str, int], ...]:
        return tuple((each.ref, each.revision) for each in rows if each.ref in named or not _is_case(each.ref))

    return Basis(
        strategy=f"{row['strategy_id']} v{row['strategy_version']}",
        strategy_digest=row["answer"]["strategy_digest"],
        watermarks=tuple((each["collection"], each["position"]) for each in row["answer"]["watermarks"]),
        candidates=told(candidates),
        reads=told(reads),
    )


def _is_case(ref: str) -> bool:
    return ref.startswith(f"{CandidateKind.CASE}/")


def _check_no_twins(use: MemoryUse) -> None:
    if len({(citation.ref, citation.revision) for citation in use.citations}) < len(use.citations):
        raise InvalidField("A candidate is cited twice.", field="citations.ref", accepted="one verdict on each")
    if len({check.check_id for check in use.checks}) < len(use.checks):
        raise InvalidField("Two checks have one id.", field="checks.check_id", accepted="a different id for each")


def _content(principal_id: str, request: RetrievalRequest) -> str:
    """Return the digest of who asks and what; a field that came later counts when it says something."""
    content = request.model_dump(mode="json")
    if content["consultation_id"] is None:
        del content["consultation_id"]
    return digest([principal_id, content])
