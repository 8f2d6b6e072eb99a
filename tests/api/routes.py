"""Every route that an app serves, however it came to be there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fastapi import FastAPI
from starlette.routing import BaseRoute, Mount, Route


def routes_of(app: FastAPI) -> list[tuple[str, str]]:
    """Return method and path template of each route; HEAD comes with GET and is left out."""
    return list(_routes(app.routes))


def _routes(routes: Iterable[BaseRoute]) -> Iterator[tuple[str, str]]:
    for route in routes:
        if isinstance(route, Route):
            for method in sorted((route.methods or set()) - {"HEAD"}):
                yield method, route.path
        elif isinstance(route, Mount):
            yield "*", route.path
        else:  # FastAPI's own stand-in for a router that was included without a prefix
            yield from _routes(route.original_router.routes)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownArgumentType]
