"""What consulting needs from the record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from contracts.consultation import Consultation, ConsultationState, ConsultationView, ConsultReply


class ConsultationRecords(Protocol):
    """Consultations in Postgres; every read and write runs under the caller's row-level security (R4, R18)."""

    async def handles(self, principal_id: str, request_id: str) -> Sequence[str]:
        """Return what identifies the case and tenant of a retrieval: no brief may name it (R21).

        Raises:
            UnknownRetrieval: The caller can't see it.
        """
        ...

    async def ask(self, principal_id: str, request_id: str, consultation: Consultation) -> ConsultationView:
        """Store a question to another domain, and file it in the case; idempotent by its id.

        Raises:
            UnknownRetrieval: The caller can't see the retrieval.
            UnknownDomain: There is no such domain.
            InvalidField: It is the retrieval's own domain, or the retrieval has consulted too often.
            IdempotencyConflict: The id was used for another question.
        """
        ...

    async def listed(
        self, principal_id: str, *, state: ConsultationState | None, limit: int, newest_first: bool = False
    ) -> list[ConsultationView]:
        """Return what the caller's side has asked and what its domains are asked, the oldest or the newest first."""
        ...

    async def get(self, principal_id: str, consultation_id: str) -> ConsultationView:
        """Return one of them.

        Raises:
            UnknownConsultation: It is none of them.
        """
        ...

    async def reply(self, principal_id: str, consultation_id: str, reply: ConsultReply) -> ConsultationView:
        """Store the reply and file it as evidence in the asker's case; idempotent by its id.

        Raises:
            UnknownConsultation: No domain of the caller is asked by it, nor did its side ask.
            NotPermitted: The caller's side asked.
            UnknownRetrieval: The named retrieval is not the caller's own for this consultation.
            UncitedCandidate: A citation is not from that retrieval's answer.
            InvalidField: A case is cited, or something twice, or nothing that citations could come from.
            ConsultationClosed: Somebody has replied, or it was withdrawn.
            IdempotencyConflict: The id was used for another reply.
        """
        ...

    async def withdraw(self, principal_id: str, consultation_id: str) -> ConsultationView:
        """End an open question of the caller's own; idempotent by its id. The other side doesn't see it any more.

        Raises:
            UnknownConsultation: The caller is on neither side.
            NotPermitted: Somebody else asked.
            ConsultationClosed: Somebody has replied.
        """
        ...
