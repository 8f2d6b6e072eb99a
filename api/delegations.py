"""Routes for lending a review role to somebody, until a time (R7)."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body

from api.authentication import Caller, require_every_tenant
from api.checked_route import CheckedRoute
from api.documentation import PROBLEMS
from api.examples import DELEGATION
from api.id_in_path import IdInPath
from api.services import Services
from contracts.delegation import Delegation, DelegationView

router = APIRouter(route_class=CheckedRoute, prefix="/v1/delegations", tags=["review"], responses=PROBLEMS)


@router.post("", summary="Lend a review role")
async def delegate(
    services: Services, caller: Caller, delegation: Annotated[Delegation, Body(openapi_examples=DELEGATION)]
) -> DelegationView:
    """Let another person decide with the caller's role until a time; the same delegation again is answered as before.

    The delegate decides under its own name and the record says on whose behalf. Who of the two proposed, wrote or
    reviewed a draft keeps both from deciding on it. A lent role can't be lent on. It holds in every tenant, so a key
    that is narrowed to some can't lend it.
    """
    require_every_tenant(caller)
    return await services.delegations.delegate(caller.id, delegation)


@router.get("", summary="See lent review roles")
async def delegations(services: Services, caller: Caller) -> list[DelegationView]:
    """Return what the caller has lent and was lent, the last to expire first."""
    return await services.delegations.delegations(caller.id)


@router.post("/{delegation_id}/revocation", summary="End a delegation")
async def revoke(services: Services, caller: Caller, delegation_id: IdInPath) -> DelegationView:
    """End a delegation now, as either of its parties; decisions that were recorded before stand."""
    return await services.delegations.revoke(caller.id, str(delegation_id))
