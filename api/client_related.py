"""The client's calls for related work and for decisions on it."""

from __future__ import annotations

from api.client_transport import ClientTransport
from contracts.cases import CaseLink
from contracts.related import CaseLinkRecord, CaseLinks, LinkRemoval, RelatedAnswer


class RelatedCalls(ClientTransport):
    """Related work, links and merges (R2)."""

    async def related(self, case_id: str, *, limit: int = 10, include_later: bool = False) -> RelatedAnswer:
        """Return the cases to look at beside a case, each with the reasons."""
        query = {"limit": limit, "include_later": str(include_later).lower()}
        return await self.call("GET", f"/v1/cases/{case_id}/related", RelatedAnswer, query=query)

    async def case_links(self, case_id: str) -> CaseLinks:
        """Return every decision on a case, and where its work goes on."""
        return await self.call("GET", f"/v1/cases/{case_id}/links", CaseLinks)

    async def link_cases(self, link: CaseLink) -> CaseLinkRecord:
        """Record the decision that two cases belong together, or that one goes on in the other."""
        return await self.call("POST", "/v1/cases/links", CaseLinkRecord, body=link)

    async def remove_link(self, link_id: str, reason: str) -> CaseLinkRecord:
        """End a decision; for a merge this is the split."""
        removal = LinkRemoval(reason=reason)
        return await self.call("POST", f"/v1/cases/links/{link_id}/removal", CaseLinkRecord, body=removal)
