"""The route that gives a case's texts with personal data masked (R6)."""

from __future__ import annotations

from fastapi import APIRouter

from api.authentication import Caller
from api.checked_route import CheckedRoute
from api.documentation import PROBLEMS
from api.id_in_path import IdInPath
from api.services import Services
from contracts.masking import SanitisedCase

router = APIRouter(route_class=CheckedRoute, prefix="/v1", tags=["cases"], responses=PROBLEMS)

_EXAMPLE = {
    "case_id": "6f0a4b52-1d0e-4f0a-9a43-0d5a1c1f7a01",
    "revision": 3,
    "title": "Renewal letters are not printed",
    "text": "Since the upgrade to 7.4 no letter leaves the queue.\n\nKind regards\n[person 1]\nTel. [phone 1]",
    "papers": [],
    "papers_left_out": 0,
    "places": [
        {"field": "text", "start": 67, "end": 85, "kind": "name", "certainty": "likely", "placeholder": "[person 1]"},
        {"field": "text", "start": 91, "end": 107, "kind": "phone", "certainty": "checked", "placeholder": "[phone 1]"},
    ],
}


@router.get(
    "/cases/{case_id}/sanitised",
    summary="Read a case with personal data masked",
    responses={200: {"content": {"application/json": {"example": _EXAMPLE}}}},
)
async def sanitised_case(services: Services, caller: Caller, case_id: IdInPath) -> SanitisedCase:
    """Return title, written text and newest papers of a case with personal data masked: draft from these (R6).

    A value has one placeholder in the whole case, the same at every call and in every revision. Each masked place is
    told by field and character offsets of the original, which the case itself keeps.
    """
    return await services.case_text.sanitised(caller.id, str(case_id))
