"""Stand-in people and agents: who proposes and reviews when a file is imported or the demo runs unattended.

They are ordinary principals with ordinary roles; nothing in the product knows them. Two people review, and
neither is the proposer (R7).
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

from activities.personal_data.finder import RuleFinder
from api.client import CaseloreClient
from contracts.identity import Domain, Grant, Principal, Profile, RoleInDomain, Tenant
from contracts.labels import DomainRole, PrincipalKind
from contracts.ports import PersonalDataFinder
from contracts.strategies import newest

PROPOSER = Principal(id="stand-in-proposer", kind=PrincipalKind.AGENT, name="Stand-in proposer")
CURATOR = Principal(id="stand-in-curator", kind=PrincipalKind.PERSON, name="Stand-in curator")
OWNER = Principal(id="stand-in-owner", kind=PrincipalKind.PERSON, name="Stand-in owner")

PROFILES: dict[str, tuple[str, str]] = {
    "root-support": ("root", "root-classification"),
    "data-specialist": ("data", "data-investigation"),
    "configuration-specialist": ("configuration", "configuration"),
    "development-specialist": ("development", "development"),
    "effort-assessor": ("assessment", "effort-assessment"),
}
"""Requesting profiles: their domain and the strategy that they pin."""


@dataclass(frozen=True)
class Cast:
    """Signed-in clients of the stand-ins."""

    proposer: CaseloreClient
    curator: CaseloreClient
    owner: CaseloreClient
    finder: PersonalDataFinder = field(default_factory=RuleFinder)
    """Finds what the proposer masks in what it imports (R6)."""


async def engage(
    stack: AsyncExitStack,
    admin: CaseloreClient,
    base_url: str,
    *,
    tenants: Iterable[Tenant],
    domains: Iterable[Domain],
    is_reviewed: bool = True,
) -> Cast:
    """Add tenants and domains, the stand-ins with their grants and roles, and return their clients.

    Args:
        stack: Closes the clients.
        admin: An administrator's client.
        base_url: Of the API.
        tenants: To add and grant to the proposer.
        domains: To add and give the reviewers roles in.
        is_reviewed: Whether the reviewers get their roles; false leaves every review to real people.
    """
    tenants, domains = list(tenants), list(domains)
    for tenant in tenants:
        await admin.put_tenant(tenant)
    for domain in domains:
        await admin.put_domain(domain)
    clients: list[CaseloreClient] = []
    for principal in (PROPOSER, CURATOR, OWNER):
        key = await admin.put_principal(principal, issue_key=True)
        clients.append(await stack.enter_async_context(CaseloreClient(base_url, key or "")))
    for tenant in tenants:
        await admin.put_grant(Grant(principal_id=PROPOSER.id, tenant_id=tenant.id, purpose="case file import"))
    if is_reviewed:
        for domain in domains:
            for principal, role in ((CURATOR, DomainRole.CURATOR), (OWNER, DomainRole.OWNER)):
                await admin.put_role(RoleInDomain(principal_id=principal.id, domain_id=domain.id, role=role))
    proposer, curator, owner = clients
    return Cast(proposer, curator, owner)


async def engage_agent(
    stack: AsyncExitStack, admin: CaseloreClient, base_url: str, tenant: Tenant, domains: Iterable[str]
) -> CaseloreClient:
    """Return the client of a tenant's support agent: it sees that tenant only, and holds every profile it can."""
    agent = Principal(id=f"agent-of-{tenant.id}", kind=PrincipalKind.AGENT, name=f"Support agent of {tenant.name}")
    key = await admin.put_principal(agent, issue_key=True)
    await admin.put_grant(Grant(principal_id=agent.id, tenant_id=tenant.id, purpose="support"))
    known = set(domains)
    for profile_id, (domain_id, strategy_id) in PROFILES.items():
        if domain_id in known:
            await engage_in(admin, profile_id, domain_id, strategy_id, agent.id)
    return await stack.enter_async_context(CaseloreClient(base_url, key or ""))


async def engage_in(
    admin: CaseloreClient, profile_id: str, domain_id: str, strategy_id: str, principal_id: str
) -> None:
    """Let a principal act with a profile. A new one starts from the newest version of its strategy.

    One that is there keeps what it starts from: another version is adopted, not put (R14).
    """
    stored = {profile: each.strategy for each in await admin.strategies() for profile in each.pinned_by}
    strategy = stored.get(profile_id) or newest(strategy_id)
    await admin.put_profile(
        Profile(
            id=profile_id,
            domain_id=domain_id,
            strategy_id=strategy.id,
            strategy_version=strategy.version,
            principals=(principal_id,),
        )
    )
