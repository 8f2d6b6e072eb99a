"""Routes for source systems: deliveries into the case registry (R1)."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body, Response, status

from api.authentication import Caller
from api.checked_route import CheckedRoute
from api.documentation import PROBLEMS
from api.examples import DELIVERY
from api.services import Services
from contracts.cases import Delivery, Receipt

router = APIRouter(route_class=CheckedRoute, prefix="/v1", tags=["cases"], responses=PROBLEMS)


@router.post(
    "/arrivals",
    summary="Deliver a source request",
    status_code=status.HTTP_201_CREATED,
    responses={200: {"model": Receipt, "description": "It had come before: the first answer"}},
)
async def deliver(
    services: Services,
    caller: Caller,
    response: Response,
    delivery: Annotated[Delivery, Body(openapi_examples=DELIVERY)],
) -> Receipt:
    """Attach a delivery to its case, opening one when the origin is new; a redelivery gets the first answer (R1)."""
    receipt = await services.arrivals.receive(caller.id, delivery)
    response.headers["Location"] = f"/v1/cases/{receipt.case_id}"
    if receipt.redelivered:
        response.status_code = status.HTTP_200_OK
    return receipt
