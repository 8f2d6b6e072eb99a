"""The routers of all pages."""

from __future__ import annotations

from api.pages import (
    articles,
    asking,
    cases,
    changes,
    commands,
    consultations,
    described,
    erasures,
    experiences,
    inbox,
    memory_use,
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
    asking.router,  # before the retrievals: `new` is no id
    retrievals.router,
    memory_use.router,
    consultations.router,
    commands.router,
    status_page.router,
    erasures.router,
    sign_in.router,
    static_files.router,
    described.router,
)
