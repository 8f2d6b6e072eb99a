"""A browser's sign-in by the issuer, from its first click to a session, and every way to tamper with it."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
import pytest_asyncio

from activities.issuer.issuer import Attempt
from api.sessions import attempt_of
from contracts.errors import IssuerUnavailable, NotAuthenticated
from deploy.embedded.development_issuer import CLIENT, PATH, DevelopmentIssuer
from deploy.embedded.issuer_keys import IssuerKeys
from deploy.settings import load_settings
from tests.api.issuer_world import People, people_at
from tests.api.world import World


@pytest_asyncio.fixture(scope="module")
async def people(world: World, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[People]:
    async with people_at(world, tmp_path_factory.mktemp("issuer")) as found:
        yield found


def asked(url: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}


async def begun(people: People, http: httpx.AsyncClient, following: str = "/reviews") -> dict[str, str]:
    """Begin a sign-in and return what the issuer is asked."""
    sent = await http.get(f"/sign-in/oidc?next={following}")
    assert sent.status_code == 303, sent.text
    assert sent.headers["location"].startswith(f"{people.development.url}/authorize?")
    return asked(sent.headers["location"])


async def chosen(people: People, http: httpx.AsyncClient, wanted: dict[str, str], subject: str = "cora") -> str:
    """Choose somebody at the issuer and return where it sends the browser."""
    page = await http.get(f"{PATH}/authorize", params=wanted)
    assert (page.status_code, f'value="{subject}"' in page.text) == (200, True)
    fields = dict(re.findall(r'name="([^"]+)" value="([^"]*)"', page.text.partition("<p><button")[0]))
    answer = await people.post(http, f"{PATH}/authorize", {**fields, "subject": subject})
    assert answer.status_code == 303, answer.text
    return answer.headers["location"]


async def sessions_of(people: People, principal_id: str) -> int:
    return await people.world.count("sessions", f"principal_id = '{principal_id}' AND ended_at IS NULL")


async def test_a_person_signs_in_by_choosing_who_they_are(people: People) -> None:
    before = await sessions_of(people, "cora")
    async with people.browser() as http:
        wanted = await begun(people, http)
        assert wanted["code_challenge_method"] == "S256"
        back = await http.get(await chosen(people, http, wanted))
        assert (back.status_code, back.headers["location"]) == (303, "/reviews")
        assert set(http.cookies) == {"caselore"}, "what belonged to the sign-in is gone"
        assert await sessions_of(people, "cora") == before + 1
        link = (await people.world.services.sign_in.people.of("cora"))[-1]
        await people.world.services.sign_in.people.unlink(link)
        assert await sessions_of(people, "cora") == before, "the session ends with the link"


async def test_an_answer_counts_for_the_browser_that_asked(people: People) -> None:
    """Login CSRF: a link with somebody else's code and state signs nobody in."""
    async with people.browser() as attacker, people.browser() as victim:
        location = await chosen(people, attacker, await begun(people, attacker))
        for http in (victim, victim):
            answer = await http.get(location)
            assert answer.headers["location"].startswith("/sign-in?refused=CrossSite")
            assert "caselore" not in http.cookies
            await begun(people, http)  # the second time with a sign-in of its own in progress


async def test_a_code_is_good_once_and_for_its_own_attempt(people: People) -> None:
    redirect = f"{people.address}/sign-in/callback"
    async with people.browser() as http:
        attempt = attempt_of("one")
        wanted = asked(await people.trusted.sign_in_url(attempt, redirect))
        code = asked(await chosen(people, http, wanted))["code"]
        with pytest.raises(IssuerUnavailable):  # another verifier: PKCE
            await people.trusted.redeem(code, attempt_of("two"), redirect)
        with pytest.raises(IssuerUnavailable):  # and it is used up
            await people.trusted.redeem(code, attempt, redirect)
        code = asked(await chosen(people, http, wanted))["code"]
        other_nonce = Attempt(attempt.state, "another", attempt.verifier)
        with pytest.raises(NotAuthenticated, match="another sign-in"):
            await people.trusted.redeem(code, other_nonce, redirect)
        for nothing in ("", "x" * 5_000):
            with pytest.raises(NotAuthenticated):
                await people.trusted.redeem(nothing, attempt, redirect)


@pytest.mark.parametrize(
    ("changed", "refused"),
    [
        ({"state": "0" * 64}, "CrossSite"),
        ({"state": ""}, "CrossSite"),
        ({"iss": "https://evil.example"}, "CrossSite"),
        ({"error": "access_denied"}, "Refused"),
        ({"code": "unknown"}, "IssuerUnavailable"),
        ({"code": ""}, "Refused"),
    ],
)
async def test_an_answer_that_was_changed_leads_back(people: People, changed: dict[str, str], refused: str) -> None:
    async with people.browser() as http:
        location = await chosen(people, http, await begun(people, http))
        answer = await http.get("/sign-in/callback", params={**asked(location), **changed})
        assert answer.headers["location"] == f"/sign-in?refused={refused}&next=%2Freviews"
        assert "caselore" not in http.cookies


async def test_a_sign_in_begins_where_the_issuer_comes_back_to(people: People) -> None:
    port = urlsplit(people.address).port
    async with httpx.AsyncClient(base_url=f"http://localhost:{port}") as http:
        sent = await http.get("/sign-in/oidc?next=/reviews")
        assert sent.headers["location"] == f"{people.address}/sign-in/oidc?next=/reviews&moved=1"
        # A proxy that names another host than browsers do must not make them go round and round.
        again = await http.get("/sign-in/oidc?next=/reviews&moved=1")
    assert again.headers["location"].startswith(f"{people.development.url}/authorize?")


@pytest.mark.parametrize(
    "changed",
    [
        {"redirect_uri": "https://evil.example/"},
        {"redirect_uri": ""},
        {"client_id": "another"},
        {"response_type": "token"},
        {"code_challenge_method": "plain"},
        {"code_challenge": ""},
        {"nonce": ""},
        {"state": "s" * 201},
    ],
)
async def test_the_development_issuer_answers_these_pages_only(people: People, changed: dict[str, str]) -> None:
    async with people.browser() as http:
        wanted = await begun(people, http)
        assert (await http.get(f"{PATH}/authorize", params={**wanted, **changed})).status_code == 400
        sent = await people.post(http, f"{PATH}/authorize", {**wanted, **changed, "subject": "cora"})
        assert sent.status_code == 400


async def test_no_other_site_can_use_the_development_issuer(people: People) -> None:
    async with people.browser() as http:
        wanted = await begun(people, http)
        rebound = await http.get(f"{PATH}/authorize", params=wanted, headers={"Host": "evil.example"})
        assert rebound.status_code == 403
        for headers in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {}):
            sent = await http.post(f"{PATH}/authorize", data={**wanted, "subject": "admin"}, headers=headers)
            assert sent.status_code == 403
        for subject in ("agent", "nobody at all", ""):
            assert (await people.post(http, f"{PATH}/authorize", {**wanted, "subject": subject})).status_code == 400


def test_the_development_issuers_keys_are_its_owners_alone(tmp_path: Path) -> None:
    keys = IssuerKeys(tmp_path / "keys")
    first = keys.current[0]
    second = keys.rotate()
    assert [each["kid"] for each in IssuerKeys(tmp_path / "keys").published()["keys"]] == [first, second]
    third = keys.rotate()
    again = IssuerKeys(tmp_path / "keys")
    assert [each["kid"] for each in again.published()["keys"]] == [second, third]
    assert again.current[0] == third
    again.withdraw(third)
    assert again.current[0] == third
    assert all("d" not in each for each in again.published()["keys"])
    assert (tmp_path / "keys").stat().st_mode & 0o077 == 0
    assert all(file.stat().st_mode & 0o077 == 0 for file in (tmp_path / "keys").iterdir())


def test_the_development_issuer_is_for_this_machine_only(world: World, tmp_path: Path) -> None:
    for url in ("https://caselore.example", "http://127.0.0.1.evil.example", "http://10.0.0.1:8420"):
        with pytest.raises(ValueError, match="this machine"):
            DevelopmentIssuer(url, world.services.sign_in.people, IssuerKeys(tmp_path / "keys"))
    assert CLIENT
    assert load_settings().development_issuer is False
