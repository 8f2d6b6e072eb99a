"""How the API answers with problem details: a refusal by its class, and what nobody foresaw without its words (R22)."""

from __future__ import annotations

from collections.abc import Mapping

import structlog
from fastapi import Request
from fastapi.responses import JSONResponse
from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from starlette.exceptions import HTTPException

from activities.failures import failure_fields
from api.problems import PROBLEM_TYPE, Problem, problem_of, unforeseen
from contracts.errors import CaseloreError, NotAuthenticated, NotFound, RuntimeUnavailable, Unavailable

_log = structlog.get_logger()

HEADERS: Mapping[type[CaseloreError], Mapping[str, str]] = {
    NotAuthenticated: {"WWW-Authenticate": 'Bearer realm="caselore"'},
    Unavailable: {"Retry-After": "1"},
}

_DATABASE_AWAY = (OperationalError, InterfaceError, PoolTimeoutError)


def respond(error: CaseloreError, *, status: int | None = None) -> JSONResponse:
    """Return the response that carries a refusal."""
    headers = {name: value for ancestor in type(error).__mro__ for name, value in HEADERS.get(ancestor, {}).items()}
    return _response(problem_of(error, status=status), headers)


def respond_unexpected(request: Request, error: Exception) -> JSONResponse:
    """Return the response for what nobody foresaw, and log where it happened."""
    if log_unexpected(request, error):
        return respond(RuntimeUnavailable("The record can't be reached; nothing was half-written."))
    return _response(unforeseen())


def log_unexpected(request: Request, error: Exception) -> bool:
    """Log what nobody foresaw, and return whether it is that the record can't be reached."""
    route = getattr(request.scope.get("route"), "path", "")
    if isinstance(error, _DATABASE_AWAY):
        _log.warning("record_unavailable", route=route, error=type(error).__name__)
        return True
    _log.error("request_failed", route=route, method=request.method, **failure_fields(error))
    return False


async def handle_refusal(_: Request, error: Exception) -> JSONResponse:
    """Answer a `CaseloreError`."""
    return respond(error if isinstance(error, CaseloreError) else CaseloreError(""))


async def handle_http_exception(_: Request, error: Exception) -> JSONResponse:
    """Answer what the framework refuses: no such path, a method that it doesn't take, a body that is too large."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    headers = dict(error.headers or {}) if isinstance(error, HTTPException) else {}
    if status == 404:
        return respond(NotFound("There is nothing at this path.", accepted="a path of /openapi.json"))
    detail = str(getattr(error, "detail", ""))
    return _response(Problem(type="about:blank", title=detail, status=status, detail=detail), headers)


async def handle_unexpected(request: Request, error: Exception) -> JSONResponse:
    """Answer what went wrong outside a route."""
    return respond_unexpected(request, error)


def _response(problem: Problem, headers: Mapping[str, str] | None = None) -> JSONResponse:
    return JSONResponse(
        problem.model_dump(), status_code=problem.status, headers=dict(headers or {}), media_type=PROBLEM_TYPE
    )
