"""The client's calls for erasure; administrators only."""

from __future__ import annotations

from api.client_transport import ClientTransport
from contracts.erasure import ErasurePreview, ErasureReceipt, ErasureRequest, ErasureTarget


class ErasureCalls(ClientTransport):
    """Look first, order, and read the receipt (R11)."""

    async def preview_erasure(self, target: ErasureTarget) -> ErasurePreview:
        """Return what an erasure would find now."""
        return await self.call("POST", "/v1/erasures/preview", ErasurePreview, body=target)

    async def erase(self, request: ErasureRequest, *, wait: float = 0) -> ErasureReceipt:
        """Order an erasure and wait for its end so many seconds; a repeat gets the same receipt."""
        return await self.call("POST", "/v1/erasures", ErasureReceipt, body=request, query={"wait": wait})

    async def get_erasure(self, erasure_id: str) -> ErasureReceipt:
        """Return the receipt."""
        return await self.call("GET", f"/v1/erasures/{erasure_id}", ErasureReceipt)
