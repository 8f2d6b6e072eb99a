"""A stored request with everything that its caller's identity derives: what the engine starts from (R13, R20)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from sqlalchemy import RowMapping, text
from sqlalchemy.ext.asyncio import AsyncConnection

from contracts.candidates import RetrievalTask
from contracts.errors import UnknownRetrieval
from contracts.identity import Profile
from contracts.index import Scope
from contracts.retrieval import Answer, RetrievalRequest
from contracts.strategy import Strategy
from contracts.widening import BroadenedFrom, Widening

_LOAD = text("""
SELECT q.principal_id, q.request, q.answer, q.narrowed_to, v.definition, p.id AS profile_id, p.domain_id, p.strategy_id,
       p.strategy_version, b.broadened_from::text AS broadened_from, b.reason, b.widened, b.depth, b.domains,
       (SELECT coalesce(json_agg(json_build_array(g.tenant_id, g.case_id)), '[]')
          FROM grants g JOIN principals a ON a.id = g.principal_id AND a.active
         WHERE g.principal_id = q.principal_id AND (g.expires_at IS NULL OR g.expires_at > now())
           AND (q.narrowed_to IS NULL OR g.tenant_id = ANY (q.narrowed_to))) AS granted
  FROM retrieval_requests q
  LEFT JOIN broadenings b ON b.request_id = q.id
  JOIN profiles p ON p.id = q.profile_id
  JOIN strategy_versions v ON v.strategy_id = q.strategy_id AND v.version = q.strategy_version
 WHERE q.id = CAST(:id AS uuid)
""")
_CANDIDATES = text("""
SELECT candidate FROM retrieval_candidates WHERE request_id = CAST(:id AS uuid) ORDER BY rank
""")
# Published texts are for everybody, so this tells the same to every reader. No case has an experience's id. The ids
# are made beforehand: a join on a cast can't use the index under row-level security.
_CANDIDATES_NOW = text("""
WITH given AS MATERIALIZED (
  SELECT c.rank, c.candidate, CAST(split_part(c.ref, '/', 2) AS uuid) AS id
    FROM retrieval_candidates c WHERE c.request_id = CAST(:id AS uuid))
SELECT g.candidate, r.number AS current
  FROM given g LEFT JOIN revisions r ON r.experience_id = g.id AND r.state = 'current'
 ORDER BY g.rank
""")


async def read_task(connection: AsyncConnection, request_id: str) -> RetrievalTask:
    """Return a stored request with what its caller's grants derive now.

    Args:
        connection: Of the system.
        request_id: The request.

    Raises:
        UnknownRetrieval: There is no such request.
    """
    row = (await connection.execute(_LOAD, {"id": request_id})).mappings().first()
    if row is None:
        raise UnknownRetrieval("There is no such retrieval.", field="request_id")
    request = RetrievalRequest.model_validate(row["request"])
    return RetrievalTask(
        request=request,
        principal_id=row["principal_id"],
        profile=_profile(row),
        strategy=Strategy.model_validate(row["definition"]),
        scope=_scope(row["granted"], request.tenant_id),
        answer=await _stored_answer(connection, request_id, row["answer"]),
        narrowed_to=None if row["narrowed_to"] is None else tuple(row["narrowed_to"]),
        domains=None if row["domains"] is None else tuple(row["domains"]),
        broadened=_broadened(row),
    )


async def read_answer(connection: AsyncConnection, request_id: str, head: Any) -> Answer | None:
    """Return the stored answer as it may be shown now: no text that isn't current any more (R10); None without one."""
    if head is None:
        return None
    rows = (await connection.execute(_CANDIDATES_NOW, {"id": request_id})).all()
    answer = _answer(head, [row.candidate for row in rows])
    now = tuple(each.as_of_now(row.current) for each, row in zip(answer.candidates, rows, strict=True))
    return answer.model_copy(update={"candidates": now})


async def _stored_answer(connection: AsyncConnection, request_id: str, head: Any) -> Answer | None:
    """Return the answer as it was given, to compose it again and to compare; it is shown to nobody."""
    if head is None:
        return None
    return _answer(head, list((await connection.execute(_CANDIDATES, {"id": request_id})).scalars()))


def _answer(head: dict[str, Any], candidates: list[Any]) -> Answer:
    return Answer.model_validate_json(json.dumps({**head, "candidates": candidates}))


def _scope(granted: Iterable[tuple[str, str | None]], tenant_id: str | None) -> Scope:
    """Return the caller's grants, narrowed by its credential and the request, and never widened (R13)."""
    tenants: set[str] = set()
    cases: set[str] = set()
    for tenant, case_id in granted:
        if tenant_id is not None and tenant != tenant_id:
            continue
        if case_id is None:
            tenants.add(tenant)
        else:
            cases.add(case_id)
    return Scope(frozenset(tenants), frozenset(cases))


def _profile(row: RowMapping) -> Profile:
    return Profile(
        id=row["profile_id"],
        domain_id=row["domain_id"],
        strategy_id=row["strategy_id"],
        strategy_version=row["strategy_version"],
    )


def _broadened(row: RowMapping) -> BroadenedFrom | None:
    if row["broadened_from"] is None:
        return None
    return BroadenedFrom(
        request_id=row["broadened_from"],
        reason=row["reason"],
        widened=Widening.model_validate(row["widened"]),
        depth=row["depth"],
    )
