"""What the OpenAPI document says beside the routes' own signatures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fastapi import FastAPI

from api.preconditions import IF_MATCH, field_of
from api.problems import PROBLEM_TYPE, Problem, problem_of, unforeseen
from contracts.errors import (
    CaseloreError,
    InvalidField,
    NotAuthenticated,
    NotReviewer,
    RuntimeUnavailable,
    StaleDigest,
    StaleRevision,
    TextTooLong,
    UnknownCase,
)
from contracts.views import CommandView

_PROBLEM = {"$ref": "#/components/schemas/Problem"}
_REQUEST_ID = "5f0d1c7be0a84b1e9a430d5a1c1f7a01"


def _problem(description: str, example: CaseloreError | None, *, status: int | None = None) -> dict[str, Any]:
    """Return what the document says of a refusal, with one as an example; None: a failure that has no name."""
    shown = unforeseen() if example is None else problem_of(example, status=status)
    value = {**shown.model_dump(), "request_id": _REQUEST_ID}
    return {"description": description, "content": {PROBLEM_TYPE: {"schema": _PROBLEM, "example": value}}}


PROBLEMS: dict[int | str, dict[str, Any]] = {
    401: _problem(
        "No valid API key or token",
        NotAuthenticated(
            "The request carries no API key or token.", field="Authorization", accepted="Bearer <key or token>"
        ),
    ),
    403: _problem(
        "The caller may not do this",
        NotReviewer("This waits for an owner of 'data'.", field="reviewer", accepted="an owner of the domain"),
    ),
    404: _problem(
        "Not there, or not visible to the caller",
        UnknownCase("There is no such case in your scope.", field="case_id"),
    ),
    409: _problem(
        "True once, not any more: read again and decide again",
        StaleRevision("The case is at revision 3, waiting.", field="expected_revision", accepted="3"),
    ),
    413: _problem(
        "The body is too large",
        TextTooLong("The request body is too large.", field="body", accepted="at most 4,194,304 bytes"),
        status=413,
    ),
    422: _problem(
        "The request can't be taken as it is; names the field",
        InvalidField("Field required.", field="draft.title", accepted="a value: the field is required"),
    ),
    500: _problem("The request failed; the operator's log says where", None),
    503: _problem(
        "Try again later; nothing was lost",
        RuntimeUnavailable("The record can't be reached; nothing was half-written."),
    ),
}
"""The refusals that every route of `/v1` may give."""

PENDING: dict[int | str, dict[str, Any]] = {
    202: {"model": CommandView, "description": "Stored; no worker answered in time. `Location` says where to look"}
}

DESCRIPTION = """Governed memory: what earlier cases taught, reviewed, limited and cited, never mistaken for proof.

Every write can be repeated by the id that the caller minted for it: that id, in the body, is the idempotency key, so
an `Idempotency-Key` header is neither needed nor read. The same id with the same content is answered as it was the
first time; with other content it is refused (`IdempotencyConflict`).

What was stored while no worker answers is 202, with the address that tells what became of it in `Location`.

Every answer to a GET has an entity tag: `If-None-Match` with it costs no text. Where a write expects what was read,
`If-Match` with the tag stands for that field of the body, which may then be left out.

A refusal is an RFC 9457 problem whose `type` is stable; `field` names the input at fault and `accepted` what would be
taken instead.
"""

TAGS: Sequence[Mapping[str, str]] = (
    {"name": "health", "description": "Does the process answer, and does what it needs."},
    {"name": "cases", "description": "Deliveries, cases with their papers and results, what is related to them."},
    {"name": "experience", "description": "What a case taught: propose it, see where it stands."},
    {"name": "article", "description": "What a domain knows: memory, methods and skills."},
    {"name": "review", "description": "Two people decide, on the text that they read; changes to what is published."},
    {
        "name": "retrieval",
        "description": "Ask, read a candidate, decide with citations, report what the checks showed.",
    },
    {"name": "consultation", "description": "Ask another domain, whose reply is evidence and no grant."},
    {"name": "strategies", "description": "How a profile's retrieval works, and adopting another version of it."},
    {"name": "administration", "description": "Tenants, domains, principals, grants, roles and profiles."},
    {"name": "sign-in", "description": "API keys, and people's identities at an issuer."},
    {"name": "operations", "description": "Figures, the index beside the record, events that were set aside."},
    {"name": "audit", "description": "Who did what to which text, and what was current when."},
    {"name": "erasure", "description": "Removing a case's or a subject's texts from everywhere, with a receipt."},
)
"""What the parts of the API are for."""

_SCHEMES: Mapping[str, Mapping[str, str]] = {
    "ApiKey": {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "clk_...",
        "description": "An API key of an agent or a person; it may be narrowed and it ends.",
    },
    "IssuerToken": {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "JWT",
        "description": "An OpenID Connect token of the configured issuer, for a person who is linked to a principal.",
    },
}
_EITHER = [{name: list[str]()} for name in _SCHEMES]
_SAID = {
    "limit": "How many at most.",
    "principal_id": "Of this principal.",
    "profile_id": "Of this profile.",
}
"""Of parameters that mean the same wherever they are taken."""
_TAG = {"schema": {"type": "string"}, "description": "Names this very answer.", "required": True}
_PLACE = {"schema": {"type": "string"}, "description": "Where to look what became of it.", "required": True}
_STALE = StaleDigest("The text changed since it was read.", field="If-Match", accepted=f'"{"0f34" * 16}"')
_MET = {"description": "The caller has it: nothing changed", "headers": {"ETag": _TAG}}


def _header(name: str, description: str, **schema: Any) -> dict[str, Any]:
    return {
        "name": name,
        "in": "header",
        "required": False,
        "schema": {"type": "string", "maxLength": 4_000, **schema},
        "description": description,
    }


def documented(app: FastAPI) -> Callable[[], dict[str, Any]]:
    """Return `app.openapi` with all that holds for every route added once."""
    build = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is not None:
            return app.openapi_schema
        document = build()
        components = document.setdefault("components", {})
        problem = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
        components.setdefault("schemas", {}).setdefault("Problem", problem)
        components["securitySchemes"] = dict(_SCHEMES)
        document["tags"] = list(TAGS)
        for path in document["paths"].values():
            for method, operation in path.items():
                _complete(method, operation)
        return document

    return openapi


def _complete(method: str, operation: dict[str, Any]) -> None:
    """Add what holds for an operation whatever its route: credentials, entity tags, places to look."""
    responses: dict[str, Any] = operation["responses"]
    for parameter in operation.get("parameters", ()):
        if parameter["name"] in _SAID:
            parameter.setdefault("description", _SAID[parameter["name"]])
    if "202" in responses:
        responses["202"].setdefault("headers", {})["Location"] = _PLACE
    if "security" not in operation:
        return
    operation["security"] = _EITHER
    parameters: list[dict[str, Any]] = operation.setdefault("parameters", [])
    if method == "get":
        parameters.append(
            _header("If-None-Match", "The `ETag` of an answer that the caller has: 304 if it is current.")
        )
        responses["200"].setdefault("headers", {})["ETag"] = _TAG
        responses["304"] = _MET
    field = field_of(operation)
    if field:
        told = f"The `ETag` of what was read: 412 if it is not current. `{field}` may then be left out."
        parameters.append(_header("If-Match", told, pattern=IF_MATCH))
        responses["412"] = _problem("What `If-Match` names is not current; `accepted` says what is", _STALE, status=412)
