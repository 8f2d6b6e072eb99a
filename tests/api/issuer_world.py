"""The development issuer on loopback, with the API that trusts it: real requests in both directions."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from fastapi import FastAPI

from activities.issuer.issuer import Issuer
from api.app import create_app
from contracts.sign_in import IdentityLink
from deploy.embedded.development_issuer import AUDIENCE, CLIENT, PATH, DevelopmentIssuer
from deploy.embedded.issuer_keys import IssuerKeys
from tests.api.world import World
from tests.ports import free_ports


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class People:
    """An organisation whose people sign in at an issuer."""

    world: World
    address: str
    development: DevelopmentIssuer
    trusted: Issuer
    clock: Clock
    app: FastAPI
    fetched: list[str] = field(default_factory=list[str])

    async def link(self, principal_id: str, subject: str | None = None) -> IdentityLink:
        link = IdentityLink(issuer=self.development.url, subject=subject or principal_id, principal_id=principal_id)
        await self.world.services.sign_in.people.link("admin", link)
        return link

    async def get(self, token: str, path: str = "/v1/watermarks") -> httpx.Response:
        """Ask the API with a token; each time one that remembers nobody."""
        app = create_app(self.app.state.services)
        return await self.world.send("GET", path, as_=None, headers={"Authorization": f"Bearer {token}"}, app=app)

    @asynccontextmanager
    async def browser(self) -> AsyncGenerator[httpx.AsyncClient]:
        async with httpx.AsyncClient(base_url=self.address, timeout=20) as http:
            yield http

    async def post(self, http: httpx.AsyncClient, path: str, fields: dict[str, Any]) -> httpx.Response:
        headers = {"Origin": self.address, "Sec-Fetch-Site": "same-origin"}
        return await http.post(path, data=fields, headers=headers)


@asynccontextmanager
async def people_at(world: World, folder: Path) -> AsyncGenerator[People]:
    """Serve issuer and API on a port of their own."""
    [port] = free_ports(1)
    address = f"http://127.0.0.1:{port}"
    clock = Clock()
    fetched: list[str] = []

    async def note(request: httpx.Request) -> None:
        fetched.append(request.url.path.removeprefix(PATH))

    development = DevelopmentIssuer(address, world.services.sign_in.people, IssuerKeys(folder / "keys"))
    trusted = Issuer(development.url, AUDIENCE, client_id=CLIENT, clock=clock)
    trusted._http.event_hooks["request"].append(note)  # pyright: ignore[reportPrivateUsage]
    services = replace(world.services, sign_in=replace(world.services.sign_in, public_url=address, issuer=trusted))
    app = create_app(services)
    app.mount(PATH, development.app)
    server = uvicorn.Server(
        uvicorn.Config(
            app, host="127.0.0.1", port=port, log_level="warning", lifespan="off", timeout_graceful_shutdown=2
        )
    )
    serving = asyncio.create_task(server.serve())
    while not server.started:
        assert not serving.done()
        await asyncio.sleep(0.01)
    try:
        yield People(world, address, development, trusted, clock, app, fetched)
    finally:
        server.should_exit = True
        await serving
        await trusted.close()
