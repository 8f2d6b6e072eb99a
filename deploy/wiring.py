"""The one place where adapters meet the ports that they implement."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from qdrant_client import AsyncQdrantClient
from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter

from activities.delivery import LifecycleDelivery
from activities.embedding.fastembed_model import FastEmbedEmbedder
from activities.index.edge import EdgeIndex
from activities.index.server import ServerIndex
from activities.intake import Intake
from activities.lifecycle import LifecycleActivities
from activities.mail.newly_written import newly_written
from activities.outbox import OutboxActivities
from activities.projection import Projector
from activities.records.access import Access
from activities.records.arrival_history import ArrivalHistoryTable
from activities.records.arrivals import Arrivals
from activities.records.case_links import CaseLinksTable
from activities.records.cases import Cases
from activities.records.database import Database
from activities.records.experiences import Experiences
from activities.records.figures import FiguresTable
from activities.records.identities import Identities
from activities.records.lifecycle import LifecycleTable
from activities.records.memory_use import MemoryUses
from activities.records.outbox import OutboxTable
from activities.records.projections import ProjectionsTable
from activities.records.related import RelatedTable
from activities.records.retrievals import RetrievalsTable
from activities.reindexing import Reindexer
from activities.related import RelatedWork
from activities.retrieval.activity import RetrievalActivities
from activities.retrieval.engine import RetrievalEngine
from contracts.ports import Embedder, SearchIndex
from deploy.embedded.services import Addresses
from deploy.settings import EMBEDDING_MODEL, Settings
from workflows.gateway import TemporalGateway


class SystemClock:
    """`contracts.ports.Clock` on the machine's clock."""

    def now(self) -> datetime:
        """Return the current time in UTC."""
        return datetime.now(UTC)


@dataclass(frozen=True)
class Parts:
    """A wired Caselore: what workers run and what the API calls."""

    database: Database
    identities: Identities
    access: Access
    arrivals: Intake
    arrival_history: ArrivalHistoryTable
    cases: Cases
    case_links: CaseLinksTable
    related: RelatedWork
    experiences: Experiences
    memory_uses: MemoryUses
    projections: ProjectionsTable
    index: SearchIndex
    embedder: Embedder
    gateway: TemporalGateway
    figures: FiguresTable
    reindexer: Reindexer
    delivery: LifecycleDelivery
    lifecycle_activities: LifecycleActivities
    outbox_activities: OutboxActivities
    retrieval_activities: RetrievalActivities
    outbox: OutboxTable
    listeners: tuple[OutboxTable, ...]

    async def close(self) -> None:
        """Let go of connections and of the index."""
        for listener in self.listeners:
            await listener.close()
        await self.index.close()
        await self.database.close()


def build(settings: Settings, addresses: Addresses, client: Client, index: SearchIndex, embedder: Embedder) -> Parts:
    """Return the parts of one process.

    Args:
        settings: What the process was told.
        addresses: Where the services are reached.
        client: A Temporal client with the pydantic converter.
        index: An opened index.
        embedder: The loaded model.
    """
    database = Database(addresses.database_url, addresses.system_database_url)
    commands, changes = OutboxTable(database), OutboxTable(database)
    gateway = TemporalGateway(
        client, lifecycle_queue=settings.lifecycle_queue, retrieval_queue=settings.retrieval_queue
    )
    delivery = LifecycleDelivery(commands, gateway)
    projections = ProjectionsTable(database)
    lifecycle = LifecycleTable(
        database, review_deadline=settings.review_deadline, escalation_after=settings.escalation_after
    )
    engine = RetrievalEngine(RetrievalsTable(database), index, embedder, SystemClock())
    return Parts(
        database=database,
        identities=Identities(database),
        access=Access(database),
        arrivals=Intake(Arrivals(database), newly_written),
        arrival_history=ArrivalHistoryTable(database),
        cases=Cases(database),
        case_links=CaseLinksTable(database),
        related=RelatedWork(RelatedTable(database), index, embedder),
        experiences=Experiences(database, review_deadline=settings.review_deadline),
        memory_uses=MemoryUses(database),
        projections=projections,
        index=index,
        embedder=embedder,
        gateway=gateway,
        figures=FiguresTable(database),
        reindexer=Reindexer(projections, index),
        delivery=delivery,
        lifecycle_activities=LifecycleActivities(lifecycle),
        outbox_activities=OutboxActivities(
            delivery, Projector(changes, projections, index, embedder), commands, changes
        ),
        retrieval_activities=RetrievalActivities(engine),
        outbox=changes,
        listeners=(commands, changes),
    )


def load_embedder(settings: Settings) -> FastEmbedEmbedder:
    """Return the configured embedding model, loaded and warm. Blocks for a second or two.

    Raises:
        EmbeddingUnavailable: A file is missing or not the expected one.
    """
    is_default = settings.embedding_model == EMBEDDING_MODEL and settings.embedding_path is None
    embedder = FastEmbedEmbedder(
        settings.data_dir / "models",
        model=None if is_default else settings.embedding_model,
        path=settings.embedding_path,
        threads=settings.embedding_threads,
    )
    embedder.embed(["warm"])
    return embedder


def choose_index(settings: Settings, embedder: Embedder) -> SearchIndex:
    """Return the configured index, not opened yet: Qdrant's engine in this process, or a Qdrant server."""
    if settings.qdrant_url is None:
        return EdgeIndex(index_folder(settings), embedder.model, embedder.dimensions)
    client = AsyncQdrantClient(url=settings.qdrant_url, api_key=settings.qdrant_api_key)
    return ServerIndex(client, embedder.model, embedder.dimensions)


def index_folder(settings: Settings) -> Path:
    """Return where the embedded index keeps its files."""
    return settings.data_dir / "index"


async def connect_temporal(settings: Settings, addresses: Addresses) -> Client:
    """Return a client with the one data converter that every part uses."""
    return await Client.connect(
        addresses.temporal_address, namespace=settings.temporal_namespace, data_converter=pydantic_data_converter
    )
