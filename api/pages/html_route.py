"""The route class of the pages: a refusal is a page that says what to do next."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from starlette.responses import Response

from api import problem_responses
from api.page_route import PageRoute
from api.pages.forms import posted
from api.pages.refusals import told
from api.pages.render import render
from api.problem_responses import log_unexpected
from api.problems import invalid, status_of
from api.same_site import require_same_origin
from api.sessions import sign_in_of
from contracts.errors import CaseloreError, CrossSite, NotAuthenticated, NotFound, RuntimeUnavailable


class HtmlRoute(PageRoute):
    """A page or a posted form."""

    async def refused(self, request: Request, error: Exception) -> Response:
        """Return the page that tells a refusal; what was typed into a form that a session left behind is on it."""
        typed = await _typed(request) if isinstance(error, (NotAuthenticated, CrossSite)) else {}
        if isinstance(error, NotAuthenticated) and not typed:
            return await super().refused(request, error)
        return refusal_page(request, error, typed)


async def _typed(request: Request) -> dict[str, str]:
    """Return what a person typed into a form of this site (R22); nothing of what another site lets a browser send."""
    if request.method == "GET":
        return {}
    try:
        require_same_origin(request, sign_in_of(request).origin)
    except CrossSite:
        return {}
    return (await posted(request)).prose()


def refusal_page(request: Request, error: Exception, typed: Mapping[str, str] | None = None) -> Response:
    """Return the page of what went wrong, with what would be accepted and what to do next.

    Args:
        request: What was asked.
        error: Why it is refused.
        typed: What would be lost, by the names of its fields.
    """
    refusal = refusal_of(request, error)
    status = status_of(type(refusal))
    if status == 500:  # a bare one may carry anybody's words
        return render(
            request,
            "refused.html",
            status=status,
            title="Something went wrong here",
            message="The page failed; the operator's log says where.",
            refusal=None,
            following="Try again in a moment.",
            typed={},
        )
    said = told(refusal)
    return render(
        request,
        "refused.html",
        status=status,
        title=said.title,
        message=said.message,
        refusal=said,
        following=said.way_on,
        typed=typed or {},
    )


def refusal_of(request: Request, error: Exception) -> CaseloreError:
    """Return an exception as a refusal that can be shown; what nobody foresaw is logged and has no words."""
    if isinstance(error, CaseloreError):
        return error
    if isinstance(error, RequestValidationError):
        return invalid(cast("list[dict[str, Any]]", error.errors()))
    if log_unexpected(request, error):
        return RuntimeUnavailable("The record can't be reached; nothing was half-written.")
    return CaseloreError("")


async def handle_http_exception(request: Request, error: Exception) -> Response:
    """Answer what the framework refuses: people get a page, programs problem details."""
    status = getattr(error, "status_code", 500)
    wants_page = "text/html" in request.headers.get("accept", "") and not request.url.path.startswith("/v1/")
    if status == 404 and wants_page and request.method == "GET":
        return refusal_page(request, NotFound("There is no such page."))
    return await problem_responses.handle_http_exception(request, error)
