"""Stored retrieval requests, as whoever asks, broadens, consults or decides needs them (R13, R20)."""

from __future__ import annotations

from typing import Any

from sqlalchemy import RowMapping, text
from sqlalchemy.ext.asyncio import AsyncConnection

from activities.records.ids import is_id
from contracts import limits
from contracts.errors import (
    AdoptionNeeded,
    IdempotencyConflict,
    InvalidField,
    OutsideScope,
    UncitedCandidate,
    UnknownConsultation,
    UnknownProfile,
    UnknownRetrieval,
    UnknownStrategy,
)
from contracts.retrieval import RetrievalRequest
from contracts.text import check_text

_FIND = text("""
SELECT q.answer, q.case_id::text AS case_id, q.tenant_id, q.strategy_id, q.strategy_version, q.principal_id,
       q.profile_id, q.request
  FROM retrieval_requests q WHERE q.id = CAST(:id AS uuid)
""")
_PROFILE = text("""
SELECT p.id, p.domain_id, p.strategy_id, p.strategy_version
  FROM profiles p JOIN profile_members m ON m.profile_id = p.id
 WHERE p.id = :profile_id AND m.principal_id = (SELECT app_principal())
""")
# A profile's first pin is what its first adoption moved from.
_ADOPTED = text("""
SELECT v.version, v.version <= :pinned OR EXISTS (
         SELECT 1 FROM strategy_adoptions a
          WHERE a.profile_id = :profile_id AND a.state = 'adopted'
            AND (v.strategy_id, v.version)
             IN ((a.strategy_id, a.version), (a.expected_strategy_id, a.expected_version))) AS adopted
  FROM strategy_versions v WHERE v.strategy_id = :strategy_id ORDER BY v.version
""")
_STORE = text("""
INSERT INTO retrieval_requests (id, principal_id, profile_id, strategy_id, strategy_version, tenant_id, case_id,
                                request, digest)
VALUES (CAST(:id AS uuid), :principal_id, :profile_id, :strategy_id, :version, :tenant_id, CAST(:case_id AS uuid),
        CAST(:request AS jsonb), :digest)
ON CONFLICT (id) DO NOTHING
""")
_CONSULTED = text("""
INSERT INTO consulted_retrievals (request_id, consultation_id)
VALUES (CAST(:request_id AS uuid), CAST(:consultation_id AS uuid))
""")
_ASKED_OF_US = text("""
SELECT domain_id FROM consultation_briefs
 WHERE consultation_id = CAST(:id AS uuid) AND domain_id IN (SELECT app_consulted_domains())
""")


async def find_request(connection: AsyncConnection, request_id: str) -> RowMapping:
    """Return a stored request that the transaction's principal may see.

    Raises:
        UnknownRetrieval: It can't be seen.
    """
    row = (await connection.execute(_FIND, {"id": request_id})).mappings().first() if is_id(request_id) else None
    if row is None:
        raise UnknownRetrieval("There is no such retrieval in your scope.", field="request_id")
    return row


async def require_profile(connection: AsyncConnection, profile_id: str) -> RowMapping:
    """Return a profile that the transaction's principal holds.

    Raises:
        UnknownProfile: It doesn't.
    """
    profile = (await connection.execute(_PROFILE, {"profile_id": profile_id})).mappings().first()
    if profile is None:
        raise UnknownProfile(
            f"You don't hold a profile {profile_id!r}.",
            field="profile_id",
            accepted="a profile that an administrator gave you",
        )
    return profile


async def require_tenant(connection: AsyncConnection, tenant_id: str | None) -> None:
    """Refuse a tenant that the transaction's principal has no grant in; None narrows to none (R13).

    Raises:
        OutsideScope: It has none there.
    """
    if tenant_id is None:
        return
    known = await connection.execute(text("SELECT 1 FROM grants WHERE tenant_id = :id LIMIT 1"), {"id": tenant_id})
    if known.first() is None:
        raise OutsideScope(
            "A scope in the request can only narrow your grants.", field="tenant_id", accepted="a granted tenant"
        )


async def require_granted(connection: AsyncConnection, tenant_id: str | None) -> None:
    """Refuse a principal without a grant in the tenant; None: without any grant at all (R13).

    Raises:
        OutsideScope: It has none.
    """
    await require_tenant(connection, tenant_id)
    if tenant_id is None and (await connection.execute(text("SELECT 1 FROM grants LIMIT 1"))).first() is None:
        raise OutsideScope(
            "You have no grant in any tenant.", field="request_id", accepted="a grant that an administrator gave you"
        )


async def require_consulted(connection: AsyncConnection, consultation_id: str, domain_id: str) -> None:
    """Refuse to work on a consultation of another domain: the consulted side starts from its own (R18).

    Args:
        connection: A transaction of the principal.
        consultation_id: What it works on.
        domain_id: The domain of the profile that it works with.

    Raises:
        UnknownConsultation: None of the principal's domains is asked by it.
        InvalidField: Another one of them is.
    """
    asked = (await connection.execute(_ASKED_OF_US, {"id": consultation_id})).scalar_one_or_none()
    if asked is None:
        raise UnknownConsultation("No domain of yours is asked by such a consultation.", field="consultation_id")
    if asked != domain_id:
        raise InvalidField(
            f"The consultation asks domain {asked!r}.", field="profile_id", accepted=f"a profile of domain {asked!r}"
        )


async def require_version(connection: AsyncConnection, strategy_id: str, version: int) -> None:
    """Refuse a version that the strategy doesn't have.

    Raises:
        UnknownStrategy: Names those that it has.
    """
    known = await connection.execute(
        text("SELECT version FROM strategy_versions WHERE strategy_id = :id ORDER BY version"), {"id": strategy_id}
    )
    versions = list(known.scalars())
    if version not in versions:
        raise UnknownStrategy(
            f"{strategy_id!r} has no version {version}.",
            field="strategy_version",
            accepted=", ".join(map(str, versions)),
        )


async def require_adopted(connection: AsyncConnection, profile: RowMapping, version: int) -> None:
    """Refuse a version of a profile's strategy that no review made its own: one that is newer and was never pinned.

    Older ones than the pinned one were left behind by a review, and may be asked for as they were (R14).

    Raises:
        UnknownStrategy: The strategy has no such version.
        AdoptionNeeded: Nobody adopted it for the profile.
    """
    values = {
        "strategy_id": profile["strategy_id"],
        "pinned": profile["strategy_version"],
        "profile_id": profile["id"],
    }
    versions = {row.version: row.adopted for row in await connection.execute(_ADOPTED, values)}
    accepted = ", ".join(str(each) for each, adopted in versions.items() if adopted)
    if version not in versions:
        raise UnknownStrategy(
            f"{profile['strategy_id']!r} has no version {version}.", field="strategy_version", accepted=accepted
        )
    if not versions[version]:
        raise AdoptionNeeded(
            f"Version {version} of {profile['strategy_id']!r} was not adopted for {profile['id']!r}.",
            field="strategy_version",
            accepted=accepted,
        )


async def store_request(
    connection: AsyncConnection,
    principal_id: str,
    request: RetrievalRequest,
    *,
    strategy: tuple[str, int],
    tenant_id: str | None,
    content: str,
) -> bool:
    """Store a request, and for which consultation it is; idempotent by its id.

    Args:
        connection: A transaction of the principal.
        principal_id: Who asks.
        request: What is asked.
        strategy: Id and version of the strategy that will answer.
        tenant_id: Of the case that it names; None without a case.
        content: The digest of who asks and what, by which a repeat is known.

    Returns:
        Whether it is new.

    Raises:
        IdempotencyConflict: The id was used for another request.
    """
    values: dict[str, Any] = {
        "id": request.request_id,
        "principal_id": principal_id,
        "profile_id": request.profile_id,
        "strategy_id": strategy[0],
        "version": strategy[1],
        "tenant_id": tenant_id,
        "case_id": request.case_id,
        "request": request.model_dump_json(),
        "digest": content,
    }
    if (await connection.execute(_STORE, values)).rowcount:
        if request.consultation_id is not None:
            await connection.execute(_CONSULTED, request.model_dump(include={"request_id", "consultation_id"}))
        return True
    await require_same(connection, "retrieval_requests", "id", request.request_id, content)
    return False


async def require_candidate(connection: AsyncConnection, request_id: str, ref: str, revision: int) -> None:
    """Refuse to cite what an answer doesn't hold.

    Raises:
        UncitedCandidate: It is not among the candidates at that revision.
    """
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


async def is_stored(
    connection: AsyncConnection, table: str, column: str, row_id: str, content: str, *, field: str = ""
) -> bool:
    """Return whether an id was used before with this content, so that a repeat needs no further check (R8).

    Args:
        connection: A transaction of the principal; False for a row that it can't see.
        table: Where the id is a key.
        column: The key.
        row_id: The id.
        content: The digest that the row has to have.
        field: The id's name in the request; "" when it is the column's.

    Raises:
        IdempotencyConflict: Other content.
    """
    stored = await _digest_of(connection, table, column, row_id)
    if stored not in (None, content):
        raise _conflict(field or column)
    return stored is not None


async def require_same(
    connection: AsyncConnection, table: str, column: str, row_id: str, content: str, *, field: str = ""
) -> None:
    """Refuse an id that was used before with other content.

    Args:
        connection: A transaction of the principal.
        table: Where the id is a key.
        column: The key.
        row_id: The id.
        content: The digest that the row has to have.
        field: The id's name in the request; "" when it is the column's.

    Raises:
        IdempotencyConflict: Other content, or a row that can't be seen.
    """
    if await _digest_of(connection, table, column, row_id) != content:
        raise _conflict(field or column)


async def _digest_of(connection: AsyncConnection, table: str, column: str, row_id: str) -> str | None:
    sql = text(f"SELECT digest FROM {table} WHERE {column} = CAST(:id AS uuid)")
    return (await connection.execute(sql, {"id": row_id})).scalar_one_or_none()


def _conflict(field: str) -> IdempotencyConflict:
    return IdempotencyConflict("This id was used before with other content.", field=field)
