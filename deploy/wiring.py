"""The one place where adapters meet the ports that they implement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from qdrant_client import AsyncQdrantClient
from temporalio.client import Client, Interceptor
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.runtime import Runtime

from activities.case_text import CaseText
from activities.consulting import Consulting
from activities.delivery import LifecycleDelivery
from activities.embedding.fastembed_model import FastEmbedEmbedder
from activities.erasure import ErasureActivities
from activities.index.edge import EdgeIndex
from activities.index.server import ServerIndex
from activities.intake import Intake
from activities.lifecycle import LifecycleActivities
from activities.mail.newly_written import newly_written
from activities.observation import SILENT, ObservedIndex, Telemetry
from activities.outbox import OutboxActivities
from activities.personal_data.finder import RuleFinder
from activities.projection import Projector
from activities.reconcile_activity import ReconcileActivities
from activities.reconciling import Reconciler
from activities.records.access import Access
from activities.records.adoptions import AdoptionsTable
from activities.records.arrival_history import ArrivalHistoryTable
from activities.records.arrivals import Arrivals
from activities.records.articles import Articles
from activities.records.as_of import AsOfReads
from activities.records.audit import AuditTable
from activities.records.broadenings import Broadenings
from activities.records.case_links import CaseLinksTable
from activities.records.cases import Cases
from activities.records.consultations import ConsultationsTable
from activities.records.database import Database
from activities.records.dead_letters import DeadLetters
from activities.records.delegations import DelegationsTable
from activities.records.erasure_work import ErasuresTable
from activities.records.erasures import ErasureOrders
from activities.records.experiences import Experiences
from activities.records.feedbacks import Feedbacks
from activities.records.figures import FiguresTable
from activities.records.gauges import GaugesTable
from activities.records.identities import Identities
from activities.records.keys import Keys
from activities.records.lifecycle import LifecycleTable
from activities.records.listings import Listings
from activities.records.memory_use import MemoryUses
from activities.records.outbox import OutboxTable
from activities.records.person_identities import PersonIdentities
from activities.records.placeholders import PlaceholdersTable
from activities.records.projections import ProjectionsTable
from activities.records.reconcile_reports import ReconcileReportsTable
from activities.records.related import RelatedTable
from activities.records.retrieval_history import RetrievalHistoryTable
from activities.records.retrievals import RetrievalsTable
from activities.records.review_claims import ReviewClaims
from activities.records.review_sheets import ReviewSheetsTable
from activities.records.scope import ScopeTable
from activities.records.sessions import SessionsTable
from activities.reindexing import Reindexer
from activities.related import RelatedWork
from activities.retrieval.activity import RetrievalActivities
from activities.retrieval.engine import RetrievalEngine
from activities.retrieval.rerun import Rerunner
from activities.review_sheet import ReviewDesk
from contracts.ports import Embedder, PersonalDataFinder, SearchIndex
from deploy.embedded.services import Addresses
from deploy.settings import EMBEDDING_MODEL, Settings
from workflows.gateway import TemporalGateway
from workflows.histories import TemporalHistories


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
    keys: Keys
    people: PersonIdentities
    sessions: SessionsTable
    arrivals: Intake
    arrival_history: ArrivalHistoryTable
    cases: Cases
    case_text: CaseText
    case_links: CaseLinksTable
    related: RelatedWork
    experiences: Experiences
    articles: Articles
    delegations: DelegationsTable
    scope: ScopeTable
    review_desk: ReviewDesk
    review_claims: ReviewClaims
    memory_uses: MemoryUses
    retrieval_history: RetrievalHistoryTable
    rerunner: Rerunner
    adoptions: AdoptionsTable
    broadenings: Broadenings
    consulting: Consulting
    feedbacks: Feedbacks
    projections: ProjectionsTable
    index: SearchIndex
    embedder: Embedder
    gateway: TemporalGateway
    figures: FiguresTable
    gauges: GaugesTable
    listings: Listings
    personal_data: PersonalDataFinder
    reindexer: Reindexer
    reconciler: Reconciler
    reconcile_reports: ReconcileReportsTable
    dead_letters: DeadLetters
    audit: AuditTable
    erasures: ErasureOrders
    erasure_activities: ErasureActivities
    as_of: AsOfReads
    delivery: LifecycleDelivery
    lifecycle_activities: LifecycleActivities
    outbox_activities: OutboxActivities
    retrieval_activities: RetrievalActivities
    reconcile_activities: ReconcileActivities
    outbox: OutboxTable
    listeners: tuple[OutboxTable, ...]

    async def close(self) -> None:
        """Let go of connections and of the index."""
        for listener in self.listeners:
            await listener.close()
        await self.index.close()
        await self.database.close()


Index = EdgeIndex | ServerIndex
"""The search index with everything that its port and reconciliation ask for."""


def build(
    settings: Settings,
    addresses: Addresses,
    client: Client,
    index: Index,
    embedder: Embedder,
    telemetry: Telemetry = SILENT,
) -> Parts:
    """Return the parts of one process.

    Args:
        settings: What the process was told.
        addresses: Where the services are reached.
        client: A Temporal client with the pydantic converter.
        index: An opened index.
        embedder: The loaded model.
        telemetry: Where traces and measures go.
    """
    database = Database(addresses.database_url, addresses.system_database_url, tracing=telemetry.tracing)
    commands, changes = OutboxTable(database), OutboxTable(database)
    gateway = TemporalGateway(
        client,
        lifecycle_queue=settings.lifecycle_queue,
        retrieval_queue=settings.retrieval_queue,
        erasure_queue=settings.projection_queue,
        pages=settings.browsed_url,
    )
    delivery = LifecycleDelivery(commands, gateway, tracing=telemetry.tracing)
    projections = ProjectionsTable(database)
    finder = RuleFinder()
    lifecycle = LifecycleTable(
        database, finder=finder, review_deadline=settings.review_deadline, escalation_after=settings.escalation_after
    )
    reconciler = Reconciler(projections, index, embedder.model, SystemClock())
    reports = ReconcileReportsTable(database)
    engine = RetrievalEngine(
        RetrievalsTable(database), ObservedIndex(index, telemetry), embedder, SystemClock(), telemetry=telemetry
    )
    return Parts(
        database=database,
        identities=Identities(database),
        access=Access(database),
        keys=Keys(database),
        people=PersonIdentities(database),
        sessions=SessionsTable(database),
        arrivals=Intake(Arrivals(database), newly_written),
        arrival_history=ArrivalHistoryTable(database),
        cases=Cases(database),
        case_text=CaseText(PlaceholdersTable(database), finder),
        case_links=CaseLinksTable(database),
        related=RelatedWork(RelatedTable(database), index, embedder),
        experiences=Experiences(database, finder=finder, review_deadline=settings.review_deadline),
        articles=Articles(database, finder=finder, review_deadline=settings.review_deadline),
        review_desk=ReviewDesk(ReviewSheetsTable(database), index, embedder),
        review_claims=ReviewClaims(database),
        delegations=DelegationsTable(database),
        scope=ScopeTable(database),
        memory_uses=MemoryUses(database),
        retrieval_history=RetrievalHistoryTable(database),
        rerunner=Rerunner(RetrievalHistoryTable(database)),
        adoptions=AdoptionsTable(database),
        broadenings=Broadenings(database),
        consulting=Consulting(ConsultationsTable(database), finder),
        feedbacks=Feedbacks(database),
        projections=projections,
        index=index,
        embedder=embedder,
        gateway=gateway,
        figures=FiguresTable(database),
        gauges=GaugesTable(database),
        listings=Listings(database),
        personal_data=finder,
        reindexer=Reindexer(projections, index, reconciler),
        reconciler=reconciler,
        reconcile_reports=reports,
        dead_letters=DeadLetters(database),
        audit=AuditTable(database),
        erasures=ErasureOrders(database),
        erasure_activities=ErasureActivities(ErasuresTable(database), index, TemporalHistories(client)),
        as_of=AsOfReads(database),
        delivery=delivery,
        lifecycle_activities=LifecycleActivities(lifecycle),
        outbox_activities=OutboxActivities(
            delivery, Projector(changes, projections, index, embedder, telemetry=telemetry), commands, changes
        ),
        retrieval_activities=RetrievalActivities(engine),
        reconcile_activities=ReconcileActivities(reconciler, reports),
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


def choose_index(settings: Settings, embedder: Embedder) -> Index:
    """Return the configured index, not opened yet: Qdrant's engine in this process, or a Qdrant server."""
    if settings.qdrant_url is None:
        return EdgeIndex(index_folder(settings), embedder.model, embedder.dimensions)
    client = AsyncQdrantClient(url=settings.qdrant_url, api_key=settings.qdrant_api_key)
    return ServerIndex(client, embedder.model, embedder.dimensions)


def index_folder(settings: Settings) -> Path:
    """Return where the embedded index keeps its files."""
    return settings.data_dir / "index"


async def connect_temporal(
    settings: Settings,
    addresses: Addresses,
    *,
    interceptors: Sequence[Interceptor] = (),
    runtime: Runtime | None = None,
) -> Client:
    """Return a client with the one data converter that every part uses.

    Args:
        settings: What the process was told.
        addresses: Where the services are reached.
        interceptors: Of the client, and of the workers on it.
        runtime: Of Temporal's SDK; None takes the one that every process has.
    """
    return await Client.connect(
        addresses.temporal_address,
        namespace=settings.temporal_namespace,
        data_converter=pydantic_data_converter,
        interceptors=interceptors,
        runtime=runtime,
    )
