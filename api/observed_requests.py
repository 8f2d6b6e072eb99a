"""Every request as operators see it: one log line, one measure, one trace. Never its query, its body or its answer."""

from __future__ import annotations

from time import perf_counter
from typing import Any, cast

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from activities.observation import Telemetry
from api import request_ids
from contracts.telemetry_ports import Step

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
OTHER_METHOD = "OTHER"
NO_ROUTE = "(none)"
"""For a path that is no route; the path itself is the caller's and isn't told."""

_log = structlog.get_logger()


class ObservedRequests:
    """Gives each request its id and tells operators how it went.

    Args:
        app: The application.
        telemetry: Where traces and measures go.
    """

    def __init__(self, app: ASGIApp, telemetry: Telemetry) -> None:
        self._app = app
        self._telemetry = telemetry

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = perf_counter()
        headers = Headers(scope=scope)
        request_id = request_ids.begin(headers.get(request_ids.HEADER))
        structlog.contextvars.bind_contextvars(request_id=request_id)
        method = scope["method"] if scope["method"] in METHODS else OTHER_METHOD
        status = 500  # of a request that ends without an answer

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)[request_ids.HEADER] = request_id
            await send(message)

        caused_by = {name: value for name in ("traceparent", "tracestate") if (value := headers.get(name))}
        with self._telemetry.tracing.step(method, after=caused_by, http_method=method, request_id=request_id) as step:
            try:
                await self._app(scope, receive, send_with_id)
            finally:
                self._tell(scope, step, method, status, perf_counter() - began)
                structlog.contextvars.unbind_contextvars("request_id")

    def _tell(self, scope: Scope, step: Step, method: str, status: int, seconds: float) -> None:
        route = str(getattr(scope.get("route"), "path", "")) or NO_ROUTE
        caller = cast("dict[str, Any]", scope.get("state") or {}).get("caller")
        principal = str(getattr(caller, "id", ""))
        step.rename(f"{method} {route}")
        step.tell(http_route=route, http_status=status, principal=principal)
        if status >= 500:
            step.fail(str(status))
        self._telemetry.measures.request_answered(method, route, status, seconds)
        _log.info(
            "request",
            method=method,
            route=route,
            status=status,
            milliseconds=round(seconds * 1000, 1),
            principal=principal,
        )
