"""A record with an index of its own, so that what is pending in it is known."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from activities.index.edge import EdgeIndex
from activities.projection import Projector
from activities.records.outbox import OutboxTable
from activities.records.projections import ProjectionsTable
from activities.records.related import RelatedTable
from activities.related import RelatedWork
from api.app import create_app
from api.client import CaseloreClient
from contracts.cases import CaseFacts
from contracts.identity import Grant, Principal, Tenant
from contracts.labels import PrincipalKind
from contracts.ports import Embedder, SearchIndex
from contracts.related import RelatedAnswer
from tests.api.world import NOW, AwayIndex, Letters, World, delivery, key_of

TEXTS = {
    "letters": ("Renewal letters are not printed", "Since the update no renewal letter leaves the print queue."),
    "letters again": ("Renewal letter missing in print", "The print queue has no renewal letter since Friday."),
    "register": ("Register row absent", "A policy has no register row after migration."),
    "login": ("Login fails", "Users of the portal get an error page after the password change."),
}


@dataclass
class Office:
    """A world and its index; `day` numbers the days on which cases are opened."""

    world: World
    index: EdgeIndex
    day: int = 0
    names: dict[str, str] = field(default_factory=dict[str, str])
    """What a test calls a case, by its id."""

    async def open(
        self,
        words: str = "letters",
        *,
        tenant: str = "north",
        as_: str = "agent",
        name: str = "",
        at: datetime | None = None,
        refs: Sequence[str] = (),
        **given: Any,
    ) -> str:
        self.day += 1
        subject, body = TEXTS[words]
        opened = at or NOW + timedelta(days=self.day)
        facts = CaseFacts(object_refs=tuple(refs))
        values = {"subject": subject, "body": body, "occurred_at": opened, "facts": facts, **given}
        sent = delivery(tenant, **values)
        async with self.world.caller(as_) as client:
            case_id = (await client.deliver(sent)).case_id
        self.names[case_id] = name or words
        return case_id

    async def project(self) -> None:
        """Bring the index up to the record."""
        database = self.world.database
        projector = Projector(OutboxTable(database), ProjectionsTable(database), self.index, Letters())
        while await projector.project_batch(200):
            pass

    def app(self, *, index: SearchIndex | None = None, embedder: Embedder | None = None) -> Any:
        """Return the API on this index, or on one that is away."""
        work = RelatedWork(RelatedTable(self.world.database), index or self.index, embedder or Letters())
        return create_app(replace(self.world.services, related=work))

    def caller(self, name: str = "agent", **away: Any) -> CaseloreClient:
        return self.world.caller(name, self.app(**away))

    async def related(
        self, case_id: str, *, as_: str = "agent", away: Mapping[str, Any] | None = None, **given: Any
    ) -> RelatedAnswer:
        async with self.caller(as_, **(away or {})) as client:
            return await client.related(case_id, **given)

    def listed(self, answer: RelatedAnswer) -> list[str]:
        return [self.names[each.case_id] for each in answer.cases]

    async def new_tenant(self, tenant: str, person: str) -> None:
        """Add a tenant with one person, who has a key and may see it."""
        identities = self.world.services.identities
        await identities.add_tenant(Tenant(id=tenant, name="A tenant"))
        await self.new_person(person)
        await identities.grant(Grant(principal_id=person, tenant_id=tenant, purpose="work"))

    async def new_person(self, person: str) -> None:
        identities = self.world.services.identities
        await identities.add_principal(Principal(id=person, kind=PrincipalKind.PERSON, name="Somebody"))
        await identities.accept_key(person, key_of(person))


@asynccontextmanager
async def open_office(world: World, folder: Path) -> AsyncGenerator[Office]:
    letters = Letters()
    index = EdgeIndex(folder, letters.model, letters.dimensions)
    await index.open()
    try:
        yield Office(world, index)
    finally:
        await index.close()


AWAY: Mapping[str, SearchIndex] = {"index": AwayIndex()}
"""What `related` is told when the index can't be reached."""
