"""Consultations: the question with its brief, and the reply, each side seeing its own (R18, R21)."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any

from sqlalchemy import RowMapping, text
from sqlalchemy.ext.asyncio import AsyncConnection

from activities.records.cases import file_papers, require_case
from activities.records.consultation_handles import handles_of, require_no_case, require_unnamed
from activities.records.consultation_rows import NEWEST_FIRST, OLDEST_FIRST, require_consultation, view_of
from activities.records.database import Database
from activities.records.domains import require_domain
from activities.records.memory_use_paper import consultation_paper, reply_paper
from activities.records.retrieval_requests import (
    find_request,
    is_stored,
    require_candidate,
    require_granted,
    require_profile,
    require_same,
)
from contracts import limits
from contracts.consultation import (
    Consultation,
    ConsultationState,
    ConsultationView,
    ConsultReply,
)
from contracts.errors import (
    ConsultationClosed,
    IdempotencyConflict,
    InvalidField,
    NotPermitted,
    UnknownRetrieval,
)
from contracts.retrieval import RetrievalRequest
from contracts.text import digest

_OWN_DOMAIN = text("SELECT domain_id FROM profiles WHERE id = :profile_id")
_ASKED_BEFORE = text("""
SELECT count(*) FILTER (WHERE id <> CAST(:id AS uuid)) FROM consultations WHERE request_id = CAST(:request_id AS uuid)
""")
_ASK = text("""
INSERT INTO consultations (id, request_id, reason, digest, asked_by)
VALUES (CAST(:consultation_id AS uuid), CAST(:request_id AS uuid), :reason, :digest, :asked_by)
ON CONFLICT (id) DO NOTHING
""")
_BRIEF = text("""
INSERT INTO consultation_briefs (consultation_id, domain_id, brief)
VALUES (CAST(:consultation_id AS uuid), :domain_id, :brief)
""")
_ROLE = text("SELECT role FROM app_review_roles() WHERE domain_id = :domain_id ORDER BY role DESC LIMIT 1")
_PROFILE = text("""
SELECT p.id FROM profiles p JOIN profile_members m ON m.profile_id = p.id
 WHERE p.domain_id = :domain_id AND m.principal_id = (SELECT app_principal()) ORDER BY p.id LIMIT 1
""")
_OWN_RETRIEVAL = text("""
SELECT q.profile_id FROM consulted_retrievals r JOIN retrieval_requests q ON q.id = r.request_id
 WHERE r.request_id = CAST(:request_id AS uuid) AND r.consultation_id = CAST(:id AS uuid)
   AND q.principal_id = (SELECT app_principal())
""")
_REPLY = text("""
INSERT INTO consultation_replies (consultation_id, reply_id, request_id, text, digest, paper_id, replied_by, replied_as)
VALUES (CAST(:id AS uuid), CAST(:reply_id AS uuid), CAST(:request_id AS uuid), :text, :digest,
        CAST(:paper_id AS uuid), :replied_by, :replied_as)
ON CONFLICT DO NOTHING
""")
_CITATION = text("""
INSERT INTO consultation_citations (consultation_id, request_id, ref, revision, why)
VALUES (CAST(:id AS uuid), CAST(:request_id AS uuid), :ref, :revision, :why)
""")
_LOCK = text("SELECT app_lock_consultation(CAST(:id AS uuid))")
_WITHDRAW = text("""
INSERT INTO consultation_withdrawals (consultation_id) VALUES (CAST(:id AS uuid)) ON CONFLICT DO NOTHING
""")
_OPEN_ONE = "an open consultation"
_FILE = text("SELECT app_file_consult_reply(CAST(:id AS uuid), :title, :text, :digest)")


class ConsultationsTable:
    """`contracts.consultation_ports.ConsultationRecords` on Postgres."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def handles(self, principal_id: str, request_id: str) -> Sequence[str]:
        """See `contracts.consultation_ports.ConsultationRecords.handles`."""
        async with self._database.as_principal(principal_id) as connection:
            return await handles_of(connection, await find_request(connection, request_id))

    async def ask(self, principal_id: str, request_id: str, consultation: Consultation) -> ConsultationView:
        """See `contracts.consultation_ports.ConsultationRecords.ask`; what was stored is repeated in any case (R8).

        Raises:
            UnknownProfile: The retrieval is the caller's own, by a profile that they don't hold any more (R13).
            OutsideScope: The caller has no grant in the retrieval's tenant, or none at all.
            UnknownCase: The case is not in the caller's scope any more.
            InvalidField: The brief names a case that the caller sees (R21); and what the port tells.
        """
        values: dict[str, Any] = {
            **consultation.model_dump(),
            "id": consultation.consultation_id,
            "request_id": request_id,
            "asked_by": principal_id,
            "digest": digest([principal_id, request_id, consultation.model_dump(mode="json")]),
        }
        async with self._database.as_principal(principal_id) as connection:
            row = await find_request(connection, request_id)
            await require_domain(connection, consultation.domain_id)
            if await is_stored(
                connection, "consultations", "id", values["id"], values["digest"], field="consultation_id"
            ):
                return view_of(await require_consultation(connection, consultation.consultation_id))
            case = None if row["case_id"] is None else await require_case(connection, row["case_id"])
            # Who sees a colleague's retrieval by its case needs no profile; that of who asked may have lapsed.
            if row["principal_id"] == principal_id:
                await require_profile(connection, row["profile_id"])
            await require_granted(connection, RetrievalRequest.model_validate(row["request"]).tenant_id)
            await require_no_case(connection, "brief", consultation.brief)
            own = (await connection.execute(_OWN_DOMAIN, {"profile_id": row["profile_id"]})).scalar_one()
            if own == consultation.domain_id:
                raise InvalidField(
                    f"The retrieval is of domain {own!r} itself.", field="domain_id", accepted="another domain"
                )
            if (await connection.execute(_ASKED_BEFORE, values)).scalar_one() >= limits.CONSULTATIONS:
                raise InvalidField(
                    "The retrieval has consulted too often.",
                    field="request_id",
                    accepted=f"at most {limits.CONSULTATIONS} consultations for one retrieval",
                )
            if (await connection.execute(_ASK, values)).rowcount:
                await connection.execute(_BRIEF, values)
                if case is not None:
                    paper = consultation_paper(consultation, request_id=request_id)
                    await file_papers(connection, principal_id, case, [paper], by_product=True)
            else:
                await require_same(
                    connection, "consultations", "id", values["id"], values["digest"], field="consultation_id"
                )
            return view_of(await require_consultation(connection, consultation.consultation_id))

    async def listed(
        self, principal_id: str, *, state: ConsultationState | None, limit: int, newest_first: bool = False
    ) -> list[ConsultationView]:
        """See `contracts.consultation_ports.ConsultationRecords.listed`."""
        statement = NEWEST_FIRST if newest_first else OLDEST_FIRST
        async with self._database.as_principal(principal_id) as connection:
            rows = await connection.execute(statement, {"state": state, "limit": max(0, min(limit, 200))})
            return [view_of(row) for row in rows.mappings()]

    async def get(self, principal_id: str, consultation_id: str) -> ConsultationView:
        """See `contracts.consultation_ports.ConsultationRecords.get`."""
        async with self._database.as_principal(principal_id) as connection:
            return view_of(await require_consultation(connection, consultation_id))

    async def reply(self, principal_id: str, consultation_id: str, reply: ConsultReply) -> ConsultationView:
        """See `contracts.consultation_ports.ConsultationRecords.reply`.

        Raises:
            InvalidField: It names its own retrieval, that one's case, or a case or tenant of the caller's (R21); and
                what the port tells.
        """
        _check_citations(reply)
        content = digest([principal_id, reply.model_dump(mode="json")])
        async with self._database.as_principal(principal_id) as connection:
            asked = await _locked(connection, consultation_id)
            if not asked["is_consulted"] or asked["asked_by"] == principal_id:
                raise NotPermitted(
                    f"Only domain {asked['domain_id']!r} replies, and nobody to a question of their own.",
                    field="consultation_id",
                    accepted="a consultation that asks a domain of yours",
                )
            if asked["withdrawn_at"] is not None:
                raise ConsultationClosed("It was withdrawn.", field="consultation_id", accepted=_OPEN_ONE)
            if asked["reply_id"] is None and await self._add_reply(connection, principal_id, asked, reply, content):
                return view_of(await require_consultation(connection, consultation_id))
            if asked["reply_id"] not in (None, reply.reply_id):
                raise ConsultationClosed(
                    "Somebody has replied for the domain.", field="consultation_id", accepted=_OPEN_ONE
                )
            if asked["digest"] != content:
                raise IdempotencyConflict("This id was used for another reply.", field="reply_id")
            return view_of(asked)

    async def withdraw(self, principal_id: str, consultation_id: str) -> ConsultationView:
        """See `contracts.consultation_ports.ConsultationRecords.withdraw`."""
        async with self._database.as_principal(principal_id) as connection:
            asked = await _locked(connection, consultation_id)
            if asked["asked_by"] != principal_id:
                raise NotPermitted(
                    "Only who asked may withdraw it.", field="consultation_id", accepted="a consultation of your own"
                )
            if asked["reply_id"] is not None:
                raise ConsultationClosed(
                    "Somebody has replied, and the reply is filed.", field="consultation_id", accepted=_OPEN_ONE
                )
            if asked["withdrawn_at"] is None:
                await connection.execute(_WITHDRAW, {"id": consultation_id})
                asked = await require_consultation(connection, consultation_id)
            return view_of(asked)

    async def _add_reply(
        self, connection: AsyncConnection, principal_id: str, asked: RowMapping, reply: ConsultReply, content: str
    ) -> bool:
        values: dict[str, Any] = {
            **reply.model_dump(include={"reply_id", "request_id", "text"}),
            "id": asked["consultation_id"],
            "digest": content,
            "paper_id": str(uuid.uuid4()),
            "replied_by": principal_id,
            "replied_as": await _replied_as(connection, asked, reply),
        }
        for citation in reply.citations:
            await require_candidate(connection, values["request_id"], citation.ref, citation.revision)
        await require_unnamed(connection, reply)
        if not (await connection.execute(_REPLY, values)).rowcount:
            return False
        if reply.citations:
            await connection.execute(_CITATION, [{**values, **each.model_dump()} for each in reply.citations])
        paper = reply_paper(
            values["paper_id"],
            reply,
            consultation_id=values["id"],
            domain_id=asked["domain_id"],
            replied_as=values["replied_as"],
        )
        filed = {"id": values["id"], **paper.model_dump(include={"title", "text"})}
        await connection.execute(_FILE, {**filed, "digest": digest([paper.kind, paper.title, paper.text])})
        return True


async def _locked(connection: AsyncConnection, consultation_id: str) -> RowMapping:
    """Return a consultation as it is once nobody else replies to it, withdraws it or erases its case any more.

    Raises:
        UnknownConsultation: The transaction's principal may not see it.
    """
    await require_consultation(connection, consultation_id)  # nobody waits for what they may not see
    await connection.execute(_LOCK, {"id": consultation_id})
    return await require_consultation(connection, consultation_id)


async def _replied_as(connection: AsyncConnection, asked: RowMapping, reply: ConsultReply) -> str:
    """Return what the caller is to the domain: of the retrieval that the reply rests on, else its role or profile."""
    if reply.request_id is not None:
        own = await connection.execute(_OWN_RETRIEVAL, {"request_id": reply.request_id, "id": asked["consultation_id"]})
        profile = own.scalar_one_or_none()
        if profile is None:
            raise UnknownRetrieval(
                "That is no retrieval of yours for this consultation.",
                field="request_id",
                accepted="one that names it as consultation_id",
            )
        return profile
    values = {"domain_id": asked["domain_id"]}
    role = (await connection.execute(_ROLE, values)).scalar_one_or_none()
    return role or (await connection.execute(_PROFILE, values)).scalar_one()


def _check_citations(reply: ConsultReply) -> None:
    if reply.citations and reply.request_id is None:
        raise InvalidField(
            "Citations are from an answer.", field="request_id", accepted="the retrieval whose answer is cited"
        )
    if any(citation.ref.startswith("case/") for citation in reply.citations):
        raise InvalidField(
            "A reply crosses to people who may not see your cases.",
            field="citations.ref",
            accepted="experience and articles",
        )
    if len({(citation.ref, citation.revision) for citation in reply.citations}) < len(reply.citations):
        raise InvalidField("A candidate is cited twice.", field="citations.ref", accepted="each once")
