"""Routes for agents: retrieve, read, decide with citations, report checks (R13 to R20)."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Body, status

from api.authentication import Caller
from api.bodies import Read, ReadText
from api.checked_route import CheckedRoute
from api.documentation import PROBLEMS
from api.examples import CHECK, MEMORY_USE, READ, RETRIEVAL
from api.id_in_path import IdInPath
from api.services import ApiServices, Services
from contracts import limits
from contracts.errors import DeliveryPending, InvalidField
from contracts.outbox import Watermark
from contracts.retrieval import Answer, CheckResult, MemoryUse, RetrievalRequest

ANSWER_SECONDS = limits.WATERMARK_WAIT.total_seconds() + 10
"""How long a request is held for its answer, the longest wait for a watermark included."""

router = APIRouter(route_class=CheckedRoute, prefix="/v1", tags=["retrieval"], responses=PROBLEMS)


@router.post("/retrievals", summary="Ask the memory")
async def retrieve(
    services: Services, caller: Caller, request: Annotated[RetrievalRequest, Body(openapi_examples=RETRIEVAL)]
) -> Answer:
    """Run a retrieval and return candidates to weigh; the same request again gets its first answer (R13, R15)."""
    await services.memory_uses.open(caller.id, request)
    return await answered(services, caller.id, request.request_id)


@router.get("/retrievals/{request_id}", summary="Read an answer again")
async def get_retrieval(services: Services, caller: Caller, request_id: IdInPath) -> Answer:
    """Return the stored answer of a retrieval; what isn't current any more says so, without its text (R10, R20)."""
    return await _answer(services, caller.id, str(request_id))


@router.post("/retrievals/{request_id}/reads", summary="Read a candidate in full")
async def read(
    services: Services, caller: Caller, request_id: IdInPath, wanted: Annotated[Read, Body(openapi_examples=READ)]
) -> ReadText:
    """Return a candidate's full text as it is current now, and record that it was read (R20)."""
    text = await services.memory_uses.read(caller.id, str(request_id), wanted.ref, wanted.revision)
    return ReadText(
        ref=wanted.ref,
        revision=wanted.revision,
        draft=None if isinstance(text, str) else text,
        text=text if isinstance(text, str) else None,
    )


@router.post(
    "/retrievals/{request_id}/decisions", summary="Record a cited decision", status_code=status.HTTP_201_CREATED
)
async def decide(
    services: Services,
    caller: Caller,
    request_id: IdInPath,
    use: Annotated[MemoryUse, Body(openapi_examples=MEMORY_USE)],
) -> MemoryUse:
    """Store what the agent chose and rejected, citing candidates, and the checks that it needs (R20)."""
    if use.request_id != str(request_id):
        raise InvalidField("Path and body name two retrievals.", field="request_id", accepted=str(request_id))
    await services.memory_uses.decide(caller.id, use)
    return use


@router.post("/checks", summary="Report a fresh check")
async def settle_check(
    services: Services, caller: Caller, result: Annotated[CheckResult, Body(openapi_examples=CHECK)]
) -> CheckResult:
    """Record how a discriminating check came out: it held or it failed (R20)."""
    await services.memory_uses.settle_check(caller.id, result)
    return result


@router.get("/watermarks", summary="See how far the indexes are")
async def list_watermarks(services: Services, caller: Caller) -> list[Watermark]:  # noqa: ARG001 - signed in is enough
    """Return how far each index has followed the record (R15, R23)."""
    return await services.projections.watermarks()


async def answered(services: ApiServices, principal_id: str, request_id: str) -> Answer:
    """Run a stored request and return its answer, or the one that it has.

    Raises:
        DeliveryPending: No worker answered in time; the request can be asked for again.
    """
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            await services.gateway.retrieve(request_id)
    except TimeoutError:
        raise DeliveryPending(
            "No worker answered in time; the request is stored.", field="request_id", accepted="ask again"
        ) from None
    return await _answer(services, principal_id, request_id)


async def _answer(services: ApiServices, principal_id: str, request_id: str) -> Answer:
    answer = await services.memory_uses.answer(principal_id, request_id)
    if answer is None:
        raise DeliveryPending("The retrieval has no answer yet.", field="request_id", accepted="ask again")
    return answer
