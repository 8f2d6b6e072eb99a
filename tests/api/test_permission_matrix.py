"""Who gets through the door of each route: every route with every kind of caller, allowed and refused (R4, R13).

The routes are taken from the app itself, and what each asks for from `api.permissions`; what each caller has is told
here. A route that the table leaves out fails, and so does one that its permission doesn't describe. What a caller who
got in may see and change is told by records: `test_permitted_acts.py`.

A tool of another protocol is added as a `Way`: how it is asked with a credential, and what it asks for.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
import pytest_asyncio
from sqlalchemy import text

from api.permissions import PERMISSIONS, Permission
from api.same_site import derived
from contracts.identity import Principal
from contracts.labels import PrincipalKind
from contracts.sign_in import Ability, KeyToIssue
from tests.api.issuer_world import People, people_at
from tests.api.routes import routes_of
from tests.api.sessions_world import browser, offered
from tests.api.world import World, fresh, key_of

P = Permission
NOBODY = frozenset({P.PUBLIC})
EVERYBODY = frozenset({P.PUBLIC, P.SIGNED_IN, P.READ, P.RETRIEVE, P.RECORD, P.PROPOSE, P.REVIEW})
"""Whoever is signed in by a credential that isn't narrowed: grants and roles are looked at behind the door."""

BEARERS: dict[str, frozenset[Permission]] = {
    "nobody": NOBODY,
    "a key that is unknown": NOBODY,
    "a key that has expired": NOBODY,
    "a key that was revoked": NOBODY,
    "a key of somebody inactive": NOBODY,
    "no bearer but basic": NOBODY,
    "a token of somebody unknown": NOBODY,
    "a token that has expired": NOBODY,
    "a token for somebody else": NOBODY,
    "a browser's cookie": NOBODY,
    "an agent without grants": EVERYBODY,
    "an agent with a grant": EVERYBODY,
    "a curator": EVERYBODY,
    "an owner": EVERYBODY,
    "a person of another tenant": EVERYBODY,
    "a person by token": EVERYBODY,
    "an administrator": EVERYBODY | {P.ADMINISTRATOR},
    "an administrator by token": EVERYBODY | {P.ADMINISTRATOR},
    "an administrator's key within a tenant": EVERYBODY,
    "a key within a tenant": EVERYBODY,
    "an administrator's key to read": NOBODY | {P.READ},
    "an administrator's key to retrieve": NOBODY | {P.RETRIEVE},
    "an administrator's key to record": NOBODY | {P.RECORD},
    "an administrator's key to propose": NOBODY | {P.PROPOSE},
    "an administrator's key to review": NOBODY | {P.REVIEW},
    "an administrator's key to administer": NOBODY | {P.ADMINISTRATOR},
    "an agent's key to read and retrieve": NOBODY | {P.READ, P.RETRIEVE},
    "an agent's key to administer": NOBODY,
}
"""By caller with a bearer credential: the permissions that let it in."""

PAGES = frozenset({P.PUBLIC, P.PAGE, P.PAGE_RETRIEVE, P.PAGE_REVIEW})
BROWSERS: dict[str, frozenset[Permission]] = {
    "nobody": NOBODY,
    "a key instead of a session": NOBODY,
    "a cookie that is unknown": NOBODY,
    "a session that was ended": NOBODY,
    "a curator's session": PAGES,
    "an owner's session": PAGES,
    "a session without grants": PAGES,
    "an administrator's session": PAGES | {P.PAGE_ADMINISTRATOR},
    "an administrator's session within a tenant": PAGES,
    "an administrator's session to read": frozenset({P.PUBLIC, P.PAGE}),
    "an administrator's session to review": frozenset({P.PUBLIC, P.PAGE_REVIEW}),
}
"""By caller with a browser: the permissions that let it in, with a form's token where one is needed."""


@dataclass(frozen=True)
class Way:
    """One thing that can be asked for, whatever the protocol."""

    name: str
    permission: Permission
    ask: Callable[[httpx.AsyncClient], Awaitable[bool]]
    """Asks with the client's credential, and tells whether the door let it in."""


def template_filled(path: str) -> str:
    """Return a path on which no route finds anything: ids that are none."""
    return re.sub(r"\{[^}]+\}", "none", path)


def way_of(method: str, path: str, permission: Permission) -> Way:
    async def ask(http: httpx.AsyncClient) -> bool:
        response = await http.request(method, template_filled(path))
        # 503: behind the door, and the index of these tests is away.
        assert response.status_code < 500 or response.status_code == 503, f"{method} {path}: {response.status_code}"
        if response.status_code == 401:
            assert response.headers["www-authenticate"].startswith("Bearer"), path
            return False
        if response.status_code != 403:
            return True
        kind = response.json()["type"].removeprefix("urn:caselore:error:")
        assert kind in ("NotPermitted", "OutsideKey"), f"{method} {path}: {kind}"
        return False

    return Way(f"{method} {path}", permission, ask)


def ways() -> Iterator[Way]:
    for (method, path), permission in PERMISSIONS.items():
        if not permission.is_page:
            yield way_of(method, path, permission)


@dataclass
class Cast:
    """Callers of every kind."""

    world: World
    people: People
    bearers: dict[str, dict[str, str]]
    cookies: dict[str, str]


async def narrowed(world: World, principal_id: str, **scope: Any) -> str:
    wanted = KeyToIssue(id=fresh(), principal_id=principal_id, label="Matrix", **scope)
    return (await world.services.sign_in.keys.issue("admin", wanted)).api_key


@pytest_asyncio.fixture(scope="module", name="cast")
async def fixture_cast(world: World, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Cast]:
    async with people_at(world, tmp_path_factory.mktemp("issuer")) as people:
        expired, inactive = f"expired-{fresh()}", f"inactive-{fresh()}"
        for name in (expired, inactive):
            await world.services.identities.add_principal(Principal(id=name, kind=PrincipalKind.AGENT, name=name))
        past = datetime.now(UTC) - timedelta(seconds=1)
        await world.services.identities.accept_key(expired, key_of(expired), expires_at=past)
        await world.services.identities.accept_key(inactive, key_of(inactive))
        await world.services.access.set_active(inactive, active=False)
        revoked = await world.services.sign_in.keys.issue(
            "admin", KeyToIssue(id=fresh(), principal_id="admin", label="Revoked")
        )
        await world.services.sign_in.keys.revoke(revoked.key.id)
        for name in ("cora", "admin"):
            await people.link(name, f"subject of {name}")
        to = {each: await narrowed(world, "admin", abilities=(each,)) for each in Ability}
        token = people.development.token
        keys = {
            "a key that is unknown": "clk_unknown",
            "a key that has expired": key_of(expired),
            "a key that was revoked": revoked.api_key,
            "a key of somebody inactive": key_of(inactive),
            "a token of somebody unknown": token("nobody at all"),
            "a token that has expired": token("subject of admin", exp=1_000_000_000),
            "a token for somebody else": token("subject of admin", "another-service"),
            "an agent without grants": key_of("spare"),
            "an agent with a grant": key_of("agent"),
            "a curator": key_of("cora"),
            "an owner": key_of("otto"),
            "a person of another tenant": key_of("stranger"),
            "a person by token": token("subject of cora"),
            "an administrator": key_of("admin"),
            "an administrator by token": token("subject of admin"),
            "an administrator's key within a tenant": await narrowed(world, "admin", tenants=("north",)),
            "a key within a tenant": await narrowed(world, "agent", tenants=("north",)),
            **{f"an administrator's key to {ability.value}": key for ability, key in to.items()},
            "an agent's key to read and retrieve": await narrowed(
                world, "agent", abilities=(Ability.READ, Ability.RETRIEVE)
            ),
            "an agent's key to administer": await narrowed(world, "agent", abilities=(Ability.ADMINISTER,)),
        }
        sessions = world.services.sign_in.sessions
        admins = {scope: to[Ability(scope)] for scope in ("read", "review")}
        within = keys["an administrator's key within a tenant"]
        ended = await sessions.open("admin", key=key_of("admin"))
        await sessions.end(ended)
        cookies = {
            "a cookie that is unknown": "unknown",
            "a session that was ended": ended,
            "a curator's session": await sessions.open("cora", key=key_of("cora")),
            "an owner's session": await sessions.open("otto", key=key_of("otto")),
            "a session without grants": await sessions.open("guest", key=key_of("guest")),
            "an administrator's session": await sessions.open("admin", key=key_of("admin")),
            "an administrator's session within a tenant": await sessions.open("admin", key=within),
            **{
                f"an administrator's session to {scope}": await sessions.open("admin", key=key)
                for scope, key in admins.items()
            },
        }
        bearers = {name: {"Authorization": f"Bearer {key}"} for name, key in keys.items()}
        bearers["nobody"] = {}
        bearers["no bearer but basic"] = {"Authorization": f"Basic {key_of('admin')}"}
        bearers["a browser's cookie"] = {"Cookie": "caselore=" + cookies["an administrator's session"]}
        assert set(bearers) == set(BEARERS), "every caller of the table has a credential"
        yield Cast(world, people, bearers, cookies)


def test_r4_the_table_names_every_route_that_the_app_serves(world: World) -> None:
    assert set(routes_of(world.app)) - {("GET", "/openapi.json")} == set(PERMISSIONS)


def test_r4_what_a_route_asks_for_fits_what_it_does() -> None:
    """Reading is for whoever may read; nothing is changed by a credential that may only read."""
    public = {path for (_, path), asked in PERMISSIONS.items() if asked is P.PUBLIC}
    assert {path for path in public if not path.startswith(("/health/", "/sign-", "/static/"))} == {"/docs"}
    for (method, path), asked in PERMISSIONS.items():
        if asked in (P.READ, P.PAGE):
            assert method == "GET", path
        if asked.is_page:
            assert not path.startswith("/v1/"), path
        assert asked is not P.SIGNED_IN or method == "GET", (
            f"{method} {path}: no narrowed credential could be made for it"
        )
    asked_for = set(PERMISSIONS.values())
    assert asked_for >= {P.PUBLIC, P.READ, P.RETRIEVE, P.RECORD, P.PROPOSE, P.REVIEW, P.ADMINISTRATOR}


@pytest.mark.parametrize("caller", BEARERS)
async def test_r4_every_route_with_every_credential(cast: Cast, caller: str) -> None:
    wrong: list[str] = []
    transport = httpx.ASGITransport(app=cast.people.app)
    async with httpx.AsyncClient(transport=transport, base_url="http://caselore", headers=cast.bearers[caller]) as http:
        for way in ways():
            let_in = await way.ask(http)
            if let_in != (way.permission in BEARERS[caller]):
                wrong.append(f"{way.name} ({way.permission.value}): {'let in' if let_in else 'refused'}")
    assert wrong == []


@pytest.mark.parametrize("caller", BROWSERS)
async def test_r4_every_page_with_every_browser(cast: Cast, caller: str) -> None:
    """A page that asks for a session leads to the page to sign in; a form also needs its session's token."""
    wrong: list[str] = []
    found = browser(cast.world)
    token = cast.cookies.get(caller, "")
    if token:
        found.cookies.set("caselore", token, domain="caselore.local")
    if caller == "a key instead of a session":
        found.headers["Authorization"] = f"Bearer {key_of('admin')}"
    for (method, path), permission in PERMISSIONS.items():
        if not permission.is_page:
            continue
        expected = permission in BROWSERS[caller]
        path = template_filled(path)
        if method == "GET":
            let_in = _let_in(await found.get(path))
        else:
            let_in = _let_in(await found.post_form(path, {"csrf": derived(token, "form")}))
            if token:
                for fields, said in (({}, {}), ({"csrf": derived(token, "form")}, {"Origin": "https://evil.example"})):
                    if _let_in(await found.post_form(path, fields, **said)):
                        wrong.append(f"{method} {path}: let in without the form's token, or from another site")
        if let_in != expected:
            wrong.append(f"{method} {path} ({permission.value}): {'let in' if let_in else 'refused'}")
    assert wrong == []


def _let_in(response: httpx.Response) -> bool:
    assert response.status_code < 500, response.text
    to_sign_in = response.status_code == 303 and response.headers["location"].startswith("/sign-in")
    return not to_sign_in and response.status_code != 403


async def test_a_route_that_is_public_tells_nobody_anything(cast: Cast) -> None:
    """What asks for no credential shows no record: health, signing in and out, and files of the pages."""
    found = browser(cast.world)
    assert (await found.get("/health/live")).json() == {"alive": True}
    posted = await found.post_form("/sign-in", {"csrf": offered(found), "key": "clk_unknown"})
    assert posted.headers["location"] == "/sign-in?refused=NotAuthenticated"
    async with cast.world.database.as_nobody() as connection:
        assert (await connection.execute(text("SELECT count(*) FROM cases"))).scalar_one() == 0
