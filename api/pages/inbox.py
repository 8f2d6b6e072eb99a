"""The inbox: what waits for its reader, by how soon it is due (R7)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from activities.records.review_queue import MOST, QueueFilter
from api.pages.consultations import waiting_for
from api.pages.html_route import HtmlRoute
from api.pages.queries import OPEN
from api.pages.render import render
from api.services import Services
from api.sessions import Session
from contracts import limits
from contracts.lifecycle import Stage
from contracts.views import ClaimedBy, ReviewTask

router = APIRouter(route_class=HtmlRoute, include_in_schema=False)

PAGE = 100
"""Reviews of one page."""


@dataclass
class Group:
    """Reviews that are as urgent as each other."""

    title: str
    tasks: list[ReviewTask] = field(default_factory=list[ReviewTask])


def by_urgency(tasks: list[ReviewTask], now: datetime) -> list[Group]:
    """Return the reviews in groups that have any, their order kept."""
    groups: dict[str, Group] = {}
    for task in tasks:
        title = _urgency(task, now)
        groups.setdefault(title, Group(title)).tasks.append(task)
    return list(groups.values())


def _urgency(task: ReviewTask, now: datetime) -> str:
    if task.escalated:
        return "Escalated: nobody answered the reminder"
    if task.reminded or (task.due_at is not None and task.due_at <= now):
        return "Overdue"
    if task.due_at is None:
        return "Without a deadline"
    left = task.due_at - now
    if left <= timedelta(days=1):
        return "Due within a day"
    return "Due within three days" if left <= timedelta(days=3) else "Later"


@router.get("/")
async def inbox(
    request: Request,
    services: Services,
    session: Session,
    domain: Annotated[str | None, OPEN, Query(max_length=limits.IDENTIFIER)] = None,
    stage: Annotated[Stage | None, OPEN, Query()] = None,
    claimed: Annotated[ClaimedBy | None, OPEN, Query()] = None,
    after: Annotated[str | None, Query(max_length=limits.LINE)] = None,
) -> Response:
    """Show the reviews that wait for the reader, most urgent first."""
    everything = await services.experiences.tasks(session.principal.id, limit=MOST)
    wanted = QueueFilter(domain_id=domain, stage=stage, claimed=claimed, after=after)
    tasks = await services.experiences.tasks(session.principal.id, limit=PAGE + 1, wanted=wanted)
    shown = tasks[:PAGE]
    return render(
        request,
        "inbox.html",
        groups=by_urgency(shown, datetime.now(UTC)),
        shown=len(shown),
        waiting=len(everything),
        is_cut=len(everything) == MOST,
        overdue=sum(task.is_overdue for task in everything),
        domains=sorted(Counter(task.domain_id for task in everything).items()),
        domain=domain,
        stage=stage,
        claimed=claimed,
        more=shown[-1].cursor if len(tasks) > PAGE else None,
        is_filtered=any((domain, stage, claimed)),
        is_later_page=after is not None,
        questions=len(await waiting_for(services, session.principal.id)),
    )
