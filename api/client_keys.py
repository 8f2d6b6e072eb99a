"""The client's calls for keys and identities."""

from __future__ import annotations

from pydantic import TypeAdapter

from api.client_transport import ClientTransport
from contracts.sign_in import IdentityLink, IdentityView, IssuedApiKey, KeyToIssue, KeyView, Removed

_KEYS = TypeAdapter(list[KeyView])
_IDENTITIES = TypeAdapter(list[IdentityView])


class KeyCalls(ClientTransport):
    """How principals sign in; administrators only."""

    async def issue_key(self, wanted: KeyToIssue) -> IssuedApiKey:
        """Issue a key. It is sent once only: a repeat could not show the key again."""
        return await self.call("POST", "/v1/keys", IssuedApiKey, body=wanted, repeatable=False)

    async def keys(self, principal_id: str | None = None, *, ended: bool = False, limit: int = 100) -> list[KeyView]:
        """Return keys, newest first."""
        query = {"principal_id": principal_id, "ended": "true" if ended else None, "limit": limit}
        return await self.call("GET", "/v1/keys", _KEYS, query=query)

    async def revoke_key(self, key_id: str) -> Removed:
        """End one key."""
        return await self.call("POST", f"/v1/keys/{key_id}/revocation", Removed)

    async def link_identity(self, link: IdentityLink) -> IdentityView:
        """Let a person of the issuer sign in as a principal."""
        return await self.call("PUT", "/v1/identities", IdentityView, body=link)

    async def identities(self, principal_id: str) -> list[IdentityView]:
        """Return who signs in as a principal."""
        return await self.call("GET", "/v1/identities", _IDENTITIES, query={"principal_id": principal_id})

    async def unlink_identity(self, link: IdentityLink) -> Removed:
        """End a link."""
        return await self.call("POST", "/v1/identities/removal", Removed, body=link)
