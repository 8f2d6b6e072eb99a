"""A real record, API, index and projector for hard input; each file gets a database and an index of its own."""

from __future__ import annotations

import asyncio
import itertools
import tempfile
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, cast

import httpx
from temporalio.client import Client

from activities.embedding.fastembed_model import FastEmbedEmbedder
from activities.index.edge import EdgeIndex
from activities.projection import Projector
from activities.reconciling import Reconciler
from activities.records.migrate import migrate
from activities.reindexing import Reindexer
from activities.retrieval.engine import RetrievalEngine
from contracts.arrival_views import ArrivalHistory, ArrivalView
from contracts.cases import Case, Receipt
from contracts.errors import IndexUnavailable, Unavailable
from contracts.identity import Grant, Principal, Tenant
from contracts.index import IndexChange
from contracts.labels import PrincipalKind
from contracts.ports import Embedder
from contracts.retrieval import Answer, RetrievalRequest
from deploy.embedded.postgres import EmbeddedPostgres
from deploy.wiring import SystemClock
from tests.api.world import World as ApiWorld
from tests.api.world import key_of
from tests.hard.envelope import HardFile, posted
from tests.records.world import World, new_id
from tests.services import THROWAWAY

_TEMPLATE = "hard_input"
_PATIENCE = 30.0
_MEMORY = Path("/dev/shm")
"""Nobody keeps this data, and making an index syncs some hundred files."""


class PausableIndex(EdgeIndex):
    """An index that can be made to refuse changes, as when its disk is full."""

    is_broken = False

    async def apply(self, changes: Any) -> None:
        if self.is_broken:
            raise IndexUnavailable("The index refuses changes.")
        await super().apply(cast("list[IndexChange]", changes))


class RecordingEmbedder:
    """The real model, remembering what it was given."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.model = embedder.model
        self.dimensions = embedder.dimensions
        self.given: list[str] = []

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.given += texts
        return self._embedder.embed(texts)


class Refused(Exception):
    """What the API said instead of taking something."""

    def __init__(self, status: int, problem: dict[str, Any]) -> None:
        super().__init__(f"{status} {problem.get('type')} [{problem.get('field')}]")
        self.status = status
        self.problem = problem


class House:
    """One file's Caselore, reached through its HTTP API and its retrieval engine."""

    def __init__(self, world: World, index: PausableIndex, embedder: FastEmbedEmbedder) -> None:
        self.world = world
        self.index = index
        recording = RecordingEmbedder(embedder)
        self.embedded = recording.given
        """Every text that the projector had embedded."""
        self.made: dict[str, object] = {}
        """What checks of one file share, by name."""
        self.projector = Projector(world.outbox, world.projections, index, recording)
        self.engine = RetrievalEngine(world.retrievals, index, embedder, SystemClock())
        reconciler = Reconciler(world.projections, index, embedder.model, SystemClock())
        self.reindexer = Reindexer(world.projections, index, reconciler)
        # Intake and the registry start no workflow, so there is no workflow server here that they could reach.
        self.app = ApiWorld(world.database, cast(Client, None), "none", "none").app
        self.people: dict[str, str] = {}
        """The person who works for a tenant."""
        self.answers: dict[str, list[Receipt | Refused]] = {}
        """By delivery id, in order: an id may come more than once."""
        self.file = HardFile("", [], [], [], {})

    async def person_of(self, tenant: str | None) -> str:
        """Return somebody who may see exactly this tenant; for None, somebody without any grant."""
        name = self.people.get(tenant or "")
        if name is None:
            name = self.people[tenant or ""] = f"person-{len(self.people)}"
            await self.world.identities.add_principal(Principal(id=name, kind=PrincipalKind.AGENT, name=name))
            await self.world.identities.accept_key(name, key_of(name))
            if tenant:
                await self.world.identities.add_tenant(Tenant(id=tenant, name=tenant))
                await self.world.identities.grant(Grant(principal_id=name, tenant_id=tenant, purpose="support"))
            await self.world.profile("triage", *self.people.values(), strategy="root-classification")
        return name

    async def take_in(self, file: HardFile) -> None:
        """Deliver everything in the file's order, then bring the index up."""
        self.file = file
        for delivery in file.deliveries:
            await self.deliver(delivery)
        await self.project()

    async def deliver(self, delivery: dict[str, Any]) -> None:
        """Post a delivery of the file, and keep the answer."""
        tenant = delivery["tenant"] or self.file.deliveries[0]["tenant"]
        answers = self.answers.setdefault(delivery["delivery_id"], [])
        try:
            answer = await self.call("POST", "/v1/arrivals", tenant, json=posted(delivery))
            answers.append(Receipt.model_validate(answer))
        except Refused as refused:
            answers.append(refused)

    async def call(self, method: str, path: str, tenant: str | None, **given: Any) -> Any:
        """Return what the API answers a tenant's person.

        Raises:
            Refused: It answers with a problem.
        """
        headers = {"Authorization": f"Bearer {key_of(await self.person_of(tenant))}"}
        transport = httpx.ASGITransport(app=self.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://caselore", timeout=60) as http:
            response = await http.request(method, path, headers=headers, **given)
        if response.is_error:
            raise Refused(response.status_code, response.json())
        return response.json()

    @property
    def tenants(self) -> list[str]:
        return list(dict.fromkeys(delivery["tenant"] for delivery in self.file.deliveries if delivery["tenant"]))

    async def cases(self, tenant: str) -> list[Case]:
        found = await self.call("GET", "/v1/cases", tenant, params={"tenant_id": tenant, "limit": 200})
        return [Case.model_validate(case) for case in found]

    async def case(self, external_id: str) -> Case:
        """Return the case of an external id of the file, looked up by its origin."""
        sent = next(delivery for delivery in self.file.deliveries if delivery["external_id"] == external_id)
        origin = {"tenant_id": sent["tenant"], "source": sent["source"], "external_id": external_id}
        (found,) = await self.call("GET", "/v1/cases", sent["tenant"], params=origin)
        return Case.model_validate(found)

    async def history(self, case: Case) -> ArrivalHistory:
        path = f"/v1/cases/{case.id}/arrivals"
        return ArrivalHistory.model_validate(await self.call("GET", path, case.origin.tenant_id, params={"limit": 200}))

    async def arrival(self, delivery_id: str) -> ArrivalView:
        """Return the arrival that the delivery was answered with, also when it was a repeat."""
        sent = next(delivery for delivery in self.file.deliveries if delivery["delivery_id"] == delivery_id)
        receipt = self.answers[delivery_id][-1]
        if isinstance(receipt, Refused):
            raise receipt
        history = await self.history(await self.case(sent["external_id"]))
        return next(arrival for arrival in history.arrivals if arrival.arrival_id == receipt.arrival_id)

    async def ask(self, person: str, objective: str, *, profile: str = "triage", **given: Any) -> Answer:
        """Return the answer to a retrieval."""
        request = RetrievalRequest(
            request_id=new_id(), profile_id=profile, purpose="hard input", objective=objective, **given
        )
        await self.world.memory.open(person, request)
        await self.engine.answer(request.request_id)
        answer = await self.world.memory.answer(person, request.request_id)
        assert answer is not None
        return answer

    async def project(self) -> None:
        """Return when nothing is pending for the index; events that were given back come again after a while."""
        for _ in range(int(_PATIENCE / 0.1)):
            try:
                while await self.projector.project_batch():
                    pass
            except Unavailable:
                if self.index.is_broken:
                    return
            if all(mark.is_current for mark in await self.world.projections.watermarks()):
                return
            await asyncio.sleep(0.1)
        raise TimeoutError("the index does not catch up")


class HardRuntime:
    """What all files share, started once: PostgreSQL and the embedding model."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._numbers = itertools.count(1)

    def __enter__(self) -> HardRuntime:
        self._folder = Path(
            self._stack.enter_context(
                tempfile.TemporaryDirectory(prefix="caselore-hard-", dir=_MEMORY if _MEMORY.is_dir() else None)
            )
        )
        self._postgres = EmbeddedPostgres(
            self._folder / "postgres", log=self._folder / "logs" / "postgres.log", settings=THROWAWAY
        )
        self._postgres.start()
        self._stack.callback(self._postgres.stop)
        migrate(self._postgres.create_database(_TEMPLATE).owner)
        self._embedder = FastEmbedEmbedder(self._folder / "models", threads=1)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @asynccontextmanager
    async def house(self, file: HardFile) -> AsyncGenerator[House]:
        """Open a house for a file, with its deliveries taken in."""
        number = next(self._numbers)
        urls = await asyncio.to_thread(self._postgres.create_database, f"hard_{number}", template=_TEMPLATE)
        world = World(urls)
        index = PausableIndex(self._folder / f"index-{number}", self._embedder.model, self._embedder.dimensions)
        await index.open()
        try:
            await world.settle_in()
            house = House(world, index, self._embedder)
            await house.take_in(file)
            yield house
        finally:
            await index.close()
            await world.close()


def texts(value: Any) -> Iterable[str]:
    """Yield every text and key of a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in cast("dict[str, Any]", value).items():
            yield key
            yield from texts(item)
    elif isinstance(value, list):
        for item in cast("list[Any]", value):
            yield from texts(item)
