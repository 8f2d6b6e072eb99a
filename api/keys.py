"""Routes for administrators: API keys with a scope and an end, and people's identities (R4, R13)."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body, Query, status

from api.authentication import Caller
from api.checked_route import CheckedRoute
from api.documentation import PROBLEMS
from api.id_in_path import IdInPath
from api.key_examples import IDENTITY, KEY
from api.services import Services
from contracts.sign_in import IdentityLink, IdentityView, IssuedApiKey, KeyToIssue, KeyView, Removed
from contracts.text import Identifier

router = APIRouter(route_class=CheckedRoute, prefix="/v1", tags=["sign-in"], responses=PROBLEMS)


@router.post("/keys", summary="Issue an API key", status_code=status.HTTP_201_CREATED)
async def issue_key(
    services: Services, caller: Caller, wanted: Annotated[KeyToIssue, Body(openapi_examples=KEY)]
) -> IssuedApiKey:
    """Make a key; it is in this answer only. What it is narrowed to takes away from its principal's access.

    Under an id that was used before no second key is made, and the first is not shown again.
    """
    return await services.sign_in.keys.issue(caller.id, wanted)


@router.get("/keys", summary="List API keys")
async def list_keys(
    services: Services,
    _: Caller,
    principal_id: Annotated[Identifier | None, Query(description="Whose keys; everybody's when left out.")] = None,
    ended: Annotated[bool, Query(description="Also those that have ended or were revoked.")] = False,
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
) -> list[KeyView]:
    """Return what keys there are, newest first, without the keys themselves."""
    return await services.sign_in.keys.list(principal_id, ended=ended, limit=limit)


@router.post("/keys/{key_id}/revocation", summary="Revoke one API key")
async def revoke_key(services: Services, _: Caller, key_id: IdInPath) -> Removed:
    """End a key, and the sessions that were opened with it; holds within seconds."""
    return await services.sign_in.keys.revoke(str(key_id))


@router.put("/identities", summary="Link a person's identity to a principal")
async def put_identity(
    services: Services, caller: Caller, link: Annotated[IdentityLink, Body(openapi_examples=IDENTITY)]
) -> IdentityView:
    """Let a person whom the issuer vouches for sign in as a principal; nothing else of a token tells who it is."""
    return await services.sign_in.people.link(caller.id, link)


@router.get("/identities", summary="See who signs in as a principal")
async def list_identities(
    services: Services, _: Caller, principal_id: Annotated[Identifier, Query()]
) -> list[IdentityView]:
    """Return the identities that are linked to a principal."""
    return await services.sign_in.people.of(principal_id)


@router.post("/identities/removal", summary="Remove the link of an identity")
async def remove_identity(
    services: Services, _: Caller, link: Annotated[IdentityLink, Body(openapi_examples=IDENTITY)]
) -> Removed:
    """End a link, and the sessions that were opened by it; holds within seconds."""
    return await services.sign_in.people.unlink(link)
