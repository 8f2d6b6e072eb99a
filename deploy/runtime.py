"""A whole Caselore in one process: services, workers and the HTTP API, for as long as a block.

async with running(settings) as runtime:
    ...  # runtime.addresses.http answers
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import httpx
import uvicorn

from api.app import create_app
from api.services import ApiServices
from contracts.errors import RuntimeUnavailable
from deploy.bootstrap import prepare_records, prepare_schema
from deploy.embedded.services import Addresses, EmbeddedServices
from deploy.readiness import readiness
from deploy.settings import Settings
from deploy.wiring import Parts, build, choose_index, connect_temporal, load_embedder
from deploy.worker import running_workers
from workflows import search_attributes

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Runtime:
    """A running Caselore."""

    addresses: Addresses
    parts: Parts
    services: EmbeddedServices


@asynccontextmanager
async def running(settings: Settings, *, progress: Progress = lambda _: None) -> AsyncGenerator[Runtime]:
    """Start everything, serve while the block runs, and stop in order.

    Args:
        settings: What the process was told.
        progress: Takes a line for a person at each step.

    Raises:
        RuntimeUnavailable: A service can't be started; nothing is left running.
    """
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    loading = asyncio.create_task(asyncio.to_thread(load_embedder, settings))
    try:
        async with EmbeddedServices(settings, search_attributes=search_attributes.ALL, progress=progress) as services:
            addresses = services.addresses
            await prepare_schema(addresses)
            progress("schema: ready")
            embedder = await loading
            progress(f"embedding model: {embedder.model}")
            client = await connect_temporal(settings, addresses)
            index = choose_index(settings, embedder)
            await index.open()
            parts = build(settings, addresses, client, index, embedder)
            try:
                await prepare_records(parts.identities, settings.data_dir)
                if settings.is_database_embedded:
                    # The folder has one owner process: whatever is still leased, a killed one left behind.
                    await parts.outbox.release_leases()
                repaired = await parts.reindexer.repair()
                if repaired.keys:
                    progress(f"index: {repaired.keys} entries differ from the record and are projected anew")
                async with running_workers(settings, client, parts), _serving(settings, parts, client):
                    progress(f"http: {addresses.http}")
                    yield Runtime(addresses, parts, services)
            finally:
                await parts.close()
    finally:
        if not loading.done():
            loading.cancel()
        with suppress(Exception, asyncio.CancelledError):
            await loading


class _Server(uvicorn.Server):
    """A uvicorn server that leaves signals to the process it is a part of."""

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


@asynccontextmanager
async def _serving(settings: Settings, parts: Parts, client: Any) -> AsyncGenerator[None]:
    app = create_app(
        ApiServices(
            identities=parts.identities,
            access=parts.access,
            arrivals=parts.arrivals,
            arrival_history=parts.arrival_history,
            cases=parts.cases,
            case_text=parts.case_text,
            case_links=parts.case_links,
            related=parts.related,
            experiences=parts.experiences,
            articles=parts.articles,
            delegations=parts.delegations,
            scope=parts.scope,
            review_desk=parts.review_desk,
            review_claims=parts.review_claims,
            memory_uses=parts.memory_uses,
            projections=parts.projections,
            delivery=parts.delivery,
            gateway=parts.gateway,
            figures=parts.figures,
            reindexer=parts.reindexer,
            reconciler=parts.reconciler,
            reconcile_reports=parts.reconcile_reports,
            dead_letters=parts.dead_letters,
            audit=parts.audit,
            erasures=parts.erasures,
            as_of=parts.as_of,
            readiness=readiness(parts, client),
        )
    )
    server = _Server(
        uvicorn.Config(
            app,
            host=settings.http_host,
            port=settings.http_port,
            log_level="warning",
            access_log=False,
            timeout_graceful_shutdown=5,
        )
    )
    serving = asyncio.create_task(server.serve(), name="http")
    try:
        await _until_answering(settings, serving)
        yield
    finally:
        server.should_exit = True
        await asyncio.wait([serving])


async def _until_answering(settings: Settings, serving: asyncio.Task[None]) -> None:
    async with httpx.AsyncClient() as http:
        for _ in range(200):
            if serving.done():
                break
            with suppress(httpx.TransportError):
                await http.get(f"http://{settings.http_host}:{settings.http_port}/health/live")
                return
            await asyncio.sleep(0.05)
    raise RuntimeUnavailable(
        f"The HTTP API does not answer on port {settings.http_port}.",
        field="CASELORE_HTTP_PORT",
        accepted="a free port",
    )
