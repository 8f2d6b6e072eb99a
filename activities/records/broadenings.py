"""Broadened retrievals: stored with the one before, the reason, and what is widened (R18)."""

from __future__ import annotations

from typing import Any

from sqlalchemy import RowMapping, text
from sqlalchemy.ext.asyncio import AsyncConnection

from activities.records.cases import file_papers, require_case
from activities.records.database import Database
from activities.records.memory_use_paper import broadening_paper
from activities.records.retrieval_requests import (
    find_request,
    is_stored,
    require_consulted,
    require_profile,
    require_tenant,
    require_version,
    store_request,
)
from contracts import limits
from contracts.broadening import Broadening, broadened, domains_read, require_wider
from contracts.cases import Case
from contracts.errors import DeliveryPending, InvalidField, UnknownStrategy
from contracts.retrieval import RetrievalRequest
from contracts.strategy import Strategy
from contracts.text import digest

_BEFORE = text("SELECT depth, domains FROM broadenings WHERE request_id = CAST(:id AS uuid)")
_DOMAINS = text("SELECT id FROM domains ORDER BY id")
# The version that profiles pin was adopted by a review; a newer one may not have been yet (R14).
_VERSION = text("""
SELECT coalesce((SELECT max(p.strategy_version) FROM profiles p WHERE p.strategy_id = :id),
                (SELECT max(v.version) FROM strategy_versions v WHERE v.strategy_id = :id))
""")
_DEFINITION = text("SELECT definition FROM strategy_versions WHERE strategy_id = :id AND version = :version")
_ADD = text("""
INSERT INTO broadenings (request_id, broadened_from, depth, reason, widened, domains, asked_by)
VALUES (CAST(:request_id AS uuid), CAST(:broadened_from AS uuid), :depth, :reason, CAST(:widened AS jsonb),
        CAST(:domains AS text[]), :asked_by)
""")


class Broadenings:
    """The caller's side of broadening, under row-level security."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def open(self, principal_id: str, request_id: str, broadening: Broadening) -> None:
        """Store a retrieval that reads further than another, and file that in the case; idempotent by its own id.

        Its scope is the caller's own, as for every retrieval: no grant of who asked before is taken over (R13), and
        what has lapsed since is missed. What was stored is repeated whatever has changed since (R8).

        Raises:
            UnknownRetrieval: The caller can't see the retrieval that it broadens.
            UnknownProfile: The caller doesn't hold that retrieval's profile.
            UnknownStrategy: There is no such strategy or version.
            OutsideScope: The tenant that it narrows to is not in the caller's grants any more.
            UnknownCase: The case is not in the caller's scope any more.
            UnknownConsultation: The question that it works on was withdrawn, or asks no domain of the caller.
            InvalidField: Nothing would become wider, or too many retrievals broaden one another.
            DeliveryPending: The retrieval has no answer yet, so nothing shows that it was too narrow.
            IdempotencyConflict: The id was used for another request.
        """
        async with self._database.as_principal(principal_id) as connection:
            content = digest([principal_id, request_id, broadening.model_dump(mode="json")])
            # Before every check: rights, pins and domains may have changed since it was stored.
            new_id = broadening.request_id
            if await is_stored(connection, "retrieval_requests", "id", new_id, content, field="request_id"):
                return
            row = await find_request(connection, request_id)
            profile, case = await _still_allowed(connection, row)
            if row["answer"] is None:
                raise DeliveryPending(
                    "The retrieval has no answer yet that could be broadened.", field="request_id", accepted="ask again"
                )
            strategy = await _strategy(connection, row, broadening)
            before = (await connection.execute(_BEFORE, {"id": request_id})).mappings().first()
            known = list((await connection.execute(_DOMAINS)).scalars())
            read_before = None if before is None or before["domains"] is None else tuple(before["domains"])
            domains = domains_read(read_before, broadening, own=profile["domain_id"], known=known)
            request = await _request(connection, row, broadening, strategy)
            depth = 1 if before is None else before["depth"] + 1
            if depth > limits.BROADENINGS:
                raise InvalidField(
                    f"{depth - 1} retrievals in a row were broadened.",
                    field="request_id",
                    accepted="a new retrieval, or a consultation of the domain",
                )
            is_new = await store_request(
                connection, principal_id, request, strategy=strategy, tenant_id=row["tenant_id"], content=content
            )
            if not is_new:
                return
            values = {
                "request_id": broadening.request_id,
                "broadened_from": request_id,
                "depth": depth,
                "reason": broadening.reason,
                "widened": broadening.widening().model_dump_json(exclude_defaults=True),
                "domains": None if domains is None else list(domains),
                "asked_by": principal_id,
            }
            await connection.execute(_ADD, values)
            if case is not None:
                paper = broadening_paper(
                    broadening, broadened_from=request_id, strategy=f"{strategy[0]} v{strategy[1]}"
                )
                await file_papers(connection, principal_id, case, [paper], by_product=True)


async def _still_allowed(connection: AsyncConnection, row: RowMapping) -> tuple[RowMapping, Case | None]:
    """Return the profile and the case of a stored request, which the caller may have today as for a new one (R13)."""
    before = RetrievalRequest.model_validate(row["request"])
    profile = await require_profile(connection, row["profile_id"])
    await require_tenant(connection, before.tenant_id)
    if before.consultation_id is not None:
        await require_consulted(connection, before.consultation_id, profile["domain_id"])
    return profile, None if row["case_id"] is None else await require_case(connection, row["case_id"])


async def _request(
    connection: AsyncConnection, row: RowMapping, broadening: Broadening, strategy: tuple[str, int]
) -> RetrievalRequest:
    before = RetrievalRequest.model_validate(row["request"])
    old = await _definition(connection, row["strategy_id"], row["strategy_version"])
    new = await _definition(connection, *strategy)
    require_wider(new, broadening)
    request = broadened(before, broadening, results_before=before.results or old.results)
    changes: dict[str, Any] = {"strategy_version": strategy[1]}
    if broadening.results is None and before.results is None:  # what was asked for stays as it was
        changes["results"] = max(old.results, new.results)
    return request.model_copy(update=changes)


async def _strategy(connection: AsyncConnection, row: RowMapping, broadening: Broadening) -> tuple[str, int]:
    """Return id and version of the strategy that answers."""
    before = (row["strategy_id"], row["strategy_version"])
    if broadening.strategy_id is None:
        return before
    version = broadening.strategy_version
    if version is None:
        version = (await connection.execute(_VERSION, {"id": broadening.strategy_id})).scalar_one()
    if version is None:
        known = (await connection.execute(text("SELECT id FROM strategies ORDER BY id"))).scalars()
        raise UnknownStrategy(
            f"There is no strategy {broadening.strategy_id!r}.", field="strategy_id", accepted=", ".join(known)
        )
    await require_version(connection, broadening.strategy_id, version)
    if (broadening.strategy_id, version) == before:
        raise InvalidField(
            f"{broadening.strategy_id} version {version} was used before.",
            field="strategy_id",
            accepted="another strategy or version, or none",
        )
    return broadening.strategy_id, version


async def _definition(connection: AsyncConnection, strategy_id: str, version: int) -> Strategy:
    stored = await connection.execute(_DEFINITION, {"id": strategy_id, "version": version})
    return Strategy.model_validate(stored.scalar_one())
