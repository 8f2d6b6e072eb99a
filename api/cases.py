"""Routes of the case registry: state, papers and results (R3, R5)."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body, Query, Response, status

from api.authentication import Caller
from api.bodies import FiledPapers, PapersToFile, ResultToRecord, StateChange
from api.checked_route import CheckedRoute
from api.documentation import PROBLEMS
from api.examples import PAPERS, RESULT, STATE_CHANGE
from api.id_in_path import IdInPath
from api.preconditions import if_match, versioned
from api.services import Services
from contracts import limits
from contracts.cases import Case, CaseResult, Origin
from contracts.errors import InvalidField
from contracts.labels import CaseState
from contracts.text import check_text

router = APIRouter(route_class=CheckedRoute, prefix="/v1", tags=["cases"], responses=PROBLEMS)


@router.get("/cases", summary="List a tenant's newest cases")
async def list_cases(
    services: Services,
    caller: Caller,
    tenant_id: Annotated[str, Query(max_length=limits.IDENTIFIER, description="A tenant of the caller's grants.")],
    state: Annotated[CaseState | None, Query(description="Only cases in this state.")] = None,
    source: Annotated[
        str | None,
        Query(max_length=limits.IDENTIFIER, description="With `external_id`: only the case of this request."),
    ] = None,
    external_id: Annotated[
        str | None, Query(max_length=limits.EXTERNAL_ID, description="The request's id in its source.")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> list[Case]:
    """Return the newest cases of a tenant that the caller may see, or the one of a source request (R1, R3, R4)."""
    check_text(tenant_id, field="tenant_id", limit=limits.IDENTIFIER)
    if source is not None and external_id is not None:
        origin = Origin(tenant_id=tenant_id, source=source, external_id=external_id)
        found = await services.cases.of_origin(caller.id, origin)
        return [] if found is None or (state is not None and found.state is not state) else [found]
    if source is not None or external_id is not None:
        raise InvalidField(
            "A request is named by its source and its id there.",
            field="source" if source is None else "external_id",
            accepted="both of `source` and `external_id`, or neither",
        )
    return await services.cases.listed(caller.id, tenant_id=tenant_id, state=state, limit=limit)


@router.get("/cases/{case_id}", summary="Read a case")
async def get_case(services: Services, caller: Caller, response: Response, case_id: IdInPath) -> Case:
    """Return a case as it stands now; one outside the caller's scope looks like none at all (R4)."""
    case = await services.cases.get(caller.id, str(case_id))
    versioned(response, case.revision)
    return case


@router.post(
    "/cases/{case_id}/state", summary="Move a case to another state", openapi_extra=if_match("expected_revision")
)
async def change_state(
    services: Services,
    caller: Caller,
    case_id: IdInPath,
    change: Annotated[StateChange, Body(openapi_examples=STATE_CHANGE)],
) -> Case:
    """Move a case to a state if it still is at the expected revision; else say what it is at (R24)."""
    return await services.cases.change_state(
        caller.id,
        str(case_id),
        change.state,
        expected_revision=change.expected_revision,
        at=change.at,
        waiting_on=change.waiting_on,
    )


@router.post("/cases/{case_id}/papers", summary="File papers in a case", status_code=status.HTTP_201_CREATED)
async def file_papers(
    services: Services,
    caller: Caller,
    case_id: IdInPath,
    filing: Annotated[PapersToFile, Body(openapi_examples=PAPERS)],
) -> FiledPapers:
    """File evidence, execution or proof papers; all of them or none, each once by its id (R5)."""
    await services.cases.add_papers(caller.id, str(case_id), filing.papers)
    return FiledPapers(case_id=str(case_id), paper_ids=tuple(paper.id for paper in filing.papers))


@router.post("/cases/{case_id}/result", summary="Record a case's result", status_code=status.HTTP_201_CREATED)
async def record_result(
    services: Services,
    caller: Caller,
    case_id: IdInPath,
    record: Annotated[ResultToRecord, Body(openapi_examples=RESULT)],
) -> CaseResult:
    """Record what a case ended with, with its papers, in one transaction; once by the result's id (R5)."""
    if record.result.case_id != str(case_id):
        raise InvalidField("Path and body name two cases.", field="result.case_id", accepted=str(case_id))
    await services.cases.record_result(caller.id, record.result, record.papers, complete_at=record.complete_at)
    return record.result
