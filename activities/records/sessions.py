"""Sessions of the pages: random tokens kept as hashes, with an idle and an absolute end (R4)."""

from __future__ import annotations

import secrets
import uuid
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import text

from activities.records.database import Database
from activities.records.identities import key_hash
from activities.records.person_identities import identity_key
from contracts import limits
from contracts.errors import NotAuthenticated
from contracts.identity import SignedIn
from contracts.sign_in import PersonIdentity

_OPEN = text("""
INSERT INTO sessions (id, hash, principal_id, key_hash, identity_key, expires_at)
VALUES (CAST(:id AS uuid), :hash, :principal_id, :key_hash, :identity_key, now() + :longest)
""")
_END_OLDEST = text("""
UPDATE sessions SET ended_at = now() WHERE id IN (
  SELECT id FROM sessions WHERE principal_id = :principal_id AND ended_at IS NULL
   ORDER BY began_at DESC, id OFFSET :most)
""")
_FORGET = text("""
DELETE FROM sessions WHERE principal_id = :principal_id AND expires_at < now() - :longest
""")
# A session is worth what opened it is worth at this moment: a key that still signs in, or a link that still stands.
_FIND = text("""
SELECT s.id::text AS session_id, s.expires_at, s.seen_at < now() - interval '1 minute' AS is_stale,
       p.id, p.kind, p.name, p.administrator, k.abilities, k.tenants
  FROM sessions s JOIN principals p ON p.id = s.principal_id AND p.active
  LEFT JOIN api_keys k ON k.hash = s.key_hash AND k.principal_id = s.principal_id
                      AND (k.expires_at IS NULL OR k.expires_at > now())
  LEFT JOIN principal_identities i ON i.key = s.identity_key AND i.principal_id = s.principal_id
 WHERE s.hash = :hash AND s.ended_at IS NULL AND s.expires_at > now() AND s.seen_at > now() - :idle
   AND (k.hash IS NOT NULL OR i.key IS NOT NULL)
""")
_SEEN = text("UPDATE sessions SET seen_at = now() WHERE id = CAST(:id AS uuid)")
_END = text("UPDATE sessions SET ended_at = now() WHERE hash = :hash AND ended_at IS NULL")


@dataclass(frozen=True)
class OpenSession:
    """A session that stands."""

    principal: SignedIn
    expires_at: datetime
    """However busy it is, it ends then."""


class SessionsTable:
    """What a browser's cookie stands for."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def open(self, principal_id: str, *, key: str | None = None, identity: PersonIdentity | None = None) -> str:
        """Begin a session and return its token, which is new and is stored as its hash only.

        Args:
            principal_id: Whose session it is.
            key: The API key that was shown; the session ends with it and is narrowed as it is.
            identity: Or the person whom an issuer vouched for; the session ends with the link.
        """
        token = secrets.token_urlsafe(32)
        values = {
            "id": str(uuid.uuid4()),
            "hash": key_hash(token),
            "principal_id": principal_id,
            "key_hash": None if key is None else key_hash(key),
            "identity_key": None if identity is None else identity_key(identity),
            "longest": limits.SESSION,
            "most": limits.SESSIONS,
        }
        async with self._database.as_system() as connection:
            await connection.execute(_FORGET, values)
            await connection.execute(_OPEN, values)
            await connection.execute(_END_OLDEST, values)
        return token

    async def find(self, token: str) -> OpenSession:
        """Return the session of a token, and count it as used now.

        Raises:
            NotAuthenticated: There is none, it has ended, or what opened it doesn't sign in any more.
        """
        values = {"hash": key_hash(token), "idle": limits.SESSION_IDLE}
        async with self._database.as_system() as connection:
            row = (await connection.execute(_FIND, values)).mappings().first()
            if row is None:
                raise NotAuthenticated("The session has ended.", field="Cookie", accepted="a new sign-in")
            if row["is_stale"]:
                await connection.execute(_SEEN, {"id": row["session_id"]})
        return OpenSession(SignedIn.model_validate(dict(row)), row["expires_at"])

    async def end(self, token: str) -> None:
        """End a session; one that has ended stays so."""
        async with self._database.as_system() as connection:
            await connection.execute(_END, {"hash": key_hash(token)})
