"""Browser sessions: begun by a key, bound to forms of this site, ended in every way that they should end (R4)."""

from __future__ import annotations

from dataclasses import replace

import httpx
import pytest
from fastapi import FastAPI, Request
from fastapi.routing import APIRouter
from sqlalchemy import text

from api import permissions
from api.app import create_app
from api.page_route import FORM_BYTES, PageRoute
from api.permissions import Permission
from api.same_site import derived, local_path
from api.sessions import Session, sign_in_offer
from contracts import limits
from contracts.access import Revocation, Revoked
from contracts.identity import Principal
from contracts.labels import PrincipalKind
from contracts.sign_in import Ability, KeyToIssue
from tests.api.sessions_world import ORIGIN, Browser, browser, offered, signed_in
from tests.api.world import World, fresh, key_of


@pytest.fixture(name="app")
def fixture_app(world: World, monkeypatch: pytest.MonkeyPatch) -> FastAPI:
    """The app with a page that tells who looks at it, and one form of each kind."""
    pages = {
        ("GET", "/test/me"): Permission.PAGE,
        ("GET", "/test/offer"): Permission.PUBLIC,
        ("POST", "/test/retrieve"): Permission.PAGE_RETRIEVE,
        ("POST", "/test/review"): Permission.PAGE_REVIEW,
        ("POST", "/test/administer"): Permission.PAGE_ADMINISTRATOR,
    }
    monkeypatch.setattr(permissions, "PERMISSIONS", {**permissions.PERMISSIONS, **pages})
    app = create_app(world.services)
    app.include_router(_pages())
    return app


def _pages() -> APIRouter:
    router = APIRouter(route_class=PageRoute)

    @router.get("/test/me")
    async def me(session: Session) -> dict[str, str]:
        return {"id": session.principal.id, "csrf": session.csrf}

    @router.get("/test/offer")
    async def offer(request: Request) -> dict[str, str]:
        return {"next": sign_in_offer(request).next, "refusal": sign_in_offer(request).refusal}

    @router.post("/test/retrieve")
    @router.post("/test/review")
    @router.post("/test/administer")
    async def done(request: Request) -> dict[str, str]:
        return {"sent": str((await request.form()).get("sent"))}

    return router


async def person(world: World) -> str:
    name = f"person-{fresh()}"
    await world.services.identities.add_principal(Principal(id=name, kind=PrincipalKind.PERSON, name="Robin"))
    await world.services.identities.accept_key(name, key_of(name))
    return name


async def test_the_cookie_cannot_be_read_by_scripts_or_sent_by_other_sites(world: World) -> None:
    found = browser(world)
    answer = await found.post_form("/sign-in?next=%2Freviews%3Fx%3D1", {"key": key_of("cora"), "csrf": offered(found)})
    assert answer.headers["location"] == "/reviews?x=1"
    cookie = next(each for each in answer.headers.get_list("set-cookie") if each.startswith("caselore="))
    assert {part.strip().lower() for part in cookie.split(";")[1:]} == {
        "httponly", "path=/", "samesite=lax", f"max-age={int(limits.SESSION.total_seconds())}",
    }  # fmt: skip
    token = found.cookies["caselore"]
    assert await world.count("sessions", f"hash = '{token}' OR id::text = '{token}'") == 0
    assert await world.count("sessions", f"hash = encode(sha256('{token}'), 'hex')") == 1


async def test_over_https_the_cookie_is_secure_and_of_this_host_alone(world: World) -> None:
    services = replace(world.services, sign_in=replace(world.services.sign_in, public_url="https://caselore.example"))
    transport = httpx.ASGITransport(app=create_app(services))
    async with Browser(transport=transport, base_url="https://caselore.example") as found:
        found.cookies.set("__Host-caselore-sign-in", "secret", domain="caselore.example")
        answer = await found.post_form(
            "/sign-in",
            {"key": key_of("cora"), "csrf": derived("secret", "sign-in")},
            Origin="https://caselore.example",
        )
    cookie = next(each for each in answer.headers.get_list("set-cookie") if each.startswith("__Host-caselore="))
    parts = {part.strip().lower() for part in cookie.split(";")[1:]}
    assert parts >= {"secure", "httponly", "path=/", "samesite=lax"}
    assert not any(part.startswith("domain") for part in parts)
    assert answer.headers["strict-transport-security"] == "max-age=31536000"


async def test_every_sign_in_makes_a_new_token_and_ends_the_old_session(world: World, app: FastAPI) -> None:
    """Nobody can be given a session to sign in to."""
    planted = browser(world, app)
    planted.cookies.set("caselore", "chosen-by-somebody-else", domain="caselore.local")
    first = await planted.post_form("/sign-in", {"key": key_of("cora"), "csrf": offered(planted)})
    token = first.headers["set-cookie"].partition("caselore=")[2].partition(";")[0]
    assert token not in ("", "chosen-by-somebody-else")

    found = await signed_in(world, "cora", app=app)
    earlier = found.cookies["caselore"]
    await found.post_form("/sign-in", {"key": key_of("otto"), "csrf": offered(found)})
    assert (await found.get("/test/me")).json()["id"] == "otto"
    old = browser(world, app)
    old.cookies.set("caselore", earlier, domain="caselore.local")
    assert (await old.get("/test/me")).status_code == 303


@pytest.mark.parametrize(
    "said",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "", "Sec_Fetch_Site": "cross-site"},
        {"Origin": "", "Sec_Fetch_Site": "same-site"},
        {"Origin": "", "Sec_Fetch_Site": "none"},
        {"Origin": "", "Sec_Fetch_Site": ""},
        {"Origin": "", "Sec_Fetch_Site": "", "Referer": "https://evil.example/caselore"},
        {"Origin": f"{ORIGIN}.evil.example", "Sec_Fetch_Site": ""},
    ],
)
async def test_a_form_of_another_site_is_refused(world: World, app: FastAPI, said: dict[str, str]) -> None:
    found = await signed_in(world, "cora", app=app)
    answer = await found.post_form("/test/review", {"csrf": found.csrf, "sent": "x"}, **said)
    assert (answer.status_code, "does not come from this site" in answer.text) == (403, True)
    out = await found.post_form("/sign-out", {"csrf": found.csrf}, **said)
    assert out.headers["location"] == "/sign-in?refused=CrossSite"
    assert (await found.get("/test/me")).status_code == 200
    elsewhere = browser(world, app)
    signing = await elsewhere.post_form("/sign-in", {"key": key_of("cora"), "csrf": offered(elsewhere)}, **said)
    assert (signing.headers["location"], "caselore" in elsewhere.cookies) == ("/sign-in?refused=CrossSite", False)


@pytest.mark.parametrize("said", [{"Origin": ""}, {"Sec_Fetch_Site": ""},
                                  {"Origin": "", "Sec_Fetch_Site": "", "Referer": f"{ORIGIN}/reviews"}])  # fmt: skip
async def test_a_form_of_this_site_is_taken_with_any_of_the_three_headers(
    world: World, app: FastAPI, said: dict[str, str]
) -> None:
    found = await signed_in(world, "cora", app=app)
    answer = await found.post_form("/test/review", {"csrf": found.csrf, "sent": "x"}, **said)
    assert (answer.status_code, answer.json()) == (200, {"sent": "x"})


@pytest.mark.parametrize("token", ["", "0" * 64, "another", "é"])
async def test_a_form_without_this_sessions_token_is_refused(world: World, app: FastAPI, token: str) -> None:
    found = await signed_in(world, "cora", app=app)
    another = await signed_in(world, "cora", app=app)
    fields = {"sent": "x", "csrf": another.csrf if token == "another" else token}
    assert (await found.post_form("/test/review", fields)).status_code == 403
    assert (await found.post_form("/test/review", {"sent": "x"})).status_code == 403
    assert (await found.post_form("/test/review", {"sent": "x"}, X_CSRF_Token=found.csrf)).status_code == 200


async def test_signing_in_needs_the_page_that_this_browser_was_given(world: World) -> None:
    """Login CSRF: nobody is signed in to somebody else's session by a link or form."""
    for csrf in ("", "0" * 64):
        found = browser(world)
        offered(found)
        answer = await found.post_form("/sign-in", {"key": key_of("cora"), "csrf": csrf})
        assert answer.headers["location"] == "/sign-in?refused=CrossSite"
    never = browser(world)
    answer = await never.post_form("/sign-in", {"key": key_of("cora"), "csrf": "0" * 64})
    assert (answer.headers["location"], "caselore" in never.cookies) == ("/sign-in?refused=CrossSite", False)


async def test_a_bad_key_leads_back_to_the_page_which_says_so(world: World, app: FastAPI) -> None:
    for key in ("clk_unknown", "", " "):
        found = browser(world, app)
        answer = await found.post_form("/sign-in", {"key": key, "csrf": offered(found)})
        assert answer.headers["location"] == "/sign-in?refused=NotAuthenticated"
        assert "caselore" not in found.cookies
    found = browser(world, app)
    answer = await found.post_form("/sign-in?next=%2Freviews", {"key": "clk_mistyped", "csrf": offered(found)})
    assert answer.headers["location"] == "/sign-in?refused=NotAuthenticated&next=%2Freviews"
    told = await browser(world, app).get("/test/offer?refused=NotAuthenticated&next=//evil.example")
    assert told.json() == {"next": "/", "refusal": "That key is not good: it is unknown, was revoked or has expired."}


async def test_nobody_signed_in_goes_to_the_page_to_sign_in_and_comes_back(world: World, app: FastAPI) -> None:
    assert (await browser(world, app).get("/test/me?a=1&b=/")).headers["location"] == (
        "/sign-in?next=%2Ftest%2Fme%3Fa%3D1%26b%3D%2F"
    )
    posted = await browser(world, app).post_form("/test/review", {})
    assert (posted.status_code, posted.headers["location"]) == (303, "/sign-in")


async def test_a_page_takes_no_key_and_the_api_takes_no_cookie(world: World, app: FastAPI) -> None:
    keyed = browser(world, app)
    answer = await keyed.get("/test/me", headers={"Authorization": f"Bearer {key_of('cora')}"})
    assert answer.status_code == 303
    found = await signed_in(world, "admin", app=app)
    assert (await found.get("/v1/keys")).status_code == 401


async def test_signing_out_ends_the_session_itself(world: World, app: FastAPI) -> None:
    found = await signed_in(world, "cora", app=app)
    token = found.cookies["caselore"]
    answer = await found.post_form("/sign-out", {"csrf": found.csrf})
    assert answer.headers["location"] == "/sign-in"
    assert "caselore" not in found.cookies
    kept = browser(world, app)
    kept.cookies.set("caselore", token, domain="caselore.local")
    assert (await kept.get("/test/me")).status_code == 303
    assert (await kept.post_form("/sign-out", {})).headers["location"] == "/sign-in"


@pytest.mark.parametrize(
    "end",
    [
        "UPDATE sessions SET seen_at = now() - interval '61 minutes' WHERE principal_id = :who",
        "UPDATE sessions SET expires_at = now() WHERE principal_id = :who",
        "UPDATE sessions SET ended_at = now() WHERE principal_id = :who",
        "UPDATE principals SET active = false WHERE id = :who",
        "UPDATE api_keys SET expires_at = now() WHERE principal_id = :who",
    ],
)
async def test_a_session_ends_with_its_time_its_principal_and_its_key(world: World, app: FastAPI, end: str) -> None:
    who = await person(world)
    found = await signed_in(world, who, app=app)
    assert (await found.get("/test/me")).json()["id"] == who
    async with world.database.as_system() as connection:
        await connection.execute(text(end), {"who": who})
    assert (await found.get("/test/me")).status_code == 303


async def test_using_a_session_keeps_it_from_idling_out(world: World, app: FastAPI) -> None:
    who = await person(world)
    found = await signed_in(world, who, app=app)
    for _ in range(3):
        async with world.database.as_system() as connection:
            await connection.execute(
                text("UPDATE sessions SET seen_at = seen_at - interval '50 minutes' WHERE principal_id = :who"),
                {"who": who},
            )
        assert (await found.get("/test/me")).status_code == 200


async def test_revoking_keys_ends_sessions(world: World, app: FastAPI) -> None:
    """R4: also the ones that were opened otherwise."""
    who = await person(world)
    found = await signed_in(world, who, app=app)
    async with world.caller("admin") as admin:
        await admin.revoke(Revocation(principal_id=who, what=Revoked.KEYS))
    assert (await found.get("/test/me")).status_code == 303
    assert await world.count("sessions", f"principal_id = '{who}' AND ended_at IS NULL") == 0


async def test_a_session_is_worth_no_more_than_its_key(world: World, app: FastAPI) -> None:
    """R13"""
    issued = await world.services.sign_in.keys.issue(
        "admin",
        KeyToIssue(id=fresh(), principal_id="admin", label="Looking", abilities=(Ability.READ, Ability.RETRIEVE)),
    )
    found = await signed_in(world, "admin", key=issued.api_key, app=app)
    assert (await found.get("/test/me")).status_code == 200
    codes = [
        (await found.post_form(f"/test/{form}", {"csrf": found.csrf})).status_code
        for form in ("retrieve", "review", "administer")
    ]
    assert codes == [200, 403, 403]
    whole = await signed_in(world, "admin", app=app)
    assert (await whole.post_form("/test/administer", {"csrf": whole.csrf})).status_code == 200
    nobody = await signed_in(world, "cora", app=app)
    assert (await nobody.post_form("/test/administer", {"csrf": nobody.csrf})).status_code == 403


async def test_a_further_sign_in_ends_the_oldest_session(world: World, app: FastAPI) -> None:
    who = await person(world)
    first = await signed_in(world, who, app=app)
    for _ in range(limits.SESSIONS):
        await world.services.sign_in.sessions.open(who, key=key_of(who))
    assert (await first.get("/test/me")).status_code == 303
    assert await world.count("sessions", f"principal_id = '{who}' AND ended_at IS NULL") == limits.SESSIONS


async def test_r22_a_form_that_is_too_large_is_refused(world: World, app: FastAPI) -> None:
    found = await signed_in(world, "cora", app=app)
    answer = await found.post_form("/test/review", {"csrf": found.csrf, "sent": "x" * FORM_BYTES})
    assert (answer.status_code, "too large" in answer.text) == (422, True)


@pytest.mark.parametrize(
    ("wanted", "path"),
    [
        ("/reviews", "/reviews"),
        ("/reviews?a=1#there", "/reviews?a=1"),
        ("//evil.example", "/"),
        ("/\\evil.example", "/"),
        ("https://evil.example", "/"),
        ("reviews", "/"),
        ("", "/"),
        ("/a\r\nSet-Cookie: x=y", "/"),
        ("/\u2028", "/"),
        ("/" + "a" * 2_000, "/"),
    ],
)
def test_a_sign_in_goes_on_to_this_site_only(wanted: str, path: str) -> None:
    assert local_path(wanted) == path
