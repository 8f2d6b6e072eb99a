"""Cited decisions in the pages: what was made of the candidates, and how it turned out (R20)."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette import status
from starlette.responses import RedirectResponse, Response

from api.id_in_path import IdInPath
from api.pages.forms import NOTHING, Posted, id_in, lines_of, posted, record_of, status_after
from api.pages.html_route import HtmlRoute
from api.pages.refusals import told
from api.pages.render import render
from api.services import ApiServices, Services
from api.sessions import Session
from contracts.errors import CaseloreError, DeliveryPending, UnknownRetrieval
from contracts.feedback import Feedback
from contracts.retrieval import Candidate, CheckResult, MemoryUse
from contracts.retrieval_record import RetrievalRecord, UseDone

router = APIRouter(route_class=HtmlRoute, prefix="/retrievals/{request_id}", include_in_schema=False)


@router.get("/decide")
async def deciding(request: Request, services: Services, session: Session, request_id: IdInPath) -> Response:
    """Show the form to say what was chosen and rejected, and which fresh checks that needs."""
    return await _deciding(request, services, session.principal.id, str(request_id))


@router.post("/decide")
async def decide(request: Request, services: Services, session: Session, request_id: IdInPath) -> Response:
    """Store the decision; a refusal shows the form again with all that was typed."""
    reader, typed = session.principal.id, await posted(request)
    record = await _answered(services, reader, str(request_id))
    try:
        use = record_of(
            MemoryUse,
            {
                "decision_id": typed.line("decision_id"),
                "request_id": record.request_id,
                "summary": typed.text("summary"),
                "citations": [_citation(each, typed) for each in _candidates(record) if _verdict(each, typed)],
                "checks": [
                    {"check_id": f"check-{number}", "text": line}
                    for number, line in enumerate(lines_of(typed.text("checks")), start=1)
                ],
            },
        )
        await services.memory_uses.decide(reader, use)
    except CaseloreError as refusal:
        return await _deciding(request, services, reader, record.request_id, typed=typed, refusal=refusal)
    return _see(record.request_id, use.decision_id)


@router.get("/decisions/{decision_id}")
async def outcome(
    request: Request, services: Services, session: Session, request_id: IdInPath, decision_id: IdInPath
) -> Response:
    """Show a decision with the forms to report its checks and what became of what it cites."""
    return await _outcome(request, services, session.principal.id, str(request_id), str(decision_id))


@router.post("/decisions/{decision_id}/check")
async def check(
    request: Request, services: Services, session: Session, request_id: IdInPath, decision_id: IdInPath
) -> Response:
    """Store how a fresh check came out."""
    reader, typed = session.principal.id, await posted(request)
    ids = (str(request_id), str(decision_id))
    await _use(services, reader, *ids)
    try:
        settled = {name: typed.line(name) for name in ("check_id", "outcome")}
        result = record_of(CheckResult, {"decision_id": ids[1], "note": typed.text("note"), **settled})
        await services.memory_uses.settle_check(reader, result)
    except CaseloreError as refusal:
        return await _outcome(request, services, reader, *ids, typed=typed, refusal=refusal)
    return _see(*ids)


@router.post("/decisions/{decision_id}/feedback")
async def feedback(
    request: Request, services: Services, session: Session, request_id: IdInPath, decision_id: IdInPath
) -> Response:
    """Store how cited candidates turned out; it is counted beside them and moves nothing."""
    reader, typed = session.principal.id, await posted(request)
    ids = (str(request_id), str(decision_id))
    _, done = await _use(services, reader, *ids)
    try:
        given = record_of(
            Feedback,
            {
                "feedback_id": typed.line("feedback_id"),
                "decision_id": ids[1],
                "replaces": typed.line("replaces") or None,
                "outcomes": [
                    {
                        "ref": cited.ref,
                        "revision": cited.revision,
                        "usefulness": typed.line(f"usefulness.{number}"),
                        "note": typed.text(f"note.{number}"),
                    }
                    for number, cited in enumerate(done.use.citations)
                    if typed.line(f"usefulness.{number}")
                ],
            },
        )
        await services.feedbacks.give(reader, given)
    except CaseloreError as refusal:
        return await _outcome(request, services, reader, *ids, typed=typed, refusal=refusal)
    return _see(*ids)


def _candidates(record: RetrievalRecord) -> tuple[Candidate, ...]:
    return () if record.answer is None else record.answer.candidates


def _verdict(candidate: Candidate, typed: Posted) -> str:
    return typed.line(f"verdict.{candidate.ref}")


def _citation(candidate: Candidate, typed: Posted) -> dict[str, Any]:
    return {
        "ref": candidate.ref,
        "revision": candidate.revision,
        "verdict": _verdict(candidate, typed),
        "why": typed.text(f"why.{candidate.ref}"),
    }


async def _answered(services: ApiServices, reader: str, request_id: str) -> RetrievalRecord:
    record = await services.retrieval_history.record(reader, request_id)
    if record.answer is None:
        raise DeliveryPending("The retrieval has no answer yet.", field="request_id", accepted="wait for it")
    return record


async def _use(
    services: ApiServices, reader: str, request_id: str, decision_id: str
) -> tuple[RetrievalRecord, UseDone]:
    record = await services.retrieval_history.record(reader, request_id)
    found = next((each for each in record.uses if each.use.decision_id == decision_id), None)
    if found is None:
        raise UnknownRetrieval("There is no such decision in your scope.", field="decision_id")
    return record, found


async def _deciding(
    request: Request,
    services: ApiServices,
    reader: str,
    request_id: str,
    *,
    typed: Posted = NOTHING,
    refusal: CaseloreError | None = None,
) -> Response:
    return render(
        request,
        "decide.html",
        status=status_after(refusal),
        record=await _answered(services, reader, request_id),
        typed=typed,
        decision_id=id_in(typed, "decision_id", refusal),
        refusal=None if refusal is None else told(refusal),
    )


async def _outcome(
    request: Request,
    services: ApiServices,
    reader: str,
    request_id: str,
    decision_id: str,
    *,
    typed: Posted = NOTHING,
    refusal: CaseloreError | None = None,
) -> Response:
    record, done = await _use(services, reader, request_id, decision_id)
    return render(
        request,
        "outcome.html",
        status=status_after(refusal),
        record=record,
        done=done,
        titles={each.ref: each.title for each in _candidates(record)},
        typed=typed,
        feedback_id=id_in(typed, "feedback_id", refusal),
        refusal=None if refusal is None else told(refusal),
    )


def _see(request_id: str, decision_id: str) -> RedirectResponse:
    return RedirectResponse(f"/retrievals/{request_id}/decisions/{decision_id}", status_code=status.HTTP_303_SEE_OTHER)
