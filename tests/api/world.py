"""A small organisation on a real record and a real Temporal, reached through the API."""

from __future__ import annotations

import math
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
from prometheus_client import CollectorRegistry
from sqlalchemy import text
from temporalio.client import Client
from temporalio.worker import Worker

from activities.case_text import CaseText
from activities.consulting import Consulting
from activities.delivery import LifecycleDelivery
from activities.intake import Intake
from activities.lifecycle import LifecycleActivities
from activities.mail.newly_written import newly_written
from activities.observation import Telemetry
from activities.personal_data.finder import RuleFinder
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
from activities.records.review_claims import ReviewClaims
from activities.records.review_sheets import ReviewSheetsTable
from activities.records.scope import ScopeTable
from activities.records.sessions import SessionsTable
from activities.reindexing import Reindexer
from activities.related import RelatedWork
from activities.retrieval.rerun import Rerunner
from activities.review_sheet import ReviewDesk
from activities.telemetry.measures import PrometheusMeasures
from activities.telemetry.record_gauges import RecordGauges
from api.app import create_app
from api.client import CaseloreClient
from api.examples import DRAFT
from api.services import ApiServices
from api.sign_in_services import SignInServices
from contracts.cases import CaseResult, Delivery, Origin, Paper
from contracts.errors import IndexUnavailable
from contracts.experience import Draft, Proposal
from contracts.identity import Domain, Grant, Principal, Profile, RoleInDomain, Tenant
from contracts.labels import DomainRole, Outcome, PaperKind, PrincipalKind, ProofLevel
from contracts.lifecycle import Event, Stage
from contracts.review import ReviewDecision
from contracts.strategies import DATA_INVESTIGATION, DATA_INVESTIGATION_2
from deploy.telemetry import Metrics
from deploy.wiring import SystemClock
from workflows.experience_lifecycle import ExperienceLifecycle
from workflows.gateway import TemporalGateway

NOW = datetime(2026, 3, 2, 8, 15, tzinfo=UTC)
PEOPLE = ("admin", "cora", "otto", "berta", "stranger", "guest")
"""cora curates `data`, otto owns it, berta does both; stranger belongs to another tenant; guest holds nothing."""
AGENTS = ("agent", "spare")
"""agent works for tenant north; spare is for tests that give grants."""


def fresh() -> str:
    return str(uuid.uuid4())


def key_of(principal_id: str) -> str:
    return f"clk_test_{principal_id}"


class AwayIndex:
    """A search index that can't be reached."""

    async def search(self, *_: Any, **__: Any) -> Any:
        raise IndexUnavailable("The index can't be reached.")

    open = close = apply = stored = drop = compact = page = points_of = search


class Letters:
    """An embedder for tests: how often each letter of the alphabet occurs."""

    model = "letters@1"
    dimensions = 26

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        counts = [[text.lower().count(chr(97 + n)) + 1e-3 for n in range(self.dimensions)] for text in texts]
        return [[each / math.hypot(*count) for each in count] for count in counts]


@dataclass
class World:
    """The record, and an app for it."""

    database: Database
    client: Client
    queue: str
    retrieval_queue: str
    services: ApiServices = field(init=False)
    app: Any = field(init=False)

    def __post_init__(self) -> None:
        self.services = self.services_on(self.queue)
        self.app = create_app(self.services)

    def services_on(
        self, queue: str, *, patience: timedelta = timedelta(seconds=6), gateway_patience: float = 5
    ) -> ApiServices:
        gateway = TemporalGateway(
            self.client,
            lifecycle_queue=queue,
            retrieval_queue=self.retrieval_queue,
            patience=timedelta(seconds=gateway_patience),
        )
        registry = CollectorRegistry()
        reconciler = Reconciler(ProjectionsTable(self.database), AwayIndex(), Letters.model, SystemClock())
        return ApiServices(
            identities=Identities(self.database),
            access=Access(self.database),
            arrivals=Intake(Arrivals(self.database), newly_written),
            arrival_history=ArrivalHistoryTable(self.database),
            cases=Cases(self.database),
            case_text=CaseText(PlaceholdersTable(self.database), RuleFinder()),
            case_links=CaseLinksTable(self.database),
            related=RelatedWork(RelatedTable(self.database), AwayIndex(), Letters()),
            experiences=Experiences(self.database),
            articles=Articles(self.database),
            review_desk=ReviewDesk(ReviewSheetsTable(self.database), AwayIndex(), Letters()),
            review_claims=ReviewClaims(self.database),
            delegations=DelegationsTable(self.database),
            scope=ScopeTable(self.database),
            memory_uses=MemoryUses(self.database),
            retrieval_history=RetrievalHistoryTable(self.database),
            rerunner=Rerunner(RetrievalHistoryTable(self.database)),
            adoptions=AdoptionsTable(self.database),
            broadenings=Broadenings(self.database),
            consulting=Consulting(ConsultationsTable(self.database), RuleFinder()),
            feedbacks=Feedbacks(self.database),
            projections=ProjectionsTable(self.database),
            delivery=LifecycleDelivery(OutboxTable(self.database), gateway),
            gateway=gateway,
            figures=FiguresTable(self.database),
            listings=Listings(self.database),
            reindexer=Reindexer(ProjectionsTable(self.database), AwayIndex(), reconciler),
            reconciler=reconciler,
            reconcile_reports=ReconcileReportsTable(self.database),
            dead_letters=DeadLetters(self.database),
            audit=AuditTable(self.database),
            erasures=ErasureOrders(self.database),
            as_of=AsOfReads(self.database),
            sign_in=SignInServices(
                keys=Keys(self.database),
                people=PersonIdentities(self.database),
                sessions=SessionsTable(self.database),
                public_url="http://caselore",
            ),
            readiness={},
            metrics=Metrics(GaugesTable(self.database), registry, RecordGauges(registry)),
            telemetry=Telemetry(measures=PrometheusMeasures(registry)),
            patience=patience,
        )

    def worker_on(self, queue: str) -> Worker:
        activities = LifecycleActivities(LifecycleTable(self.database))
        return Worker(
            self.client,
            task_queue=queue,
            workflows=[ExperienceLifecycle],
            activities=[
                activities.load_experience,
                activities.record_decision,
                activities.apply_command,
                activities.record_reminder,
            ],
        )

    def caller(self, principal_id: str, app: Any = None) -> CaseloreClient:
        """Return the typed client with a principal's key."""
        transport = httpx.ASGITransport(app=app or self.app)
        return CaseloreClient("http://caselore", key_of(principal_id), retries=0, transport=transport)

    async def send(
        self,
        method: str,
        path: str,
        *,
        as_: str | None = "agent",
        body: Any = None,
        content: bytes | None = None,
        headers: Mapping[str, Any] | None = None,
        app: Any = None,
    ) -> httpx.Response:
        """Send a request as it is, past the client's own checks."""
        sent: dict[str, Any] = {"Authorization": f"Bearer {key_of(as_)}"} if as_ else {}
        if content is not None:
            sent["Content-Type"] = "application/json"
        transport = httpx.ASGITransport(app=app or self.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://caselore") as http:
            return await http.request(method, path, json=body, content=content, headers={**sent, **(headers or {})})

    async def count(self, table: str, where: str = "true") -> int:
        async with self.database.as_system() as connection:
            return (await connection.execute(text(f"SELECT count(*) FROM {table} WHERE {where}"))).scalar_one()

    async def counts(self) -> dict[str, int]:
        """Return how many rows there are of everything that a request may add."""
        tables = (
            "arrivals", "cases", "case_states", "case_papers", "case_results", "experiences", "revisions",
            "transitions", "commands", "review_decisions", "outbox", "retrieval_requests", "memory_uses",
            "broadenings", "consultations", "consultation_replies", "feedbacks",
            "tenants", "domains", "principals", "grants", "domain_roles", "profiles", "api_keys",
        )  # fmt: skip
        return {table: await self.count(table) for table in tables}

    async def new_case(self, tenant: str = "north", *, as_: str = "agent") -> str:
        async with self.caller(as_) as client:
            return (await client.deliver(delivery(tenant))).case_id

    async def new_result(self) -> str:
        """Record a verified success, and return its id."""
        result, papers = verified(await self.new_case())
        async with self.caller("agent") as client:
            await client.record_result(result, papers, complete_at=NOW + timedelta(days=1))
        return result.id

    async def proposed(self, app: Any = None) -> Proposal:
        proposal = Proposal(experience_id=fresh(), result_id=await self.new_result(), draft=draft())
        async with self.caller("agent", app) as client:
            await client.propose(proposal)
        return proposal

    async def published(self) -> Proposal:
        proposal = await self.proposed()
        async with self.caller("cora") as cora, self.caller("otto") as otto:
            await cora.decide(accepting(proposal, Stage.CURATOR_REVIEW))
            await otto.decide(accepting(proposal, Stage.OWNER_REVIEW))
        return proposal


def delivery(tenant: str = "north", **given: Any) -> Delivery:
    values: dict[str, Any] = {
        "origin": Origin(tenant_id=tenant, source="desk", external_id=fresh()),
        "revision": 1,
        "delivery_id": fresh(),
        "occurred_at": NOW,
        "received_at": NOW,
        "subject": "Renewal letters are not printed",
        "body": "Since the update no renewal letter leaves the print queue.",
    }
    return Delivery(**{**values, **given})


def draft(**given: Any) -> Draft:
    return Draft.model_validate({**DRAFT, **given})


def papers() -> tuple[Paper, Paper]:
    return (
        Paper(id=fresh(), kind=PaperKind.EXECUTION, title="Done", text="The register row was inserted."),
        Paper(id=fresh(), kind=PaperKind.PROOF, title="Shown", text="12 of 12 letters were printed."),
    )


def verified(case_id: str) -> tuple[CaseResult, Sequence[Paper]]:
    execution, proof = papers()
    result = CaseResult(
        id=fresh(),
        case_id=case_id,
        outcome=Outcome.SUCCEEDED,
        proof_level=ProofLevel.VERIFIED,
        summary="Letters print again.",
        execution_paper_id=execution.id,
        proof_paper_id=proof.id,
    )
    return result, (execution, proof)


def accepting(proposal: Proposal, stage: Stage, **given: Any) -> ReviewDecision:
    values: dict[str, Any] = {
        "decision_id": fresh(),
        "experience_id": proposal.experience_id,
        "stage": stage,
        "digest": proposal.draft.digest(),
        "verdict": Event.ACCEPT,
    }
    return ReviewDecision(**{**values, **given})


async def people(identities: Identities) -> None:
    """Add tenants, a domain, and the people and agent who work in them."""
    for tenant in ("north", "south"):
        await identities.add_tenant(Tenant(id=tenant, name=tenant.title()))
    await identities.add_domain(Domain(id="data", name="Data"))
    for name in (*PEOPLE, *AGENTS):
        kind = PrincipalKind.AGENT if name in AGENTS else PrincipalKind.PERSON
        await identities.add_principal(Principal(id=name, kind=kind, name=name.title()), administrator=name == "admin")
        await identities.accept_key(name, key_of(name))
    await identities.grant(Grant(principal_id="agent", tenant_id="north", purpose="support"))
    await identities.grant(Grant(principal_id="berta", tenant_id="north", purpose="support"))
    await identities.grant(Grant(principal_id="stranger", tenant_id="south", purpose="support"))
    for name, role in (
        ("cora", DomainRole.CURATOR),
        ("otto", DomainRole.OWNER),
        ("berta", DomainRole.CURATOR),
        ("berta", DomainRole.OWNER),
    ):
        await identities.give_role(RoleInDomain(principal_id=name, domain_id="data", role=role))
    for strategy in (DATA_INVESTIGATION, DATA_INVESTIGATION_2):
        await identities.add_strategy(strategy)
    await identities.add_profile(
        Profile(
            id="investigator",
            domain_id="data",
            strategy_id=DATA_INVESTIGATION.id,
            strategy_version=DATA_INVESTIGATION.version,
            principals=("agent",),
        )
    )
