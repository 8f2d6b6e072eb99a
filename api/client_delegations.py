"""The client's calls on lent review roles and on scope differences."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import TypeAdapter

from api.client_transport import ClientTransport
from contracts.delegation import Delegation, DelegationView
from contracts.scope_difference import ScopeDifference

_DELEGATIONS = TypeAdapter(list[DelegationView])


class DelegationCalls(ClientTransport):
    """Lent roles, and what owners acknowledge (R7, R10)."""

    async def delegate(self, delegation: Delegation) -> DelegationView:
        """Lend a role of the caller's own to another person, until a time."""
        return await self.call("POST", "/v1/delegations", DelegationView, body=delegation)

    async def delegations(self) -> list[DelegationView]:
        """Return what the caller has lent and was lent."""
        return await self.call("GET", "/v1/delegations", _DELEGATIONS)

    async def revoke_delegation(self, delegation_id: str) -> DelegationView:
        """End a delegation now, as either of its parties."""
        return await self.call("POST", f"/v1/delegations/{delegation_id}/revocation", DelegationView)

    async def scope_difference(
        self, experience_id: str, *, superseded_by: str | None = None, declined_units: Sequence[str] = ()
    ) -> ScopeDifference:
        """Return what the newest draft, or a successor, changes about where the published text applies.

        Args:
            experience_id: What is corrected or superseded.
            superseded_by: The experience that would take over; None compares the newest draft.
            declined_units: Units that the owner will decline.
        """
        query = {"superseded_by": superseded_by, "declined_unit": list(declined_units) or None}
        return await self.call("GET", f"/v1/experiences/{experience_id}/scope", ScopeDifference, query=query)
