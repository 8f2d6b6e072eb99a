"""A whole Caselore in one process: services, workers and the HTTP API, for as long as a block.

async with running(settings) as runtime:
    ...  # runtime.addresses.http answers
"""

from __future__ import annotations

import asyncio
import gc
import logging
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

from activities.observation import Telemetry
from activities.records.bound_roles import require_bound_roles
from api.app import create_app
from api.operator_links import TemporalLinks
from api.services import ApiServices
from api.sign_in_services import SignInServices
from deploy import logs
from deploy.bootstrap import prepare_records, prepare_schema
from deploy.embedded.development_issuer import PATH as DEVELOPMENT_PATH
from deploy.embedded.services import Addresses, EmbeddedServices
from deploy.http_server import listening, metrics_listener
from deploy.readiness import readiness
from deploy.search_attributes import register_search_attributes
from deploy.settings import Settings
from deploy.sign_in import configured_issuer, development_issuer
from deploy.telemetry import Metrics, Observability, observability
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
async def running(
    settings: Settings, *, progress: Progress = lambda _: None, observed: Observability | None = None
) -> AsyncGenerator[Runtime]:
    """Start everything, serve while the block runs, and stop in order.

    Args:
        settings: What the process was told.
        progress: Takes a line for a person at each step.
        observed: Where measures and traces go; None: where the settings say.

    Raises:
        RuntimeUnavailable: A service can't be started; nothing is left running.
    """
    if settings.log_level is not None:
        logs.configure(getattr(logging, settings.log_level.upper()))
    observed = observed or observability(settings)
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    loading = asyncio.create_task(asyncio.to_thread(load_embedder, settings))
    try:
        async with EmbeddedServices(settings, search_attributes=search_attributes.ALL, progress=progress) as services:
            addresses = services.addresses
            await prepare_schema(addresses)
            progress("schema: ready")
            embedder = await loading
            progress(f"embedding model: {embedder.model}")
            client = await connect_temporal(
                settings, addresses, interceptors=observed.interceptors, runtime=observed.temporal
            )
            if not settings.is_temporal_embedded:  # the embedded one registers them when it starts
                await register_search_attributes(client, search_attributes.ALL)
            index = choose_index(settings, embedder)
            await index.open()
            parts = build(settings, addresses, client, index, embedder, observed.telemetry)
            try:
                await require_bound_roles(parts.database)
                await prepare_records(parts.identities, settings.data_dir)
                if settings.is_database_embedded:
                    # The folder has one owner process: whatever is still leased, a killed one left behind.
                    await parts.outbox.release_leases()
                repaired = await parts.reindexer.repair()
                if repaired.keys:
                    progress(f"index: {repaired.keys} entries differ from the record and are projected anew")
                metrics = observed.metrics(parts.gauges)
                async with (
                    running_workers(settings, client, parts),
                    _serving(settings, addresses, parts, client, observed.telemetry, metrics),
                    metrics_listener(settings, metrics),
                ):
                    progress(f"http: {addresses.http}")
                    yield Runtime(addresses, parts, services)
            finally:
                await parts.close()
    finally:
        if not loading.done():
            loading.cancel()
        with suppress(Exception, asyncio.CancelledError):
            await loading
        await observed.close()


def settle() -> None:
    """Tune the interpreter for a process that does nothing but serve.

    The garbage collector passes by what start-up made: some 400,000 objects that stay, a full round over which stops
    every request for 0.3 s. Of what a retrieval makes next to nothing is in a circle: it is not looked through four
    times in each, which took 0.8 ms. And a thread gives the interpreter's lock back after 0.5 ms instead of 5: a
    retrieval goes to and fro between the event loop and the threads of index and embedding some thirty times.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    sys.setswitchinterval(0.0005)


@asynccontextmanager
async def _serving(
    settings: Settings, addresses: Addresses, parts: Parts, client: Any, telemetry: Telemetry, metrics: Metrics
) -> AsyncGenerator[None]:
    development = (
        None if not settings.development_issuer else await asyncio.to_thread(development_issuer, settings, parts)
    )
    issuer = configured_issuer(settings, development)
    app = create_app(
        ApiServices(
            identities=parts.identities,
            access=parts.access,
            sign_in=SignInServices(
                keys=parts.keys,
                people=parts.people,
                sessions=parts.sessions,
                public_url=settings.browsed_url,
                issuer=issuer,
            ),
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
            retrieval_history=parts.retrieval_history,
            rerunner=parts.rerunner,
            adoptions=parts.adoptions,
            broadenings=parts.broadenings,
            consulting=parts.consulting,
            feedbacks=parts.feedbacks,
            projections=parts.projections,
            delivery=parts.delivery,
            gateway=parts.gateway,
            figures=parts.figures,
            listings=parts.listings,
            reindexer=parts.reindexer,
            reconciler=parts.reconciler,
            reconcile_reports=parts.reconcile_reports,
            dead_letters=parts.dead_letters,
            audit=parts.audit,
            erasures=parts.erasures,
            as_of=parts.as_of,
            readiness=readiness(parts, client),
            metrics=metrics,
            telemetry=telemetry,
            temporal=TemporalLinks(
                settings.temporal_ui_url or addresses.temporal_ui or "", settings.temporal_namespace
            ),
        )
    )
    if development is not None:
        app.mount(DEVELOPMENT_PATH, development.app)
    try:
        async with listening(app, settings.http_host, settings.http_port, setting="CASELORE_HTTP_PORT"):
            yield
    finally:
        if issuer is not None:
            await issuer.close()
