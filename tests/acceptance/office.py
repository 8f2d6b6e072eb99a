"""A running Caselore with its stand-in reviewers and support agents, reached only as people and agents reach it."""

from __future__ import annotations

import uuid
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from api.client import CaseloreClient
from contracts.casefile import CaseRecord
from contracts.identity import Domain, Tenant
from contracts.index import Stored
from contracts.labels import Collection
from contracts.outbox import Watermark
from contracts.retrieval import Answer, Candidate, RetrievalRequest
from contracts.review import ChangeCommand, ChangeKind
from contracts.views import CommandView
from deploy.administrator_key import administrator_key
from deploy.cast import Cast, engage, engage_agent
from deploy.importing import ImportReport, delivery_of, experience_id, import_cases
from deploy.runtime import Runtime, running
from deploy.searchable import until_searchable
from deploy.settings import Settings, load_settings
from deploy.telemetry import Observability
from tests.ports import port_settings

TENANTS = (Tenant(id="north", name="North"), Tenant(id="south", name="South"))
DOMAINS = tuple(
    Domain(id=name, name=name.title()) for name in ("root", "data", "configuration", "development", "assessment")
)


def settings_in(folder: Path, **given: Any) -> Settings:
    """Return settings for `folder` with ports of its own."""
    # One embedding thread: more of them spin while they wait, at the cost of the services beside them.
    return load_settings(data_dir=folder, embedding_threads=1, **port_settings(), **given)


def fresh() -> str:
    return str(uuid.uuid4())


def ref_of(record: CaseRecord) -> str:
    return f"experience/{experience_id(record)}"


@dataclass
class Office:
    """Everybody who works with a running Caselore."""

    http: str
    admin: CaseloreClient
    cast: Cast
    agents: dict[str, CaseloreClient]

    async def publish(self, *records: CaseRecord) -> ImportReport:
        """Bring cases through the whole path and wait until they can be found."""
        report = await self.bring(*records)
        await self.searchable()
        return report

    async def bring(self, *records: CaseRecord, is_reviewed: bool = True) -> ImportReport:
        return await import_cases(self.cast, records, is_reviewed=is_reviewed, step=lambda _: None)

    async def searchable(self) -> Sequence[Watermark]:
        return await until_searchable(self.admin, seconds=60)

    async def ask(
        self, objective: str, *, tenant: str = "north", profile: str = "data-specialist", **given: Any
    ) -> Answer:
        """Ask as the tenant's agent."""
        request = RetrievalRequest(
            request_id=fresh(), profile_id=profile, purpose="acceptance", objective=objective, **given
        )
        return await self.agents[tenant].retrieve(request)

    async def change(self, record: CaseRecord, kind: ChangeKind, *, wait: float = 20, **given: Any) -> CommandView:
        """Send a change: the proposer corrects, so that curator and owner can review it; the owner ends (R7)."""
        client = self.cast.proposer if kind is ChangeKind.CORRECT else self.cast.owner
        command = ChangeCommand(
            command_id=fresh(),
            experience_id=experience_id(record),
            kind=kind,
            reason="Found out later.",
            **given,
        )
        return await client.change(command, wait=wait)

    async def case_id(self, record: CaseRecord) -> str:
        """Return the id of a case that was delivered before, by delivering it again (R1)."""
        return (await self.cast.proposer.deliver(delivery_of(record))).case_id


def by_ref(answer: Answer) -> dict[str, Candidate]:
    return {candidate.ref: candidate for candidate in answer.candidates}


async def stored(runtime: Runtime) -> dict[Collection, list[Stored]]:
    """Return everything that the index holds."""
    return {collection: await runtime.parts.index.stored(collection) for collection in Collection}


@asynccontextmanager
async def open_office(
    http: str,
    data_dir: Path,
    *,
    tenants: Sequence[Tenant] = TENANTS,
    domains: Sequence[Domain] = DOMAINS,
) -> AsyncGenerator[Office]:
    """Add tenants, domains and everybody who works there to a running Caselore."""
    async with AsyncExitStack() as stack:
        admin = await stack.enter_async_context(CaseloreClient(http, administrator_key(data_dir) or ""))
        cast = await engage(stack, admin, http, tenants=tenants, domains=domains)
        names = [domain.id for domain in domains]
        agents = {tenant.id: await engage_agent(stack, admin, http, tenant, names) for tenant in tenants}
        yield Office(http, admin, cast, agents)


@asynccontextmanager
async def running_office(
    settings: Settings, *, observed: Observability | None = None, **given: Any
) -> AsyncGenerator[tuple[Runtime, Office]]:
    """Run a whole Caselore in this process, with its office."""
    async with (
        running(settings, observed=observed) as runtime,
        open_office(runtime.addresses.http, settings.data_dir, **given) as office,
    ):
        yield runtime, office
