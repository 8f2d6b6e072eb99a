"""From a stored request to what became of it: deliver, wait a little, and say which it is (R8, R23)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from datetime import timedelta

import structlog
from fastapi import Response, status

from activities.records.experiences import Stored
from api.problems import recorded_refusal
from api.services import ApiServices
from contracts.errors import CaseloreError
from contracts.lifecycle import Stage
from contracts.views import CommandView

_log = structlog.get_logger()
_LOOK_EVERY = 0.05


async def delivered(services: ApiServices, stored: Stored) -> None:
    """Bring a stored request on its way; what can't go now, the projector takes.

    Raises:
        CaseloreError: The lifecycle refused it. That is recorded, too.
    """
    if stored.state == "pending":
        await services.delivery.deliver_now(stored.event_id)


async def started(services: ApiServices, stored: Stored) -> None:
    """Start a stored proposal's lifecycle if that can be done now; the proposal stands either way."""
    try:
        await delivered(services, stored)
    except CaseloreError as error:
        _log.warning("start_left_to_projector", event_id=stored.event_id, error=error.type)


async def proposal_view(services: ApiServices, stored: Stored, response: Response, *, at: str) -> CommandView:
    """Return that a stored proposal stands for the curator's review, and start its lifecycle if that can be done now.

    Args:
        services: What delivers.
        stored: The proposal; one that had been stored before is answered with 200.
        response: Gets the status and the place to look.
        at: That place, a path without the id.
    """
    if stored.state != "pending":
        response.status_code = status.HTTP_200_OK
    await started(services, stored)
    response.headers["Location"] = f"{at}/{stored.event_id}"
    return CommandView(command_id=stored.event_id, state="applied", outcome=Stage.CURATOR_REVIEW)


async def settled(
    services: ApiServices,
    principal_id: str,
    stored: Stored,
    *,
    within: timedelta,
    clock: Callable[[], float] = time.monotonic,
) -> Stored:
    """Return what became of a decision or command; still pending when nothing did `within` this time.

    Another runner may hold its event, so the record is looked at, whoever delivers.

    Raises:
        CaseloreError: It was refused, now or the first time it was sent.
    """
    deadline = clock() + within.total_seconds()
    await delivered(services, stored)
    while True:
        standing = await services.experiences.standing(principal_id, stored.event_id) or stored
        if standing.state == "refused":
            raise recorded_refusal(standing.outcome, standing.field, standing.accepted)
        if standing.state != "pending" or clock() >= deadline:
            return standing
        await asyncio.sleep(_LOOK_EVERY)


def command_view(stored: Stored, response: Response) -> CommandView:
    """Return how a command stands; while it is pending the response is 202 and names the place to look."""
    if stored.state == "pending":
        response.status_code = status.HTTP_202_ACCEPTED
        response.headers["Location"] = f"/v1/commands/{stored.event_id}"
    return view_of(stored)


def view_of(stored: Stored) -> CommandView:
    """Return how a command stands."""
    return CommandView(
        command_id=stored.event_id,
        state=stored.state,
        outcome=stored.outcome,
        field=stored.field,
        accepted=stored.accepted,
    )
