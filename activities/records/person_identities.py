"""Which principal a person is whom an issuer vouches for: a link that an administrator makes (R13)."""

from __future__ import annotations

import hashlib
import json

from sqlalchemy import RowMapping, text

from activities.records.database import Database
from contracts.errors import IdempotencyConflict, InvalidField, UnknownIdentity, UnknownPrincipal
from contracts.identity import Principal, SignedIn
from contracts.labels import PrincipalKind
from contracts.sign_in import IdentityLink, IdentityView, PersonIdentity, Removed

_SIGN_IN = text("""
SELECT p.id, p.kind, p.name, p.administrator FROM principal_identities i JOIN principals p ON p.id = i.principal_id
 WHERE i.key = :key AND p.active
""")
_LINK = text("""
INSERT INTO principal_identities (key, issuer, subject, principal_id, linked_by)
VALUES (:key, :issuer, :subject, :principal_id, :linked_by) ON CONFLICT (key) DO NOTHING
""")
_LINKED = text("""
SELECT issuer, subject, principal_id, linked_at, linked_by FROM principal_identities WHERE key = :key
""")
_OF = text("""
SELECT issuer, subject, principal_id, linked_at, linked_by FROM principal_identities
 WHERE principal_id = :principal_id ORDER BY linked_at, key
""")
_REMOVE = text("DELETE FROM principal_identities WHERE key = :key AND principal_id = :principal_id")
_END_SESSIONS = text("UPDATE sessions SET ended_at = now() WHERE identity_key = :key AND ended_at IS NULL")
_PEOPLE = text("""
SELECT id, kind, name FROM principals WHERE kind = 'person' AND active ORDER BY id LIMIT :limit
""")
_KIND = text("SELECT kind FROM principals WHERE id = :id")


def identity_key(identity: PersonIdentity) -> str:
    """Return what an identity is kept under. Issuer and subject are compared as they are spelt."""
    return hashlib.sha256(json.dumps([identity.issuer, identity.subject]).encode()).hexdigest()


class PersonIdentities:
    """Sign-in of people by issuer and subject, and the administration of the links."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def sign_in(self, identity: PersonIdentity) -> SignedIn:
        """Return the principal that the person is.

        Raises:
            UnknownIdentity: The person isn't linked to a principal that may sign in.
        """
        async with self._database.as_system() as connection:
            row = (await connection.execute(_SIGN_IN, {"key": identity_key(identity)})).mappings().first()
        if row is None:
            raise UnknownIdentity(
                f"Your sign-in with {identity.issuer} worked, and no principal here is linked to it.",
                field="Authorization",
                accepted=f"a person whom an administrator linked: give them the subject {identity.subject!r}",
            )
        return SignedIn.model_validate(dict(row))

    async def link(self, linked_by: str | None, link: IdentityLink) -> IdentityView:
        """Let a person sign in as a principal; the same link again changes nothing.

        Args:
            linked_by: The administrator; None: the deployment.
            link: Who is whom.

        Raises:
            UnknownPrincipal: There is none.
            InvalidField: The principal is an agent: agents sign in by key.
            IdempotencyConflict: The person is linked to another principal.
        """
        values = {"key": identity_key(link), **link.model_dump(), "linked_by": linked_by}
        async with self._database.as_system() as connection:
            kind = (await connection.execute(_KIND, {"id": link.principal_id})).scalar_one_or_none()
            if kind is None:
                raise UnknownPrincipal(f"There is no principal {link.principal_id!r}.", field="principal_id")
            if kind != PrincipalKind.PERSON:
                raise InvalidField("An agent signs in by API key.", field="principal_id", accepted="a person")
            await connection.execute(_LINK, values)
            row = (await connection.execute(_LINKED, values)).mappings().one()
            if row["principal_id"] != link.principal_id:
                raise IdempotencyConflict(
                    f"This person is linked to {row['principal_id']!r}.",
                    field="principal_id",
                    accepted="that principal; or remove its link first",
                )
            return _view(row)

    async def people(self, *, limit: int) -> list[Principal]:
        """Return the people who may sign in, by id; for the development issuer, which lets one be chosen."""
        async with self._database.as_system() as connection:
            rows = (await connection.execute(_PEOPLE, {"limit": limit})).mappings()
            return [Principal.model_validate(dict(row)) for row in rows]

    async def of(self, principal_id: str) -> list[IdentityView]:
        """Return the identities that sign in as a principal.

        Raises:
            UnknownPrincipal: There is none.
        """
        async with self._database.as_system() as connection:
            if (await connection.execute(_KIND, {"id": principal_id})).first() is None:
                raise UnknownPrincipal(f"There is no principal {principal_id!r}.", field="principal_id")
            return [_view(row) for row in (await connection.execute(_OF, {"principal_id": principal_id})).mappings()]

    async def unlink(self, link: IdentityLink) -> Removed:
        """End a link and the sessions that were opened by it; a repeat finds nothing to end."""
        values = {"key": identity_key(link), "principal_id": link.principal_id}
        async with self._database.as_system() as connection:
            removed = (await connection.execute(_REMOVE, values)).rowcount
            if removed:
                await connection.execute(_END_SESSIONS, values)
            return Removed(removed=removed)


def _view(row: RowMapping) -> IdentityView:
    return IdentityView.model_validate(dict(row))
