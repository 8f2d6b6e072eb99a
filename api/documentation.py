"""What the OpenAPI document says beside the routes' own signatures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import FastAPI

from api.problems import PROBLEM_TYPE, Problem
from contracts.views import CommandView

_PROBLEM = {"$ref": "#/components/schemas/Problem"}


def _problem(description: str) -> dict[str, Any]:
    return {"description": description, "content": {PROBLEM_TYPE: {"schema": _PROBLEM}}}


PROBLEMS: dict[int | str, dict[str, Any]] = {
    401: _problem("No valid API key"),
    403: _problem("The caller may not do this"),
    404: _problem("Not there, or not visible to the caller"),
    409: _problem("True once, not any more: read again and decide again"),
    413: _problem("The body is too large"),
    422: _problem("The request can't be taken as it is; names the field"),
    500: _problem("The request failed; the operator's log says where"),
    503: _problem("Try again later; nothing was lost"),
}
"""The refusals that every route of `/v1` may give."""

PENDING: dict[int | str, dict[str, Any]] = {
    202: {"model": CommandView, "description": "Stored; no worker answered in time. `Location` says where to look"}
}

DESCRIPTION = """Governed memory: what earlier cases taught, reviewed, limited and cited, never mistaken for proof.

Every write can be repeated by the id that the caller minted for it. A refusal is an RFC 9457 problem whose `type`
is stable; `field` names the input at fault and `accepted` what would be taken instead.
"""


def documented(app: FastAPI) -> Callable[[], dict[str, Any]]:
    """Return `app.openapi` with the schema of problems added."""
    build = app.openapi

    def openapi() -> dict[str, Any]:
        document = build()
        schemas = document.setdefault("components", {}).setdefault("schemas", {})
        schemas.setdefault("Problem", Problem.model_json_schema(ref_template="#/components/schemas/{model}"))
        return document

    return openapi
