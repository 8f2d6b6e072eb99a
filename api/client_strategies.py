"""The client's calls on strategies, their adoption, and what is recorded of past retrievals."""

from __future__ import annotations

from pydantic import TypeAdapter

from api.client_transport import ClientTransport
from contracts.adoption import Adoption, AdoptionDecision, AdoptionView, StrategyView
from contracts.retrieval_record import Rerun, RetrievalRecord

_STRATEGIES = TypeAdapter(list[StrategyView])
_ADOPTIONS = TypeAdapter(list[AdoptionView])


class StrategyCalls(ClientTransport):
    """Strategies, who starts from which, and how answers came about (R14, R20)."""

    async def strategies(self) -> list[StrategyView]:
        """Return every stored version, with the profiles that start from it."""
        return await self.call("GET", "/v1/strategies", _STRATEGIES)

    async def adoptions(self, *, profile_id: str | None = None, waiting: bool = False) -> list[AdoptionView]:
        """Return proposals for profiles, the newest first.

        Args:
            profile_id: Only of this profile.
            waiting: Only those that nobody has decided.
        """
        query = {"profile_id": profile_id, "waiting": "true" if waiting else None}
        return await self.call("GET", "/v1/strategies/adoptions", _ADOPTIONS, query=query)

    async def propose_adoption(self, adoption: Adoption) -> AdoptionView:
        """Propose another strategy version for a profile."""
        return await self.call("POST", "/v1/strategies/adoptions", AdoptionView, body=adoption)

    async def decide_adoption(self, adoption_id: str, decision: AdoptionDecision) -> AdoptionView:
        """Adopt or decline a proposal, as an owner of the profile's domain."""
        path = f"/v1/strategies/adoptions/{adoption_id}/decision"
        return await self.call("POST", path, AdoptionView, body=decision)

    async def retrieval_record(self, request_id: str) -> RetrievalRecord:
        """Return everything that is recorded of a retrieval."""
        return await self.call("GET", f"/v1/retrievals/{request_id}/record", RetrievalRecord)

    async def rerun(self, request_id: str) -> Rerun:
        """Return how a past answer comes out when it is composed again, with the record as of then."""
        return await self.call("GET", f"/v1/retrievals/{request_id}/rerun", Rerun)
