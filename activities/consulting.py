"""Consulting another domain: what crosses is checked before it does (R6, R18, R21)."""

from __future__ import annotations

import asyncio

from contracts.consultation import Consultation, ConsultationState, ConsultationView, ConsultReply, require_scoped
from contracts.consultation_ports import ConsultationRecords
from contracts.errors import InvalidField
from contracts.ports import PersonalDataFinder


class Consulting:
    """Asks and answers between domains.

    Args:
        records: Where consultations are kept.
        finder: Finds personal data; runs in a thread.
    """

    def __init__(self, records: ConsultationRecords, finder: PersonalDataFinder) -> None:
        self._records = records
        self._finder = finder

    async def ask(self, principal_id: str, request_id: str, consultation: Consultation) -> ConsultationView:
        """Ask a domain by a brief that holds no personal data and names neither case nor tenant.

        Raises:
            InvalidField: The brief holds such a thing; and whatever `ConsultationRecords.ask` raises.
        """
        require_scoped(consultation.brief, await self._records.handles(principal_id, request_id))
        await self._require_clean("brief", consultation.brief)
        return await self._records.ask(principal_id, request_id, consultation)

    async def listed(
        self,
        principal_id: str,
        *,
        state: ConsultationState | None = None,
        limit: int = 50,
        newest_first: bool = False,
    ) -> list[ConsultationView]:
        """Return what the caller's side has asked and what its domains are asked, the oldest or the newest first."""
        return await self._records.listed(principal_id, state=state, limit=limit, newest_first=newest_first)

    async def get(self, principal_id: str, consultation_id: str) -> ConsultationView:
        """Return one of them; see `ConsultationRecords.get`."""
        return await self._records.get(principal_id, consultation_id)

    async def withdraw(self, principal_id: str, consultation_id: str) -> ConsultationView:
        """End an open question of the caller's own; see `ConsultationRecords.withdraw`."""
        return await self._records.withdraw(principal_id, consultation_id)

    async def reply(self, principal_id: str, consultation_id: str, reply: ConsultReply) -> ConsultationView:
        """Answer for the caller's domain, in words that hold no personal data and name no case or tenant of its own.

        They cross to the asker's case. The record holds them against what the caller sees (R21).

        Raises:
            InvalidField: They hold such a thing; and whatever `ConsultationRecords.reply` raises.
        """
        await self._require_clean("text", reply.text)
        for citation in reply.citations:
            await self._require_clean("citations.why", citation.why)
        return await self._records.reply(principal_id, consultation_id, reply)

    async def _require_clean(self, field: str, text: str) -> None:
        found = await asyncio.to_thread(self._finder.find, text)
        if found:
            kinds = ", ".join(sorted({place.kind.replace("_", " ") for place in found}))
            places = ", ".join(f"{place.start} to {place.end}" for place in found[:5])
            raise InvalidField(
                f"The text crosses to others and seems to hold personal data: {kinds}, at {places}.",
                field=field,
                accepted="a text without it",
            )
