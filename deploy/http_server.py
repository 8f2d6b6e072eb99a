"""An HTTP server inside this process, for as long as a block."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager, suppress

import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from api.metrics import TEXT
from contracts.errors import RuntimeUnavailable
from deploy.settings import Settings
from deploy.telemetry import Metrics

HEAD_BYTES = 64 * 1024
"""The most that a request's line and headers hold together, address and query included (R22)."""


class _Server(uvicorn.Server):
    """A uvicorn server that leaves signals to the process it is a part of."""

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


@asynccontextmanager
async def listening(app: ASGIApp, host: str, port: int, *, setting: str) -> AsyncGenerator[None]:
    """Serve `app` while the block runs; it begins when the server answers.

    Args:
        app: What to serve.
        host: The address to listen on.
        port: The port.
        setting: The environment variable that moves the port.

    Raises:
        RuntimeUnavailable: It doesn't answer.
    """
    server = _Server(
        uvicorn.Config(
            app,
            host=host,
            port=port,
            log_level="warning",
            access_log=False,
            timeout_graceful_shutdown=5,
            http="h11",  # the one with a limit, whatever else is installed
            h11_max_incomplete_event_size=HEAD_BYTES,
        )
    )
    serving = asyncio.create_task(server.serve(), name=f"http {port}")
    try:
        await _until_answering(host, port, serving, setting)
        yield
    finally:
        server.should_exit = True
        await asyncio.wait([serving])


@asynccontextmanager
async def metrics_listener(settings: Settings, metrics: Metrics) -> AsyncGenerator[None]:
    """Serve `/metrics` without a sign-in on a port of its own, where the settings name one."""
    if settings.metrics_port is None:
        yield
        return

    async def answer(_: Request) -> Response:
        return Response(await metrics(), media_type=TEXT)

    app = Starlette(routes=[Route("/metrics", answer)])
    async with listening(app, settings.metrics_host, settings.metrics_port, setting="CASELORE_METRICS_PORT"):
        yield


async def _until_answering(host: str, port: int, serving: asyncio.Task[None], setting: str) -> None:
    async with httpx.AsyncClient() as http:
        for _ in range(200):
            if serving.done():
                break
            with suppress(httpx.TransportError):
                await http.get(f"http://{host}:{port}/health/live")
                return
            await asyncio.sleep(0.05)
    raise RuntimeUnavailable(f"The HTTP server does not answer on port {port}.", field=setting, accepted="a free port")
