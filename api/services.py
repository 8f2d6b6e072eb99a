"""What the API is handed by the deployment; nothing here is built by the API itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, cast

from fastapi import Depends, Request

from activities.delivery import LifecycleDelivery
from activities.intake import Intake
from activities.records.access import Access
from activities.records.arrival_history import ArrivalHistoryTable
from activities.records.case_links import CaseLinksTable
from activities.records.cases import Cases
from activities.records.experiences import Experiences
from activities.records.figures import FiguresTable
from activities.records.identities import Identities
from activities.records.memory_use import MemoryUses
from activities.records.projections import ProjectionsTable
from activities.reindexing import Reindexer
from activities.related import RelatedWork
from workflows.gateway import TemporalGateway


@dataclass(frozen=True)
class ApiServices:
    """The record, the way to the workflows, and the checks of what they need."""

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
    delivery: LifecycleDelivery
    gateway: TemporalGateway
    figures: FiguresTable
    reindexer: Reindexer
    readiness: Mapping[str, Callable[[], Awaitable[None]]]
    """A check by the name of what it looks at; it raises when that is down."""
    patience: timedelta = timedelta(seconds=6)
    """How long a review decision may take before it is answered with 202 and a place to look."""


async def services_of(request: Request) -> ApiServices:
    """Return the services of the app that a request came to."""
    return cast(ApiServices, request.app.state.services)


Services = Annotated[ApiServices, Depends(services_of)]
"""A route's parameter for the services."""
