"""Refusals as RFC 9457 problem details: a stable type, the field at fault, what would be accepted (R22)."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, Field

from api import request_ids
from contracts.errors import (
    CaseloreError,
    Conflict,
    InvalidField,
    InvalidInput,
    NotAuthenticated,
    NotFound,
    NotPermitted,
    NotProof,
    TextTooLong,
    Unavailable,
    UnstorableText,
    every_error,
)

PROBLEM_TYPE = "application/problem+json"
URN = "urn:caselore:error:"

STATUSES: Mapping[type[CaseloreError], int] = {
    InvalidInput: 422,
    NotFound: 404,
    NotAuthenticated: 401,
    NotPermitted: 403,
    Conflict: 409,
    NotProof: 422,
    Unavailable: 503,
}
"""Status of an error class and of everything below it, unless the table names that too."""


class Problem(BaseModel):
    """What went wrong, for a program and for a person (RFC 9457)."""

    type: str = Field(description=f"Stable name of the refusal: `{URN}<Name>`.")
    title: str = Field(description="What this type means.")
    status: int
    detail: str = Field(description="What to act on, in a sentence.")
    field: str = Field(default="", description="The input at fault, in the request's own names.")
    accepted: str = Field(default="", description="What would be accepted instead.")
    request_id: str = Field(
        default_factory=request_ids.current, description="The answer's `X-Request-ID`, by which an operator finds it."
    )


def status_of(error: type[CaseloreError]) -> int:
    """Return the HTTP status of an error class: its own, or that of its nearest ancestor in the table."""
    return next((STATUSES[cls] for cls in error.__mro__ if cls in STATUSES), 500)


def title_of(error: type[CaseloreError]) -> str:
    """Return the first line of the class's docstring, which says what it means."""
    return (inspect.getdoc(error) or error.__name__).partition("\n")[0]


def recorded_refusal(name: str, field: str, accepted: str) -> CaseloreError:
    """Return the refusal that was kept with a command: its type's name, the input at fault, what would be accepted."""
    error = every_error().get(name, CaseloreError)
    return error(title_of(error), field=field or "command_id", accepted=accepted)


def problem_of(error: CaseloreError, *, status: int | None = None) -> Problem:
    """Return what a client is told of a refusal."""
    cls = type(error)
    known = status_of(cls) != 500  # a bare CaseloreError may carry anybody's words
    return Problem(
        type=URN + error.type,
        title=title_of(cls) if known else "Refused for a reason that has no name",
        status=status or status_of(cls),
        detail=error.message if known else "The request failed; the operator's log says where.",
        field=error.field if known else "",
        accepted=error.accepted if known else "",
    )


def unforeseen() -> Problem:
    """Return what a client is told of a failure that nobody foresaw."""
    return Problem(
        type="about:blank",
        title="Internal Server Error",
        status=500,
        detail="The request failed; the operator's log says where.",
    )


def invalid(errors: Sequence[Mapping[str, Any]]) -> InvalidInput:
    """Return the refusal for the first of pydantic's errors, without the input itself."""
    first = errors[0]
    path = [str(part) for part in first["loc"]]
    if path and path[0] in ("body", "query", "path", "header"):
        path = path[1:]
    kind, context = str(first["type"]), first.get("ctx", {})
    cls = _CLASSES.get(kind, InvalidField)
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    return cls(f"{first['msg']}.{more}", field=".".join(path), accepted=_accepted(kind, context))


_CLASSES: Mapping[str, type[InvalidInput]] = {"string_unicode": UnstorableText, "string_too_long": TextTooLong}
_ACCEPTED: Mapping[str, str] = {
    "missing": "a value: the field is required",
    "extra_forbidden": "only the documented fields",
    "string_unicode": "whole Unicode characters",
    "string_too_long": "at most {max_length} characters",
    "string_too_short": "at least {min_length} characters",
    "too_long": "at most {max_length} items",
    "too_short": "at least {min_length} items",
    "enum": "{expected}",
    "literal_error": "{expected}",
    "greater_than": "more than {gt}",
    "greater_than_equal": "{ge} or more",
    "less_than": "less than {lt}",
    "less_than_equal": "{le} or less",
    "finite_number": "a finite number",
    "uuid_parsing": "a UUID",
    "uuid_type": "a UUID",
    "timezone_aware": "a time with its zone, as 2026-03-01T09:00:00Z",
    "string_type": "a text",
    "bool_parsing": "true or false",
}
_PREFIXES: Mapping[str, str] = {
    "datetime": "a time with its zone, as 2026-03-01T09:00:00Z",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "tuple": "a list",
    "list": "a list",
    "model": "an object",
    "dict": "an object",
}


def _accepted(kind: str, context: Mapping[str, Any]) -> str:
    known = _ACCEPTED.get(kind)
    if known is not None:
        return known.format_map({name: str(value) for name, value in context.items()})
    return _PREFIXES.get(kind.partition("_")[0], "a value of the documented kind")
