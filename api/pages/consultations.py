"""Questions between domains: what waits for a reply, what was asked, and the forms to ask, reply and withdraw (R18)."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette import status
from starlette.responses import RedirectResponse, Response

from api.id_in_path import IdInPath
from api.pages.forms import NOTHING, Posted, id_in, posted, record_of, status_after
from api.pages.html_route import HtmlRoute, refusal_page
from api.pages.refusals import told
from api.pages.render import render
from api.services import ApiServices, Services
from api.sessions import Session
from contracts.consultation import Consultation, ConsultationState, ConsultationView, ConsultReply
from contracts.errors import CaseloreError, NotFound

router = APIRouter(route_class=HtmlRoute, include_in_schema=False)

MOST = 200
"""Open questions of the list."""
_ENDED = 30
"""Of the list, of each way to end."""


async def waiting_for(services: ApiServices, reader: str) -> list[ConsultationView]:
    """Return the open questions that the reader may reply to, the oldest first."""
    found = await services.consulting.listed(reader, state=ConsultationState.OPEN, limit=MOST)
    return [each for each in found if may_reply(each, reader)]


def may_reply(view: ConsultationView, reader: str) -> bool:
    """Whether a reader may reply: for a domain of theirs, and nobody to a question of their own."""
    return view.state is ConsultationState.OPEN and view.is_consulted and not _is_own(view, reader)


def _is_own(view: ConsultationView, reader: str) -> bool:
    return view.asked is not None and view.asked.asked_by == reader


@router.get("/consultations")
async def consultations(request: Request, services: Services, session: Session) -> Response:
    """List what waits for the reader's domains, what its side asked, and what has ended."""
    reader, consulting = session.principal.id, services.consulting
    waiting = await consulting.listed(reader, state=ConsultationState.OPEN, limit=MOST)
    ended = [
        each
        for state in (ConsultationState.REPLIED, ConsultationState.WITHDRAWN)
        for each in await consulting.listed(reader, state=state, limit=_ENDED, newest_first=True)
    ]
    return render(
        request,
        "consultations.html",
        waiting=[each for each in waiting if may_reply(each, reader)],
        asked=[each for each in waiting if not may_reply(each, reader)],
        ended=sorted(ended, key=lambda each: each.asked_at, reverse=True),
        is_cut=len(waiting) == MOST,
    )


@router.get("/consultations/{consultation_id}")
async def consultation(request: Request, services: Services, session: Session, consultation_id: IdInPath) -> Response:
    """Show one question with its reply, or with the form to reply."""
    return await _page(request, services, session.principal.id, str(consultation_id))


@router.post("/consultations/{consultation_id}/reply")
async def reply(request: Request, services: Services, session: Session, consultation_id: IdInPath) -> Response:
    """Store a reply; a refusal shows the question as it stands, with all that was typed."""
    reader, typed = session.principal.id, await posted(request)
    try:
        given = record_of(ConsultReply, {"reply_id": typed.line("reply_id"), "text": typed.text("text")})
        await services.consulting.reply(reader, str(consultation_id), given)
    except NotFound as gone:  # withdrawn while somebody wrote
        return refusal_page(request, gone, typed.prose())
    except CaseloreError as refusal:
        return await _page(request, services, reader, str(consultation_id), typed=typed, refusal=refusal)
    return _see(str(consultation_id))


@router.post("/consultations/{consultation_id}/withdraw")
async def withdraw(request: Request, services: Services, session: Session, consultation_id: IdInPath) -> Response:
    """End an open question of the reader's own."""
    reader = session.principal.id
    try:
        await services.consulting.withdraw(reader, str(consultation_id))
    except NotFound:
        raise
    except CaseloreError as refusal:
        return await _page(request, services, reader, str(consultation_id), refusal=refusal)
    return _see(str(consultation_id))


@router.get("/retrievals/{request_id}/consult")
async def question(request: Request, services: Services, session: Session, request_id: IdInPath) -> Response:
    """Show the form to ask another domain for the work of a retrieval."""
    return await _question(request, services, session.principal.id, str(request_id))


@router.post("/retrievals/{request_id}/consult")
async def ask(request: Request, services: Services, session: Session, request_id: IdInPath) -> Response:
    """Store the question; a refusal shows the form again with all that was typed."""
    reader, typed = session.principal.id, await posted(request)
    try:
        asked = record_of(
            Consultation,
            {
                "consultation_id": typed.line("consultation_id"),
                "domain_id": typed.line("domain_id"),
                "brief": typed.text("brief"),
                "reason": typed.text("reason"),
            },
        )
        await services.consulting.ask(reader, str(request_id), asked)
    except CaseloreError as refusal:
        return await _question(request, services, reader, str(request_id), typed=typed, refusal=refusal)
    return _see(asked.consultation_id)


async def _page(
    request: Request,
    services: ApiServices,
    reader: str,
    consultation_id: str,
    *,
    typed: Posted = NOTHING,
    refusal: CaseloreError | None = None,
) -> Response:
    view = await services.consulting.get(reader, consultation_id)
    return render(
        request,
        "consultation.html",
        status=status_after(refusal),
        view=view,
        may_reply=may_reply(view, reader),
        may_withdraw=_is_own(view, reader) and view.state is ConsultationState.OPEN,
        typed=typed,
        reply_id=id_in(typed, "reply_id", refusal),
        refusal=None if refusal is None else told(refusal),
    )


async def _question(
    request: Request,
    services: ApiServices,
    reader: str,
    request_id: str,
    *,
    typed: Posted = NOTHING,
    refusal: CaseloreError | None = None,
) -> Response:
    record = await services.retrieval_history.record(reader, request_id)
    return render(
        request,
        "consult.html",
        status=status_after(refusal),
        record=record,
        domains=await services.listings.domains(reader),
        typed=typed,
        consultation_id=id_in(typed, "consultation_id", refusal),
        refusal=None if refusal is None else told(refusal),
    )


def _see(consultation_id: str) -> RedirectResponse:
    return RedirectResponse(f"/consultations/{consultation_id}", status_code=status.HTTP_303_SEE_OTHER)
