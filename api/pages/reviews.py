"""The page of a review, and the forms on it: decide, claim, release (R5, R6, R7, R10)."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette import status
from starlette.responses import RedirectResponse, Response

from activities.records.review_queue import MOST
from api.id_in_path import IdInPath
from api.pages.decision_form import DecisionForm, decision_form, decision_of
from api.pages.forms import Posted, posted, same_id
from api.pages.html_route import HtmlRoute
from api.pages.refusals import told
from api.pages.render import render
from api.problems import status_of
from api.services import ApiServices, Services
from api.sessions import Session
from api.settlement import settled
from contracts.draft_difference import DraftDifference
from contracts.draft_fields import text_fields
from contracts.errors import CaseloreError, NotFound
from contracts.experience import Draft
from contracts.labels import CandidateKind
from contracts.lifecycle import REVIEWED, Stage
from contracts.review_sheet import ReviewSheet
from contracts.scope_difference import ScopeRelation

router = APIRouter(route_class=HtmlRoute, prefix="/reviews", include_in_schema=False)


@router.get("/{experience_id}")
async def review(request: Request, services: Services, session: Session, experience_id: IdInPath) -> Response:
    """Show all that a review needs, and the form to decide it."""
    sheet = await services.review_desk.sheet(session.principal.id, str(experience_id))
    return await _page(request, services, session.principal.id, sheet, DecisionForm())


@router.post("/{experience_id}/decision")
async def decide(request: Request, services: Services, session: Session, experience_id: IdInPath) -> Response:
    """Store the decision and lead to what became of it; a refusal shows the page again with all that was typed."""
    form, reader, id_ = await posted(request), session.principal.id, str(experience_id)
    stored = None
    try:
        stored = await services.experiences.decide(reader, decision_of(id_, form))
        await settled(services, reader, stored, within=services.patience)
    except NotFound:
        raise
    except CaseloreError as refusal:
        return await _refused(request, services, reader, id_, form, refusal, is_stored=stored is not None)
    return _see(f"/commands/{stored.event_id}?of={id_}")


@router.post("/{experience_id}/claim")
async def claim(request: Request, services: Services, session: Session, experience_id: IdInPath) -> Response:
    """Keep the review for the reader for a time."""
    try:
        await services.review_claims.claim(session.principal.id, str(experience_id))
    except NotFound:
        raise
    except CaseloreError as refusal:
        form = await posted(request)
        return await _refused(request, services, session.principal.id, str(experience_id), form, refusal)
    return _see(f"/reviews/{experience_id}")


@router.post("/{experience_id}/release")
async def release(services: Services, session: Session, experience_id: IdInPath) -> Response:
    """Give the reader's claim back."""
    await services.review_claims.release(session.principal.id, str(experience_id))
    return _see(f"/reviews/{experience_id}")


async def _refused(
    request: Request,
    services: ApiServices,
    reader: str,
    experience_id: str,
    form: Posted,
    refusal: CaseloreError,
    *,
    is_stored: bool = False,
) -> Response:
    """Return the review as it stands now, with what changed meanwhile and with everything that was typed."""
    sheet = await services.review_desk.sheet(reader, experience_id)
    if form.has("digest"):
        typed = decision_form(
            form, decision_id=form.line("decision_id") if same_id(refusal, is_stored=is_stored) else None
        )
    else:
        typed = DecisionForm()
    if typed.declined and sheet.scope is not None and isinstance(sheet.draft, Draft):
        sheet = await _with_declined(services, reader, sheet, typed.declined)
    return await _page(
        request, services, reader, sheet, typed, status=status_of(type(refusal)), refusal=refusal, seen=form
    )


async def _with_declined(
    services: ApiServices, reader: str, sheet: ReviewSheet, declined: tuple[str, ...]
) -> ReviewSheet:
    """Return the sheet with the scope of what would be published without the declined units: that is acknowledged."""
    try:
        scope = await services.scope.difference(reader, sheet.experience_id, declined_units=declined)
    except CaseloreError:
        return sheet
    return sheet.model_copy(update={"scope": scope})


async def _page(
    request: Request,
    services: ApiServices,
    reader: str,
    sheet: ReviewSheet,
    form: DecisionForm,
    *,
    status: int = 200,
    refusal: CaseloreError | None = None,
    seen: Posted | None = None,
) -> Response:
    queue = await services.experiences.tasks(reader, limit=MOST)
    here = next((at for at, task in enumerate(queue) if task.experience_id == sheet.experience_id), None)
    others = [task for task in queue if task.experience_id != sheet.experience_id]
    changed = None if seen is None else await _changed(services, reader, sheet, seen)
    return render(
        request,
        "review.html",
        status=status,
        sheet=sheet,
        draft=sheet.text,
        form=form,
        refusal=None if refusal is None else told(refusal),
        changed=changed,
        steps_since=_steps_since(sheet, seen),
        may_decide=sheet.stage in REVIEWED and (here is not None or len(queue) == MOST),
        on_behalf_of=None if here is None else queue[here].on_behalf_of,
        asks_scope=sheet.stage is Stage.OWNER_REVIEW
        and sheet.scope is not None
        and sheet.scope.relation is not ScopeRelation.SAME,
        words_at={each.path: each.text for each in text_fields(sheet.text)},
        open_findings=sheet.admission.open_findings(),
        upcoming=others[min(here or 0, len(others) - 1)] if others else None,
        is_article=sheet.kind is CandidateKind.ARTICLE,
        text_path="articles" if sheet.kind is CandidateKind.ARTICLE else "experiences",
    )


async def _changed(services: ApiServices, reader: str, sheet: ReviewSheet, seen: Posted) -> DraftDifference | None:
    """Return how the draft differs from the one that the form was made for; None when it is that one."""
    was = seen.line("revision")
    if not was.isdecimal() or len(was) > 9 or seen.line("digest") == sheet.digest or int(was) == sheet.revision:
        return None
    try:
        return await services.experiences.difference(
            reader, sheet.experience_id, from_revision=int(was), to_revision=sheet.revision
        )
    except CaseloreError:
        return None


def _steps_since(sheet: ReviewSheet, seen: Posted | None) -> list[Any]:
    """Return what happened to the experience since the form was made."""
    last = "" if seen is None else seen.line("seq")
    if not last.isdecimal() or len(last) > 9:
        return []
    return [entry for entry in sheet.history if entry.seq > int(last)]


def _see(path: str) -> RedirectResponse:
    return RedirectResponse(path, status_code=status.HTTP_303_SEE_OTHER)
