"""The client's calls on the audit chain, and reads as of a moment."""

from __future__ import annotations

from datetime import datetime

from pydantic import TypeAdapter

from api.client_transport import ClientTransport
from contracts.as_of import CurrentPage, ExperienceAsOf
from contracts.audit import AuditHead, AuditRow

_ROWS = TypeAdapter(list[AuditRow])


class AuditCalls(ClientTransport):
    """What was done, and what was current (R10)."""

    async def audit(
        self, *, subject: str | None = None, actor: str | None = None, after: int = 0, limit: int = 100
    ) -> list[AuditRow]:
        """Return rows of the chain after `after`, as far as the caller may see them."""
        query = {"subject": subject, "actor": actor, "after": after, "limit": limit}
        return await self.call("GET", "/v1/audit", _ROWS, query=query)

    async def audit_head(self) -> AuditHead:
        """Return the head of the chain, to keep elsewhere; administrators only."""
        return await self.call("GET", "/v1/audit/head", AuditHead)

    async def experience_as_of(self, experience_id: str, at: datetime) -> ExperienceAsOf:
        """Return where an experience stood."""
        path = f"/v1/experiences/{experience_id}/as-of"
        return await self.call("GET", path, ExperienceAsOf, query={"at": at.isoformat()})

    async def current_as_of(
        self, at: datetime, *, domain: str | None = None, after: str | None = None, limit: int = 100
    ) -> CurrentPage:
        """Return a page of what was current."""
        query = {"at": at.isoformat(), "domain": domain, "after": after, "limit": limit}
        return await self.call("GET", "/v1/as-of", CurrentPage, query=query)
