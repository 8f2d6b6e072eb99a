"""The client's calls for operators."""

from __future__ import annotations

from pydantic import TypeAdapter

from api.client_transport import ClientTransport
from contracts.dead_letters import DeadLetter, GivenUp, Retried
from contracts.reconcile import ReconcileReport, ReconcileRequest, StoredReport
from contracts.views import Figures, ReindexView

_LETTERS = TypeAdapter(list[DeadLetter])
_REPORTS = TypeAdapter(list[StoredReport])


class OperationCalls(ClientTransport):
    """What operators look at and set off; administrators only."""

    async def figures(self, *, since: int = 0) -> Figures:
        """Return counts and times; lag is over events after outbox position `since`."""
        return await self.call("GET", "/v1/figures", Figures, query={"since": since})

    async def reindex(self) -> ReindexView:
        """Begin to rebuild the search index from the record; the watermarks tell when it is done."""
        return await self.call("POST", "/v1/reindex", ReindexView)

    async def reconcile(self, *, repair: bool = False) -> ReconcileReport:
        """Compare record and indexes; with `repair`, ask for a fresh projection of what drifts."""
        return await self.call("POST", "/v1/reconcile", ReconcileReport, body=ReconcileRequest(repair=repair))

    async def reconcile_reports(self, *, limit: int = 20) -> list[StoredReport]:
        """Return the latest reports, newest first."""
        return await self.call("GET", "/v1/reconcile", _REPORTS, query={"limit": limit})

    async def dead_letters(self, *, after: int = 0, limit: int = 100) -> list[DeadLetter]:
        """Return events that were set aside, oldest first."""
        return await self.call("GET", "/v1/dead-letters", _LETTERS, query={"after": after, "limit": limit})

    async def retry_dead_letter(self, event_id: str) -> int:
        """Give an event back for delivery; return 0 when it was not set aside any more."""
        return (await self.call("POST", f"/v1/dead-letters/{event_id}/retry", Retried)).events

    async def retry_dead_letters(self) -> int:
        """Give every event that was set aside back for delivery, and return how many."""
        return (await self.call("POST", "/v1/dead-letters/retry", Retried)).events

    async def give_up_dead_letter(self, event_id: str) -> GivenUp:
        """Take an event that can't be delivered out of the way; its command is refused."""
        return await self.call("POST", f"/v1/dead-letters/{event_id}/give-up", GivenUp)
