"""Routes for what is recorded of a past retrieval, and for composing its answer again (R20)."""

from __future__ import annotations

from fastapi import APIRouter

from api.authentication import Caller
from api.checked_route import CheckedRoute
from api.documentation import PROBLEMS
from api.id_in_path import IdInPath
from api.services import Services
from contracts.retrieval_record import Rerun, RetrievalRecord, cases_in, without_cases

router = APIRouter(route_class=CheckedRoute, prefix="/v1/retrievals", tags=["retrieval"], responses=PROBLEMS)


@router.get("/{request_id}/record", summary="See everything recorded of a retrieval")
async def record(services: Services, caller: Caller, request_id: IdInPath) -> RetrievalRecord:
    """Return strategy with its digest, request, answer, reads, decisions and checks with their results.

    And what was consulted for it with the replies, and the retrievals that broaden it.
    """
    return await services.retrieval_history.record(caller.id, str(request_id))


@router.get("/{request_id}/rerun", summary="Compose a past answer again")
async def rerun(services: Services, caller: Caller, request_id: IdInPath) -> Rerun:
    """Compose the answer again from what its routes found and the record as of then, and say what differs.

    Nothing is searched anew and no text is told: what was current then may have been withdrawn since (R10). Cases
    outside the caller's scope are left out, as from the answer itself.
    """
    await services.retrieval_history.require(caller.id, str(request_id))
    found = await services.rerunner.rerun(str(request_id))
    named = cases_in(found)
    return without_cases(found, set(named) - await services.retrieval_history.seen_cases(caller.id, named))
