"""What the API is handed by the deployment; nothing here is built by the API itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, cast

from fastapi import Depends, Request

from activities.case_text import CaseText
from activities.delivery import LifecycleDelivery
from activities.intake import Intake
from activities.reconciling import Reconciler
from activities.records.access import Access
from activities.records.arrival_history import ArrivalHistoryTable
from activities.records.articles import Articles
from activities.records.as_of import AsOfReads
from activities.records.audit import AuditTable
from activities.records.case_links import CaseLinksTable
from activities.records.cases import Cases
from activities.records.dead_letters import DeadLetters
from activities.records.delegations import DelegationsTable
from activities.records.erasures import ErasureOrders
from activities.records.experiences import Experiences
from activities.records.figures import FiguresTable
from activities.records.identities import Identities
from activities.records.memory_use import MemoryUses
from activities.records.projections import ProjectionsTable
from activities.records.reconcile_reports import ReconcileReportsTable
from activities.records.review_claims import ReviewClaims
from activities.records.scope import ScopeTable
from activities.reindexing import Reindexer
from activities.related import RelatedWork
from activities.review_sheet import ReviewDesk
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
    projections: ProjectionsTable
    delivery: LifecycleDelivery
    gateway: TemporalGateway
    figures: FiguresTable
    reindexer: Reindexer
    reconciler: Reconciler
    reconcile_reports: ReconcileReportsTable
    dead_letters: DeadLetters
    audit: AuditTable
    erasures: ErasureOrders
    as_of: AsOfReads
    readiness: Mapping[str, Callable[[], Awaitable[None]]]
    """A check by the name of what it looks at; it raises when that is down."""
    patience: timedelta = timedelta(seconds=6)
    """How long a review decision may take before it is answered with 202 and a place to look."""


async def services_of(request: Request) -> ApiServices:
    """Return the services of the app that a request came to."""
    return cast(ApiServices, request.app.state.services)


Services = Annotated[ApiServices, Depends(services_of)]
"""A route's parameter for the services."""
