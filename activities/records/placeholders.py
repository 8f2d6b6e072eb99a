"""A case's texts, and the placeholder numbers of what is masked in them (R6).

A number is kept under a fingerprint of its value, made with a random key of the case: the table holds no personal
data, fingerprints of two cases can't be compared, and without the key (R11) they say nothing.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections import Counter
from collections.abc import Sequence

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from activities.records.cases import require_case
from activities.records.database import Database
from activities.records.schema.placeholders import NAME_PART
from contracts import limits
from contracts.cases import Paper
from contracts.masking import CaseTexts, Value
from contracts.personal_data import PersonalDataKind
from contracts.text import digest

_PAPERS = text("""
SELECT id::text AS id, kind, title, text, count(*) OVER () AS total FROM case_papers
 WHERE case_id = CAST(:case_id AS uuid) ORDER BY created_at DESC, id DESC LIMIT :limit
""")
_KEY = text("SELECT key FROM case_keys WHERE case_id = CAST(:case_id AS uuid)")
_ADD_KEY = text("""
INSERT INTO case_keys (case_id, tenant_id, key) VALUES (CAST(:case_id AS uuid), :tenant_id, :key)
ON CONFLICT DO NOTHING
""")
_KNOWN = text("SELECT kind, fingerprint, number FROM case_placeholders WHERE case_id = CAST(:case_id AS uuid)")
_ADD = text("""
INSERT INTO case_placeholders (case_id, tenant_id, kind, fingerprint, number)
VALUES (CAST(:case_id AS uuid), :tenant_id, :kind, :fingerprint, :number)
ON CONFLICT DO NOTHING
""")
_LOCK = text("SELECT pg_advisory_xact_lock(hashtextextended(:lock, 0))")


class PlaceholdersTable:
    """Reads a case's texts and numbers their personal data, inside the caller's scope."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def texts(self, principal_id: str, case_id: str) -> CaseTexts:
        """Return a case's title, written text and newest papers as they are kept.

        Raises:
            UnknownCase: There is none in the caller's scope.
        """
        async with self._database.as_principal(principal_id) as connection:
            case = await require_case(connection, case_id)
            found = await connection.execute(_PAPERS, {"case_id": case.id, "limit": limits.SANITISED_PAPERS})
            rows = found.mappings().all()
        return CaseTexts(
            case_id=case.id,
            revision=case.revision,
            title=case.title,
            text=case.searchable,
            papers=tuple(Paper.model_validate(dict(row)) for row in reversed(rows)),
            papers_left_out=rows[0]["total"] - len(rows) if rows else 0,
        )

    async def numbers(self, principal_id: str, case_id: str, values: Sequence[Value]) -> list[int]:
        """Return the placeholder number of each value, giving new values the next ones.

        The same value has the same number always; callers at once wait for each other.

        Raises:
            UnknownCase: There is none in the caller's scope.
        """
        async with self._database.as_principal(principal_id) as connection:
            case = await require_case(connection, case_id)
            if not values:
                return []
            of_case = {"case_id": case.id, "tenant_id": case.origin.tenant_id}
            await connection.execute(_LOCK, {"lock": digest(["case_placeholders", case.id])})
            numbering = _Numbering(await _key(connection, of_case))
            for kind, fingerprint, number in await connection.execute(_KNOWN, of_case):
                numbering.know(kind, fingerprint, number)
            numbers = [numbering.number(value) for value in values]
            if numbering.added:
                await connection.execute(_ADD, [{**of_case, **row} for row in numbering.added])
            return numbers


async def _key(connection: AsyncConnection, of_case: dict[str, str]) -> bytes:
    await connection.execute(_ADD_KEY, {**of_case, "key": secrets.token_bytes(32)})
    return bytes((await connection.execute(_KEY, of_case)).scalar_one())


class _Numbering:
    """The numbers of one case while its lock is held."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._known: dict[tuple[str, str], int] = {}
        self._highest: Counter[str] = Counter()
        self._names: Counter[int] = Counter()
        """How many spellings of names have a number."""
        self.added: list[dict[str, str | int]] = []

    def know(self, kind: str, fingerprint: str, number: int) -> None:
        self._known[kind, fingerprint] = number
        counted = PersonalDataKind.NAME if kind == NAME_PART else kind
        self._highest[counted] = max(self._highest[counted], number)
        self._names[number] += kind == PersonalDataKind.NAME

    def number(self, value: Value) -> int:
        found = self._found(value)
        number = self._highest[value.kind] + 1 if found is None else found
        for spelling in (value.normal, *value.shorter):
            self._add(value.kind, spelling, number)
        for part in value.parts:
            self._add(NAME_PART, part, number)
        return number

    def _found(self, value: Value) -> int | None:
        found = self._get(value.kind, value.normal)
        if found is not None or value.kind is not PersonalDataKind.NAME:
            return found
        # The person may be known by a shorter form; a form that a longer name has taken is that one's.
        for shorter in (*value.shorter, *value.parts):
            number = self._get(value.kind, shorter)
            if number is not None and self._names[number] == 1:
                return number
        return self._get(NAME_PART, value.normal)

    def _get(self, kind: str, spelling: str) -> int | None:
        return self._known.get((kind, self._fingerprint(kind, spelling)))

    def _add(self, kind: str, spelling: str, number: int) -> None:
        fingerprint = self._fingerprint(kind, spelling)
        if (kind, fingerprint) not in self._known:
            self.know(kind, fingerprint, number)
            self.added.append({"kind": kind, "fingerprint": fingerprint, "number": number})

    def _fingerprint(self, kind: str, spelling: str) -> str:
        return hmac.new(self._key, f"{kind}\n{spelling}".encode(), hashlib.sha256).hexdigest()
