"""The routers of all pages."""

from __future__ import annotations

from api.pages import (
    articles,
    cases,
    changes,
    commands,
    consultations,
    described,
    erasures,
    experiences,
    inbox,
    retrievals,
    reviews,
    sign_in,
    static_files,
    status_page,
)

ROUTERS = (
    inbox.router,
    reviews.router,
    experiences.router,
    changes.router,
    articles.router,
    cases.router,
    retrievals.router,
    consultations.router,
    commands.router,
    status_page.router,
    erasures.router,
    sign_in.router,
    static_files.router,
    described.router,
)
