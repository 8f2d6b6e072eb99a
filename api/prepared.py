"""The route for runtimes that start their retrievals themselves: store the request, and say how to start it (R13)."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body, status

from api.authentication import Caller
from api.checked_route import CheckedRoute
from api.documentation import PROBLEMS
from api.examples import RETRIEVAL
from api.services import Services
from contracts.prepared import PreparedRetrieval
from contracts.retrieval import RetrievalRequest

router = APIRouter(route_class=CheckedRoute, prefix="/v1", tags=["retrieval"], responses=PROBLEMS)


@router.post(
    "/retrievals/prepared", summary="Store a request to start it yourself", status_code=status.HTTP_201_CREATED
)
async def prepare(
    services: Services, caller: Caller, request: Annotated[RetrievalRequest, Body(openapi_examples=RETRIEVAL)]
) -> PreparedRetrieval:
    """Store a retrieval request without running it, and return what its workflow is started with.

    For runtimes with a Temporal client of their own. The caller's identity and grants are held against the request
    here, as by `POST /v1/retrievals`; `GET /v1/retrievals/{request_id}` gives the answer once the workflow is done.
    """
    await services.memory_uses.open(caller.id, request)
    return services.gateway.prepared(request.request_id)
