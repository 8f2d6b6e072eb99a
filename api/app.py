"""The HTTP API as one ASGI application."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from starlette.exceptions import HTTPException

from api import (
    administration,
    arrivals,
    articles,
    audit,
    broadenings,
    case_links,
    case_text,
    cases,
    changes,
    consultations,
    delegations,
    erasures,
    experiences,
    health,
    keys,
    metrics,
    operations,
    prepared,
    related,
    retrieval_records,
    retrievals,
    reviews,
    scope,
    sign_in,
    strategies,
)
from api.authentication import Authentication
from api.documentation import DESCRIPTION, documented
from api.mcp import exchange
from api.observed_requests import ObservedRequests
from api.pages.html_route import handle_http_exception
from api.pages.routers import ROUTERS as PAGES
from api.problem_responses import handle_refusal, handle_unexpected
from api.secure_headers import SecureHeaders
from api.services import ApiServices
from contracts.errors import CaseloreError

ROUTERS = (
    health.router,
    arrivals.router,
    cases.router,
    case_text.router,
    related.router,
    case_links.router,
    experiences.router,
    articles.router,
    reviews.router,
    changes.router,
    scope.router,
    delegations.router,
    retrievals.router,
    prepared.router,
    retrieval_records.router,
    strategies.router,
    broadenings.router,
    consultations.router,
    administration.router,
    keys.router,
    sign_in.router,
    operations.router,
    metrics.router,
    audit.router,
    erasures.router,
)


def create_app(services: ApiServices) -> FastAPI:
    """Return the API on `services`, which the caller keeps open for as long as it serves."""
    handlers: dict[int | type[Exception], Any] = {
        CaseloreError: handle_refusal,
        HTTPException: handle_http_exception,
        Exception: handle_unexpected,
    }
    app = FastAPI(
        title="Caselore",
        description=DESCRIPTION,
        exception_handlers=handlers,
        openapi_url="/openapi.json",
        docs_url=None,  # its pages load scripts from elsewhere
        redoc_url=None,
    )
    app.state.services = services
    app.state.authentication = Authentication(
        services.identities, people=services.sign_in.people, issuer=services.sign_in.issuer
    )
    for router in (*ROUTERS, *PAGES):
        app.include_router(router)
    app.include_router(exchange.router)
    app.openapi = documented(app)
    build = app.build_middleware_stack  # outermost, so that answers to what nobody foresaw carry the headers too
    app.build_middleware_stack = lambda: ObservedRequests(
        SecureHeaders(build(), is_https=services.sign_in.is_https), services.telemetry
    )
    return app
