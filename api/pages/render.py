"""Templates to pages. Everything that a template prints is escaped, and made visible where it can't be seen.

No template may pass a text on as markup: the environment has no such filter, and a test holds the templates to it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from importlib import resources
from typing import Any
from urllib.parse import quote

from fastapi import Request
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.responses import HTMLResponse

from api.pages import highlights, words
from api.pages.visible import visible
from contracts import limits
from contracts.feedback_words import earlier_use

STATIC_FILES: Mapping[str, str] = {
    "caselore.css": "text/css; charset=utf-8",
    "caselore.js": "text/javascript; charset=utf-8",
}
"""The static files and their content types."""


def exactly(text: object) -> Markup:
    """Return a text for a form's field, escaped and otherwise as it is: what is sent back must be what was there.

    A leading line end is doubled, since HTML drops the first one of a textarea.
    """
    said = str(text)
    return escape(f"\n{said}" if said.startswith("\n") else said)


def _printed(value: Any) -> Any:
    if isinstance(value, Markup):
        return value
    return "" if value is None else visible(str(value))


def _digits(number: float) -> str:
    return f"{number:,}"


@cache
def static_bytes(name: str) -> bytes:
    """Return the content of a static file."""
    return (resources.files("api.pages") / "static" / name).read_bytes()


@cache
def static_tag(name: str) -> str:
    """Return what changes with the content of a static file."""
    return hashlib.sha256(static_bytes(name)).hexdigest()[:16]


def _static(name: str) -> str:
    return f"/static/{name}?v={static_tag(name)}"


@cache
def environment() -> Environment:
    """Return the one environment of the templates."""
    found = Environment(
        loader=PackageLoader("api.pages", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_printed,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.do"],
    )
    del found.filters["safe"]  # nothing that a template prints is markup of somebody else
    found.filters.update(
        exactly=exactly,
        phrase=words.phrase,
        stage=words.stage_words,
        outcome=words.outcome_words,
        proof=words.proof_words,
        event=words.event_words,
        field=words.field_words,
        moment=words.moment,
        day=words.day,
        seconds=words.seconds_words,
        digits=_digits,
        figure=words.figure,
        earlier_use=earlier_use,
        quoted=lambda text: quote(str(text), safe=""),
    )
    shared: Any = {
        "static": _static,
        "pieces": highlights.pieces,
        "of_field": highlights.of_field,
        "within": highlights.within,
        "due": words.due_words,
        "place": words.place,
        "limits": limits,
    }
    found.globals.update(shared)
    return found


def render(request: Request, name: str, *, status: int = 200, refresh: int = 0, **given: Any) -> HTMLResponse:
    """Return the page of a template.

    Args:
        request: Tells who is signed in; nobody, on the page to sign in.
        name: The template.
        status: Of the response.
        refresh: Seconds after which the page loads itself anew; 0 never.
        given: What the template shows.
    """
    session = getattr(request.state, "session", None)
    content = (
        environment()
        .get_template(name)
        .render(session=session, path=request.url.path, now=datetime.now(UTC), refresh=refresh, **given)
    )
    return HTMLResponse(content, status_code=status)
