"""Routes for administrators who have to erase: look first, order, and read the receipt (R11)."""

from __future__ import annotations

import asyncio
import time
from typing import Annotated

from fastapi import APIRouter, Body, Query, Response, status

from api.authentication import Caller
from api.checked_route import CheckedRoute
from api.documentation import PROBLEMS
from api.erasure_examples import ERASURE, TARGET
from api.id_in_path import IdInPath
from api.services import Services
from contracts.erasure import ErasurePreview, ErasureReceipt, ErasureRequest, ErasureState, ErasureTarget

router = APIRouter(route_class=CheckedRoute, prefix="/v1", tags=["erasure"], responses=PROBLEMS)

_LOOK_EVERY = 0.1


@router.post("/erasures/preview", summary="See what an erasure would find")
async def preview(
    services: Services, _: Caller, target: Annotated[ErasureTarget, Body(openapi_examples=TARGET)]
) -> ErasurePreview:
    """Count what is there now, by table; nothing is changed and nothing of it is shown.

    The time grows with what the tenant has: every text of it is read.
    """
    return await services.erasures.preview(target)


@router.post(
    "/erasures",
    summary="Erase a case or a subject",
    status_code=status.HTTP_202_ACCEPTED,
    responses={200: {"model": ErasureReceipt, "description": "It has ended; `state` says how"}},
)
async def erase(
    services: Services,
    caller: Caller,
    response: Response,
    request: Annotated[ErasureRequest, Body(openapi_examples=ERASURE)],
    wait: Annotated[float, Query(ge=0, le=30, description="Seconds to wait for its end.")] = 0,
) -> ErasureReceipt:
    """Store an order to erase and start it; it is durable even when no worker runs.

    202 and `Location` while it runs. The same order again returns its receipt, or, when a person was needed, tries
    again.
    """
    ordered = await services.erasures.order(caller.id, request)
    if ordered.event_id is not None:
        await services.delivery.deliver_now(ordered.event_id)
    ends = time.monotonic() + wait
    receipt = await services.erasures.receipt(request.erasure_id)
    while receipt.state is ErasureState.RUNNING and time.monotonic() < ends:
        await asyncio.sleep(_LOOK_EVERY)
        receipt = await services.erasures.receipt(request.erasure_id)
    if receipt.state is not ErasureState.RUNNING:
        response.status_code = status.HTTP_200_OK
    response.headers["Location"] = f"/v1/erasures/{receipt.erasure_id}"
    return receipt


@router.get("/erasures/{erasure_id}", summary="Read an erasure's receipt")
async def get_erasure(services: Services, _: Caller, erasure_id: IdInPath) -> ErasureReceipt:
    """Return what was removed and checked in every store, and what is out of reach."""
    return await services.erasures.receipt(str(erasure_id))
