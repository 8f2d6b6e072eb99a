"""Routes for strategies: what there is, and which version a profile starts from (R14)."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body, Query, status

from api.authentication import Caller, require_every_tenant
from api.checked_route import CheckedRoute
from api.documentation import PROBLEMS
from api.id_in_path import IdInPath
from api.services import Services
from api.strategy_examples import ADOPTION, ADOPTION_DECISION
from contracts.adoption import Adoption, AdoptionDecision, AdoptionView, StrategyView
from contracts.text import Identifier

router = APIRouter(route_class=CheckedRoute, prefix="/v1/strategies", tags=["strategies"], responses=PROBLEMS)


@router.get("", summary="See the strategies")
async def strategies(services: Services, caller: Caller) -> list[StrategyView]:
    """Return every version with its guide, its steps, its digest and the profiles that start from it."""
    return await services.adoptions.strategies(caller.id)


@router.get("/adoptions", summary="See proposed and decided adoptions")
async def adoptions(
    services: Services,
    caller: Caller,
    profile_id: Annotated[Identifier | None, Query()] = None,
    waiting: Annotated[bool, Query(description="Only those that nobody has decided.")] = False,
) -> list[AdoptionView]:
    """Return what was proposed for profiles and what became of it, the newest first."""
    return await services.adoptions.adoptions(caller.id, profile_id=profile_id, waiting=waiting)


@router.post("/adoptions", summary="Propose another version for a profile", status_code=status.HTTP_201_CREATED)
async def propose(
    services: Services, caller: Caller, adoption: Annotated[Adoption, Body(openapi_examples=ADOPTION)]
) -> AdoptionView:
    """Propose that a profile starts from another version, as administrator or for a domain that the caller reviews.

    The proposal names the definition by its digest and the version that the profile pins now; the same proposal
    again is answered as before. Nothing changes until an owner of the profile's domain decides.
    """
    return await services.adoptions.propose(caller.id, adoption, administrator=caller.administers)


@router.post("/adoptions/{adoption_id}/decision", summary="Adopt or decline a version")
async def decide(
    services: Services,
    caller: Caller,
    adoption_id: IdInPath,
    decision: Annotated[AdoptionDecision, Body(openapi_examples=ADOPTION_DECISION)],
) -> AdoptionView:
    """Decide a proposal as an owner of the profile's domain who didn't make it; adopted, it holds at once.

    It holds for every tenant that the profile is used in, so a key that is narrowed to some can't decide it.
    """
    require_every_tenant(caller)
    return await services.adoptions.decide(caller.id, str(adoption_id), decision)
