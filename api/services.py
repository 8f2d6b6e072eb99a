"""What the API is handed by the deployment; nothing here is built by the API itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, cast

from fastapi import Depends, Request

from activities.case_text import CaseText
from activities.consulting import Consulting
from activities.delivery import LifecycleDelivery
from activities.intake import Intake
from activities.observation import SILENT, Telemetry
from activities.reconciling import Reconciler
from activities.records.access import Access
from activities.records.adoptions import AdoptionsTable
from activities.records.arrival_history import ArrivalHistoryTable
from activities.records.articles import Articles
from activities.records.as_of import AsOfReads
from activities.records.audit import AuditTable
from activities.records.broadenings import Broadenings
from activities.records.case_links import CaseLinksTable
from activities.records.cases import Cases
from activities.records.dead_letters import DeadLetters
from activities.records.delegations import DelegationsTable
from activities.records.erasures import ErasureOrders
from activities.records.experiences import Experiences
from activities.records.feedbacks import Feedbacks
from activities.records.figures import FiguresTable
from activities.records.identities import Identities
from activities.records.listings import Listings
from activities.records.memory_use import MemoryUses
from activities.records.projections import ProjectionsTable
from activities.records.reconcile_reports import ReconcileReportsTable
from activities.records.retrieval_history import RetrievalHistoryTable
from activities.records.review_claims import ReviewClaims
from activities.records.scope import ScopeTable
from activities.reindexing import Reindexer
from activities.related import RelatedWork
from activities.retrieval.rerun import Rerunner
from activities.review_sheet import ReviewDesk
from api.operator_links import NO_LINKS, TemporalLinks
from api.sign_in_services import SignInServices
from workflows.gateway import TemporalGateway


@dataclass(frozen=True)
class ApiServices:
    """The record, the way to the workflows, and the checks of what they need."""

    identities: Identities
    access: Access
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
    delivery: LifecycleDelivery
    gateway: TemporalGateway
    figures: FiguresTable
    listings: Listings
    reindexer: Reindexer
    reconciler: Reconciler
    reconcile_reports: ReconcileReportsTable
    dead_letters: DeadLetters
    audit: AuditTable
    erasures: ErasureOrders
    as_of: AsOfReads
    sign_in: SignInServices
    readiness: Mapping[str, Callable[[], Awaitable[None]]]
    """A check by the name of what it looks at; it raises when that is down."""
    metrics: Callable[[], Awaitable[bytes]]
    """What a scraper reads, in Prometheus' text format."""
    telemetry: Telemetry = SILENT
    temporal: TemporalLinks = NO_LINKS
    """For links from pages to workflows."""
    patience: timedelta = timedelta(seconds=6)
    """How long a review decision may take before it is answered with 202 and a place to look."""


async def services_of(request: Request) -> ApiServices:
    """Return the services of the app that a request came to."""
    return cast(ApiServices, request.app.state.services)


Services = Annotated[ApiServices, Depends(services_of)]
"""A route's parameter for the services."""
