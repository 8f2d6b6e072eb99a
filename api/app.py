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
    case_links,
    case_text,
    cases,
    changes,
    delegations,
    erasures,
    experiences,
    health,
    operations,
    related,
    retrievals,
    reviews,
    scope,
)
from api.authentication import Authentication
from api.documentation import DESCRIPTION, documented
from api.problems import handle_http_exception, handle_refusal, handle_unexpected
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
    administration.router,
    operations.router,
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
    app.state.authentication = Authentication(services.identities)
    for router in ROUTERS:
        app.include_router(router)
    app.openapi = documented(app)
    return app
