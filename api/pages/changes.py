"""The forms of changes: correct, revise, resubmit, reinstate, retire and supersede (R10)."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query, Request
from starlette import status
from starlette.responses import RedirectResponse, Response

from api.id_in_path import IdInPath
from api.pages import article_form, draft_form
from api.pages.article_form import ArticleForm
from api.pages.draft_form import DraftForm
from api.pages.forms import NOTHING, Posted, id_in, posted, record_of, status_after
from api.pages.html_route import HtmlRoute
from api.pages.queries import OPEN
from api.pages.refusals import told
from api.pages.render import render
from api.pages.subjects import Subject, SubjectText, find_subject
from api.services import ApiServices, Services
from api.sessions import Session
from api.settlement import settled
from contracts.articles import ArticleDraft
from contracts.draft_difference import DraftDifference
from contracts.errors import CaseloreError, NotFound
from contracts.experience import Draft
from contracts.labels import CandidateKind
from contracts.lifecycle import Stage
from contracts.listings import FiledPaper
from contracts.review import WITH_DRAFT, ChangeCommand, ChangeKind
from contracts.scope_difference import ScopeDifference

router = APIRouter(route_class=HtmlRoute, prefix="/experiences", include_in_schema=False)

_WITH_DIGEST = frozenset({ChangeKind.CORRECT, ChangeKind.REVISE})


@router.get("/{experience_id}/changes/{kind}")
async def change_form(
    request: Request,
    services: Services,
    session: Session,
    experience_id: IdInPath,
    kind: ChangeKind,
    superseded_by: Annotated[UUID | None, OPEN, Query()] = None,
) -> Response:
    """Show the form of a change; a successor that was chosen is shown with the scope difference."""
    subject = await find_subject(services, session.principal.id, str(experience_id))
    successor = None if superseded_by is None else str(superseded_by)
    return await _form(
        request, services, session.principal.id, subject, kind, _fields(subject, kind), successor=successor
    )


@router.post("/{experience_id}/changes/{kind}")
async def change(
    request: Request, services: Services, session: Session, experience_id: IdInPath, kind: ChangeKind
) -> Response:
    """Store the change and lead to what became of it; a refusal shows the form again with all that was typed."""
    reader, typed = session.principal.id, await posted(request)
    subject = await find_subject(services, reader, str(experience_id))
    fields = _fields_in(subject, kind, typed)
    successor = typed.line("superseded_by") or None
    if typed.has("add_unit"):
        return await _form(request, services, reader, subject, kind, fields, typed=typed)
    stored = None
    try:
        stored = await services.experiences.command(reader, _command(subject, kind, typed, fields))
        await settled(services, reader, stored, within=services.patience)
    except CaseloreError as refusal:
        if isinstance(refusal, NotFound) and successor is None:
            raise
        return await _form(
            request,
            services,
            reader,
            subject,
            kind,
            fields,
            typed=typed,
            refusal=refusal,
            successor=successor,
            is_stored=stored is not None,
        )
    return RedirectResponse(f"/commands/{stored.event_id}?of={subject.id}", status_code=status.HTTP_303_SEE_OTHER)


def base_of(subject: Subject, kind: ChangeKind) -> SubjectText:
    """Return the text that a change goes out from: the published one for a correction, else the newest draft."""
    return subject.current if kind is ChangeKind.CORRECT and subject.current is not None else subject.newest


def _fields(subject: Subject, kind: ChangeKind) -> DraftForm | ArticleForm | None:
    if kind not in WITH_DRAFT:
        return None
    text = base_of(subject, kind).text
    return draft_form.fields_of(text) if isinstance(text, Draft) else article_form.fields_of(text)


def _fields_in(subject: Subject, kind: ChangeKind, typed: Posted) -> DraftForm | ArticleForm | None:
    if kind not in WITH_DRAFT:
        return None
    return article_form.fields_in(typed) if subject.is_article else draft_form.fields_in(typed)


def _command(
    subject: Subject, kind: ChangeKind, typed: Posted, fields: DraftForm | ArticleForm | None
) -> ChangeCommand:
    text: Draft | ArticleDraft | None = None
    base = base_of(subject, kind).text
    if isinstance(fields, DraftForm) and isinstance(base, Draft):
        text = draft_form.draft_in(fields, base)
    elif isinstance(fields, ArticleForm):
        text = article_form.article_in(fields)
    values: dict[str, Any] = {
        "command_id": typed.line("command_id"),
        "experience_id": subject.id,
        "kind": kind,
        "reason": typed.text("reason"),
        "draft": text if isinstance(text, Draft) else None,
        "article": text if isinstance(text, ArticleDraft) else None,
        "digest": typed.line("digest") if kind in _WITH_DIGEST else "",
        "suspend": kind is ChangeKind.CORRECT and typed.has("suspend"),
    }
    if kind is ChangeKind.SUPERSEDE:
        values["superseded_by"] = typed.line("superseded_by") or None
        values["acknowledged_scope"] = typed.line("acknowledged_scope")
    return record_of(ChangeCommand, values)


async def _form(
    request: Request,
    services: ApiServices,
    reader: str,
    subject: Subject,
    kind: ChangeKind,
    fields: DraftForm | ArticleForm | None,
    *,
    typed: Posted = NOTHING,
    refusal: CaseloreError | None = None,
    successor: str | None = None,
    is_stored: bool = False,
) -> Response:
    base = base_of(subject, kind)
    scope, no_successor = await _scope(services, reader, subject, successor)
    refused = refusal or no_successor
    return render(
        request,
        "change.html",
        status=status_after(refusal),
        subject=subject,
        kind=kind,
        base=base,
        fields=fields,
        typed=typed,
        command_id=id_in(typed, "command_id", refusal, is_stored=is_stored),
        refusal=None if refused is None else told(refused),
        changed=await _changed(services, reader, subject, base, typed),
        successor=successor,
        scope=scope,
        papers=await _papers(services, reader, subject) if isinstance(fields, DraftForm) else (),
        choices=await _choices(services, reader, subject) if kind is ChangeKind.SUPERSEDE else (),
    )


async def _scope(
    services: ApiServices, reader: str, subject: Subject, successor: str | None
) -> tuple[ScopeDifference | None, CaseloreError | None]:
    if successor is None:
        return None, None
    try:
        return await services.scope.difference(reader, subject.id, superseded_by=successor), None
    except CaseloreError as refusal:
        return None, refusal


async def _papers(services: ApiServices, reader: str, subject: Subject) -> tuple[FiledPaper, ...]:
    """Return the papers that a text can rest on, as far as the reader may see its case."""
    try:
        return () if subject.case_id is None else (await services.listings.of_case(reader, subject.case_id)).papers
    except NotFound:
        return ()


async def _choices(services: ApiServices, reader: str, subject: Subject) -> tuple[Any, ...]:
    """Return published texts of the same kind that could take over."""
    page = await services.listings.experiences(
        reader, kind=CandidateKind(subject.kind), stage=Stage.PUBLISHED, limit=200
    )
    return tuple(entry for entry in page.entries if entry.experience_id != subject.id)


async def _changed(
    services: ApiServices, reader: str, subject: Subject, base: SubjectText, typed: Posted
) -> DraftDifference | None:
    """Return how the text differs from the one that the form was made from; None when it is that one."""
    was = typed.line("revision")
    if not was.isdecimal() or len(was) > 9 or int(was) == base.revision or typed.line("digest") == base.digest:
        return None
    try:
        return await services.experiences.difference(
            reader, subject.id, from_revision=int(was), to_revision=base.revision
        )
    except CaseloreError:
        return None
