"""`caselore team`: a tenant, a domain and the people of a trial, each with a key in the data folder.

For trying Caselore on one machine. Whoever can read the folder is all of them, so it proves no separation of people;
the rules hold all the same: the proposer can't review, and two different people must (R7).
"""

from __future__ import annotations

from pathlib import Path

from api.client import CaseloreClient
from contracts.identity import Domain, Grant, Principal, RoleInDomain, Tenant
from contracts.labels import DomainRole, PrincipalKind
from deploy.cast import PROFILES, engage_in
from deploy.commands.attach import attached
from deploy.commands.calling import keep_key
from deploy.commands.progress import console, say
from deploy.commands.results import write_json
from deploy.settings import Settings

_PEOPLE = (
    ("proposer", PrincipalKind.PERSON, "Proposer", "delivers cases, proposes what they taught, asks the memory"),
    ("curator", PrincipalKind.PERSON, "Curator", "reviews first"),
    ("owner", PrincipalKind.PERSON, "Owner", "owns the domain and reviews second"),
    ("agent", PrincipalKind.AGENT, "Agent", "asks the memory, and cites it"),
)
_ASKING = ("proposer", "agent")


async def make_team(settings: Settings, *, tenant: str, domain: str, json_file: Path | None) -> None:
    """Add the team, or give it new keys when it is there, and say who may do what."""
    async with attached(settings, progress=say) as target:
        admin = target.admin
        await admin.put_tenant(Tenant(id=tenant, name=tenant))
        await admin.put_domain(Domain(id=domain, name=domain))
        keys: dict[str, str] = {}
        for name, kind, title, _ in _PEOPLE:
            key = await admin.put_principal(Principal(id=name, kind=kind, name=title), issue_key=True)
            keys[name] = str(keep_key(settings.data_dir, name, key or ""))
            await admin.put_grant(Grant(principal_id=name, tenant_id=tenant, purpose="trial"))
        for name, role in (("curator", DomainRole.CURATOR), ("owner", DomainRole.OWNER)):
            await admin.put_role(RoleInDomain(principal_id=name, domain_id=domain, role=role))
        profile = await _profile(admin, domain)
    for name, _, _, what in _PEOPLE:
        console.print(f"[bold]{name}[/]: {what}", highlight=False)
        console.print(f"  {keys[name]}", highlight=False, markup=False, soft_wrap=True)
    console.print(f"Tenant [bold]{tenant}[/], domain [bold]{domain}[/], profile [bold]{profile}[/].", highlight=False)
    console.print("Next: [bold]caselore propose --example > mine.json[/], write your case into it, and propose it.")
    write_json(json_file, {"tenant": tenant, "domain": domain, "profile": profile, "keys": keys})


async def _profile(admin: CaseloreClient, domain: str) -> str:
    """Give those who ask the domain's requesting profile, and return its id."""
    usual = {of: (profile_id, strategy_id) for profile_id, (of, strategy_id) in PROFILES.items()}
    profile_id, strategy_id = usual.get(domain, (f"{domain}-specialist", "data-investigation"))
    for name in _ASKING:
        await engage_in(admin, profile_id, domain, strategy_id, name)
    return profile_id
