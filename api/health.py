"""Routes for whoever keeps the process running: does it answer, and does what it needs answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import structlog
from fastapi import APIRouter, Response, status

from api.bodies import Liveness, Readiness
from api.checked_route import CheckedRoute
from api.services import Services

CHECK_SECONDS = 3.0
"""How long a check may take before what it looks at counts as down."""

_log = structlog.get_logger()
router = APIRouter(route_class=CheckedRoute, tags=["health"])


@router.get("/health/live", summary="Does the process answer")
async def live() -> Liveness:
    """Answer, touching nothing else."""
    return Liveness()


@router.get(
    "/health/ready",
    summary="Does everything that requests need answer",
    responses={503: {"model": Readiness, "description": "Names what is down"}},
)
async def ready(services: Services, response: Response) -> Readiness:
    """Run every check side by side and name those that failed or took too long."""
    names = list(services.readiness)
    answers = await asyncio.gather(*(_answers(name, services.readiness[name]) for name in names))
    down = tuple(name for name, answering in zip(names, answers, strict=True) if not answering)
    if down:
        response.status_code = status.HTTP_503_SERVICE_UNAVAILABLE
    return Readiness(ready=not down, down=down, dead_letters=await _dead_letters(services))


async def _dead_letters(services: Services) -> int:
    """Return how many events were set aside; 0 when nobody can tell, which a check says by itself."""
    try:
        async with asyncio.timeout(CHECK_SECONDS):
            return await services.dead_letters.count()
    except Exception as error:
        _log.warning("not_ready", part="dead_letters", error=type(error).__name__)
        return 0


async def _answers(name: str, check: Callable[[], Awaitable[None]]) -> bool:
    try:
        async with asyncio.timeout(CHECK_SECONDS):
            await check()
    except Exception as error:
        _log.warning("not_ready", part=name, error=type(error).__name__)
        return False
    return True
