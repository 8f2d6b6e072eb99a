"""Headers of every response, whoever made it."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from starlette.responses import HTMLResponse, Response

from api.app import create_app
from api.secure_headers import OTHER_POLICY, PAGE_POLICY
from tests.api.sessions_world import browser, offered, signed_in
from tests.api.world import World, key_of


def check(response: httpx.Response, policy: str = OTHER_POLICY) -> None:
    headers = response.headers
    assert headers["content-security-policy"] == policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cache-control"] == "no-store"
    assert "strict-transport-security" not in headers, "it is reached by http"


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/health/live", 200),
        ("GET", "/openapi.json", 200),
        ("GET", "/v1/cases", 401),
        ("GET", "/nowhere", 404),
        ("DELETE", "/v1/cases", 405),
        ("GET", "/sign-in/oidc", 303),
        ("POST", "/sign-out", 303),
    ],
)
async def test_every_kind_of_answer_carries_them(world: World, method: str, path: str, status: int) -> None:
    response = await world.send(method, path, as_=None)
    assert response.status_code == status
    check(response)


async def test_answers_with_cookies_and_to_bodies_that_are_too_large_carry_them(world: World) -> None:
    found = browser(world)
    check(await found.post_form("/sign-in", {"key": key_of("cora"), "csrf": offered(found)}))
    check(await (await signed_in(world, "cora")).post_form("/sign-out", {}))
    large = await world.send("POST", "/v1/arrivals", content=b" " * (40 * 1024 * 1024 + 1))
    assert large.status_code == 413
    check(large)


async def test_what_nobody_foresaw_carries_them_too(world: World) -> None:
    app = create_app(world.services)

    async def broken(*_: Any) -> Response:
        raise RuntimeError("secret")

    app.add_route("/broken", broken)
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://caselore") as http:
        response = await http.get("/broken")
    assert (response.status_code, "secret" in response.text) == (500, False)
    check(response)


async def test_a_page_may_load_only_what_this_site_serves(world: World) -> None:
    app: FastAPI = create_app(world.services)

    async def page(*_: Any) -> Response:
        return HTMLResponse("<p>")

    async def static(*_: Any) -> Response:
        return Response("p{}", media_type="text/css", headers={"Cache-Control": "max-age=60"})

    app.add_route("/page", page)
    app.add_route("/style.css", static)
    check(await world.send("GET", "/page", as_=None, app=app), PAGE_POLICY)
    assert (await world.send("GET", "/style.css", as_=None, app=app)).headers["cache-control"] == "max-age=60"
    for part in (
        "default-src 'none'",
        "script-src 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'self'",
    ):
        assert part in PAGE_POLICY
    assert "unsafe" not in PAGE_POLICY
