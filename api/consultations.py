"""Routes for asking another domain, and for answering as one (R18)."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body, Query, status

from api.authentication import Caller
from api.broadening_examples import CONSULTATION, REPLY
from api.checked_route import CheckedRoute
from api.documentation import PROBLEMS
from api.id_in_path import IdInPath
from api.services import Services
from contracts.consultation import Consultation, ConsultationState, ConsultationView, ConsultReply

router = APIRouter(route_class=CheckedRoute, prefix="/v1", tags=["consultation"], responses=PROBLEMS)


@router.post(
    "/retrievals/{request_id}/consultations", summary="Ask another domain", status_code=status.HTTP_201_CREATED
)
async def consult(
    services: Services,
    caller: Caller,
    request_id: IdInPath,
    consultation: Annotated[Consultation, Body(openapi_examples=CONSULTATION)],
) -> ConsultationView:
    """Ask a domain by a scoped brief, which is all that its people and agents are told.

    The brief names neither case nor tenant and holds no personal data. The reply is filed in the case as evidence:
    no grant, no conclusion, and no proof.
    """
    return await services.consulting.ask(caller.id, str(request_id), consultation)


@router.get("/consultations", summary="List consultations")
async def list_consultations(
    services: Services,
    caller: Caller,
    state: Annotated[ConsultationState | None, Query(description="In this state only.")] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> list[ConsultationView]:
    """Return what the caller's side has asked and what its own domains are asked, the oldest first."""
    return await services.consulting.listed(caller.id, state=state, limit=limit)


@router.get("/consultations/{consultation_id}", summary="Read a consultation")
async def get_consultation(services: Services, caller: Caller, consultation_id: IdInPath) -> ConsultationView:
    """Return a consultation with its reply, when there is one; `asked` is for the asking side only."""
    return await services.consulting.get(caller.id, str(consultation_id))


@router.post("/consultations/{consultation_id}/reply", summary="Reply for your domain")
async def reply(
    services: Services,
    caller: Caller,
    consultation_id: IdInPath,
    reply: Annotated[ConsultReply, Body(openapi_examples=REPLY)],
) -> ConsultationView:
    """Answer a consultation from the domain's own knowledge, citing an own retrieval made for it.

    That retrieval names the consultation as `consultation_id` and starts from the caller's profile and grants; being
    consulted opens nothing else.
    """
    return await services.consulting.reply(caller.id, str(consultation_id), reply)


@router.post("/consultations/{consultation_id}/withdraw", summary="Withdraw your question")
async def withdraw(services: Services, caller: Caller, consultation_id: IdInPath) -> ConsultationView:
    """End an open consultation that you asked for: the other side doesn't see it any longer, and nobody replies.

    What was asked stays in the papers of your case. A consultation that was replied to stays as it is.
    """
    return await services.consulting.withdraw(caller.id, str(consultation_id))
