"""The HTTP API described on a page of its own, from its OpenAPI document; no script of anybody else is loaded."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from fastapi import APIRouter, FastAPI, Request
from starlette.responses import Response

from api.pages.html_route import HtmlRoute
from api.pages.render import render
from api.permissions import PERMISSIONS, Permission

router = APIRouter(route_class=HtmlRoute, include_in_schema=False)

_ASKS = {
    Permission.PUBLIC: "for anybody",
    Permission.SIGNED_IN: "a key or token that isn't narrowed",
    Permission.ADMINISTRATOR: "an administrator's key or token",
}


@dataclass(frozen=True)
class Described:
    """A route as the page tells it."""

    method: str
    path: str
    summary: str
    description: str
    asks: str
    """What the caller needs."""
    bodies: tuple[tuple[str, str], ...]
    """What an example shows, and the example as JSON."""


@router.get("/docs")
async def describe(request: Request) -> Response:
    """Show every route of the API, by subject."""
    document = cast(FastAPI, request.app).openapi()
    by_subject: dict[str, list[Described]] = {}
    for subject, route in _routes(document):
        by_subject.setdefault(subject, []).append(route)
    return render(request, "described.html", subjects=by_subject, about=document["info"]["description"])


def _routes(document: Mapping[str, Any]) -> Iterator[tuple[str, Described]]:
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            asked = PERMISSIONS[method.upper(), path]
            body = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
            yield (
                operation.get("tags", ["api"])[0],
                Described(
                    method=method.upper(),
                    path=path,
                    summary=operation.get("summary", ""),
                    description=operation.get("description", ""),
                    asks=_ASKS.get(asked) or f"a key or token that is good to {asked.value}",
                    bodies=tuple(
                        (name.replace("_", " "), json.dumps(each.get("value"), indent=2, ensure_ascii=False))
                        for name, each in body.get("examples", {}).items()
                    ),
                ),
            )
