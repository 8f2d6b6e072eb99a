"""The client's call for a case's texts with personal data masked."""

from __future__ import annotations

from api.client_transport import ClientTransport
from contracts.masking import SanitisedCase


class CaseTextCalls(ClientTransport):
    """What experiences are drafted from (R6)."""

    async def sanitised(self, case_id: str) -> SanitisedCase:
        """Return title, written text and papers of a case, masked, with each masked place of the original."""
        return await self.call("GET", f"/v1/cases/{case_id}/sanitised", SanitisedCase)
