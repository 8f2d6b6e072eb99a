"""Asking the memory in the pages: a question of the reader's own, the same one further, or once more (R13, R18)."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query, Request
from starlette import status
from starlette.responses import RedirectResponse, Response

from api.id_in_path import IdInPath
from api.pages.forms import NOTHING, Posted, id_in, lines_of, posted, record_of, status_after
from api.pages.html_route import HtmlRoute
from api.pages.queries import OPEN
from api.pages.refusals import told
from api.pages.render import render
from api.services import ApiServices, Services
from api.sessions import Session
from contracts.broadening import Broadening, stated
from contracts.cases import Case
from contracts.errors import CaseloreError, DeliveryPending, NotFound
from contracts.identity import Profile
from contracts.labels import ProofLevel
from contracts.retrieval import RetrievalRequest
from contracts.retrieval_record import RetrievalRecord

router = APIRouter(route_class=HtmlRoute, prefix="/retrievals", include_in_schema=False)

FACTS = ("product", "system", "environment", "version", "schema_version")
"""What candidates' limits are held against."""


@router.get("/new")
async def question(
    request: Request, services: Services, session: Session, case: Annotated[UUID | None, OPEN, Query()] = None
) -> Response:
    """Show the form to ask; a case fills in what it knows."""
    return await _question(request, services, session.principal.id, case_id="" if case is None else str(case))


@router.post("/new")
async def ask(request: Request, services: Services, session: Session) -> Response:
    """Store the question and start it; a refusal shows the form again with all that was typed."""
    reader, typed = session.principal.id, await posted(request)
    try:
        asked = record_of(RetrievalRequest, _asked(typed))
        await services.memory_uses.open(reader, asked)
        return await _started(services, asked.request_id)
    except CaseloreError as refusal:
        return await _question(request, services, reader, case_id=typed.line("case_id"), typed=typed, refusal=refusal)


@router.post("/{request_id}/again")
async def again(services: Services, session: Session, request_id: IdInPath) -> Response:
    """Start a stored question that has no answer; one that has keeps it."""
    await services.retrieval_history.require(session.principal.id, str(request_id))
    return await _started(services, str(request_id))


@router.get("/{request_id}/broaden")
async def broadening(request: Request, services: Services, session: Session, request_id: IdInPath) -> Response:
    """Show the form to ask the same further, for a reason."""
    return await _broadening(request, services, session.principal.id, str(request_id))


@router.post("/{request_id}/broaden")
async def broaden(request: Request, services: Services, session: Session, request_id: IdInPath) -> Response:
    """Store the broadened question and start it; a refusal shows the form again with all that was typed."""
    reader, typed = session.principal.id, await posted(request)
    try:
        further = record_of(
            Broadening,
            {
                "request_id": typed.line("new_request_id"),
                "reason": typed.text("reason"),
                "strategy_id": typed.line("strategy_id") or None,
                "domains": typed.all("domains"),
                "every_domain": typed.has("every_domain"),
                "dropped": typed.all("dropped"),
                "results": typed.line("results") or None,
                "tokens": typed.line("tokens") or None,
            },
        )
        await services.broadenings.open(reader, str(request_id), further)
        return await _started(services, further.request_id)
    except CaseloreError as refusal:
        return await _broadening(request, services, reader, str(request_id), typed=typed, refusal=refusal)


def _asked(typed: Posted) -> dict[str, Any]:
    day = typed.line("not_older_than")
    return {
        "request_id": typed.line("request_id"),
        "profile_id": typed.line("profile_id"),
        "purpose": typed.line("purpose"),
        "objective": typed.text("objective"),
        "case_id": typed.line("case_id") or None,
        **{name: typed.line(name) for name in FACTS},
        "object_refs": lines_of(typed.text("object_refs")),
        "required_proof": typed.line("required_proof") or ProofLevel.NONE,
        "not_older_than": f"{day}T00:00:00Z" if day else None,
        "results": typed.line("results") or None,
    }


async def _started(services: ApiServices, request_id: str) -> RedirectResponse:
    """Start a stored question; what takes longer goes on while its page waits for the answer."""
    with suppress(DeliveryPending, TimeoutError):
        async with asyncio.timeout(services.patience.total_seconds()):
            await services.gateway.retrieve(request_id)
    return RedirectResponse(f"/retrievals/{request_id}", status_code=status.HTTP_303_SEE_OTHER)


async def _question(
    request: Request,
    services: ApiServices,
    reader: str,
    *,
    case_id: str,
    typed: Posted = NOTHING,
    refusal: CaseloreError | None = None,
) -> Response:
    case = await _case(services, reader, case_id)
    known = _known(case) if typed is NOTHING and case is not None else typed
    return render(
        request,
        "ask.html",
        status=status_after(refusal),
        case=case,
        profiles=await services.listings.profiles(reader),
        typed=known,
        request_id=id_in(typed, "request_id", refusal),
        refusal=None if refusal is None else told(refusal),
    )


async def _case(services: ApiServices, reader: str, case_id: str) -> Case | None:
    if not case_id:
        return None
    with suppress(NotFound):
        return await services.cases.get(reader, case_id)
    return None


def _known(case: Case) -> Posted:
    values = {name: [getattr(case.facts, name)] for name in ("product", "system", "environment", "version")}
    return Posted(
        {
            **values,
            "case_id": [case.id],
            "objective": [case.title],
            "object_refs": ["\n".join(case.facts.object_refs)],
        }
    )


async def _broadening(
    request: Request,
    services: ApiServices,
    reader: str,
    request_id: str,
    *,
    typed: Posted = NOTHING,
    refusal: CaseloreError | None = None,
) -> Response:
    record = await services.retrieval_history.record(reader, request_id)
    profile = next((each for each in await services.listings.profiles(reader) if each.id == record.profile_id), None)
    strategies = {each.strategy.id for each in await services.adoptions.strategies(reader)}
    return render(
        request,
        "broaden.html",
        status=status_after(refusal),
        record=record,
        profile=profile,
        strategies=sorted(strategies - {record.strategy.id}),
        domains=[
            each
            for each in await services.listings.domains(reader)
            if profile is not None and each.id not in _read_before(record, profile)
        ],
        stated=stated(record.request),
        typed=typed,
        new_request_id=id_in(typed, "new_request_id", refusal),
        refusal=None if refusal is None else told(refusal),
    )


def _read_before(record: RetrievalRecord, profile: Profile) -> set[str]:
    """Return the domains that the last step read: those of earlier ones are refused by name."""
    broadened = None if record.answer is None else record.answer.broadened
    return {profile.domain_id, *(() if broadened is None else broadened.widened.domains)}
