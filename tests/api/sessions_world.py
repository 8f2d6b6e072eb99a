"""Browsers: signed in to the pages by a key, as a form would."""

from __future__ import annotations

from typing import Any

import httpx

from api.same_site import derived
from tests.api.world import World, key_of

ORIGIN = "http://caselore"


class Browser(httpx.AsyncClient):
    """A client that keeps cookies and says where its posts come from, as browsers do."""

    csrf: str = ""

    async def post_form(self, path: str, fields: dict[str, str], **headers: str) -> httpx.Response:
        """Post a form of this site; `headers` replace what a browser would say, those that are "" are left out."""
        said = {
            "Origin": ORIGIN,
            "Sec-Fetch-Site": "same-origin",
            **{k.replace("_", "-"): v for k, v in headers.items()},
        }
        return await self.post(path, data=fields, headers={name: value for name, value in said.items() if value})


def browser(world: World, app: Any = None) -> Browser:
    """Return a browser in which nobody is signed in."""
    return Browser(transport=httpx.ASGITransport(app=app or world.app), base_url=ORIGIN, follow_redirects=False)


async def signed_in(world: World, principal_id: str, *, key: str | None = None, app: Any = None) -> Browser:
    """Return a browser in which somebody is signed in; `csrf` is the token of its forms."""
    found = browser(world, app)
    answer = await found.post_form("/sign-in", {"key": key or key_of(principal_id), "csrf": offered(found)})
    assert (answer.status_code, answer.headers["location"]) == (303, "/"), answer.headers
    found.csrf = derived(found.cookies["caselore"], "form")
    return found


def offered(found: Browser) -> str:
    """Return the token of the page to sign in, as if this browser had just loaded it."""
    found.cookies.set("caselore-sign-in", "offered-to-this-browser", domain="caselore.local")
    return derived("offered-to-this-browser", "sign-in")
