"""Routes for administrators: tenants, domains, principals, grants, roles and profiles (R4, R13)."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body, Query

from activities.records.cases import check_moment
from api.authentication import Caller
from api.bodies import IssuedKey, PrincipalToAdd
from api.checked_route import CheckedRoute
from api.documentation import PROBLEMS
from api.examples import DOMAIN, GRANT, PRINCIPAL, PROFILE, REVOCATION, ROLE, TENANT
from api.services import Services
from contracts.access import AccessView, Revocation, RevocationOutcome
from contracts.identity import Domain, Grant, Profile, RoleInDomain, Tenant
from contracts.text import Identifier

router = APIRouter(route_class=CheckedRoute, prefix="/v1", tags=["administration"], responses=PROBLEMS)


@router.put("/tenants", summary="Add or rename a tenant")
async def put_tenant(services: Services, _: Caller, tenant: Annotated[Tenant, Body(openapi_examples=TENANT)]) -> Tenant:
    """Add a tenant, or rename it."""
    await services.identities.add_tenant(tenant)
    return tenant


@router.put("/domains", summary="Add or change a domain")
async def put_domain(services: Services, _: Caller, domain: Annotated[Domain, Body(openapi_examples=DOMAIN)]) -> Domain:
    """Add a domain, or change its name and description."""
    await services.identities.add_domain(domain)
    return domain


@router.put("/principals", summary="Add a principal or issue a key")
async def put_principal(
    services: Services, _: Caller, addition: Annotated[PrincipalToAdd, Body(openapi_examples=PRINCIPAL)]
) -> IssuedKey:
    """Add a person or agent, change its name, or end or restore its sign-in; issue an API key, shown this once."""
    if addition.key_expires_at is not None:  # before anything is written
        check_moment(addition.key_expires_at, field="key_expires_at")
    await services.identities.add_principal(addition.principal)
    if addition.active is not None:
        await services.access.set_active(addition.principal.id, active=addition.active)
    if not addition.issue_key:
        return IssuedKey()
    key = await services.identities.issue_key(addition.principal.id, expires_at=addition.key_expires_at)
    return IssuedKey(api_key=key)


@router.put("/grants", summary="Grant a tenant or a case")
async def put_grant(services: Services, _: Caller, grant: Annotated[Grant, Body(openapi_examples=GRANT)]) -> Grant:
    """Let a principal see a tenant or one case of it; a repeat renews purpose and expiry (R4)."""
    await services.identities.grant(grant)
    return grant


@router.put("/roles", summary="Make somebody curator or owner")
async def put_role(
    services: Services, _: Caller, role: Annotated[RoleInDomain, Body(openapi_examples=ROLE)]
) -> RoleInDomain:
    """Give a principal a review role in a domain (R7)."""
    await services.identities.give_role(role)
    return role


@router.put("/profiles", summary="Add or change a profile")
async def put_profile(
    services: Services, _: Caller, profile: Annotated[Profile, Body(openapi_examples=PROFILE)]
) -> Profile:
    """Add a requesting profile with the strategy version that it pins, and its members (R13)."""
    await services.identities.add_profile(profile)
    return profile


@router.post("/revocations", summary="Take a grant, role, membership or keys away")
async def revoke(
    services: Services, _: Caller, revocation: Annotated[Revocation, Body(openapi_examples=REVOCATION)]
) -> RevocationOutcome:
    """Take something away from a principal; holds from its next request on (R4)."""
    return await services.access.revoke(revocation)


@router.get("/access", summary="See what somebody may see and do")
async def get_access(services: Services, _: Caller, principal_id: Annotated[Identifier, Query()]) -> AccessView:
    """Return everything that a principal's access derives from (R13)."""
    return await services.access.of(principal_id)
