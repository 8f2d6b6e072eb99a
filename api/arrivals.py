"""Routes for source systems: deliveries into the case registry (R1)."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body, Query, Request, Response, status

from activities.records.arrival_history import LONGEST_PAGE, PAGE
from api.authentication import Caller
from api.checked_route import DeliveryRoute
from api.documentation import PROBLEMS
from api.examples import DELIVERY
from api.id_in_path import IdInPath
from api.services import Services
from contracts.arrival_views import ArrivalHistory
from contracts.cases import Content, Delivery, Receipt

router = APIRouter(route_class=DeliveryRoute, prefix="/v1", tags=["cases"], responses=PROBLEMS)


@router.post(
    "/arrivals",
    summary="Deliver a source request",
    status_code=status.HTTP_201_CREATED,
    responses={200: {"model": Receipt, "description": "It had come before: the first answer"}},
)
async def deliver(
    services: Services,
    caller: Caller,
    request: Request,
    response: Response,
    delivery: Annotated[Delivery, Body(openapi_examples=DELIVERY)],
) -> Receipt:
    """Attach a delivery to its case, opening one when the origin is new; a redelivery gets the first answer (R1).

    Characters that can't be stored (U+0000, unpaired surrogates) are replaced by U+FFFD, and what was replaced is
    recorded; in the origin and the delivery id they are refused. A body over the limit of a case is kept whole by
    reference.
    """
    receipt = await services.arrivals.receive(caller.id, delivery, request.state.posted)
    response.headers["Location"] = f"/v1/cases/{receipt.case_id}"
    if receipt.redelivered:
        response.status_code = status.HTTP_200_OK
    return receipt


@router.get("/cases/{case_id}/arrivals", summary="Read what was delivered for a case")
async def list_arrivals(
    services: Services,
    caller: Caller,
    case_id: IdInPath,
    limit: Annotated[int, Query(ge=1, le=LONGEST_PAGE)] = PAGE,
    skip: Annotated[int, Query(ge=0, le=2**31 - 1, description="Arrivals of earlier pages.")] = 0,
) -> ArrivalHistory:
    """Return every delivery with what became of it, conflicts, missing revisions, and active and waiting hours (R1)."""
    return await services.arrival_history.read(caller.id, str(case_id), limit=limit, skip=skip)


@router.get("/contents/{content_id}", summary="Read a text that is kept by reference")
async def get_content(services: Services, caller: Caller, content_id: IdInPath) -> Content:
    """Return a body over the limit, or a delivery as it came before characters were replaced (R22)."""
    return await services.arrival_history.content(caller.id, str(content_id))
