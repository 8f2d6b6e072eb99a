"""A running Caselore with people who use its pages, and their browsers."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from playwright.async_api import Browser, Page, ViewportSize

from api.client import CaseloreClient
from contracts.casefile import CaseRecord
from contracts.experience import Draft
from contracts.identity import Grant, Principal, RoleInDomain
from contracts.labels import DomainRole, PrincipalKind
from contracts.lifecycle import Stage
from contracts.views import ExperienceView
from deploy.cast import PROFILES, engage_in
from deploy.importing import experience_id, proposal_of
from tests.acceptance.office import Office, fresh
from tests.acceptance.samples import case

PEOPLE = {
    "cora": (DomainRole.CURATOR,),
    "otto": (DomainRole.OWNER,),
    "berta": (DomainRole.CURATOR, DomainRole.OWNER),
    "guest": (),
}
"""Who curates and who owns `data`; guest holds nothing."""
PROFILE = "data-specialist"
"""What berta asks as."""
PHONE: ViewportSize = {"width": 360, "height": 740}
DESK: ViewportSize = {"width": 1280, "height": 900}


@dataclass
class Site:
    """The office, the keys of its people, and a browser to look at it with."""

    office: Office
    browser: Browser
    keys: dict[str, str]
    cookies: dict[str, str] = field(default_factory=dict[str, str])
    """Of the people's sessions: each signs in once."""
    told: list[str] = field(default_factory=list[str])
    """Whatever a page complained of: a refused script, a broken policy, an error."""
    ran: list[str] = field(default_factory=list[str])
    """Dialogs that a page opened: none of ours does."""

    async def proposed(self, title: str, text: str = "The row is missing.", **given: str) -> tuple[str, CaseRecord]:
        """Propose a new experience of `data`; return its id and its case."""
        record = case(f"PAGE-{fresh()[:8]}", title, text)
        if given:
            record = record.model_copy(update=given)
        # An import masks personal data first; here it is proposed as it is.
        await self.office.bring(record.model_copy(update={"experience": None}), is_reviewed=False)
        await self.office.cast.proposer.propose(proposal_of(record))
        return experience_id(record), record

    async def published(self, title: str, text: str = "The row is missing.") -> tuple[str, CaseRecord]:
        """Publish a new experience of `data` and wait until it can be found."""
        record = case(f"PAGE-{fresh()[:8]}", title, text)
        await self.office.publish(record)
        return experience_id(record), record

    async def view(self, experience_id: str) -> ExperienceView:
        """Return where an experience stands."""
        return await self.office.cast.proposer.get_experience(experience_id)

    async def stage(self, experience_id: str) -> Stage:
        """Return the stage of an experience."""
        return (await self.view(experience_id)).stage

    def client(self, who: str) -> CaseloreClient:
        """Return a client of the API with somebody's key."""
        return CaseloreClient(self.office.http, self.keys[who])

    @asynccontextmanager
    async def visit(
        self, who: str = "", *, javascript: bool = True, phone: bool = False, dark: bool = False
    ) -> AsyncGenerator[Page]:
        """Open a browser window in which somebody is signed in; "" signs nobody in."""
        context = await self.browser.new_context(
            base_url=self.office.http,
            java_script_enabled=javascript,
            viewport=PHONE if phone else DESK,
            color_scheme="dark" if dark else "light",
        )
        context.set_default_timeout(15_000)
        try:
            page = await context.new_page()
            page.on("console", lambda message: self.told.append(message.text) if message.type == "error" else None)
            page.on("pageerror", lambda error: self.told.append(str(error)))
            page.on("dialog", lambda dialog: self.ran.append(dialog.message))
            if who in self.cookies:
                await context.add_cookies([{"name": "caselore", "value": self.cookies[who], "url": self.office.http}])
            elif who:
                await page.goto("/sign-in")
                await page.get_by_label("API key").fill(self.keys[who])
                await page.get_by_role("button", name="Sign in", exact=True).click()
                await page.wait_for_url("**/")
                found = {each.get("name"): each.get("value") for each in await context.cookies()}
                self.cookies[who] = found["caselore"] or ""
            if who:
                await page.goto("/")
            yield page
        finally:
            await context.close()


async def staff(office: Office) -> dict[str, str]:
    """Add the people and return their keys."""
    keys: dict[str, str] = {}
    for name, roles in PEOPLE.items():
        person = Principal(id=name, kind=PrincipalKind.PERSON, name=name.title())
        keys[name] = await office.admin.put_principal(person, issue_key=True) or ""
        for role in roles:
            await office.admin.put_role(RoleInDomain(principal_id=name, domain_id="data", role=role))
        if roles:
            await office.admin.put_grant(Grant(principal_id=name, tenant_id="north", purpose="review"))
    domain_id, strategy_id = PROFILES[PROFILE]
    await engage_in(office.admin, PROFILE, domain_id, strategy_id, "berta")
    return keys


def draft_of(record: CaseRecord) -> Draft:
    """Return what is proposed of a case."""
    return proposal_of(record).draft
